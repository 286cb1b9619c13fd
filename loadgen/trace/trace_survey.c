#include "loadgen/trace/trace_survey.h"

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/units.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_replay.h"

/* Above this share of rows at one time with another it is the clock. */
#define TIED_SHARE 0.1

struct walk {
    struct survey *s;
    struct replay replay;
    struct window_limits limits;
    int64_t first_ns;
    int64_t last_ns;
    int64_t second; /* of the run, that is being counted */
    int64_t in_second;
};

static void keep_damage(void *arg, const char *message)
{
    struct survey *s = arg;

    if (s->damage.len < SURVEY_EXAMPLES)
        strlist_add(&s->damage, message);
}

static uint64_t workload(uint64_t hash, int64_t value)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = fnv_byte(hash, (uint8_t)((uint64_t)value >> shift));
    return hash;
}

static void add_hash(struct survey *s, const struct row *row)
{
    s->hash = workload(s->hash, row->time_ns);
    s->hash = workload(s->hash, row->input);
    s->hash = workload(s->hash, row->output);
    for (size_t i = 0; i < row->n_blocks; i++)
        s->hash = workload(s->hash, row->blocks[i]);
}

static void add_rate(struct walk *w, int64_t due_ns)
{
    int64_t second = due_ns / NS_PER_S;

    if (second != w->second)
        w->in_second = 0;
    w->second = second;
    w->in_second++;
    if ((double)w->in_second > w->s->peak_rps)
        w->s->peak_rps = (double)w->in_second;
}

static void add(struct walk *w, const struct replay_row *r)
{
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
    s->has_blocks |= r->row->n_blocks > 0;
    hist_add(&s->input, r->row->input);
    hist_add(&s->output, r->row->output);
    add_hash(s, r->row);
    add_rate(w, r->due_ns);
}

/* Where the file ends: the next one would have come after the mean gap. */
static int64_t end_of_file_ns(const struct walk *w)
{
    int64_t span_ns = w->last_ns - w->first_ns;

    return w->last_ns +
           (span_ns > 0 ? span_ns / (w->s->rows - 1) + 1 : NS_PER_S);
}

static int64_t end_of_replay_ns(const struct walk *w)
{
    const struct trace_settings *t = w->replay.settings;
    int64_t end_ns = w->replay.reached_to
                         ? replay_scale_ns(t, t->to_ns - t->from_ns)
                         : end_of_file_ns(w);

    return end_ns > w->last_ns ? end_ns : w->last_ns + 1;
}

/* -1, or 0 with w->s->end_ns set. */
static int walk(struct walk *w, struct err *err)
{
    struct replay_row r;
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
    if (rc == 0 && w->s->rows > 0)
        w->s->end_ns = end_of_replay_ns(w);
    if (w->s->end_ns > w->limits.end_ns)
        w->s->end_ns = w->limits.end_ns;
    w->s->start_ns = w->limits.window_start_ns;
    w->s->all = w->replay.trace.counts;
    return rc < 0 ? -1 : 0;
}

/* A file cannot go on until a minimum is reached. */
static int check_least(const struct survey *s, const struct load_settings *load,
                       struct err *err)
{
    int64_t rows = s->rows - s->warmup_rows - s->cooldown_rows;
    int64_t length_ns = s->end_ns - s->start_ns - load->cooldown_ns;
    char text[UNITS_TEXT];

    if (load->max_duration_ns > 0 && length_ns >= load->max_duration_ns)
        return 0;
    if (rows < load->min_requests)
        return err_set(err, ERR_CONFIG,
                       "load.min_requests: the trace has only %lld for the "
                       "window",
                       (long long)rows);
    if (length_ns < load->min_duration_ns)
        return err_set(err, ERR_CONFIG,
                       "load.min_duration: the trace is only enough for %s",
                       units_show_duration((double)length_ns, text));
    return 0;
}

/* Is anything left to measure? */
static int check(const struct survey *s, const struct load_settings *load,
                 struct err *err)
{
    const struct trace_settings *t = &load->trace;

    if (s->rows == 0)
        return err_set(err, ERR_CONFIG,
                       "trace.file: %s: no row is left to replay; %lld were "
                       "read, %lld lines are damaged%s%s%s%s",
                       t->file, (long long)s->all.rows,
                       (long long)s->all.damaged, s->damage.len > 0 ? ": " : "",
                       s->damage.len > 0 ? s->damage.items[0] : "",
                       s->damage.len > 1 ? "; " : "",
                       s->damage.len > 1 ? s->damage.items[1] : "");
    if (s->warmup_rows == s->rows)
        return err_set(err, ERR_CONFIG,
                       "load.%s: nothing of the trace is left after it",
                       load->warmup_ns > 0 ? "warmup" : "warmup_requests");
    if (load->cooldown_ns > 0 && s->end_ns - load->cooldown_ns <= s->start_ns)
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: nothing of the trace is left before it");
    return check_least(s, load, err);
}

static int look(struct survey *s, const struct load_settings *load,
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
        err->code = ERR_CONFIG; /* the settings name a file that is no good */
    return err_context(err, "trace.file");
}

/* The cool-down is the last part of the replay, wherever that ends: once that
 * is known, the rows are counted by it. */
int survey_make(struct survey *s, const struct load_settings *load,
                struct err *err)
{
    struct load_settings known = *load;

    if (look(s, load, err))
        return -1;
    if (load->cooldown_ns == 0)
        return 0;
    known.duration_ns = s->end_ns - s->start_ns - load->cooldown_ns;
    survey_fini(s);
    return look(s, &known, err);
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

/* ---- for people ---- */

#define INDENT "           "

static void put_lengths(const char *name, const struct hist *h, struct buf *out)
{
    buf_addf(out,
             INDENT "%s tokens: mean %.0f, p50 %lld, p99 %lld, at most %lld\n",
             name, hist_mean_ns(h), (long long)hist_rank_quantile(h, 0.5),
             (long long)hist_rank_quantile(h, 0.99), (long long)hist_max_ns(h));
}

static void put_damage(const struct survey *s, struct buf *out)
{
    if (s->all.damaged > 0)
        buf_addf(out, INDENT "%lld damaged line%s left out:\n",
                 (long long)s->all.damaged,
                 s->all.damaged == 1 ? " is" : "s are");
    for (size_t i = 0; i < s->damage.len; i++)
        buf_addf(out, INDENT "  %s\n", s->damage.items[i]);
    if (s->all.damaged > (int64_t)s->damage.len)
        buf_addf(out, INDENT "  and %lld more\n",
                 (long long)s->all.damaged - (long long)s->damage.len);
    if (s->all.failed > 0)
        buf_addf(out,
                 INDENT "%lld requests that failed back then are left out\n",
                 (long long)s->all.failed);
}

static void put_ties(const struct survey *s, const struct trace_settings *t,
                     struct buf *out)
{
    char text[UNITS_TEXT];

    if (t->spread_ns > 0)
        buf_addf(out, INDENT "times are spread over steps of %s\n",
                 units_print_duration(t->spread_ns, text));
    if (s->held > 0)
        buf_addf(out,
                 INDENT "%.0f%% of the rows are sent at once with the row "
                        "before: that is more than a\n" INDENT
                        "step of the trace's clock; a smaller --spread keeps "
                        "them apart\n",
                 100 * (double)s->held / (double)s->rows);
    else if (t->spread_ns == 0 && survey_is_quantised(s))
        buf_addf(out,
                 INDENT "%.0f%% of the rows have the time of the row before "
                        "and are sent at once;\n" INDENT
                        "if that is the clock of the trace, --spread spreads "
                        "them over its step\n",
                 100 * (double)s->tied / (double)s->rows);
}

void survey_describe(const struct survey *s, const struct load_settings *load,
                     struct buf *out)
{
    char span[UNITS_TEXT];
    char rate[UNITS_TEXT];

    buf_addf(out,
             "trace      %s%s, %lld rows in %s: %s on average, at most %.0f "
             "within a second\n",
             s->format, s->was_detected ? " by its first line" : "",
             (long long)s->rows, units_show_duration((double)s->end_ns, span),
             units_show_rate((double)s->rows * 1e9 / (double)s->end_ns, rate),
             s->peak_rps);
    put_lengths("input", &s->input, out);
    put_lengths("output", &s->output, out);
    if (s->has_blocks)
        buf_adds(out, INDENT "prompts begin alike where the trace says so\n");
    put_damage(s, out);
    put_ties(s, &load->trace, out);
}
