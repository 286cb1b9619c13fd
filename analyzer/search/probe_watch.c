#include "analyzer/search/probe_watch.h"

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search_read.h"
#include "common/measure/measure.h"

int search_eye_init(struct search_eye *eye, const struct search *search,
                    const struct search_ask *ask,
                    const struct search_terms *terms,
                    const struct classes *classes, struct err *err)
{
    *eye = (struct search_eye){
        .search = search,
        .terms = terms,
        .window_ns = ask->window_ns,
        .next_look = 1,
        .so_far = {.step = ask->step,
                   .value = ask->value,
                   .warmup_ns = ask->warmup_ns,
                   .asked_ns = ask->window_ns,
                   .n_terms = terms->slo.len},
    };
    return good_table_init(&eye->good, &terms->slo, classes, err);
}

void search_eye_fini(struct search_eye *eye)
{
    good_table_fini(&eye->good);
}

/* -1: the term is not about it, or nobody knows. */
static int misses(const struct search_eye *eye, const struct slo_term *term,
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
        return !good_is(good_limits_of(&eye->good, f), f);
    case SLO_QUALITY:
        return f->check == CHECK_NONE ? -1 : f->check != CHECK_PASSED;
    case SLO_GOODPUT:
    case SLO_LIMIT:
    case SLO_CHECK:
        break;
    }
    return -1;
}

static bool is_spoilt(const struct slo_term *term, const struct facts *f)
{
    return disturbed_concerns(term) &&
           good_is_client_late(term->measure, f, term->limit_ns);
}

static void count(struct search_eye *eye, const struct facts *f)
{
    const struct search_terms *terms = eye->terms;

    for (size_t i = 0; i < terms->slo.len; i++) {
        struct search_counts *c = &eye->so_far.terms[i];
        int missed = terms->class[i] < 0 || terms->class[i] == f->class
                         ? misses(eye, &terms->slo.terms[i], f)
                         : -1;

        if (missed < 0)
            continue;
        c->n += facts_n(f);
        c->misses += missed * facts_n(f);
        c->spoilt += is_spoilt(&terms->slo.terms[i], f);
    }
}

/* Of the requests in the window, as far as any has ended. */
static void see(struct search_eye *eye, int64_t start_ns, const struct facts *f)
{
    int64_t at_ns = f->due - start_ns;

    if (start_ns == INT64_MAX || at_ns < 0 || at_ns >= eye->window_ns ||
        f->outcome == OUTCOME_UNFINISHED)
        return;
    count(eye, f);
    eye->so_far.requests += facts_n(f);
    if (at_ns > eye->so_far.window_ns)
        eye->so_far.window_ns = at_ns;
}

/* ---- what does not end ---- */

static void note_sent(struct search_eye *eye, const struct search_sight *sight)
{
    struct search_sent now = {sight->issued_ns, sight->issued};
    size_t last = (eye->looks + SEARCH_EYE_LOOKS - 1) % SEARCH_EYE_LOOKS;

    if (sight->followed_ns < sight->start_ns || sight->followed_ns == 0 ||
        (eye->looks > 0 &&
         now.at_ns < eye->sent[last].at_ns + SEARCH_EYE_APART))
        return;
    if (eye->looks == 0)
        eye->first = now;
    eye->sent[eye->looks++ % SEARCH_EYE_LOOKS] = now;
}

/* The last look by a time; NULL: there is none that old, or none any more. */
static const struct search_sent *sent_by(const struct search_eye *eye,
                                         int64_t at_ns)
{
    for (size_t k = 1; k <= eye->looks && k <= SEARCH_EYE_LOOKS; k++) {
        const struct search_sent *s =
            &eye->sent[(eye->looks - k) % SEARCH_EYE_LOOKS];

        if (s->at_ns <= at_ns)
            return s;
    }
    return NULL;
}

/* Whoever was sent a limit ago, and is not among those that are over, has
 * missed it: at least so many. */
static int64_t count_overdue(const struct search_eye *eye,
                             const struct slo_term *term, int64_t followed_ns)
{
    const struct search_sent *s = sent_by(eye, followed_ns - term->limit_ns);
    int64_t n;

    if (!s || term->kind != SLO_QUANTILE || term->measure != MEASURE_E2E)
        return 0;
    n = s->issued - eye->first.issued - eye->so_far.requests;
    return n > 0 ? n : 0;
}

/* As it would be if what is overdue were over. */
static struct search_result with_overdue(const struct search_eye *eye,
                                         const struct search_sight *sight)
{
    struct search_result r = eye->so_far;

    for (size_t i = 0; i < r.n_terms; i++) {
        const struct slo_term *term = &eye->terms->slo.terms[i];
        int64_t overdue = eye->terms->class[i] < 0
                              ? count_overdue(eye, term, sight->followed_ns)
                              : 0;

        r.terms[i].n += overdue;
        r.terms[i].misses += overdue;
        if (overdue > 0 && sight->followed_ns - sight->start_ns > r.window_ns)
            r.window_ns = sight->followed_ns - sight->start_ns;
    }
    return r;
}

/* ---- is there hope? ---- */

static void look(struct search_eye *eye, const struct search_sight *sight)
{
    struct search_result r = with_overdue(eye, sight);
    size_t blocks = (size_t)(r.window_ns * SEARCH_BLOCKS / eye->window_ns);

    if (blocks < eye->next_look || r.window_ns == 0)
        return;
    eye->is_over = search_is_hopeless(eye->search, &r);
    eye->next_look = blocks + 1;
}

bool search_eye_see(struct search_eye *eye, const struct search_sight *sight)
{
    for (size_t i = 0; i < sight->n; i++)
        see(eye, sight->start_ns, &sight->rows[i]);
    note_sent(eye, sight);
    if (!eye->is_over)
        look(eye, sight);
    return eye->is_over;
}
