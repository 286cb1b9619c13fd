#include "analyzer/scaling/scaling_searches.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/compare/conditions.h"
#include "analyzer/read/reader.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_runs.h"
#include "analyzer/search/search_read.h"
#include "analyzer/tally/summary.h"
#include "common/base/xalloc.h"
#include "common/stats/student.h"

/* A confirmed estimate, or one that was asked for without. */
static bool is_found(const struct search_summary *ss)
{
    return ss->has_rate && ss->n > 0 && isfinite(ss->answer.capacity) &&
           (ss->answer.outcome == SEARCH_FOUND ||
            ss->answer.outcome == SEARCH_ESTIMATED);
}

static void refuse(struct scaling *s, const char *dir,
                   const struct search_summary *ss)
{
    scaling_say(&s->refusals, "%s: no capacity: %s", dir,
                !ss->has_rate ? "a search by concurrency has no rate"
                : ss->n == 0  ? "nothing was probed"
                              : ss->answer.why);
}

/* As a share: the half-width of the interval on logarithms, in the standard
 * deviations that it has of a normal. */
static double error_of(const struct search_answer *a)
{
    double reach = normal_quantile((1 + SEARCH_CONFIDENCE) / 2);

    return a->ci.low > 0 && a->ci.high > a->ci.low
               ? log(a->ci.high / a->ci.low) / 2 / reach
               : NAN;
}

static void take(struct scaling *s, struct recording *rec,
                 const struct summary *sum, const struct search_summary *ss)
{
    struct strmap card = {0};
    struct scale_point *p;
    int64_t k;

    if (!scale_runs_k(s, ss->dir, &rec->settings, &k))
        return;
    conditions_make(&card, rec, sum);
    p = scale_runs_point(s, ss->dir, k, &card);
    if (!isnan(p->mean_s)) {
        scaling_say(&s->refusals, "%s: another search of K = %lld is there",
                    ss->dir, (long long)k);
        return;
    }
    p->mean_s = 1 / ss->answer.capacity;
    p->known_error = error_of(&ss->answer);
    p->work = 1;
    p->keeps_slo = SCALE_YES; /* that is what a capacity is */
    p->is_warm = sum->warmup_requests > 0 ? SCALE_YES : SCALE_NO;
    if (rec->settings.cost.usd_per_hour > 0)
        p->usd_per_hour = rec->settings.cost.usd_per_hour * (double)k;
}

/* Conditions are those of the first probe; all have the same but the rate. */
static int take_conditions(struct scaling *s, const struct search_summary *ss,
                           struct err *err)
{
    char *path = study_point_path(ss->dir, ss->probes[0].at);
    struct summary *sum = xcalloc(1, sizeof(*sum));
    struct recording rec;
    int rc = recording_open(&rec, path, err);

    if (rc == 0) {
        rc = summary_make_priced(sum, &rec, s->ask.slo, s->ask.cost, err);
        if (rc == 0)
            take(s, &rec, sum, ss);
        recording_close(&rec);
    }
    free(sum);
    free(path);
    return rc;
}

int scale_search_read(struct scaling *s, const char *dir, struct err *err)
{
    struct search_summary *ss = xcalloc(1, sizeof(*ss));
    int rc = search_read(ss, dir, s->ask.slo, err);

    if (rc == 0 && !is_found(ss))
        refuse(s, dir, ss);
    else if (rc == 0)
        rc = take_conditions(s, ss, err);
    search_summary_fini(ss);
    free(ss);
    return rc;
}
