/* From trial sets to a baseline (which configuration, and is it fit to be
 * one?), and from a later recording to ratios to the baseline. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/matched.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/recording/study_set.h"

#define MIN_TRIALS 2

enum { OF_THROUGHPUT, OF_QUALITY, OF_E2E, OF_COUNT };

static const char *const wanted[OF_COUNT] = {"throughput", "quality",
                                             "e2e p99"};

/* A configuration that may become the baseline. */
struct candidate {
    struct side side;
    size_t first; /* first run that counts; those before it were warm-up */
    bool is_offline;
    double speed;   /* larger is faster */
    double quality; /* NAN: no answer was checked */
};

__attribute__((format(printf, 2, 3))) static int refuse(char *why,
                                                        const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, BASELINE_WHY, fmt, ap);
    va_end(ap);
    return 1;
}

static const char *condition(const struct side *side, const char *key)
{
    const char *value = strmap_get(&side->runs[0].conditions, key);

    return value && value[0] ? value : NULL;
}

/* The peak memory of the server; 0: not measured. */
static int read_peak_memory(const char *dir, double *bytes, struct err *err)
{
    struct study_run run;

    if (study_run_open(&run, dir, NULL, NULL, err))
        return -1;
    *bytes = run.summary->metered.has_memory
                 ? (double)run.summary->metered.peak_bytes
                 : 0;
    study_run_close(&run);
    return 0;
}

/* ---- is it fit? ---- */

static int check_warmup(struct candidate *c, char *why)
{
    const struct side *side = &c->side;
    const char *cold = condition(side, "stub.cold");
    /* A stub that starts with a trial is at full speed at once, unless it was
     * configured to start cold. */
    bool needs_none = side->has_own_stubs && (!cold || strcmp(cold, "0") == 0);

    c->first = side_warmup(side);
    if (c->is_offline)
        return side->is_one_launch || needs_none
                   ? 0
                   : refuse(why,
                            "%s: no warm-up; in an offline set the first trial "
                            "is the warm-up, so all trials must use one start "
                            "of the server",
                            side->dir);
    for (size_t i = 0; i < side->n; i++) {
        if (!side->runs[i].has_warmup)
            return refuse(why, "%s: no warm-up (--warmup)", side->runs[i].dir);
    }
    return 0;
}

static int check_fit(struct candidate *c, char *why)
{
    const struct side *side = &c->side;
    const struct compared_run *bad = side_obstacle(side);
    const char *scenario = condition(side, "load.scenario");
    const char *replicas = condition(side, "conditions.replicas");

    if (!replicas)
        replicas = condition(side, "stub.replicas");
    if (!replicas)
        replicas = condition(side, "cost.replicas");
    c->is_offline = scenario && strcmp(scenario, "offline") == 0;
    if (bad)
        return refuse(why, "%s: %s", bad->dir, bad->why);
    if (replicas && strcmp(replicas, "1") != 0)
        return refuse(why, "%s: %s replicas; a baseline has one", side->dir,
                      replicas);
    if (condition(side, "cost.memory_of"))
        return refuse(why,
                      "%s: measuring the server's memory (--memory-of) took "
                      "CPU time; give this run with --memory instead",
                      side->dir);
    if (side->n > 1 && check_warmup(c, why))
        return 1;
    if (side->n - c->first < MIN_TRIALS)
        return refuse(why,
                      "%s: %s; a baseline needs at least %d trials, and one "
                      "more for warm-up if it is offline (run --trials 5)",
                      side->dir, side->n < 2 ? "one run" : "too few trials",
                      MIN_TRIALS);
    return 0;
}

/* ---- amounts ---- */

static struct baseline_amount amount_of(double *values, size_t n,
                                        const char *note_if_none)
{
    struct baseline_amount a = {.is_present = n > 0, .n = (int64_t)n};

    if (n == 0) {
        snprintf(a.note, sizeof(a.note), "%s", note_if_none);
        return a;
    }
    order_sort(values, n);
    a.least = values[0];
    a.greatest = values[n - 1];
    a.median = order_median(values, n);
    return a;
}

/* The runs that count, without memory. */
static void measure(const struct candidate *c, struct baseline_amount *amounts)
{
    double *values = xcalloc(c->side.n + 1, sizeof(*values));
    size_t n = 0;

    amounts[BASELINE_THROUGHPUT] = amount_of(
        values, side_values(&c->side, c->first, OF_THROUGHPUT, values), "");
    amounts[BASELINE_QUALITY] =
        amount_of(values, side_values(&c->side, c->first, OF_QUALITY, values),
                  "no answer was checked (--check)");
    for (size_t i = c->first; c->is_offline && i < c->side.n; i++)
        values[n++] = c->side.runs[i].makespan_s;
    amounts[BASELINE_TIME] =
        amount_of(values, n,
                  "only an offline set has a time; the duration of an open or "
                  "closed loop is chosen by the user");
    amounts[BASELINE_MEMORY] =
        amount_of(values, 0, "no run that measured it was given (--memory)");
    free(values);
}

static bool is_ranked_by_latency(const struct candidate *c)
{
    return c->side.runs[0].is_open_loop && !c->is_offline;
}

/* Speed is the throughput of runs at full load, and the inverse latency of an
 * open loop. */
static void rate_candidate(struct candidate *c)
{
    struct baseline_amount amounts[BASELINE_QUANTITIES];
    double *values = xcalloc(c->side.n + 1, sizeof(*values));
    struct baseline_amount e2e =
        amount_of(values, side_values(&c->side, c->first, OF_E2E, values), "");

    free(values);
    measure(c, amounts);
    c->quality = amounts[BASELINE_QUALITY].is_present
                     ? amounts[BASELINE_QUALITY].median
                     : (double)NAN;
    c->speed = is_ranked_by_latency(c) && e2e.is_present
                   ? 1 / e2e.median
                   : amounts[BASELINE_THROUGHPUT].median;
}

/* ---- which one ---- */

/* The fastest one whose quality is within the margin of the best. */
static size_t strongest(const struct candidate *list, size_t n, double margin)
{
    double best = NAN;
    size_t found = n;

    for (size_t i = 0; i < n; i++)
        best = fmax(best, list[i].quality);
    for (size_t i = 0; i < n; i++) {
        bool holds = isnan(best) || list[i].quality >= best - margin;

        if (holds && (found == n || list[i].speed > list[found].speed))
            found = i;
    }
    return found;
}

static const char *shown(const struct side *side, const char *key)
{
    const char *value = condition(side, key);

    return value ? value : "(none)";
}

/* Candidates can only be ranked if all do the same work. */
static int check_same_work(const struct candidate *list, size_t n, char *why)
{
    static const char *const keys[] = {"load.scenario",     "load.requests",
                                       "load.rate",         "load.clients",
                                       "data.file",         "data.input_tokens",
                                       "data.output_tokens"};

    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const char *a = shown(&list[0].side, keys[k]);
            const char *b = shown(&list[i].side, keys[k]);

            if (strcmp(a, b) != 0)
                return refuse(why,
                              "%s and %s do not do the same work: %s is %s and "
                              "%s",
                              list[0].side.dir, list[i].side.dir, keys[k], a,
                              b);
        }
    }
    return 0;
}

static char *describe_choice(const struct candidate *list, size_t n,
                             size_t taken)
{
    const struct candidate *c = &list[taken];

    if (n == 1)
        return xstrdup("the only configuration that was given");
    return xasprintf("%s, the %s of %zu configurations%s", c->side.dir,
                     is_ranked_by_latency(c) ? "lowest e2e p99" : "fastest", n,
                     isnan(c->quality) ? " (quality was not checked)"
                                       : " that hold quality");
}

/* ---- making one ---- */

static int add_recording(struct baseline *b, const char *dir, struct err *err)
{
    static const char *const names[] = {"manifest.json", "requests.tgr",
                                        "events.tgr", "client.tgr",
                                        "answers.jsonl"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = xasprintf("%s/%s", dir, names[i]);
        char hash[SHA256_TEXT];

        if (access(path, F_OK) == 0) {
            rc = sha256_file(path, hash, err);
            if (rc == 0)
                baseline_add_file(b, path, hash);
        }
        free(path);
    }
    return rc;
}

/* A run of its own, since measuring must not change what is measured. */
static int take_memory(struct baseline *b, const char *dir, char *why,
                       struct err *err)
{
    double peak;

    if (read_peak_memory(dir, &peak, err))
        return -1;
    if (!(peak > 0))
        return refuse(why,
                      "%s: the memory of the server was not measured (run "
                      "--memory-of)",
                      dir);
    b->amounts[BASELINE_MEMORY] = amount_of(&peak, 1, "");
    return add_recording(b, dir, err);
}

static int take(struct baseline *b, const struct candidate *c, struct err *err)
{
    const struct strmap *conditions = &c->side.runs[0].conditions;
    char utc[32];

    clk_format_utc(clk_realtime_ns(), CLK_TEXT_FORMAT, utc, sizeof(utc));
    b->frozen = xstrdup(utc);
    b->version = xstrdup(TAILGATE_VERSION);
    measure(c, b->amounts);
    for (size_t i = 0; i < conditions->keys.len; i++) {
        const char *why;

        if (matched_kind(conditions->keys.items[i], &why) == DIFFERENCE_MUST)
            strmap_put(&b->conditions, conditions->keys.items[i],
                       conditions->values.items[i]);
    }
    for (size_t i = 0; i < c->side.n; i++) {
        if (add_recording(b, c->side.runs[i].dir, err))
            return -1;
    }
    return baseline_read_answers(c->side.runs[c->first].dir, &b->answers,
                                 &b->n_answers, err);
}

static int load_side(struct side *side, const char *dir, size_t n_wanted,
                     struct err *err)
{
    struct strlist on = {.items = (char **)wanted, .len = n_wanted};
    struct quantities qs;

    if (quantities_make(&qs, &on, NULL, true, err))
        return -1;
    return side_load(side, dir, &(struct side_ask){.qs = &qs}, err);
}

int baseline_freeze(struct baseline *b, const struct baseline_ask *ask,
                    char why[static BASELINE_WHY], struct err *err)
{
    size_t n = ask->dirs->len;
    struct candidate *list = xcalloc(n, sizeof(*list));
    int rc = 0;

    *b = (struct baseline){0};
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = load_side(&list[i].side, ask->dirs->items[i], OF_COUNT, err);
        if (rc == 0)
            rc = check_fit(&list[i], why);
        if (rc == 0)
            rate_candidate(&list[i]);
    }
    if (rc == 0)
        rc = check_same_work(list, n, why);
    if (rc == 0) {
        size_t taken = strongest(list, n, ask->quality_margin);

        b->name = xstrdup(ask->name);
        b->chosen = describe_choice(list, n, taken);
        rc = take(b, &list[taken], err);
    }
    if (rc == 0 && ask->memory)
        rc = take_memory(b, ask->memory, why, err);
    for (size_t i = 0; i < n; i++)
        side_fini(&list[i].side);
    free(list);
    return rc;
}

/* ---- a later measurement ---- */

static void take_ratio(struct against *a, enum baseline_quantity q,
                       double value)
{
    const struct baseline_amount *base = &a->baseline->amounts[q];

    if (!base->is_present || !(value > 0) || !(base->median > 0))
        return;
    a->has[q] = true;
    a->value[q] = value;
    a->ratio[q] =
        q == BASELINE_TIME ? base->median / value : value / base->median;
}

/* Medians over the trials that count; only an offline set has a time. */
static void take_medians(struct against *a, const struct side *side)
{
    static const enum baseline_quantity quantity_of[] = {
        [OF_THROUGHPUT] = BASELINE_THROUGHPUT, [OF_QUALITY] = BASELINE_QUALITY};
    double *values = xcalloc(side->n + 1, sizeof(*values));

    for (size_t i = 0; i < OF_E2E; i++) {
        size_t n = side_values(side, a->warmup, i, values);

        if (n > 0)
            take_ratio(a, quantity_of[i], order_median(values, n));
    }
    for (size_t i = a->warmup; i < side->n; i++)
        values[i - a->warmup] = side->runs[i].makespan_s;
    if (side->n > a->warmup)
        take_ratio(a, BASELINE_TIME, order_median(values, side->n - a->warmup));
    free(values);
}

static void note_differences(struct against *a, const struct side *side)
{
    const struct strmap *then = &a->baseline->conditions;
    const struct strmap *now = &side->runs[0].conditions;

    for (size_t i = 0; i < then->keys.len; i++) {
        const char *value = strmap_get(now, then->keys.items[i]);
        char *line;

        if (value && strcmp(value, then->values.items[i]) == 0)
            continue;
        line = xasprintf("%s: %s, now %s", then->keys.items[i],
                         then->values.items[i], value ? value : "(none)");
        strlist_add(&a->differences, line);
        free(line);
    }
}

/* Both lists are sorted by index. */
static int count_answers(struct against *a, const char *dir, struct err *err)
{
    const struct baseline *b = a->baseline;
    struct baseline_answer *now;
    size_t n;
    size_t j = 0;

    if (baseline_read_answers(dir, &now, &n, err))
        return -1;
    for (size_t i = 0; i < b->n_answers; i++) {
        while (j < n && now[j].index < b->answers[i].index)
            j++;
        if (j < n && now[j].index == b->answers[i].index) {
            a->answers++;
            a->agree += strcmp(now[j].hash, b->answers[i].hash) == 0;
        }
    }
    free(now);
    return 0;
}

int against_make(struct against *a, const struct baseline *b, const char *dir,
                 struct err *err)
{
    struct side side = {0};
    double max_peak = 0;
    int rc = load_side(&side, dir, OF_E2E, err);

    *a = (struct against){.baseline = b};
    if (rc == 0) {
        a->warmup = side_warmup(&side);
        a->trials = side.n - a->warmup;
        take_medians(a, &side);
        note_differences(a, &side);
    }
    for (size_t i = a->warmup; rc == 0 && i < side.n; i++) {
        double peak = 0;

        rc = count_answers(a, side.runs[i].dir, err);
        if (rc == 0)
            rc = read_peak_memory(side.runs[i].dir, &peak, err);
        max_peak = fmax(max_peak, peak);
    }
    if (rc == 0)
        take_ratio(a, BASELINE_MEMORY, max_peak);
    side_fini(&side);
    return rc;
}

void against_fini(struct against *a)
{
    strlist_fini(&a->differences);
}
