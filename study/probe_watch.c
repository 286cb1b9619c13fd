#include "study/probe_watch.h"

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search_read.h"
#include "common/measure/measure.h"

int probe_watch_init(struct probe_watch *watch, const struct search *search,
                     const struct search_ask *ask,
                     const struct search_terms *terms,
                     const struct classes *classes, struct err *err)
{
    *watch = (struct probe_watch){
        .search = search,
        .terms = terms,
        .window_ns = ask->window_ns,
        .next_check = 1,
        .so_far = {.step = ask->step,
                   .value = ask->value,
                   .warmup_ns = ask->warmup_ns,
                   .asked_ns = ask->window_ns,
                   .n_terms = terms->slo.len},
    };
    return good_table_init(&watch->good, &terms->slo, classes, err);
}

void probe_watch_fini(struct probe_watch *watch)
{
    good_table_fini(&watch->good);
}

/* -1: the term is not about it, or it is unknown. */
static int misses(const struct probe_watch *watch, const struct slo_term *term,
                  const struct facts *f)
{
    switch (term->kind) {
    case SLO_QUANTILE:
        if (measure_is_pooled(term->measure) ||
            !good_concerns(term->measure, f))
            return -1;
        return !good_keeps(term->measure, f, term->limit_ns);
    case SLO_ERRORS:
        return f->outcome != OUTCOME_OK;
    case SLO_GOOD:
        return !good_is(good_limits_of(&watch->good, f), f);
    case SLO_QUALITY:
        return f->check == CHECK_NONE ? -1 : f->check != CHECK_PASSED;
    case SLO_GOODPUT:
    case SLO_LIMIT:
    case SLO_CHECK:
        break;
    }
    return -1;
}

/* Count a request of the window that has ended. */
static void count(struct probe_watch *watch, int64_t start_ns,
                  const struct facts *f)
{
    const struct search_terms *terms = watch->terms;
    int64_t at_ns = f->due - start_ns;

    if (start_ns == INT64_MAX || at_ns < 0 || at_ns >= watch->window_ns ||
        f->outcome == OUTCOME_UNFINISHED)
        return;
    for (size_t i = 0; i < terms->slo.len; i++) {
        const struct slo_term *term = &terms->slo.terms[i];
        struct search_counts *c = &watch->so_far.terms[i];
        int missed =
            terms->class[i] < 0 || terms->class[i] == f->class ? misses(watch,
                                                                        term, f)
                                                               : -1;

        if (missed < 0)
            continue;
        c->n += facts_n(f);
        c->misses += missed * facts_n(f);
        c->client_late += disturbed_concerns(term) &&
                          good_is_client_late(term->measure, f, term->limit_ns);
    }
    watch->so_far.requests += facts_n(f);
    if (at_ns > watch->so_far.window_ns)
        watch->so_far.window_ns = at_ns;
}

/* ---- requests that do not end ---- */

static void note_sent(struct probe_watch *watch,
                      const struct probe_progress *sight)
{
    struct probe_sent now = {sight->issued_ns, sight->issued};
    size_t last =
        (watch->samples + PROBE_WATCH_SAMPLES - 1) % PROBE_WATCH_SAMPLES;

    if (sight->followed_ns < sight->start_ns || sight->followed_ns == 0 ||
        (watch->samples > 0 &&
         now.at_ns < watch->sent[last].at_ns + PROBE_WATCH_INTERVAL_NS))
        return;
    if (watch->samples == 0)
        watch->first = now;
    watch->sent[watch->samples++ % PROBE_WATCH_SAMPLES] = now;
}

/* The last sample by a time; NULL: none, or no longer kept. */
static const struct probe_sent *sent_by(const struct probe_watch *watch,
                                        int64_t at_ns)
{
    for (size_t k = 1; k <= watch->samples && k <= PROBE_WATCH_SAMPLES; k++) {
        const struct probe_sent *s =
            &watch->sent[(watch->samples - k) % PROBE_WATCH_SAMPLES];

        if (s->at_ns <= at_ns)
            return s;
    }
    return NULL;
}

/* A lower bound: requests sent longer ago than the limit that have not ended
 * have missed it. */
static int64_t count_overdue(const struct probe_watch *watch,
                             const struct slo_term *term, int64_t followed_ns)
{
    const struct probe_sent *s = sent_by(watch, followed_ns - term->limit_ns);
    int64_t n;

    if (!s || term->kind != SLO_QUANTILE || term->measure != MEASURE_E2E)
        return 0;
    n = s->issued - watch->first.issued - watch->so_far.requests;
    return n > 0 ? n : 0;
}

/* As if the overdue requests had ended. */
static struct search_result with_overdue(const struct probe_watch *watch,
                                         const struct probe_progress *sight)
{
    struct search_result r = watch->so_far;

    for (size_t i = 0; i < r.n_terms; i++) {
        const struct slo_term *term = &watch->terms->slo.terms[i];
        int64_t overdue = watch->terms->class[i] < 0
                              ? count_overdue(watch, term, sight->followed_ns)
                              : 0;

        r.terms[i].n += overdue;
        r.terms[i].misses += overdue;
        if (overdue > 0 && sight->followed_ns - sight->start_ns > r.window_ns)
            r.window_ns = sight->followed_ns - sight->start_ns;
    }
    return r;
}

bool probe_watch_see(struct probe_watch *watch,
                     const struct probe_progress *sight)
{
    for (size_t i = 0; i < sight->n; i++)
        count(watch, sight->start_ns, &sight->rows[i]);
    note_sent(watch, sight);
    if (!watch->is_over) {
        struct search_result r = with_overdue(watch, sight);
        size_t slices =
            (size_t)(r.window_ns * SEARCH_SLICES / watch->window_ns);

        if (slices >= watch->next_check && r.window_ns > 0) {
            watch->is_over = search_is_hopeless(watch->search, &r);
            watch->next_check = slices + 1;
        }
    }
    return watch->is_over;
}
