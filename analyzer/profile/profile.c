#include "analyzer/profile/profile.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/profile/profile_requests.h"
#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"

const double profile_quantile[PROFILE_QUANTILES] = {0.5, 0.9, 0.95, 0.99};
const char *const profile_quantile_name[PROFILE_QUANTILES] = {"p50", "p90",
                                                              "p95", "p99"};
const char *const profile_time_name[PROFILE_TIMES] = {"ttft", "itl", "tpot",
                                                      "e2e"};
const char *const profile_rate_name[PROFILE_RATES] = {
    "requests", "output tokens", "goodput"};

static const enum measure measure_of[PROFILE_TIMES] = {
    MEASURE_TTFT, MEASURE_ITL, MEASURE_TPOT, MEASURE_E2E};

/* Per request.  More than the longest answers have events. */
#define MAX_SILENT (1 << 17)

/* Where a worker's events have got to. */
struct lane {
    int64_t seq;
    int64_t at_us;
    bool counts;
    struct profile_request *request; /* NULL: not listed */
};

/* One pass over the requests, then one over the events. */
struct pass {
    const struct profile_ops *ops;
    struct profile_run run;
    struct good_table good; /* by class, as if each class were run alone */

    struct values values[PROFILE_TIMES];
    struct values succeeded; /* seq of each, where events are read; sorted */
    bool reads_events;
    int64_t completed;
    int64_t failed;
    int64_t n_good;
    int64_t input;
    int64_t output;
    int64_t ended_inside; /* ok, and ended in the window ... */
    int64_t tokens_inside;

    int64_t first_start; /* TIME_ABSENT: none; of successes, or of all ... */
    int64_t last_content;
    int64_t last_end;
    int64_t ok_start; /* of successes alone */
    int64_t ok_end;
    int64_t last_due; /* and when the last of those due then ended */
    int64_t last_due_end;

    struct lane lanes[RECORDING_MAX_SHARDS];
    struct profile_requests *list; /* NULL: not asked for */
    bool lists_pauses;
    struct peaks peaks; /* of what is listed */
};

/* ---- requests ---- */

/* Has it the limit's number, and is that too large? */
static bool keeps(const struct pass *p, const struct facts *f,
                  enum profile_time held, int64_t limit_ns)
{
    double ns;

    if (limit_ns <= 0)
        return true;
    if (!p->ops->value[held])
        return p->ops->lacking_is_kept;
    ns = p->ops->value[held](f, &p->run);
    return isnan(ns) ? p->ops->lacking_is_kept : ns <= (double)limit_ns;
}

static bool is_limit(const int64_t limit_ns[static GOOD_LIMITS])
{
    return limit_ns[MEASURE_TTFT] > 0 || limit_ns[MEASURE_TPOT] > 0 ||
           limit_ns[MEASURE_E2E] > 0;
}

static bool has_limits(const struct good_table *good)
{
    for (size_t i = 0; i < good->n; i++) {
        if (is_limit(good->of_class[i]))
            return true;
    }
    return is_limit(good->run);
}

static int64_t later(int64_t a, int64_t b)
{
    return a == TIME_ABSENT || (b != TIME_ABSENT && b > a) ? b : a;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a == TIME_ABSENT || (b != TIME_ABSENT && b < a) ? b : a;
}

static void note_span(struct pass *p, const struct facts *f, bool succeeds)
{
    if (succeeds || p->ops->span != SPAN_CONTENT)
        p->first_start = earlier(p->first_start, f->issued);
    if (succeeds) {
        p->last_content = later(p->last_content, f->last);
        p->ok_start = earlier(p->ok_start, f->issued);
        p->ok_end = later(p->ok_end, f->end);
    }
    p->last_end = later(p->last_end, f->end);
    if (p->last_due == f->due) {
        p->last_due_end = later(p->last_due_end, f->end);
    } else if (p->last_due == TIME_ABSENT || f->due > p->last_due) {
        p->last_due = f->due;
        p->last_due_end = f->end;
    }
}

static double positive(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to <= from ? 0 : (double)(to - from);
}

struct profile_silent profile_silent(const struct facts *f)
{
    int64_t events = facts_count(f->events);
    int64_t choices = facts_count(f->choices);
    struct profile_silent s = {0};
    int64_t n;

    if (choices <= 0) {
        s.before_ns = positive(f->opened, f->first);
        s.n_before = s.before_ns > 0;
        return s;
    }
    n = choices - (events > 0 ? events : 1);
    if (n <= 0)
        return s;
    s.before_ns =
        positive(f->choices_first, events > 0 ? f->first : f->choices_last);
    s.after_ns = events > 0 ? positive(f->last, f->choices_last) : 0;
    s.n_before = s.before_ns > 0;
    s.n_after = s.after_ns > 0 && n > s.n_before;
    s.n_between = n - s.n_before - s.n_after;
    return s;
}

static void add_values(struct pass *p, const struct facts *f)
{
    for (int i = 0; i < PROFILE_TIMES; i++) {
        double ns =
            p->ops->value[i] ? p->ops->value[i](f, &p->run) : (double)NAN;

        if (!isnan(ns))
            values_add(&p->values[i], ns, 1);
    }
    if (p->ops->counts_silent) {
        struct profile_silent silent = profile_silent(f);

        values_add(&p->values[PROFILE_ITL], silent.before_ns, silent.n_before);
        values_add_zeros(&p->values[PROFILE_ITL], silent.n_between);
        values_add(&p->values[PROFILE_ITL], silent.after_ns, silent.n_after);
    }
}

static void add_success(struct pass *p, const struct facts *f)
{
    const int64_t *limit_ns = good_limits_of(&p->good, f);

    p->completed++;
    p->input += profile_input(f);
    p->output += p->ops->tokens(f);
    p->n_good += keeps(p, f, PROFILE_TTFT, limit_ns[MEASURE_TTFT]) &&
                 keeps(p, f, p->ops->tpot_limit, limit_ns[MEASURE_TPOT]) &&
                 keeps(p, f, PROFILE_E2E, limit_ns[MEASURE_E2E]);
    add_values(p, f);
    if (p->reads_events)
        values_add(&p->succeeded, (double)f->seq, 1);
}

static void add_request(struct pass *p, const struct facts *f)
{
    bool succeeds = p->ops->succeeds(f, &p->run);

    if (!facts_issued(f))
        return;
    if (succeeds && window_holds(&p->run.window, f->end)) {
        p->ended_inside++;
        p->tokens_inside += p->ops->tokens(f);
    }
    if (!window_holds(&p->run.window, f->due))
        return;
    note_span(p, f, succeeds);
    if (p->list)
        profile_requests_add(p->list, f, p->ops, &p->run, succeeds);
    if (succeeds)
        add_success(p, f);
    else
        p->failed++;
}

/* Events without content are listed one by one, but recorded as one number,
 * which a damaged file may have wrong. */
static int check_choices(const struct pass *p, const struct facts *f,
                         struct err *err)
{
    if (!p->ops->counts_silent || profile_silent(f).n_between <= MAX_SILENT)
        return 0;
    return err_set(err, ERR_FORMAT,
                   "requests.tgr: request %lld has %lld events with choices "
                   "and %lld with content; at most %d may be without content",
                   (long long)f->seq, (long long)f->choices,
                   (long long)f->events, MAX_SILENT);
}

static int read_requests(struct pass *p, struct recording *rec, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (check_choices(p, &rows[i], err))
                return -1;
            add_request(p, &rows[i]);
        }
    }
    values_sort(&p->succeeded);
    if (p->list) {
        profile_requests_sort(p->list);
        peaks_init(&p->peaks, p->list);
    }
    return rc;
}

/* ---- pauses ---- */

static int compare_seq(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What was unfinished when a run was killed has events, and no row. */
static bool has_succeeded(const struct pass *p, int64_t seq)
{
    double key = (double)seq;

    return p->succeeded.len > 0 &&
           bsearch(&key, p->succeeded.items, p->succeeded.len, sizeof(key),
                   compare_seq);
}

/* All tokens of an event but one arrive at no distance from another. */
static void add_together(struct values *itl, int64_t tokens)
{
    values_add_zeros(itl, tokens > 1 ? tokens - 1 : 0);
}

static void add_pause(struct values *itl, enum profile_pause pause, double ns,
                      int64_t tokens)
{
    if (pause == PAUSE_OF_TOKEN && tokens > 0)
        values_add(itl, ns / (double)tokens, tokens);
    else if (pause == PAUSE_OF_EVENT || pause == PAUSE_STAMPED)
        values_add(itl, ns, 1);
    if (pause == PAUSE_STAMPED)
        add_together(itl, tokens);
}

static void add_event(struct pass *p, struct lane *lane,
                      enum profile_pause pause, const struct content_event *e)
{
    struct values *itl = &p->values[PROFILE_ITL];
    int64_t tokens = facts_count(e->tokens);

    if (e->seq != lane->seq) {
        lane->seq = e->seq;
        lane->counts =
            window_holds(&p->run.window, e->due) && has_succeeded(p, e->seq);
        lane->request = p->list ? profile_requests_find(p->list, e->seq) : NULL;
        if (lane->counts && pause == PAUSE_STAMPED)
            add_together(itl, tokens);
    } else if (e->at_us >= lane->at_us) {
        double ns = (double)(e->at_us - lane->at_us) * NS_PER_US;

        if (lane->counts)
            add_pause(itl, pause, ns, tokens);
        if (lane->request)
            peaks_add_pause(&p->peaks, lane->request, ns);
        if (lane->request && p->lists_pauses)
            profile_requests_add_pause(p->list, lane->request, ns);
    }
    lane->at_us = e->at_us;
}

static int read_events(struct pass *p, struct recording *rec, struct err *err)
{
    enum profile_pause pause = p->ops->pause(&p->run);
    struct event_rows e;
    int rc;

    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        p->lanes[i].seq = TIME_ABSENT;
    while ((rc = recording_next_events(rec, &e, err)) > 0) {
        struct lane *lane =
            &p->lanes[e.shard < RECORDING_MAX_SHARDS ? e.shard : 0];

        if (e.is_after_damage)
            lane->seq = TIME_ABSENT;
        for (size_t i = 0; i < e.n; i++)
            add_event(p, lane, pause, &e.rows[i]);
    }
    return rc;
}

/* ---- what it comes to ---- */

static int64_t since(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to == TIME_ABSENT || to <= from ? 0
                                                                  : to - from;
}

static int64_t span_ns(const struct pass *p)
{
    switch (p->ops->span) {
    case SPAN_ALL_ENDED:
        return since(p->run.window.start_ns, p->last_end);
    case SPAN_CONTENT:
        return since(p->first_start, p->last_content);
    case SPAN_REQUESTS:
        return since(p->first_start, p->last_end);
    case SPAN_WINDOW:
        return since(p->run.window.start_ns, p->run.window.end_ns);
    case SPAN_LAST_ISSUED:
        return since(p->run.window.start_ns, p->last_due_end);
    }
    return 0;
}

static double per_second(int64_t count, double seconds)
{
    return seconds > 0 && count >= 0 ? (double)count / seconds : HIST_EMPTY;
}

static void take_rates(struct profile *out, const struct pass *p)
{
    const struct summary *s = out->summary;
    bool is_window = p->ops->span == SPAN_WINDOW;
    int64_t requests = is_window ? p->ended_inside : p->completed;
    int64_t tokens = is_window ? p->tokens_inside : p->output;
    /* A tool that counts the time of all requests for the rate counts that of
     * the successes for goodput. */
    double goodput_s = p->ops->span == SPAN_REQUESTS
                           ? (double)since(p->ok_start, p->ok_end) / NS_PER_S
                           : out->duration_s;

    if (p->ops->span == SPAN_LAST_ISSUED && !p->run.is_offline && requests > 0)
        requests--;
    out->rates[PROFILE_REQUESTS] = (struct profile_pair){
        per_second(requests, out->duration_s), s->throughput_rps};
    out->rates[PROFILE_TOKENS] = (struct profile_pair){HIST_EMPTY, HIST_EMPTY};
    if (s->has_tokens)
        out->rates[PROFILE_TOKENS] = (struct profile_pair){
            per_second(tokens, out->duration_s), s->output_tokens_per_s};
    out->rates[PROFILE_GOODPUT] = (struct profile_pair){HIST_EMPTY, HIST_EMPTY};
    if (has_limits(&p->good))
        out->rates[PROFILE_GOODPUT] = (struct profile_pair){
            p->ops->has_goodput ? per_second(p->n_good, goodput_s) : HIST_EMPTY,
            s->goodput_rps};
}

static double or_empty(double ns)
{
    return isnan(ns) ? HIST_EMPTY : ns;
}

static void take_line(struct profile_line *line, struct values *v,
                      enum percentile_rule rule, const struct spread *ours)
{
    values_sort(v);
    line->n = (int64_t)values_count(v);
    line->deviation = or_empty(values_deviation(v));
    line->mean = (struct profile_pair){or_empty(values_mean(v)), ours->mean_ns};
    for (int q = 0; q < PROFILE_QUANTILES; q++)
        line->quantile[q] = (struct profile_pair){
            or_empty(values_percentile(v, rule, profile_quantile[q])),
            (double)ours->quantile_ns[q]};
}

static void conclude(struct profile *out, struct pass *p)
{
    out->completed = p->completed;
    out->failed = p->failed;
    out->input_tokens = p->input;
    out->output_tokens = p->output;
    out->duration_s = (double)span_ns(p) / NS_PER_S;
    for (int i = 0; i < PROFILE_TIMES; i++) {
        struct profile_line *line = &out->lines[i];

        line->is_theirs =
            p->ops->value[i] || (i == PROFILE_ITL && p->ops->pause);
        line->why = p->ops->why[i];
        take_line(line, &p->values[i], p->ops->percentile,
                  &out->summary->spread[measure_of[i]][VIEW_DUE]);
    }
    take_rates(out, p);
}

static int begin(struct pass *p, const struct profile_ops *ops,
                 const struct summary *s, struct err *err)
{
    int api = s->settings->target.api;

    *p = (struct pass){
        .ops = ops,
        .run = {.is_chat = api == API_OPENAI_CHAT,
                .is_sglang = api == API_SGLANG,
                .is_offline = s->settings->load.scenario == SCENARIO_OFFLINE,
                .window = summary_window(s)},
        .first_start = TIME_ABSENT,
        .last_content = TIME_ABSENT,
        .last_end = TIME_ABSENT,
        .ok_start = TIME_ABSENT,
        .ok_end = TIME_ABSENT,
        .last_due = TIME_ABSENT,
        .last_due_end = TIME_ABSENT,
    };
    p->reads_events = ops->pause && ops->pause(&p->run) != PAUSE_OF_REQUEST;
    return good_table_init(&p->good, &s->slo, &s->settings->classes, err);
}

void profile_fini(struct profile *p)
{
    free(p->requests.items);
    free(p->requests.pauses);
}

int profile_make(struct profile *out, const struct profile_ops *ops,
                 const struct summary *s, enum profile_list list,
                 struct err *err)
{
    struct pass *p = xcalloc(1, sizeof(*p));
    struct recording rec;
    int64_t realtime_ns;
    int rc = recording_open(&rec, s->dir, err);

    *out = (struct profile){.ops = ops, .summary = s};
    if (rc == 0) {
        rc = begin(p, ops, s, err);
        p->list = list != PROFILE_LIST_NONE ? &out->requests : NULL;
        p->lists_pauses = list == PROFILE_LIST_PAUSES;
        if (rc == 0)
            rc = read_requests(p, &rec, err);
        if (rc == 0 && p->reads_events)
            rc = read_events(p, &rec, err);
        if (p->list) {
            out->peaks = peaks_finish(&p->peaks, p->list);
            profile_requests_finish(p->list);
        }
        realtime_ns = manifest_start_realtime_ns(&rec.manifest);
        out->start_ns = manifest_start_monotonic_ns(&rec.manifest);
        if (realtime_ns > 0 && p->last_end != TIME_ABSENT)
            out->ended_ns = realtime_ns + p->last_end;
        recording_close(&rec);
    }
    if (rc == 0)
        conclude(out, p);
    for (int i = 0; i < PROFILE_TIMES; i++)
        values_fini(&p->values[i]);
    values_fini(&p->succeeded);
    peaks_fini(&p->peaks);
    good_table_fini(&p->good);
    free(p);
    return rc;
}
