#include "loadgen/trace/trace_survey.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_replay.h"

/* If more than this share of the rows has the time of the row before, the clock
 * of the trace is too coarse. */
#define TIED_SHARE 0.1

/* ---- the timeline ---- */

static int64_t last_of(const struct timeline *t)
{
    return t->len > 0 ? t->until[t->len - 1] : 0;
}

void timeline_add(struct timeline *t, int64_t due_ns)
{
    if (due_ns < 0 || due_ns / NS_PER_S >= TIMELINE_SECONDS)
        return;
    while (t->len <= (size_t)(due_ns / NS_PER_S)) {
        if (t->len == t->cap) {
            t->cap = t->cap > 0 ? 2 * t->cap : 64;
            t->until = xrealloc(t->until, t->cap, sizeof(*t->until));
        }
        t->until[t->len] = last_of(t);
        t->len++;
    }
    t->until[t->len - 1]++;
}

void timeline_fini(struct timeline *t)
{
    free(t->until);
    *t = (struct timeline){0};
}

double timeline_count(const struct timeline *t, double until_ns)
{
    double seconds = until_ns > 0 ? until_ns / 1e9 : 0;
    size_t at;
    double before;

    if (seconds >= (double)t->len)
        return (double)last_of(t);
    at = (size_t)seconds;
    before = at > 0 ? (double)t->until[at - 1] : 0;
    return before + (seconds - (double)at) * ((double)t->until[at] - before);
}

/* ---- reading the trace ---- */

struct walk {
    struct survey *s;
    struct replay replay;
    struct window_limits limits;
    int64_t first_ns;
    int64_t last_ns;
    int64_t second; /* of the run, the one being counted */
    int64_t in_second;
};

static void keep_damage(void *arg, const char *message)
{
    struct survey *s = arg;

    if (s->damage.len < SURVEY_EXAMPLES)
        strlist_add(&s->damage, message);
}

static uint64_t hash_add(uint64_t hash, int64_t value)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = fnv_byte(hash, (uint8_t)((uint64_t)value >> shift));
    return hash;
}

static void add(struct walk *w, const struct replay_row *r)
{
    const struct row *row = r->row;
    struct survey *s = w->s;

    if (s->rows == 0)
        w->first_ns = r->due_ns;
    w->last_ns = r->due_ns;
    s->tied += s->rows > 0 && r->is_tied;
    s->held += s->rows > 0 && r->is_held;
    s->rows++;
    s->warmup_rows += r->due_ns < w->limits.window_start_ns;
    s->cooldown_rows += r->due_ns >= w->limits.window_end_ns;
    timeline_add(&s->timeline, r->due_ns);
    s->has_blocks |= row->n_blocks > 0;
    hist_add(&s->input, row->input);
    hist_add(&s->output, row->output);
    s->hash = hash_add(s->hash, row->time_ns);
    s->hash = hash_add(s->hash, row->input);
    s->hash = hash_add(s->hash, row->output);
    for (size_t i = 0; i < row->n_blocks; i++)
        s->hash = hash_add(s->hash, row->blocks[i]);
    w->in_second = r->due_ns / NS_PER_S == w->second ? w->in_second + 1 : 1;
    w->second = r->due_ns / NS_PER_S;
    if ((double)w->in_second > s->peak_rps)
        s->peak_rps = (double)w->in_second;
}

/* -1, or 0 with w->s->end_ns set.  Where the file ends, the next row would have
 * come after the mean gap. */
static int walk(struct walk *w, struct err *err)
{
    const struct trace_settings *t = w->replay.settings;
    struct replay_row r;
    int64_t span_ns;
    int rc;

    w->s->end_ns = INT64_MAX;
    while ((rc = replay_next(&w->replay, &r, err)) > 0) {
        if (window_limits_is_spent(&w->limits, r.due_ns)) {
            w->s->end_ns = r.due_ns;
            break;
        }
        window_limits_take(&w->limits, r.due_ns);
        add(w, &r);
        if (replay_check_stop(&w->replay, err)) {
            rc = -1;
            break;
        }
    }
    if (rc == 0 && w->s->rows > 0) {
        span_ns = w->last_ns - w->first_ns;
        w->s->end_ns =
            w->last_ns +
            (span_ns > 0 ? span_ns / (w->s->rows - 1) + 1 : NS_PER_S);
        if (w->replay.reached_to)
            w->s->end_ns = replay_scale_ns(t, t->to_ns - t->from_ns);
        if (w->s->end_ns <= w->last_ns)
            w->s->end_ns = w->last_ns + 1;
    }
    if (w->s->end_ns > w->limits.end_ns)
        w->s->end_ns = w->limits.end_ns;
    w->s->start_ns = w->limits.window_start_ns;
    w->s->all = w->replay.trace.counts;
    return rc < 0 ? -1 : 0;
}

/* Is anything left to measure?  A trace cannot be extended until a minimum is
 * reached. */
static int check(const struct survey *s, const struct load_settings *load,
                 struct err *err)
{
    int64_t rows = s->rows - s->warmup_rows - s->cooldown_rows;
    int64_t length_ns = s->end_ns - s->start_ns - load_cooldown_ns(load);
    char text[UNITS_TEXT];
    size_t n = s->damage.len;

    if (s->rows == 0)
        return err_set(err, ERR_CONFIG,
                       "trace.file: %s: no rows to replay; %lld rows were "
                       "read, %lld lines are damaged%s%s%s%s",
                       load->trace.file, (long long)s->all.rows,
                       (long long)s->all.damaged, n > 0 ? ": " : "",
                       n > 0 ? s->damage.items[0] : "", n > 1 ? "; " : "",
                       n > 1 ? s->damage.items[1] : "");
    if (s->warmup_rows == s->rows)
        return err_set(err, ERR_CONFIG,
                       "load.%s: no rows of the trace remain after it",
                       load->warmup_ns > 0 ? "warmup" : "warmup_requests");
    if (load->cooldown_ns > 0 && s->end_ns - load->cooldown_ns <= s->start_ns)
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: no rows of the trace remain before it");
    if (load->max_duration_ns > 0 && length_ns >= load->max_duration_ns)
        return 0;
    if (rows < load->min_requests)
        return err_set(err, ERR_CONFIG,
                       "load.min_requests: the trace has only %lld rows for "
                       "the window",
                       (long long)rows);
    if (length_ns < load->min_duration_ns)
        return err_set(err, ERR_CONFIG,
                       "load.min_duration: the trace lasts only %s",
                       units_show_duration((double)length_ns, text));
    return 0;
}

static int read_trace(struct survey *s, const struct load_settings *load,
                      struct err *err)
{
    struct walk w = {.s = s, .limits = window_limits_of(load), .second = -1};
    int rc;

    *s = (struct survey){.hash = FNV_START};
    rc = replay_open(&w.replay, load, err);
    if (rc == 0) {
        w.replay.trace.on_damage = keep_damage;
        w.replay.trace.arg = s;
        s->format = w.replay.trace.parser.format.name;
        s->was_detected = load->trace.format == TRACE_AUTO;
        rc = walk(&w, err);
    }
    replay_fini(&w.replay);
    if (rc == 0)
        return check(s, load, err);
    if (err->code != ERR_STOPPED)
        err->code = ERR_CONFIG; /* the file named in the settings is bad */
    return err_context(err, "trace.file");
}

/* The cool-down is the last part of the replay.  Where that ends is known only
 * after the first pass, so that a second one counts the rows by it. */
int survey_make(struct survey *s, const struct load_settings *load,
                struct err *err)
{
    struct load_settings known = *load;

    if (read_trace(s, load, err))
        return -1;
    if (load_cooldown_ns(load) == 0)
        return 0;
    known.duration_ns = s->end_ns - s->start_ns - load_cooldown_ns(load);
    survey_fini(s);
    return read_trace(s, &known, err);
}

void survey_fini(struct survey *s)
{
    timeline_fini(&s->timeline);
    strlist_fini(&s->damage);
    hist_fini(&s->input);
    hist_fini(&s->output);
}

bool survey_is_quantised(const struct survey *s)
{
    return (double)s->tied > TIED_SHARE * (double)s->rows;
}

/* ---- the description ---- */

#define INDENT "           "

static void put_lengths(const char *name, const struct hist *h, struct buf *out)
{
    buf_addf(out, INDENT "%s tokens: mean %.0f, p50 %lld, p99 %lld, max %lld\n",
             name, hist_mean_ns(h), (long long)hist_rank_quantile(h, 0.5),
             (long long)hist_rank_quantile(h, 0.99), (long long)hist_max_ns(h));
}

void survey_describe(const struct survey *s, const struct load_settings *load,
                     struct buf *out)
{
    int64_t spread_ns = load->trace.spread_ns;
    int64_t damaged = s->all.damaged;
    char text[UNITS_TEXT];
    char rate[UNITS_TEXT];

    buf_addf(out,
             "trace      %s%s, %lld rows in %s: %s on average, at most %.0f "
             "within a second\n",
             s->format, s->was_detected ? " (detected)" : "",
             (long long)s->rows, units_show_duration((double)s->end_ns, text),
             units_show_rate((double)s->rows * 1e9 / (double)s->end_ns, rate),
             s->peak_rps);
    put_lengths("input", &s->input, out);
    put_lengths("output", &s->output, out);
    if (s->has_blocks)
        buf_adds(out, INDENT "prompts share prefixes as in the trace\n");
    if (damaged > 0)
        buf_addf(out, INDENT "%lld damaged line%s skipped:\n",
                 (long long)damaged, damaged == 1 ? " is" : "s are");
    for (size_t i = 0; i < s->damage.len; i++)
        buf_addf(out, INDENT "  %s\n", s->damage.items[i]);
    if (damaged > (int64_t)s->damage.len)
        buf_addf(out, INDENT "  and %lld more\n",
                 (long long)damaged - (long long)s->damage.len);
    if (s->all.failed > 0)
        buf_addf(out,
                 INDENT "%lld requests that failed in the trace are skipped\n",
                 (long long)s->all.failed);
    if (spread_ns > 0)
        buf_addf(out, INDENT "times are spread over steps of %s\n",
                 units_print_duration(spread_ns, text));
    if (s->held > 0)
        buf_addf(out,
                 INDENT "%.0f%% of the rows are sent together with the row "
                        "before, because --spread is\n" INDENT
                        "longer than a step of the trace's clock; a smaller "
                        "--spread separates them\n",
                 100 * (double)s->held / (double)s->rows);
    else if (spread_ns == 0 && survey_is_quantised(s))
        buf_addf(out,
                 INDENT "%.0f%% of the rows have the same time as the row "
                        "before and are sent together with it;\n" INDENT
                        "if the clock of the trace is coarse, use --spread to "
                        "spread them over its step\n",
                 100 * (double)s->tied / (double)s->rows);
}
