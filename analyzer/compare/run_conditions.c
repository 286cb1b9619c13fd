#include "analyzer/compare/run_conditions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/conditions.h"
#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/xalloc.h"

#define MAX_LINE 4096

/* ---- may it be compared? ---- */

static const struct check *first_failed(const struct trust *trust)
{
    for (size_t i = 0; i < trust->len; i++) {
        if (!trust->checks[i].ok && trust->checks[i].is_fatal)
            return &trust->checks[i];
    }
    return NULL;
}

static void say(char why[static RUN_CARD_WHY], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(char why[static RUN_CARD_WHY], const char *fmt, ...)
{
    va_list args;

    if (why[0]) /* the first reason is enough */
        return;
    va_start(args, fmt);
    vsnprintf(why, RUN_CARD_WHY, fmt, args);
    va_end(args);
}

static void say_invalid(char why[static RUN_CARD_WHY],
                        const struct trust *trust)
{
    const struct check *c = first_failed(trust);

    say(why, "invalid: %s: %.3g %s, limit %.3g", c ? c->name : "trust",
        c ? c->value : 0, c ? c->unit : "", c ? c->limit : 0);
}

static const char *why_undecided(const struct judgement *j)
{
    for (size_t i = 0; i < j->len; i++) {
        if (j->terms[i].verdict == VERDICT_UNDECIDED)
            return j->terms[i].term->text;
    }
    return "the recording has no end";
}

void run_card_obstacle(const struct summary *s, char why[static RUN_CARD_WHY])
{
    why[0] = '\0';
    if (s->integrity.was_killed)
        say(why, "killed before its end");
    if (s->integrity.lost_requests > 0)
        say(why, "damaged: %lld requests are not in it",
            (long long)s->integrity.lost_requests);
    if (s->integrity.lost_events > 0)
        say(why, "damaged: %lld content events are not in it",
            (long long)s->integrity.lost_events);
    if (s->stopped_by)
        say(why, "interrupted");
    if (s->aborted)
        say(why, "aborted before its end");
    if (!s->trust.valid)
        say_invalid(why, &s->trust);
    if (s->scheduled == 0)
        say(why, "nothing was due in its window");
}

static void judge_standing(struct run_card *run, const struct summary *s)
{
    run_card_obstacle(s, run->why);
    if (run->is_overloaded)
        say(run->why, "overloaded: requests in flight grow through the window");
    if (s->verdict == VERDICT_UNDECIDED)
        say(run->why, "undecided: %s", why_undecided(&s->judgement));
}

/* ---- numbers ---- */

static int read_rows(struct blocks *b, struct recording *rec, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc = recording_rewind(rec, err);

    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++)
            blocks_add(b, &rows[i]);
        rc = 0;
    }
    return rc;
}

/* Of events or queries: the summary has it, of the usual percentiles. */
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

/* Of the whole window what the summary says holds, whatever good means there.
 */
static struct reading counted(const struct summary *s, const struct quantity *q)
{
    switch (q->kind) {
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
    default:
        return (struct reading){s->scheduled > 0
                                    ? (double)(s->failed + s->unsent) /
                                          (double)s->scheduled
                                    : 0,
                                s->scheduled, false};
    }
}

/* Where nothing streams its failures are no samples of streams' measures, and
 * ttft is e2e. */
static bool is_without(const struct summary *s, const struct quantity *q)
{
    if (q->kind == QUANTITY_TOKENS)
        return !s->has_tokens;
    if (q->kind == QUANTITY_COST)
        return !s->cost.is_there;
    return q->kind == QUANTITY_QUANTILE && !s->is_streamed &&
           (measure_is_of_stream(q->measure) || q->measure == MEASURE_TTFT);
}

static void take_numbers(struct run_card *run, const struct blocks *b,
                         const struct summary *s, const struct quantities *qs)
{
    for (size_t i = 0; i < qs->len; i++) {
        const struct quantity *q = &qs->list[i];

        if (is_without(s, q))
            continue;
        if (q->kind == QUANTITY_QUANTILE && measure_is_pooled(q->measure)) {
            run->whole[i] = pooled(s, q);
            continue;
        }
        run->whole[i] = q->kind == QUANTITY_QUANTILE
                            ? blocks_reading(b, q, BLOCKS_ALL)
                            : counted(s, q);
        blocks_readings(b, q, &run->blocks[i]);
    }
}

/* ---- all of it ---- */

static char *load_line(const struct settings *settings)
{
    struct buf line;
    char *text;

    buf_init(&line, MAX_LINE);
    settings_describe_load(&settings->load, &line);
    text = xstrdup(buf_text(&line));
    text[strcspn(text, "\n")] = '\0';
    buf_fini(&line);
    return text;
}

static void take_facts(struct run_card *run, struct recording *rec,
                       const struct summary *s)
{
    run->started_ns = manifest_start_realtime_ns(&rec->manifest);
    run->load = load_line(&rec->settings);
    run->is_open_loop = scenario_is_open(rec->settings.load.scenario);
    run->has_slo = s->slo.len > 0;
    run->breaks_slo = s->verdict == VERDICT_FAIL;
    run->has_warmup = s->warmup_requests > 0;
    run->is_cold = s->steady.warmup.suggested_s > 0;
    run->checked = s->quality.checked;
    if (rec->settings.load.scenario == SCENARIO_OFFLINE)
        run->makespan_s = s->window_length_s;
    conditions_make(&run->card, rec, s);
}

static int take_all(struct run_card *run, struct recording *rec,
                    const struct summary *s, const struct quantities *qs,
                    struct err *err)
{
    struct good_table good = {0};
    struct blocks *b;
    int rc;

    if (good_table_init(&good, &s->slo, &rec->settings.classes, err))
        return -1;
    b = xcalloc(1, sizeof(*b));
    blocks_init(b, summary_window(s), &good, qs);
    b->usd_per_hour = s->cost.usd_per_hour;
    rc = read_rows(b, rec, err);
    if (rc == 0) {
        take_numbers(run, b, s, qs);
        take_facts(run, rec, s);
        run->is_overloaded = summary_is_overloaded(s);
        judge_standing(run, s);
    }
    blocks_fini(b);
    free(b);
    good_table_fini(&good);
    return rc;
}

int run_card_load(struct run_card *run, const char *dir,
                  const struct side_ask *ask, struct err *err)
{
    struct recording rec;
    struct summary *s;
    int rc;

    *run = (struct run_card){0};
    if (recording_open(&rec, dir, err))
        return -1;
    run->dir = xstrdup(dir);
    s = xcalloc(1, sizeof(*s));
    rc = summary_make_priced(s, &rec, ask->slo, ask->cost, err);
    if (rc == 0)
        rc = take_all(run, &rec, s, ask->qs, err);
    summary_fini(s);
    free(s);
    recording_close(&rec);
    if (rc)
        run_card_fini(run);
    return rc;
}

void run_card_fini(struct run_card *run)
{
    free(run->dir);
    free(run->load);
    strmap_fini(&run->card);
    *run = (struct run_card){0};
}
