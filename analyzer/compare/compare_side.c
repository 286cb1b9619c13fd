#include "analyzer/compare/compare_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/stats/order_stats.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "common/spec/slo.h"

/* Upper bound, in case the directory is something else. */
#define MAX_TRIALS 10000

/* Sets without study.json were put together by hand. */
static int read_study(struct side *side, size_t *asked, struct err *err)
{
    struct study_set set = {0};

    *asked = 0;
    if (!study_is_at(side->dir))
        return 0;
    if (study_set_load_kind(&set, side->dir, STUDY_TRIALS, err))
        return -1;
    *asked = (size_t)set.asked;
    side->is_one_launch = set.launched_by == LAUNCHED_ONCE;
    side->has_own_stubs = set.launched_by == LAUNCHED_STUB;
    side->home = realpath(side->dir, NULL);
    if (set.against[0]) {
        char *path = xasprintf("%s/%s", side->dir, set.against);

        side->turned_with = realpath(path, NULL);
        free(path);
    }
    study_set_fini(&set);
    return 0;
}

static int add_run(struct side *side, const char *dir,
                   const struct side_ask *ask, struct err *err)
{
    const char *lost = side->is_set ? manifest_loss(dir) : NULL;

    side->runs = xrealloc(side->runs, side->n_all + 1, sizeof(*side->runs));
    if (lost) {
        struct compared_run *run = &side->runs[side->n_all];

        *run = (struct compared_run){
            .dir = xstrdup(dir), .load = xstrdup(""), .is_discarded = true};
        snprintf(run->why, sizeof(run->why), "manifest.json %s", lost);
    } else if (compared_run_load(&side->runs[side->n_all], dir, ask, err)) {
        return -1;
    }
    side->n_all++;
    return 0;
}

/* Put discarded recordings behind the others, both in their order. */
static void discard(struct side *side, size_t asked)
{
    struct compared_run *sorted = xcalloc(side->n_all, sizeof(*sorted));
    size_t at = 0;

    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < side->n_all; i++) {
            if (side->runs[i].is_discarded == (part == 1))
                sorted[at++] = side->runs[i];
        }
        if (part == 0)
            side->n = at;
    }
    free(side->runs);
    side->runs = sorted;
    side->is_invalid =
        side->n < side->n_all &&
        side->n < valid_runs_needed(asked > 0 ? asked : side->n_all);
    if (side->n == 0)
        side->n = 1;
}

int side_load(struct side *side, const char *dir, const struct side_ask *ask,
              struct err *err)
{
    size_t asked;
    int rc;

    *side =
        (struct side){.dir = xstrdup(dir), .is_set = study_has_trial(dir, 1)};
    rc = read_study(side, &asked, err);
    if (rc == 0 && !side->is_set)
        rc = add_run(side, dir, ask, err);
    for (int64_t k = 1;
         rc == 0 && side->is_set && k <= MAX_TRIALS && study_has_trial(dir, k);
         k++) {
        char *path = study_trial_path(dir, k);

        rc = add_run(side, path, ask, err);
        free(path);
    }
    if (rc == 0)
        discard(side, asked);
    for (size_t q = 0; rc == 0 && q < ask->qs->len; q++) {
        side->units[q] = xcalloc(side->n, sizeof(double));
        side->has_all[q] = true;
        for (size_t i = 0; i < side->n; i++) {
            const struct reading *r = &side->runs[i].whole[q];

            side->has_all[q] = side->has_all[q] && r->n > 0 && !r->is_too_few;
            side->units[q][i] = r->value;
        }
    }
    if (rc)
        side_fini(side);
    return rc;
}

void side_fini(struct side *side)
{
    for (size_t i = 0; i < side->n_all; i++)
        compared_run_fini(&side->runs[i]);
    for (size_t i = 0; i < QUANTITIES_MAX; i++)
        free(side->units[i]);
    free(side->runs);
    free(side->turned_with);
    free(side->home);
    free(side->dir);
    *side = (struct side){0};
}

size_t side_warmup(const struct side *side)
{
    return side->n > 1 && side->is_one_launch && side->runs[0].makespan_s > 0;
}

size_t side_values(const struct side *side, size_t first, size_t i, double *out)
{
    size_t n = 0;

    for (size_t k = first; k < side->n; k++) {
        const struct reading *r = &side->runs[k].whole[i];

        if (r->n > 0 && !r->is_too_few && isfinite(r->value))
            out[n++] = r->value;
    }
    return n;
}

static int open_first(struct recording *rec, const char *dir, struct err *err)
{
    char *path =
        study_has_trial(dir, 1) ? study_trial_path(dir, 1) : xstrdup(dir);
    int rc = recording_open(rec, path, err);

    free(path);
    return rc;
}

int side_slo(const char *dir, const struct strlist *replace, struct slo *slo,
             bool *is_open_loop, struct err *err)
{
    struct recording rec;
    int rc;

    if (open_first(&rec, dir, err))
        return -1;
    *is_open_loop = scenario_is_open(rec.settings.load.scenario);
    rc = slo_parse(replace ? replace : &rec.settings.slo, slo, err);
    recording_close(&rec);
    return rc;
}

int side_started(const char *dir, int64_t *started_ns, struct err *err)
{
    struct recording rec;

    if (open_first(&rec, dir, err))
        return -1;
    *started_ns = manifest_start_realtime_ns(&rec.manifest);
    recording_close(&rec);
    return 0;
}

bool side_value(const struct side *side, size_t i, double *value)
{
    const struct reading *r = &side->runs[0].whole[i];
    double *copy;

    if (!side->is_set) {
        *value = r->value;
        return r->n > 0 && !r->is_too_few;
    }
    if (!side->has_all[i])
        return false;
    copy = xcalloc(side->n, sizeof(*copy));
    memcpy(copy, side->units[i], side->n * sizeof(*copy));
    *value = order_median(copy, side->n);
    free(copy);
    return true;
}

struct sample side_sample(const struct side *side, size_t i)
{
    const struct slice_readings *slices = &side->runs[0].slices[i];
    int64_t counted = 0;
    struct sample s = {0};

    for (size_t k = 0; k < side->n; k++)
        counted += side->runs[k].whole[i].n;
    if (counted == 0)
        return s;
    s = (struct sample){
        .counted = counted,
        .units = side->is_set ? side->units[i] : slices->value,
        .has_all = side->is_set ? side->has_all[i] : slices->has_all,
        .n = side->is_set ? side->n : SLICES,
        .min_in_slice = slices->min_n,
        .beyond = slices->beyond,
    };
    s.has_whole = side_value(side, i, &s.whole);
    return s;
}

const struct compared_run *side_obstacle(const struct side *side)
{
    for (size_t i = 0; i < side->n; i++) {
        if (side->runs[i].why[0])
            return &side->runs[i];
    }
    return side->is_invalid ? &side->runs[side->n_all - 1] : NULL;
}

size_t side_missed(const struct side *side)
{
    size_t missed = 0;

    for (size_t i = 0; i < side->n; i++)
        missed += side->runs[i].breaks_slo;
    return missed;
}

size_t side_cold(const struct side *side)
{
    size_t cold = 0;

    for (size_t i = 0; i < side->n; i++)
        cold += side->runs[i].is_cold;
    return cold;
}

static bool is_turned_with(const struct side *a, const struct side *b)
{
    return a->turned_with && b->home && strcmp(a->turned_with, b->home) == 0;
}

enum basis basis_of(const struct side *a, const struct side *b)
{
    if (a->is_set != b->is_set)
        return BASIS_NONE;
    if (!a->is_set)
        return BASIS_SLICES;
    return a->n == b->n && is_turned_with(a, b) && is_turned_with(b, a)
               ? BASIS_PAIRS
               : BASIS_TRIALS;
}
