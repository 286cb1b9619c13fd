#include "analyzer/studies/variant_capacity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

static bool is_load(const struct settings *s, const struct search_result *r)
{
    return r->value == s->load.rate_rps || r->value == (double)s->load.clients;
}

/* What all points have in common, from the first one. */
static bool begin(struct capacity_sums *sums, const struct recording *rec,
                  const struct summary *s)
{
    struct err ignored = {0}; /* such an SLO has no capacity */

    if (rec->settings.slo.len == 0 ||
        search_terms_of(&rec->settings, &sums->terms, &ignored))
        return false;
    sums->config = search_config_of(&rec->settings, &sums->terms);
    sums->config.by =
        rec->settings.load.rate_rps > 0 ? SEARCH_RATE : SEARCH_CONCURRENCY;
    sums->usd_per_hour = s->cost.is_there ? s->cost.usd_per_hour : 0;
    return true;
}

void capacity_add(struct capacity_sums *sums, struct recording *rec,
                  const struct summary *s, const struct study_point *at)
{
    struct search_result *r;

    if (sums->n == 0 && !sums->is_off)
        sums->is_off = !begin(sums, rec, s);
    if (sums->is_off)
        return;
    sums->results =
        xrealloc(sums->results, sums->n + 1, sizeof(*sums->results));
    r = &sums->results[sums->n++];
    search_take(s, rec, at, &sums->terms, r);
    sums->is_off = !is_load(&rec->settings, r);
}

/* The price of a request follows from a rate; that of a number of clients is
 * unknown. */
static void take(struct capacity *c, const struct search_answer *a,
                 bool is_rate, double usd_per_hour)
{
    bool has_ci =
        isfinite(a->capacity) && isfinite(a->ci.low) && isfinite(a->ci.high);
    double at = isfinite(a->capacity) ? a->capacity : a->at_least;

    *c = (struct capacity){
        .is_present = true,
        .outcome = a->outcome,
        .value = a->capacity,
        .is_bracket = !has_ci,
        .range = a->ci,
        .usd_per_1000 = is_rate && usd_per_hour > 0 && at > 0
                            ? usd_per_hour / 3600 / at * 1000
                            : -1,
    };
    if (!has_ci) {
        c->range.low = isfinite(a->at_least) ? a->at_least : 0;
        c->range.high = isfinite(a->at_most) ? a->at_most : INFINITY;
    }
    snprintf(c->binding, sizeof(c->binding), "%s",
             a->binding ? a->binding : "");
    snprintf(c->why, sizeof(c->why), "%s", a->why);
}

void capacity_of_sums(const struct capacity_sums *sums, struct capacity *c)
{
    struct search_answer answer;

    *c = (struct capacity){0};
    if (sums->is_off || sums->n == 0)
        return;
    search_from_probes(&sums->config, sums->results, sums->n, &answer);
    take(c, &answer, sums->config.by == SEARCH_RATE, sums->usd_per_hour);
}

void capacity_sums_fini(struct capacity_sums *sums)
{
    free(sums->results);
    *sums = (struct capacity_sums){0};
}

int capacity_read(struct capacity *c, const char *dir,
                  const struct strlist *slo, double usd_per_hour,
                  struct err *err)
{
    struct search_summary s;
    int rc = search_read(&s, dir, slo, err);

    *c = (struct capacity){0};
    if (rc == 0)
        take(c, &s.answer, s.has_rate, usd_per_hour);
    search_summary_fini(&s);
    return rc;
}

/* The standard error of the logarithm. */
static double error_of(const struct capacity *c)
{
    return log(c->range.high / c->range.low) / 2 /
           normal_quantile((1 + SEARCH_CONFIDENCE) / 2);
}

bool capacity_is_above(const struct capacity *a, const struct capacity *b,
                       double confidence, double smallest)
{
    double error = hypot(error_of(a), error_of(b));
    double lead;

    if (!a->is_present || !b->is_present)
        return false;
    if (a->is_bracket || b->is_bracket || !isfinite(error))
        return a->range.low > b->range.high * (1 + smallest);
    lead = log(a->value / b->value);
    return lead >= log1p(smallest) &&
           lead > normal_quantile((1 + confidence) / 2) * error;
}

double capacity_sort_key(const struct capacity *c)
{
    if (!c->is_present)
        return -1;
    return isfinite(c->value) ? c->value : c->range.low;
}
