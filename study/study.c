#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/studies/valid_runs.h"
#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/manifest.h"
#include "common/settings/settings_file.h"
#include "common/settings/variant_settings.h"
#include "common/text/units.h"
#include "study/child.h"
#include "study/study_point.h"

#define SEED_BITS 48 /* any reader of JSON numbers can hold that many */
#define MAX_TITLE 1024

/* For the server to finish what a probe has left. */
#define CALM_NS (120 * NS_PER_S)

/* ---- settings ---- */

int study_settings(const struct study_source *source,
                   const struct strlist *overrides, struct settings *out,
                   struct err *err)
{
    const struct classes *variants = &source->asked->variants;
    int rc;

    settings_clone(out, source->asked);
    for (size_t i = 0; overrides && i < overrides->len; i++) {
        if (settings_assign(out, overrides->items[i], err))
            return -1;
    }
    if (source->variant > 0)
        variants_take(out, source->variant - 1);
    rc = settings_look_up_price(out, err) || settings_resolve(out, err);
    if (rc && source->variant > 0)
        err_context(err, "%s: %s", VARIANTS,
                    variants->items[source->variant - 1].name);
    if (rc)
        return study_blame(source, err);
    return source->check ? source->check(out, err) : 0;
}

int study_blame(const struct study_source *source, struct err *err)
{
    return settings_blame(source->file, err);
}

int study_resolve(struct study_arm *arm, const struct strlist *overrides,
                  struct err *err)
{
    arm->has_settings = true;
    return study_settings(&arm->source, overrides, &arm->settings, err);
}

uint64_t study_seed(uint64_t seed, int64_t n)
{
    struct rng rng = rng_stream(seed, RNG_TRIAL);

    for (int64_t i = 1; i < n; i++)
        seed = rng_next(&rng) >> (64 - SEED_BITS);
    return seed;
}

void study_reseed(struct settings *s, int64_t n)
{
    bool has_mlperf = s->load.seeds == SEEDS_MLPERF;

    s->load.seed = study_seed(s->load.seed, n);
    if (has_mlperf)
        s->load.schedule_seed = study_seed(s->load.schedule_seed, n);
    if (has_mlperf && s->data.file) {
        s->load.qsl_seed = study_seed(s->load.qsl_seed, n);
        s->load.sample_index_seed = study_seed(s->load.sample_index_seed, n);
    }
    if (s->data.nonce != 0) /* else each run draws its own */
        s->data.nonce = study_seed(s->data.nonce, n);
    s->stub.seed = study_seed(s->stub.seed, n);
    for (size_t i = 0; i < s->classes.len; i++)
        study_reseed(s->classes.items[i].settings, n);
    for (size_t i = 0; i < s->warmup.len; i++)
        study_reseed(s->warmup.items[i].settings, n);
}

static enum launched_by launched_by(const struct settings *s)
{
    if (s->has_stub)
        return LAUNCHED_STUB;
    if (s->server.start)
        return LAUNCHED_SERVER;
    return s->study.restart ? LAUNCHED_RESTART : LAUNCHED_ONCE;
}

/* ---- points ---- */

char *study_assignment(const struct study_set *set, double value)
{
    char text[UNITS_TEXT];

    return xasprintf("%s=%s%s", set->key, units_print_number(value, text),
                     set->unit);
}

int study_check_varied(const struct study_arm *arm, struct err *err)
{
    const struct classes *variants = &arm->source.asked->variants;
    const struct classes *classes = &arm->settings.classes;
    const char *key = arm->set.key;
    size_t variant = arm->source.variant;
    enum settings_block block;
    const struct opt *opt = settings_find(key, strlen(key), &block);
    size_t said = 0;

    for (size_t i = 0; opt && i < classes->len; i++)
        said += class_has_said(&classes->items[i], opt);
    if (opt && variant > 0 &&
        class_has_said(&variants->items[variant - 1], opt))
        err_set(err, ERR_CONFIG,
                VARIANTS ": %s: %s: cannot be varied, because the variant sets "
                         "it",
                variants->items[variant - 1].name, key);
    else if (classes->len > 0 && said == classes->len)
        err_set(err, ERR_CONFIG,
                "%s: cannot be varied, because every class sets it", key);
    else if (block == BLOCK_STUB && !arm->settings.has_stub)
        err_set(err, ERR_CONFIG,
                "%s: cannot be varied without the block 'stub' of a settings "
                "file",
                key);
    else
        return 0;
    return study_blame(&arm->source, err);
}

bool study_first_open(const struct study_set *set, size_t *i)
{
    for (*i = 0; *i < set->len; (*i)++) {
        if (!set->points[*i].is_recorded)
            return true;
    }
    return false;
}

/* ---- turns ---- */

/* Which arm has the i-th place, from 0, in a round of n. */
static size_t place(size_t round, size_t i, size_t n)
{
    return round % 2 ? n - 1 - i : i;
}

bool study_next_turn(const struct study_turn *turns, size_t n, size_t *which)
{
    size_t round = SIZE_MAX;

    for (size_t i = 0; i < n; i++) {
        if (!turns[i].is_over && turns[i].made < round)
            round = turns[i].made;
    }
    for (size_t i = 0; i < n; i++) {
        *which = place(round, i, n);
        if (!turns[*which].is_over && turns[*which].made == round)
            return true;
    }
    return false;
}

char *study_order(int64_t n)
{
    size_t len = (size_t)n * 2;
    char *order = xcalloc(len + 1, 1);

    for (size_t i = 0; i < len; i++)
        order[i] = (char)('A' + place(i / 2, i % 2, 2));
    return order;
}

static bool find_turn(const struct study *st, struct study_arm **arm)
{
    struct study_turn *turns = xcalloc(st->n, sizeof(*turns));
    size_t which = 0;
    bool found;

    for (size_t i = 0; i < st->n; i++) {
        const struct study_set *set = &st->arms[i].set;

        turns[i] =
            (struct study_turn){study_set_recorded(set) - (size_t)set->replaced,
                                st->arms[i].is_over};
    }
    found = study_next_turn(turns, st->n, &which);
    *arm = &st->arms[which];
    free(turns);
    return found;
}

/* ---- one recording ---- */

/* What became of a point. */
enum { RECORDED = 1, LOST };

/* A trial outside of variants, of a set that cannot be resumed. */
static bool is_plain_trial(const struct study_arm *arm)
{
    return arm->set.kind == STUDY_TRIALS &&
           arm->study->form != STUDY_OF_VARIANTS;
}

/* An interrupted attempt may have left something, and the server may need a
 * pause or a restart. */
static int prepare(const struct study_arm *arm, const char *dir,
                   struct err *err)
{
    const struct study *st = arm->study;
    const struct study_settings *study = &arm->settings.study;

    if (access(dir, F_OK) == 0 && recording_remove(dir, err))
        return -1;
    /* Trials keep the pause in any case.  Otherwise a server that is started
     * again needs none. */
    if (is_plain_trial(arm)
            ? st->attempts > 0
            : arm->has_begun && arm->set.launched_by == LAUNCHED_ONCE)
        point_settle(study->settle_ns);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_STOPPED, "interrupted between two recordings");
    return study->restart ? child_run_command(study->restart, "study.restart",
                                              CHILD_PATIENCE_NS, err)
                          : 0;
}

/* About how long the rest of all arms will take; 0: not known yet. */
static int64_t time_left(const struct study *st)
{
    int64_t each_ns = st->made > 0 ? st->took_ns / (int64_t)st->made : 0;
    int64_t left_ns = 0;

    for (size_t i = 0; i < st->n; i++) {
        const struct study_arm *arm = &st->arms[i];

        if (arm->is_over)
            continue;
        left_ns +=
            st->policy->left_ns
                ? st->policy->left_ns(arm)
                : (int64_t)(arm->set.len - study_set_recorded(&arm->set)) *
                      each_ns;
    }
    return left_ns;
}

static void put_title(const struct study_arm *arm,
                      const struct study_shot *shot,
                      char title[static MAX_TITLE])
{
    char text[UNITS_TEXT];
    int64_t left_ns = time_left(arm->study);

    if (arm->study->form != STUDY_OF_VARIANTS)
        snprintf(title, MAX_TITLE, "%s", shot->title);
    else if (left_ns > 0)
        snprintf(title, MAX_TITLE, "variant    %s, about %s left; %s",
                 arm->name, units_show_span(left_ns, text), shot->title);
    else
        snprintf(title, MAX_TITLE, "variant    %s; %s", arm->name, shot->title);
}

static int note_result(void *arg, const struct summary *s,
                       const struct recording *rec, struct err *err)
{
    struct study_point *at = arg;

    (void)rec;
    (void)err;
    log_note("           %s%s, completed %.6g/s of %.6g/s offered, attainment "
             "%.6g%%",
             verdict_name(s->verdict),
             summary_is_overloaded(s) ? ", overloaded" : "", s->completed_rps,
             s->offered_rps, 100 * s->attainment);
    if (s->stopped_by == 0 && run_is_discarded(s, at->discarded))
        log_note("           discarded: %s", at->discarded);
    return 0;
}

/* Another point for one that was discarded, up to the maximum.  It is added at
 * the end, so points are numbered in the order in which they are made. */
static void replace_discarded(struct study_arm *arm, size_t i)
{
    struct study_set *set = &arm->set;
    size_t planned = set->len - (size_t)set->replaced;
    struct study_point *p;

    if (!set->points[i].discarded[0] ||
        (size_t)set->replaced >=
            valid_runs_repeats(arm->settings.study.max_discarded, planned))
        return;
    set->replaced++;
    p = study_set_add(set, set->points[i].role, set->points[i].value);
    p->repeat = set->points[i].repeat;
    if (p->role == POINT_TRIAL)
        p->seed = study_seed(arm->settings.load.seed, p->number);
}

static int record(struct study_arm *arm, const struct study_shot *shot,
                  const char *dir, struct err *err)
{
    struct study *st = arm->study;
    char title[MAX_TITLE];
    const struct study_recording r = {
        .dir = dir,
        .title = title,
        .is_plain = is_plain_trial(arm),
        .judge = shot->judge,
        .arm = arm,
        .value = arm->set.kind == STUDY_TRIALS ? NAN
                                               : arm->set.points[shot->i].value,
        .met = shot->met,
        .missed = shot->missed,
        .is_first = st->attempts == 0,
        .meets_server =
            !arm->has_begun || arm->set.launched_by != LAUNCHED_ONCE,
    };
    struct settings s;
    int rc = study_settings(&arm->source, &shot->overrides, &s, err);

    put_title(arm, shot, title);
    if (st->policy->kind == STUDY_SEARCH) { /* it decides how long probes are */
        free(s.study.until);
        s.study.until = NULL;
    }
    if (rc == 0 && shot->is_after_backlog &&
        arm->set.launched_by == LAUNCHED_ONCE)
        rc = point_wait_calm(
            s.classes.len > 0 ? s.classes.items[0].settings : &s, CALM_NS, err);
    if (rc == 0) {
        study_reseed(&s, (int64_t)shot->i + 1);
        log_note("%s", title);
        rc = st->record(st->arg, &s, &r, err);
        st->attempts++;
        arm->has_begun = true;
    }
    if (rc == 0)
        rc = point_sum_up(dir, NULL, st->policy->note ? NULL : note_result,
                          &arm->set.points[shot->i], err);
    settings_fini(&s);
    return rc;
}

/* Is the recording complete, or was it cut by something else than us?  The
 * report judges what a launcher has lost.  A plain trial that a signal cut is
 * kept. */
static bool is_whole(const struct study_arm *arm, const char *dir)
{
    struct manifest m;
    struct run_end end = {0};
    bool is_there;

    if (is_plain_trial(arm))
        return true;
    is_there = manifest_load(&m, dir, &(struct err){0}) == 0;
    if (is_there)
        manifest_end(&m, &end);
    manifest_fini(&m);
    return is_there && end.stopped_by == 0;
}

/* Why there will be no more, in the sets that end here. */
static int note_end(struct study_arm *arm, struct study_point *at,
                    struct err *why, struct err *err)
{
    struct study *st = arm->study;
    int signal = atomic_load(&stop_signal);

    if (!why->code)
        err_set(why, ERR_IO, "the recording was cut by a signal");
    if (signal == 0)
        snprintf(at->failed, sizeof(at->failed), "%.*s",
                 (int)sizeof(at->failed) - 1, why->msg);
    for (size_t i = 0; i < st->n; i++) {
        struct study_set *set = &st->arms[i].set;

        if (&st->arms[i] != arm && st->form != STUDY_TURNS)
            continue;
        set->stopped_by = signal;
        if (signal == 0)
            snprintf(set->failed, sizeof(set->failed), "%s", why->msg);
        if (study_set_save(set, st->arms[i].dir, err))
            return -1;
    }
    if (signal)
        return 0;
    *err = *why;
    return -1;
}

/* The study goes on without the point, which stays in its set. */
static int note_lost(struct study_arm *arm, const struct study_shot *shot,
                     const struct err *why, struct err *err)
{
    struct study_point *at = &arm->set.points[shot->i];

    log_error("%s", why->msg);
    snprintf(at->failed, sizeof(at->failed), "%.*s",
             (int)sizeof(at->failed) - 1, why->msg);
    snprintf(at->discarded, sizeof(at->discarded), "%s", STUDY_LOST);
    arm->study->policy->lost(arm, shot);
    return study_set_save(&arm->set, arm->dir, err) ? -1 : LOST;
}

/* The new study has a recording. */
static void drop_replaced(const struct study *st)
{
    struct err why = {0};

    if (study_drop_replaced(st->dir, &why))
        log_error("%s", why.msg);
}

/* RECORDED or LOST; 0: a signal came, and the set says so on disk; -1. */
static int make_point(struct study_arm *arm, const struct study_shot *shot,
                      struct err *err)
{
    struct study *st = arm->study;
    struct study_point *at = &arm->set.points[shot->i];
    char *dir = study_point_path(arm->dir, at);
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct err why = {0};
    int rc = prepare(arm, dir, &why);
    int64_t took_ns;
    bool is_lost;

    if (rc == 0)
        rc = record(arm, shot, dir, &why);
    is_lost = rc > 0 && st->policy->lost && !atomic_load(&stop_signal);
    took_ns = clk_now(&clk_monotonic) - begun_ns;
    at->is_recorded = rc == 0 && is_whole(arm, dir);
    at->took_s = (double)took_ns / 1e9;
    free(dir);
    if (is_lost)
        return note_lost(arm, shot, &why, err);
    if (!at->is_recorded)
        return note_end(arm, at, &why, err);
    at->failed[0] = '\0';
    arm->set.recorded++;
    replace_discarded(arm, shot->i);
    if (st->made++ == 0)
        drop_replaced(st);
    st->took_ns += took_ns;
    return study_set_save(&arm->set, arm->dir, err) ? -1 : RECORDED;
}

/* The same; 0 also if the arm is complete. */
static int step(struct study_arm *arm, struct err *err)
{
    const struct study_policy *policy = arm->study->policy;
    struct study_shot shot = {.met = NAN, .missed = NAN};
    int rc = policy->next(arm, &shot, err);

    if (rc > 0)
        rc = make_point(arm, &shot, err);
    if (rc == RECORDED && policy->note && policy->note(arm, &shot, err))
        rc = -1;
    strlist_fini(&shot.overrides);
    return rc;
}

/* ---- on disk ---- */

static int save_variants(const struct study *st, struct err *err)
{
    struct variant_set set = {.of = st->policy->kind,
                              .stopped_by = atomic_load(&stop_signal)};
    int rc;

    for (size_t i = 0; i < st->n; i++) {
        variant_set_add(&set, st->arms[i].name);
        memcpy(set.list[i].failed, st->arms[i].failed,
               sizeof(set.list[i].failed));
    }
    rc = variant_set_save(&set, st->dir, err);
    variant_set_fini(&set);
    return rc;
}

static int check_variants(const struct study *st, struct err *err)
{
    struct variant_set old;
    int rc = variant_set_load(&old, st->dir, err);
    bool is_same = rc == 0 && old.of == st->policy->kind && old.n == st->n;

    for (size_t i = 0; is_same && i < st->n; i++)
        is_same = strcmp(old.list[i].name, st->arms[i].name) == 0;
    if (rc == 0 && !is_same)
        rc = err_set(err, ERR_USAGE,
                     "--resume: the variants of %s are different", st->dir);
    variant_set_fini(&old);
    return rc;
}

/* Continue with the set on disk. */
static int take_up(struct study_arm *arm, struct err *err)
{
    struct study_set *set = &arm->set;
    struct study_set old;
    int rc = study_set_load(&old, arm->dir, err);

    if (rc == 0 && (old.kind != set->kind ||
                    strcmp(old.settings_hash, set->settings_hash) != 0))
        rc = err_set(err, ERR_USAGE,
                     "--resume: %s was started with other settings", arm->dir);
    if (rc) {
        study_set_fini(&old);
        return -1;
    }
    old.budget_ns = set->budget_ns; /* the one setting that may differ */
    study_set_fini(set);
    *set = old;
    set->stopped_by = 0;
    set->failed[0] = '\0';
    return 0;
}

static int open_arm(struct study_arm *arm, bool resumes, struct err *err)
{
    const struct study *st = arm->study;
    bool force = st->form == STUDY_ALONE && st->force;
    int rc = resumes && study_is_at(arm->dir)
                 ? take_up(arm, err)
                 : study_make_dir(arm->dir, force, err);

    if (rc == 0)
        rc = study_set_save(&arm->set, arm->dir, err);
    if (rc == 0 && st->policy->resume)
        rc = st->policy->resume(arm, err);
    return rc;
}

static int open_pair(const struct study *st, struct err *err)
{
    char *order = study_order(st->arms[0].set.asked);
    int rc = study_make_dir(st->dir, st->force, err);

    if (rc == 0)
        rc = study_save_pair(st->dir, order, err);
    free(order);
    return rc;
}

static int open_all(struct study *st, struct err *err)
{
    bool resumes = st->resume && study_is_at(st->dir);
    int rc = 0;

    if (st->resume && !resumes)
        log_note("%-10s nothing is recorded in %s yet: starting there",
                 "resume", st->dir);
    if (st->form == STUDY_TURNS) {
        rc = open_pair(st, err);
    } else if (st->form == STUDY_OF_VARIANTS) {
        rc = resumes ? check_variants(st, err)
                     : study_make_dir(st->dir, st->force, err);
        if (rc == 0)
            rc = save_variants(st, err);
    }
    for (size_t i = 0; rc == 0 && i < st->n; i++) {
        struct study_arm *arm = &st->arms[i];

        arm->dir = st->form == STUDY_ALONE
                       ? xstrdup(st->dir)
                       : xasprintf("%s/%s", st->dir, arm->name);
        rc = open_arm(arm, resumes, err);
    }
    return rc;
}

/* ---- all of it ---- */

void study_add(struct study *st, const char *name,
               const struct study_source *source)
{
    st->arms = xrealloc(st->arms, st->n + 1, sizeof(*st->arms));
    st->arms[st->n++] = (struct study_arm){.name = name, .source = *source};
}

int study_plan(struct study *st, struct err *err)
{
    for (size_t i = 0; i < st->n; i++) {
        struct study_arm *arm = &st->arms[i];

        arm->study = st;
        arm->state = xcalloc(1, st->policy->state_size + 1);
        arm->set.kind = st->policy->kind;
        if (st->policy->plan(arm, err))
            return -1;
        arm->set.launched_by = launched_by(&arm->settings);
    }
    return 0;
}

/* A variant that fails gets no more turns; the others go on. */
static int take_turn_of_variant(struct study_arm *arm, struct err *err)
{
    struct err why = {0};
    int rc = step(arm, &why);

    if (rc > 0 || atomic_load(&stop_signal))
        return 0;
    arm->is_over = true;
    if (rc == 0)
        return 0;
    log_error("variant %s: %s", arm->name, why.msg);
    snprintf(arm->failed, sizeof(arm->failed), "%s", why.msg);
    return save_variants(arm->study, err);
}

/* Until all arms are over.  An arm alone, and each of a pair, notes a signal
 * itself if there was more to record. */
static int take_turns(struct study *st, struct err *err)
{
    struct study_arm *arm;
    int rc;

    if (st->form == STUDY_OF_VARIANTS) {
        while (!atomic_load(&stop_signal) && find_turn(st, &arm)) {
            if (take_turn_of_variant(arm, err))
                return -1;
        }
        return save_variants(st, err);
    }
    while (find_turn(st, &arm)) {
        rc = step(arm, err);
        if (rc < 0 || (rc == 0 && atomic_load(&stop_signal)))
            return rc;
        arm->is_over = rc == 0;
    }
    return 0;
}

bool study_has_result(const struct study *st)
{
    for (size_t i = 0; st->is_open && i < st->n; i++) {
        const struct study_arm *arm = &st->arms[i];

        if (study_set_recorded(&arm->set) > 0 || arm->failed[0])
            return true;
        for (size_t k = 0; k < arm->set.len; k++) {
            if (arm->set.points[k].discarded[0])
                return true;
        }
    }
    return false;
}

static int sum_up(const struct study_arm *arm, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, POINT_MAX_REPORT);
    rc = arm->study->policy->sum_up(arm->dir, &out, err);
    if (rc == 0)
        rc = file_replace_in(arm->dir, "summary.json", &out, err);
    buf_fini(&out);
    return rc;
}

/* What was recorded is kept although it is not complete.  Otherwise the study
 * that it was to replace is put back.  If there is none, the log of a server
 * that did not start is kept, and without one nothing is. */
static int end_without_result(const struct study *st, int rc, struct err *err)
{
    char *begun = study_part_with(st->dir, "manifest.json");
    char *log = study_part_with(st->dir, "server.log");
    struct err ignored = {0};

    if (begun)
        drop_replaced(st);
    else if (!st->resume && !study_restore_replaced(st->dir, &ignored) && !log)
        study_remove(st->dir, &ignored);
    if (rc == 0 && begun)
        err_set(err, ERR_STOPPED,
                "interrupted before %s was complete; to see what it recorded: "
                "tailgate report %s",
                st->policy->one, begun);
    else if (rc == 0)
        err_set(err, ERR_STOPPED, "interrupted before %s was recorded",
                st->policy->one);
    free(begun);
    free(log);
    return -1;
}

int study_run(struct study *st, struct err *err)
{
    int rc = open_all(st, err);

    if (rc) {
        if (st->force)
            study_restore_replaced(st->dir, &(struct err){0});
        return -1;
    }
    st->is_open = true;
    stop_catch_signals();
    rc = take_turns(st, err);
    if (!study_has_result(st))
        return end_without_result(st, rc, err);
    for (size_t i = 0; rc == 0 && st->form == STUDY_OF_VARIANTS && i < st->n;
         i++) {
        if (study_set_recorded(&st->arms[i].set) > 0)
            rc = sum_up(&st->arms[i], err);
    }
    return rc;
}

void study_fini(struct study *st)
{
    for (size_t i = 0; i < st->n; i++) {
        struct study_arm *arm = &st->arms[i];

        if (arm->state && st->policy->fini)
            st->policy->fini(arm);
        if (arm->has_settings)
            settings_fini(&arm->settings);
        study_set_fini(&arm->set);
        free(arm->state);
        free(arm->dir);
    }
    free(st->arms);
    st->arms = NULL;
    st->n = 0;
}
