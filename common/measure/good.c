#include "common/measure/good.h"

#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "common/spec/slo.h"

/* The lag of the request, and the same again for the burst of late requests at
 * the server. */
#define LAGS_ALLOWED 2

void good_limits(const struct slo *slo, int64_t limit_ns[static GOOD_LIMITS])
{
    double quantile[MEASURE_COUNT] = {0};

    for (int m = 0; m < GOOD_LIMITS; m++)
        limit_ns[m] = 0;
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];

        if (term->kind == SLO_CHECK)
            limit_ns[GOOD_CHECK] = 1;
        if ((term->kind != SLO_QUANTILE && term->kind != SLO_LIMIT) ||
            measure_is_pooled(term->measure) ||
            term->quantile < quantile[term->measure])
            continue;
        quantile[term->measure] = term->quantile;
        limit_ns[term->measure] = term->limit_ns;
    }
}

void good_merge(int64_t limit_ns[static GOOD_LIMITS],
                const int64_t others[static GOOD_LIMITS])
{
    for (int m = 0; m < GOOD_LIMITS; m++) {
        if (others[m] > 0 && (limit_ns[m] == 0 || others[m] < limit_ns[m]))
            limit_ns[m] = others[m];
    }
}

void good_shared(const struct good_table *table,
                 int64_t limit_ns[static GOOD_LIMITS])
{
    for (int m = 0; m < GOOD_LIMITS; m++) {
        limit_ns[m] = table->n > 0 ? table->of_class[0][m] : table->run[m];
        for (size_t i = 1; i < table->n; i++) {
            if (table->of_class[i][m] != table->of_class[0][m])
                limit_ns[m] = 0;
        }
    }
}

int good_table_init_tier(struct good_table *table, const struct slo *run,
                         const struct classes *classes, const char *tier,
                         struct err *err)
{
    *table = (struct good_table){.n = classes->len};
    good_limits(run, table->run);
    if (classes->len == 0)
        return 0;
    table->of_class = xcalloc(classes->len, sizeof(*table->of_class));
    for (size_t i = 0; i < classes->len; i++) {
        const struct class_settings *c = &classes->items[i];
        struct slo all;
        struct slo slo;

        int rc = tier ? slo_parse_all(&c->settings->slo, &all, err)
                      : slo_parse(&c->settings->slo, &slo, err);

        if (rc)
            return err_context(err, "classes: %s", c->name);
        if (tier)
            slo_of_tier(&all, tier, &slo);
        good_limits(&slo, table->of_class[i]);
        good_merge(table->of_class[i], table->run);
    }
    return 0;
}

int good_table_init(struct good_table *table, const struct slo *run,
                    const struct classes *classes, struct err *err)
{
    return good_table_init_tier(table, run, classes, NULL, err);
}

void good_table_fini(struct good_table *table)
{
    free(table->of_class);
    *table = (struct good_table){0};
}

bool good_lacks(enum measure m, const struct facts *f)
{
    return measure_is_of_stream(m) && f->outcome == OUTCOME_OK &&
           measure_value(m, FROM_DUE, f) == TIME_ABSENT;
}

bool good_concerns(enum measure m, const struct facts *f)
{
    if (measure_is_of_stream(m))
        return !measure_is_pooled(m) && !good_lacks(m, f);
    if (m == MEASURE_TLS)
        return f->secured != TIME_ABSENT ||
               (f->outcome == OUTCOME_CONNECT && f->detail == CONNECT_TLS);
    if (m != MEASURE_CONNECT)
        return true;
    /* It opened a connection, or tried to.  If it was sent again, the time to
     * connect is only known if it failed. */
    return (f->is_fresh && f->retries == 0) || f->outcome == OUTCOME_CONNECT ||
           (f->sent == TIME_ABSENT && (f->outcome == OUTCOME_TIMEOUT ||
                                       f->outcome == OUTCOME_UNFINISHED));
}

int64_t good_value(enum measure m, const struct facts *f)
{
    int64_t value = measure_value(m, FROM_DUE, f);

    if (value == TIME_ABSENT ||
        (measure_is_of_answer(m) && f->outcome != OUTCOME_OK))
        return -1;
    return value > 0 ? value : 0;
}

bool good_keeps(enum measure m, const struct facts *f, int64_t limit_ns)
{
    int64_t value = good_value(m, f);

    return value >= 0 && value < limit_ns;
}

bool good_is_open(enum measure m, const struct facts *f, int64_t limit_ns)
{
    bool is_awaited = m == MEASURE_E2E ||
                      (m == MEASURE_TTFT && f->first == TIME_ABSENT) ||
                      (m == MEASURE_TTFB && f->head == TIME_ABSENT);
    int64_t waited_ns =
        is_awaited && f->end != TIME_ABSENT ? f->end - f->due : 0;

    return f->outcome == OUTCOME_UNFINISHED &&
           (measure_is_of_answer(m) ||
            measure_value(m, FROM_DUE, f) == TIME_ABSENT) &&
           waited_ns < limit_ns;
}

bool good_is_client_late(enum measure m, const struct facts *f,
                         int64_t limit_ns)
{
    int64_t lag = measure_value(MEASURE_LAG, FROM_DUE, f);
    int64_t value;

    if (lag == TIME_ABSENT || (double)lag < GOOD_DELAY * (double)limit_ns)
        return false;
    value = good_value(m, f);
    return value < 0 ||
           (value >= limit_ns && value - LAGS_ALLOWED * lag < limit_ns);
}

bool good_is(const int64_t limit_ns[static GOOD_LIMITS], const struct facts *f)
{
    if (f->outcome != OUTCOME_OK ||
        (limit_ns[GOOD_CHECK] && f->check == CHECK_FAILED))
        return false;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (limit_ns[m] > 0 && good_concerns((enum measure)m, f) &&
            !good_keeps((enum measure)m, f, limit_ns[m]))
            return false;
    }
    return true;
}
