#include "analyzer/compare/run_conditions.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define MAX_TEXT ((size_t)1 << 20)
#define MAX_LINE 4096

/* ---- conditions ---- */

/* Anything but plain text, such as the classes of a workload, as JSON. */
static void put_text(const json_t *value, struct buf *out)
{
    char *dump;

    if (json_is_string(value)) {
        buf_adds(out, json_string_value(value));
        return;
    }
    dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    buf_adds(out, dump ? dump : "?");
    free(dump);
}

static void put_leaf(struct strmap *conditions, const char *key,
                     const json_t *value)
{
    struct buf text;
    json_t *item;
    size_t i;

    if (!value || json_is_null(value))
        return;
    buf_init(&text, MAX_TEXT);
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            buf_adds(&text, i ? ", " : "");
            put_text(item, &text);
        }
    } else {
        put_text(value, &text);
    }
    strmap_put(conditions, key, buf_text(&text));
    buf_fini(&text);
}

/* The members of an object below `prefix`, objects down to `depth`. */
static void put_members(struct strmap *conditions, const char *prefix,
                        const json_t *object, int depth)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        char *key = xasprintf("%s%s%s", prefix, prefix[0] ? "." : "", name);

        if (json_is_object(value) && depth > 0)
            put_members(conditions, key, value, depth - 1);
        else
            put_leaf(conditions, key, value);
        free(key);
    }
}

/* What the manifest says apart from the settings. */
static void put_facts(struct strmap *conditions, const json_t *manifest)
{
    static const char *const facts[][2] = {
        {"data", "sha256"},      {"data", "samples"},
        {"data", "left_out"},    {"data", "cached_share"},
        {"trace", "hash"},       {"trace", "rows"},
        {"clock", "utc"},        {"environment", "host"},
        {"environment", "cpus"}, {"environment", "kernel"},
        {"server", "flavour"},   {"environment", "machine"},
    };
    static const char *const top[] = {"tailgate", "transport", "endpoints"};

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const json_t *part = json_object_get(manifest, facts[i][0]);
        char key[64];

        snprintf(key, sizeof(key), "%s.%s", facts[i][0], facts[i][1]);
        put_leaf(conditions, key, json_object_get(part, facts[i][1]));
    }
    for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++)
        put_leaf(conditions, top[i], json_object_get(manifest, top[i]));
}

void run_conditions_make(struct strmap *conditions, struct recording *rec,
                         const struct summary *s)
{
    static const char *const noise[] = {"steal", "throttled", "pressure"};
    json_t *settings = settings_to_json(&rec->settings);
    char text[UNITS_TEXT];

    *conditions = (struct strmap){0};
    put_members(conditions, "", settings, 2);
    put_facts(conditions, rec->manifest.json);
    for (size_t i = 0; i < s->trust.len; i++) {
        const struct check *c = &s->trust.checks[i];

        for (size_t k = 0; k < sizeof(noise) / sizeof(noise[0]); k++) {
            char key[32];
            char value[64];

            if (strcmp(c->name, noise[k]) != 0)
                continue;
            snprintf(key, sizeof(key), "noise.%s", noise[k]);
            snprintf(value, sizeof(value), "%.3g %s", c->value, c->unit);
            strmap_put(conditions, key, value);
        }
    }
    if (s->rtt_floor_ns > 0)
        strmap_put(conditions, "rtt_floor",
                   units_show_duration((double)s->rtt_floor_ns, text));
    json_decref(settings);
}

/* ---- may it be compared? ---- */

/* A comparison needs measurements, not verdicts: undecided runs have them.  The
 * percentiles of an overloaded server depend on how long one looked. */
static void judge_standing(struct compared_run *run, const struct summary *s)
{
    run->is_discarded = run_is_discarded(s, run->why);
    if (!run->is_discarded)
        run_obstacle(s, run->why);
    if (run->is_overloaded && !run->why[0])
        snprintf(run->why, sizeof(run->why),
                 "overloaded: the number of requests in flight grows "
                 "throughout the window");
}

/* ---- numbers ---- */

/* Measures of events or queries: the summary has the usual percentiles. */
static struct reading pooled(const struct summary *s, const struct quantity *q)
{
    const struct spread *spread = &s->spread[q->measure][VIEW_DUE];
    struct reading r = {0};

    for (int i = 0; i < SUMMARY_QUANTILES; i++) {
        int64_t ns = spread->quantile_ns[i];

        if (fabs(summary_quantile[i] - q->q) > 1e-9 || spread->n == 0)
            continue;
        r.n = spread->n;
        r.is_too_few = ns == HIST_TOO_FEW;
        r.value = ns >= 0 ? (double)ns : INFINITY;
    }
    return r;
}

/* For the whole window the number in the summary counts, whatever "good" means
 * there. */
static struct reading counted(const struct summary *s, const struct quantity *q)
{
    double bad = (double)(s->failed + s->unsent);

    switch (q->kind) {
    case QUANTITY_COMPLETED:
        return (struct reading){s->completed_rps, s->scheduled, false};
    case QUANTITY_THROUGHPUT:
        return (struct reading){s->throughput_rps, s->scheduled, false};
    case QUANTITY_GOODPUT:
        return (struct reading){s->goodput_rps, s->scheduled, false};
    case QUANTITY_TOKENS:
        return (struct reading){s->output_tokens_per_s, s->scheduled, false};
    case QUANTITY_ATTAINMENT:
        return (struct reading){s->attainment, s->scheduled, false};
    case QUANTITY_QUALITY:
        return (struct reading){s->quality.share, s->quality.checked, false};
    case QUANTITY_COST:
        return (struct reading){s->cost.usd_per_1000_good, s->good, false};
    default: /* errors */
        return (struct reading){s->scheduled > 0 ? bad / (double)s->scheduled
                                                 : 0,
                                s->scheduled, false};
    }
}

/* Without streaming, failures are no samples of stream measures, and ttft is
 * e2e. */
static bool is_not_measured(const struct summary *s, const struct quantity *q)
{
    if (q->kind == QUANTITY_TOKENS)
        return !s->has_tokens;
    if (q->kind == QUANTITY_COST)
        return !s->cost.is_there;
    return q->kind == QUANTITY_QUANTILE && !s->is_streamed &&
           (measure_is_of_stream(q->measure) || q->measure == MEASURE_TTFT);
}

static int take_numbers(struct compared_run *run, struct recording *rec,
                        const struct summary *s, const struct quantities *qs,
                        struct err *err)
{
    struct good_table good = {0};
    struct window_slices *slices;
    const struct facts *rows;
    size_t n;
    int rc = good_table_init(&good, &s->slo, &rec->settings.classes, err);

    if (rc)
        return -1;
    slices = xcalloc(1, sizeof(*slices));
    window_slices_init(slices, summary_window(s), &good, qs);
    /* Egress, which is paid by the byte, is spread evenly. */
    if (s->window_length_s > 0)
        slices->usd_per_hour = s->cost.usd / s->window_length_s * 3600;
    rc = recording_rewind(rec, err);
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++)
            window_slices_add(slices, &rows[i]);
        rc = 0;
    }
    for (size_t i = 0; rc == 0 && i < qs->len; i++) {
        const struct quantity *q = &qs->list[i];

        if (is_not_measured(s, q))
            continue;
        if (q->kind == QUANTITY_QUANTILE && measure_is_pooled(q->measure)) {
            run->whole[i] = pooled(s, q);
            continue;
        }
        run->whole[i] = q->kind == QUANTITY_QUANTILE
                            ? window_slices_reading(slices, q, SLICES_ALL)
                            : counted(s, q);
        window_slices_readings(slices, q, &run->slices[i]);
    }
    window_slices_fini(slices);
    free(slices);
    good_table_fini(&good);
    return rc;
}

/* A run with load.stop: decided ends when its result is clear, or goes on
 * beyond its duration.  Its numbers are those of the window as planned. */
static int sum_up_as_planned(struct study_run *read, struct err *err)
{
    read->rec.settings.load.stop = STOP_END;
    summary_fini(read->summary);
    return recording_rewind(&read->rec, err) ||
                   summary_make(read->summary, &read->rec, NULL, err)
               ? -1
               : 0;
}

/* ---- all of it ---- */

static void take_facts(struct compared_run *run, struct recording *rec,
                       const struct summary *s)
{
    struct buf line;

    run->started_ns = manifest_start_realtime_ns(&rec->manifest);
    run->is_open_loop = scenario_is_open(rec->settings.load.scenario);
    run->is_overloaded = summary_is_overloaded(s);
    run->has_slo = s->slo.len > 0;
    run->breaks_slo = s->verdict == VERDICT_FAIL;
    run->has_warmup = s->warmup_requests > 0;
    run->is_cold = s->steady.warmup.suggested_s > 0;
    run->checked = s->quality.checked;
    if (rec->settings.load.stop == STOP_DECIDED &&
        s->window_length_s * 1e9 < (double)rec->settings.load.duration_ns)
        run->stopped_s = s->window_length_s;
    if (rec->settings.load.scenario == SCENARIO_OFFLINE)
        run->makespan_s = s->window_length_s;
    buf_init(&line, MAX_LINE);
    settings_describe_load(&rec->settings.load, &line);
    run->load = xstrdup(buf_text(&line));
    run->load[strcspn(run->load, "\n")] = '\0';
    buf_fini(&line);
    run_conditions_make(&run->conditions, rec, s);
    judge_standing(run, s);
}

int compared_run_load(struct compared_run *run, const char *dir,
                      const struct side_ask *ask, struct err *err)
{
    struct study_run read;
    int rc;

    *run = (struct compared_run){0};
    if (study_run_open(&read, dir, ask->slo, ask->cost, err))
        return -1;
    run->dir = xstrdup(dir);
    take_facts(run, &read.rec, read.summary);
    rc = read.rec.settings.load.stop == STOP_DECIDED
             ? sum_up_as_planned(&read, err)
             : 0;
    if (rc == 0)
        rc = take_numbers(run, &read.rec, read.summary, ask->qs, err);
    study_run_close(&read);
    if (rc)
        compared_run_fini(run);
    return rc;
}

void compared_run_fini(struct compared_run *run)
{
    free(run->dir);
    free(run->load);
    strmap_fini(&run->conditions);
    *run = (struct compared_run){0};
}
