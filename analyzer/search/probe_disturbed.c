#include "analyzer/search/probe_disturbed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/search/search_read.h"
#include "analyzer/search/search_tuning.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/stub_truth.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/stats/hist.h"

/* A probe is disturbed if the client delayed too many requests: half as many as
 * missed, or as are allowed to miss.  A request counts as delayed if it missed
 * and the client was late, or if the delay was GOOD_DELAY of the limit.  Delays
 * can only add misses, so with almost no misses they did no harm. */
static const char lag[] = "lag";
static const char buffer_wait[] = "buffer wait";
static const char stub_late[] = "stub late";

/* ---- by the checks of the run ---- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* An overloaded server makes the client wait for connections, which is not the
 * fault of the client.  Delays have their own limits below. */
static const char *failed_check(const struct summary *s, bool has_limit)
{
    static const char *const of_server[] = {SEARCH_CAPPED, SEARCH_EXHAUSTED,
                                            "unsent"};
    static const char *const delays[] = {"lag p50", "lag p99", buffer_wait};
    bool is_over = summary_is_overloaded(s);

    for (size_t i = 0; i < s->trust.len; i++) {
        const struct check *c = &s->trust.checks[i];

        if (c->ok || !c->is_fatal ||
            (is_over && is_one_of(c->name, of_server, 3)) ||
            (has_limit && is_one_of(c->name, delays, 3)))
            continue;
        return c->name;
    }
    return NULL;
}

/* ---- by the limits ---- */

bool disturbed_concerns(const struct slo_term *t)
{
    return t->kind == SLO_QUANTILE && measure_is_of_answer(t->measure) &&
           !measure_is_of_stream(t->measure);
}

/* The share of delayed requests that is too many; 1: any is allowed. */
static double share_of(const struct slo_term *t, const struct search_counts *c)
{
    double allowed = slo_allowed(t);
    double missed = c->n > 0 ? (double)c->misses / (double)c->n : 0;

    if (missed <= search_tuning.delayed_few * allowed)
        return 1;
    return search_tuning.delayed_part * (missed > allowed ? missed : allowed);
}

bool disturbed_by_lag(const struct slo_term *t, const struct search_counts *c)
{
    return disturbed_concerns(t) &&
           (double)c->client_late > share_of(t, c) * (double)c->n;
}

/* At p99, the only recorded quantile. */
static double buffer_wait_ns(const struct summary *s)
{
    const struct check *c = trust_find(&s->trust, buffer_wait);

    return c ? c->value * 1e6 : 0;
}

/* Does this delay matter?  Not if the quantile is so far beyond the limit that
 * twice the delay would not explain it. */
static bool delay_matters(double delay_ns, const struct slo_term *t,
                          const struct search_counts *c)
{
    double limit = (double)t->limit_ns;
    bool is_beyond = c->measured_ns == HIST_BEYOND ||
                     (double)c->measured_ns - 2 * delay_ns >= limit;

    return delay_ns > GOOD_DELAY * limit && !is_beyond;
}

static const char *delayed_by(const struct summary *s, const struct hist *late,
                              const struct slo_term *t,
                              const struct search_counts *c)
{
    double share = share_of(t, c);

    if (share >= 1)
        return NULL;
    if (disturbed_by_lag(t, c))
        return lag;
    if (share <= 1 - summary_quantile[SUMMARY_P95] &&
        delay_matters(buffer_wait_ns(s), t, c))
        return buffer_wait;
    if (late && late->n > 0 &&
        delay_matters((double)hist_rank_quantile(late, 1 - share), t, c))
        return stub_late;
    return NULL;
}

static bool is_failed(const struct summary *s, const char *name)
{
    const struct check *c = trust_find(&s->trust, name);

    return c && !c->ok;
}

/* Checked before the lag, which it causes. */
static const char *exhausted_by(const struct summary *s)
{
    if (is_failed(s, SEARCH_BUSY))
        return SEARCH_BUSY;
    if (summary_is_overloaded(s))
        return NULL;
    if (is_failed(s, SEARCH_EXHAUSTED))
        return SEARCH_EXHAUSTED;
    return is_failed(s, SEARCH_CAPPED) ? SEARCH_CAPPED : NULL;
}

/* Is a term not judged, while no other is missed?  A short probe may have no
 * request of a rare class, or too many that a quantile cannot use, by chance; a
 * confirmation must have enough. */
static bool is_unmeasured(const struct summary *s,
                          const struct search_terms *terms,
                          const struct search_result *r)
{
    bool is_proof = r->step == SEARCH_CONFIRM;
    bool lacks_some = false;
    int64_t counted = 0;

    for (size_t i = 0; i < terms->slo.len; i++) {
        const struct search_counts *c = &r->terms[i];
        int class = terms->class[i];
        int64_t due = class < 0 ? s->scheduled : s->classes[class].scheduled;

        if (slo_allowed(&terms->slo.terms[i]) < 0)
            continue;
        lacks_some = lacks_some || (c->is_unjudgeable && is_proof) ||
                     (c->n == 0 && (due > 0 || is_proof));
        counted += c->n;
    }
    return counted == 0 || (lacks_some && search_is_met(&terms->slo, r));
}

const char *disturbed_by(const struct summary *s, const struct hist *late,
                         const struct search_terms *terms,
                         const struct search_result *r)
{
    const char *by;
    bool has_limit = false;

    if (s->shards.missing + s->shards.killed + s->shards.damaged > 0)
        by = SEARCH_LOST;
    else if (is_unmeasured(s, terms, r))
        by = s->scheduled > 0 ? SEARCH_UNMEASURED : "no requests";
    else
        by = exhausted_by(s);
    for (size_t i = 0; i < terms->slo.len && !by; i++) {
        if (!disturbed_concerns(&terms->slo.terms[i]))
            continue;
        has_limit = s->spread[MEASURE_LAG][VIEW_DUE].n > 0;
        by = delayed_by(s, late, &terms->slo.terms[i], &r->terms[i]);
    }
    return by ? by : failed_check(s, has_limit);
}

void disturbed_find(const struct summary *s, struct recording *rec,
                    const struct search_terms *terms, struct search_result *r)
{
    char *path = xasprintf("%s/truth.tgr", rec->dir);
    struct truth_report truth = {0};
    struct err ignored = {0};
    bool has_truth = access(path, F_OK) == 0 &&
                     recording_rewind(rec, &ignored) == 0 &&
                     truth_compare(&truth, rec, path, &ignored) == 0;

    r->discarded =
        disturbed_by(s, has_truth ? &truth.part[TRUTH_STUB] : NULL, terms, r);
    truth_report_fini(&truth);
    free(path);
}
