/* From trial sets to a baseline: which configuration, and is it fit to be one?
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/matched.h"
#include "analyzer/read/reader.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/recording/study_set.h"

#define LEAST_TRIALS 2

enum { OF_THROUGHPUT, OF_QUALITY, OF_E2E, OF_COUNT };

static const char *const wanted[OF_COUNT] = {"throughput", "quality",
                                             "e2e p99"};

/* A configuration that may become the baseline. */
struct candidate {
    struct side side;
    size_t first; /* run that counts; those before it were the warm-up */
    bool is_offline;
    double speed;   /* the larger the faster */
    double quality; /* NAN: nothing was checked */
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
    const char *value = strmap_get(&side->runs[0].card, key);

    return value && value[0] ? value : NULL;
}

/* At one replica, as far as anybody said. */
static const char *replicas_of(const struct side *side)
{
    const char *said = condition(side, "conditions.replicas");

    if (!said)
        said = condition(side, "stub.replicas");
    return said ? said : condition(side, "cost.replicas");
}

static bool is_offline(const struct side *side)
{
    const char *scenario = condition(side, "load.scenario");

    return scenario && strcmp(scenario, "offline") == 0;
}

/* ---- is it fit? ---- */

/* A stub that is started for a trial is as fast at once as later, unless it was
 * asked to begin cold. */
static bool needs_no_warmup(const struct side *side)
{
    const char *cold = condition(side, "stub.cold");

    return side->has_own_stubs && (!cold || strcmp(cold, "0") == 0);
}

static int check_warmup(struct candidate *c, char *why)
{
    const struct side *side = &c->side;

    c->first = side_warmup(side);
    if (c->is_offline) {
        if (!side->is_one_launch && !needs_no_warmup(side))
            return refuse(why,
                          "%s: without a warm-up: an offline set has none of "
                          "its own, so that all trials must be of one launch, "
                          "of which the first is left out",
                          side->dir);
        return 0;
    }
    for (size_t i = 0; i < side->n; i++) {
        if (!side->runs[i].has_warmup)
            return refuse(why, "%s: without a warm-up (--warmup)",
                          side->runs[i].dir);
    }
    return 0;
}

static int check_fit(struct candidate *c, char *why)
{
    const struct side *side = &c->side;
    const struct run_card *bad = side_obstacle(side);
    const char *replicas = replicas_of(side);

    c->is_offline = is_offline(side);
    if (bad)
        return refuse(why, "%s: %s", bad->dir, bad->why);
    if (replicas && strcmp(replicas, "1") != 0)
        return refuse(why, "%s: of %s replicas; a baseline has one", side->dir,
                      replicas);
    if (condition(side, "cost.memory_of"))
        return refuse(why,
                      "%s: the server's memory was read beside it, which takes "
                      "CPU; such a run is for --memory",
                      side->dir);
    if (side->n > 1 && check_warmup(c, why))
        return 1;
    if (side->n - c->first < LEAST_TRIALS)
        return refuse(why,
                      "%s: %s; a baseline needs %d trials at least, beside one "
                      "that warms up where they are offline (run --trials 5)",
                      side->dir, side->n < 2 ? "one run" : "too few trials",
                      LEAST_TRIALS);
    return 0;
}

/* ---- amounts ---- */

static void spread_over(struct baseline_amount *a, double *values, size_t n)
{
    *a = (struct baseline_amount){.is_there = n > 0, .n = (int64_t)n};
    if (n == 0)
        return;
    order_sort(values, n);
    a->least = values[0];
    a->greatest = values[n - 1];
    a->median = order_median(values, n);
}

static void absent(struct baseline_amount *a, const char *note)
{
    *a = (struct baseline_amount){0};
    snprintf(a->note, sizeof(a->note), "%s", note);
}

/* Of the runs that count. */
static size_t values_of(const struct candidate *c, size_t quantity, double *out)
{
    return side_values(&c->side, c->first, quantity, out);
}

static size_t times_of(const struct candidate *c, double *out)
{
    size_t n = 0;

    for (size_t i = c->first; i < c->side.n; i++)
        out[n++] = c->side.runs[i].makespan_s;
    return n;
}

static void measure(struct candidate *c, struct baseline_amount *amounts)
{
    double *values = xcalloc(c->side.n + 1, sizeof(*values));

    spread_over(&amounts[BASELINE_THROUGHPUT], values,
                values_of(c, OF_THROUGHPUT, values));
    spread_over(&amounts[BASELINE_QUALITY], values,
                values_of(c, OF_QUALITY, values));
    if (!amounts[BASELINE_QUALITY].is_there)
        absent(&amounts[BASELINE_QUALITY], "no answer was checked (--check)");
    if (c->is_offline)
        spread_over(&amounts[BASELINE_TIME], values, times_of(c, values));
    else
        absent(&amounts[BASELINE_TIME],
               "only an offline set has a time; how long an open or closed "
               "loop runs is chosen");
    absent(&amounts[BASELINE_MEMORY],
           "no pass that measures it was given (--memory)");
    free(values);
}

/* By which the strongest is found: of what is done at full speed how much, of
 * an open loop how soon. */
static void rate_candidate(struct candidate *c)
{
    struct baseline_amount of[BASELINE_QUANTITIES];
    double *values = xcalloc(c->side.n + 1, sizeof(*values));
    struct baseline_amount e2e;

    measure(c, of);
    spread_over(&e2e, values, values_of(c, OF_E2E, values));
    free(values);
    c->quality = of[BASELINE_QUALITY].is_there ? of[BASELINE_QUALITY].median
                                               : (double)NAN;
    c->speed = c->side.runs[0].is_open_loop && !c->is_offline && e2e.is_there
                   ? 1 / e2e.median
                   : of[BASELINE_THROUGHPUT].median;
}

/* ---- which one ---- */

static double best_quality(const struct candidate *list, size_t n)
{
    double best = NAN;

    for (size_t i = 0; i < n; i++)
        best = fmax(best, list[i].quality);
    return best;
}

/* The fastest that holds quality. */
static size_t strongest(const struct candidate *list, size_t n, double margin)
{
    double least = best_quality(list, n) - margin;
    size_t found = n;

    for (size_t i = 0; i < n; i++) {
        bool holds = isnan(least) || list[i].quality >= least;

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

/* All must do the same work, or none is stronger than another. */
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
    if (n == 1)
        return xstrdup("the only configuration that was given");
    return xasprintf("%s, the %s of %zu configurations that hold%s quality",
                     list[taken].side.dir,
                     list[taken].side.runs[0].is_open_loop &&
                             !list[taken].is_offline
                         ? "soonest (e2e p99)"
                         : "fastest",
                     n, isnan(list[taken].quality) ? ", as far as known," : "");
}

/* ---- all of it ---- */

static int add_recording(struct baseline *b, const char *dir, struct err *err)
{
    static const char *const names[] = {"manifest.json", "requests.tgr",
                                        "events.tgr", "client.tgr",
                                        "answers.jsonl"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = xasprintf("%s/%s", dir, names[i]);
        char hash[SHA256_TEXT];
        int rc = 0;

        if (access(path, F_OK) == 0)
            rc = sha256_file(path, hash, err);
        else
            hash[0] = '\0';
        if (rc == 0 && hash[0])
            baseline_add_file(b, path, hash);
        free(path);
        if (rc)
            return -1;
    }
    return 0;
}

static void take_conditions(struct baseline *b, const struct side *side)
{
    const struct strmap *card = &side->runs[0].card;

    for (size_t i = 0; i < card->keys.len; i++) {
        const char *why;

        if (matched_kind(card->keys.items[i], &why) == DIFFERENCE_MUST)
            strmap_put(&b->conditions, card->keys.items[i],
                       card->values.items[i]);
    }
}

/* A pass of its own, since an instrument must not change what it measures. */
static int take_memory(struct baseline *b, const char *dir, char *why,
                       struct err *err)
{
    struct baseline_amount *a = &b->amounts[BASELINE_MEMORY];
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0 && !s.metered.has_memory)
        rc = refuse(why,
                    "%s: the server's memory was not measured (run "
                    "--memory-of)",
                    dir);
    if (rc == 0) {
        double peak = (double)s.metered.peak_bytes;

        spread_over(a, &peak, 1);
        rc = add_recording(b, dir, err);
    }
    recording_close(&rec);
    return rc;
}

static int take(struct baseline *b, struct candidate *c, struct err *err)
{
    char utc[32];

    clk_format_utc(clk_realtime_ns(), CLK_TEXT_FORMAT, utc, sizeof(utc));
    b->frozen = xstrdup(utc);
    b->version = xstrdup(TAILGATE_VERSION);
    measure(c, b->amounts);
    take_conditions(b, &c->side);
    for (size_t i = 0; i < c->side.n; i++) {
        if (add_recording(b, c->side.runs[i].dir, err))
            return -1;
    }
    return baseline_read_answers(c->side.runs[c->first].dir, &b->answers,
                                 &b->n_answers, err);
}

static int load_candidates(struct candidate *list,
                           const struct baseline_ask *ask, char *why,
                           struct err *err)
{
    struct strlist on = {.items = (char **)wanted, .len = OF_COUNT};
    struct quantities qs;
    int rc = quantities_make(&qs, &on, NULL, err);

    for (size_t i = 0; rc == 0 && i < ask->dirs->len; i++) {
        rc = side_load(&list[i].side, ask->dirs->items[i],
                       &(struct side_ask){.qs = &qs}, err);
        if (rc == 0)
            rc = check_fit(&list[i], why);
        if (rc == 0)
            rate_candidate(&list[i]);
    }
    return rc ? rc : check_same_work(list, ask->dirs->len, why);
}

int baseline_freeze(struct baseline *b, const struct baseline_ask *ask,
                    char why[static BASELINE_WHY], struct err *err)
{
    size_t n = ask->dirs->len;
    struct candidate *list = xcalloc(n, sizeof(*list));
    int rc = load_candidates(list, ask, why, err);

    *b = (struct baseline){0};
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
