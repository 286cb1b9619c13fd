/* A sweep as text: a row for each value, the curves as marks in a line, and
 * where they bend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/sweep_report.h"
#include "analyzer/report/text_parts.h"
#include "analyzer/studies/sweep.h"
#include "common/base/buf.h"

#define PLOT 30 /* columns of a curve */
#define NAME 32

static int p99(void)
{
    int q = 0;

    while (q < SUMMARY_QUANTILES - 1 && summary_quantile[q] != 0.99)
        q++;
    return q;
}

/* "load.rate" is a rate to anybody. */
static const char *short_key(const struct sweep_summary *s)
{
    const char *point = strrchr(s->set.key, '.');

    if (s->is_load && !s->has_rate)
        return "clients";
    return point ? point + 1 : s->set.key;
}

static const char *show_value(const struct sweep_summary *s, double value,
                              char out[static NAME])
{
    snprintf(out, NAME, "%.6g%.12s", value, s->has_rate ? "/s" : s->set.unit);
    return out;
}

/* ---- the table ---- */

static void put_ns(double ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, " %9s",
             ns == HIST_TOO_FEW ? "n small" : text_show_ns(ns, text));
}

/* Of a thousand good requests; where there is none, nothing. */
static void put_usd(double usd, struct buf *out)
{
    if (isfinite(usd))
        buf_addf(out, " %9.4g", usd);
    else
        buf_addf(out, " %9s", "-");
}

static void put_row(const struct sweep_summary *s, const struct sweep_value *v,
                    struct buf *out)
{
    char name[NAME];

    buf_addf(out, "%12s", show_value(s, v->value, name));
    if (v->counted == 0) {
        buf_adds(out, "  withdrawn: no run at it is to be trusted\n");
        return;
    }
    buf_addf(out, " %9.5g %10.5g %9.5g %9.4g%%", v->rate[TRIAL_OFFERED],
             v->rate[TRIAL_THROUGHPUT], v->rate[TRIAL_GOODPUT],
             100 * v->rate[TRIAL_ATTAINMENT]);
    put_ns(v->quantile_ns[MEASURE_E2E][0], out);
    put_ns(v->quantile_ns[MEASURE_E2E][p99()], out);
    if (s->is_streamed) {
        put_ns(v->quantile_ns[MEASURE_TTFT][p99()], out);
        put_ns(v->quantile_ns[MEASURE_TPOT][p99()], out);
    }
    if (s->has_tokens)
        buf_addf(out, " %9.5g", v->rate[TRIAL_TOKENS]);
    if (s->has_cost)
        put_usd(v->rate[TRIAL_USD], out);
    if (s->terms.len > 0)
        buf_addf(out, "  %s", verdict_name(v->verdict));
    if (v->counted < v->runs)
        buf_addf(out, "  %zu of %zu runs", v->counted, v->runs);
    buf_adds(out, v->is_overloaded ? "  overloaded\n" : "\n");
}

static void put_table(const struct sweep_summary *s, struct buf *out)
{
    buf_addf(out, "%12s %9s %10s %9s %10s %9s %9s", short_key(s), "offered",
             "throughput", "goodput", "attainment", "e2e p50", "e2e p99");
    if (s->is_streamed)
        buf_addf(out, " %9s %9s", "ttft p99", "tpot p99");
    if (s->has_tokens)
        buf_addf(out, " %9s", "tokens/s");
    if (s->has_cost)
        buf_addf(out, " %9s", "$/1000");
    buf_adds(out, s->terms.len > 0 ? "  SLO\n" : "\n");
    for (size_t i = 0; i < s->n_values; i++)
        put_row(s, &s->values[i], out);
}

/* ---- the curves ---- */

/* Which time is shown: that of the objective's main measure. */
static enum measure plotted(const struct sweep_summary *s)
{
    return s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;
}

struct scale {
    double low_ns;
    double high_ns;
};

/* Whole powers of ten around all that is there. */
static struct scale scale_of(const struct sweep_summary *s)
{
    struct scale c = {.low_ns = INFINITY, .high_ns = 0};

    for (size_t i = 0; i < s->n_values; i++) {
        const double *ns = s->values[i].quantile_ns[plotted(s)];
        double low = ns[0];
        double high = ns[p99()] > 0 ? ns[p99()] : low;

        if (s->values[i].counted == 0 || !(low > 0))
            continue;
        c.low_ns = fmin(c.low_ns, low);
        c.high_ns = fmax(c.high_ns, high);
    }
    if (c.high_ns > 0) {
        c.low_ns = pow(10, floor(log10(c.low_ns)));
        c.high_ns = pow(10, ceil(log10(c.high_ns)));
    }
    if (!(c.high_ns > c.low_ns))
        c.high_ns = 10 * c.low_ns;
    return c;
}

static size_t place(const struct scale *c, double ns)
{
    double at = log(ns / c->low_ns) / log(c->high_ns / c->low_ns);

    return (size_t)fmin(PLOT - 1, fmax(0, at * PLOT));
}

/* "   o....x   ": from the median to p99; ">" where that failed. */
static void put_times(const struct sweep_summary *s,
                      const struct sweep_value *v, const struct scale *c,
                      struct buf *out)
{
    const double *ns = v->quantile_ns[plotted(s)];
    char line[PLOT + 1];
    size_t from;
    size_t to = PLOT - 1;

    memset(line, ' ', PLOT);
    line[PLOT] = '\0';
    if (v->counted > 0 && ns[0] > 0) {
        from = place(c, ns[0]);
        if (ns[p99()] > 0)
            to = place(c, ns[p99()]);
        if (ns[p99()] > 0 || ns[p99()] == HIST_BEYOND) {
            memset(line + from, '.', to - from + 1);
            line[to] = ns[p99()] > 0 ? 'x' : '>';
        }
        line[from] = 'o';
    }
    buf_addf(out, "|%s|", line);
}

static void put_bar(const struct sweep_summary *s, const struct sweep_value *v,
                    struct buf *out)
{
    double most = s->most_rps > 0 ? s->most_rps : 1;
    int all = (int)lround(PLOT * v->rate[TRIAL_THROUGHPUT] / most);
    int good = (int)lround(PLOT * v->rate[TRIAL_GOODPUT] / most);

    if (v->counted == 0)
        all = good = 0;
    if (good > PLOT)
        good = PLOT;
    if (all < good)
        all = good;
    buf_adds(out, "|");
    for (int i = 0; i < PLOT; i++)
        buf_adds(out, i < good ? "#" : i < all ? "-" : " ");
    buf_adds(out, "|");
}

static void put_curves(const struct sweep_summary *s, struct buf *out)
{
    struct scale c = scale_of(s);
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    if (!isfinite(c.low_ns))
        return;
    buf_addf(out,
             "%12s  # goodput, - throughput, to %-6.5g %s o p50 to x p99, "
             "%s to %s\n",
             "", s->most_rps, measure_name(plotted(s)),
             units_show_duration(c.low_ns, low),
             units_show_duration(c.high_ns, high));
    for (size_t i = 0; i < s->n_values; i++) {
        char name[NAME];

        buf_addf(out, "%12s ", show_value(s, s->values[i].value, name));
        put_bar(s, &s->values[i], out);
        buf_adds(out, " ");
        put_times(s, &s->values[i], &c, out);
        buf_adds(out, "\n");
    }
}

/* ---- what it comes to ---- */

static void put_marks(const struct sweep_summary *s, struct buf *out)
{
    char name[NAME];

    if (s->knee)
        buf_addf(out,
                 "knee       %s: the most throughput for its latency "
                 "(throughput / e2e p50)\n",
                 show_value(s, s->knee->value, name));
    if (s->saturation)
        buf_addf(out, "saturation %s: %s; most throughput %.5g/s\n",
                 show_value(s, s->saturation->value, name),
                 s->has_rate ? "from here the server falls behind"
                             : "more brings under 5% more throughput",
                 s->most_rps);
    else if (s->is_load)
        buf_addf(out, "saturation not reached; most throughput %.5g/s\n",
                 s->most_rps);
    if (s->best)
        buf_addf(out, "goodput    %.5g/s at most, at %s\n",
                 s->best->rate[TRIAL_GOODPUT],
                 show_value(s, s->best->value, name));
    if (s->terms.len == 0)
        return;
    if (s->within)
        buf_addf(out, "SLO        met up to %s, as far as it was tried",
                 show_value(s, s->within->value, name));
    else
        buf_addf(out, "SLO        %s at the lowest value",
                 s->values[0].verdict == VERDICT_UNDECIDED ? "undecided"
                                                           : "not met");
    buf_adds(out, s->is_load ? "; tailgate search finds the boundary\n" : "\n");
}

static void put_withdrawn(const struct sweep_summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];
        char *dir = study_point_path(s->dir, p->at);
        char name[NAME];

        if (!p->counts)
            buf_addf(out, "withdrawn  %s, %s: tailgate report %s\n",
                     show_value(s, p->at->value, name),
                     p->run.stopped_by    ? "interrupted"
                     : p->run.distrust[0] ? p->run.distrust
                     : p->run.was_aborted ? "aborted"
                                          : "killed",
                     dir);
        free(dir);
    }
}

void sweep_text(const struct sweep_summary *s, struct buf *out)
{
    buf_addf(out, "%s\n", s->title);
    buf_addf(out, "sweep      %s: %zu values, %zu of %zu runs recorded\n",
             s->set.key, s->n_values, s->n, s->set.len);
    buf_addf(out, "load       the first: %s\n", s->load);
    for (size_t i = 0; i < s->terms.len; i++)
        buf_addf(out, "SLO        %s\n", s->terms.items[i]);
    if (s->set.stopped_by)
        buf_addf(out,
                 "           interrupted by signal %lld; --resume goes "
                 "on with it\n",
                 (long long)s->set.stopped_by);
    if (s->set.failed[0])
        buf_addf(out, "           ended early: %s\n", s->set.failed);
    buf_adds(out, "\n");
    put_table(s, out);
    buf_adds(out, "\n");
    put_curves(s, out);
    buf_adds(out, "\n");
    put_marks(s, out);
    put_withdrawn(s, out);
}
