/* A search as text: the answer, what it rests on, and the probes as a curve of
 * misses over the load. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/search_report.h"
#include "analyzer/report/text_parts.h"
#include "analyzer/search/search_read.h"
#include "common/base/buf.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

#define NAME   32
#define PLOT   40
#define LOWEST 0.0001 /* miss share at the left end of the curve */

static const char *show(const struct search_summary *s, double value,
                        char out[static NAME])
{
    char text[UNITS_TEXT];

    if (!isfinite(value))
        return "unknown";
    snprintf(out, NAME, "%.20s%s", units_show_number(value, text),
             s->has_rate ? "/s" : " clients");
    return out;
}

/* ---- the answer ---- */

static void put_estimate(const struct search_summary *s, struct buf *out)
{
    const struct search_answer *a = &s->answer;
    char low[NAME];
    char high[NAME];
    char text[NAME];

    buf_addf(out, "capacity   %s", show(s, a->capacity, text));
    if (isfinite(a->ci.low) && isfinite(a->ci.high))
        buf_addf(out, ", %.0f%% interval %s to %s", 100 * SEARCH_CONFIDENCE,
                 show(s, a->ci.low, low), show(s, a->ci.high, high));
    if (isfinite(a->confirmed))
        buf_addf(out, "; %s at %s", search_confirmed_how(a),
                 show(s, a->confirmed, text));
    else
        buf_adds(out, "; not confirmed");
    buf_adds(out, "\n");
}

/* How far it is known, where there is no one number. */
static void put_bracket(const struct search_summary *s, struct buf *out)
{
    const struct search_answer *a = &s->answer;
    char low[NAME];
    char high[NAME];

    if (isfinite(a->at_least) && isfinite(a->at_most))
        buf_addf(out, "bracket    single probes met it at %s, missed at %s\n",
                 show(s, a->at_least, low), show(s, a->at_most, high));
    else if (isfinite(a->at_least))
        buf_addf(out, "bracket    met at %s, missed nowhere\n",
                 show(s, a->at_least, low));
    else if (isfinite(a->at_most))
        buf_addf(out, "bracket    missed at %s, met nowhere below\n",
                 show(s, a->at_most, high));
}

/* Is the reason more than what the headline says? */
static bool has_more_to_say(const struct search_answer *a)
{
    switch (a->outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
    case SEARCH_CLIENT:
    case SEARCH_NEVER:
    case SEARCH_GOES_ON:
        return false;
    case SEARCH_AT_LEAST:
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
    case SEARCH_NOT_PROBED:
        break;
    }
    return a->why[0] != '\0';
}

static void put_headline(const struct search_summary *s, struct buf *out)
{
    const struct search_answer *a = &s->answer;
    char text[NAME];

    switch (a->outcome) {
    case SEARCH_NEVER:
        buf_addf(out, "capacity   none: %s\n", a->why);
        break;
    case SEARCH_CLIENT:
        buf_addf(out, "capacity   at least %s%s: the client is the limit\n",
                 show(s, a->at_least, text),
                 isfinite(a->confirmed) ? "" : ", not confirmed");
        break;
    case SEARCH_AT_LEAST:
        buf_addf(out, "capacity   at least %s, the most that was to be tried\n",
                 show(s, a->at_least, text));
        break;
    case SEARCH_NOT_PROBED:
        buf_adds(out, "capacity   not known: the probes do not reach it\n");
        break;
    case SEARCH_UNDECIDED:
        buf_adds(out, "capacity   UNDECIDED: what was seen does not fit one\n");
        break;
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
    case SEARCH_BUDGET:
    case SEARCH_GOES_ON:
        if (isfinite(a->capacity))
            put_estimate(s, out);
        else
            buf_adds(out, "capacity   not known yet\n");
        break;
    }
    if (has_more_to_say(a))
        buf_addf(out, "           %s\n", a->why);
}

static void put_state(const struct search_summary *s, struct buf *out)
{
    if (s->is_of_others)
        buf_adds(out, "           by another SLO than was searched for; no new "
                      "load\n");
    else if (s->set.stopped_by)
        buf_addf(out,
                 "           interrupted by signal %lld; --resume goes on "
                 "with it\n",
                 (long long)s->set.stopped_by);
    if (s->set.failed[0])
        buf_addf(out, "           ended early: %s\n", s->set.failed);
    if (s->answer.outcome == SEARCH_ESTIMATED)
        buf_adds(out, "           an estimate: no run has confirmed it\n");
}

static bool is_beyond_by(const struct search_summary *s, const char *check)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->probes[i].result;

        if (r->value >= s->answer.client_limit &&
            search_is_discarded_by(r, check))
            return true;
    }
    return false;
}

/* By why probes were set aside there. */
static const char *what_limits(const struct search_summary *s)
{
    if (is_beyond_by(s, SEARCH_EXHAUSTED))
        return "had no local port, open file or memory left at";
    if (is_beyond_by(s, SEARCH_CAPPED))
        return "had too few connections (--connections) at";
    if (is_beyond_by(s, SEARCH_BUSY))
        return "was busy and too slow itself at";
    return "was too late, though not busy (the machine may be why), from";
}

static void put_client(const struct search_summary *s, struct buf *out)
{
    const struct calibration_stamp *c = &s->calibration;
    char text[UNITS_TEXT];
    char limit[NAME];

    if (c->standing == CALIBRATED && c->of.max_rate_rps > 0)
        buf_addf(out, "client     good for %s%s by its calibration\n",
                 calibration_is_at_least(&c->of) ? "at least " : "",
                 units_show_rate(c->of.max_rate_rps, text));
    else
        buf_addf(out,
                 "client     %s: tailgate calibrate says what it is good "
                 "for\n",
                 c->standing == CALIBRATION_STALE
                     ? "its calibration does not apply here"
                     : "not calibrated");
    if (isfinite(s->answer.client_limit))
        buf_addf(out, "           it %s %s\n", what_limits(s),
                 show(s, s->answer.client_limit, limit));
}

static void put_spent(const struct search_summary *s, struct buf *out)
{
    const struct search_answer *a = &s->answer;
    char text[UNITS_TEXT];
    size_t confirmations = 0;

    for (size_t i = 0; i < s->n; i++)
        confirmations += s->probes[i].at->role == POINT_CONFIRM;
    buf_addf(out, "spent      %zu probe%s, %zu confirmation%s",
             s->n - confirmations, s->n - confirmations == 1 ? "" : "s",
             confirmations, confirmations == 1 ? "" : "s");
    if (a->discarded > 0)
        buf_addf(out, " (%zu of them set aside)", a->discarded);
    buf_addf(out, ": %lld requests in %s\n", (long long)a->requests,
             units_show_span(a->took_ns, text));
}

/* ---- the curve ---- */

static int by_value(const void *a, const void *b)
{
    double x = (*(const struct search_probe *const *)a)->result.value;
    double y = (*(const struct search_probe *const *)b)->result.value;

    return (x > y) - (x < y);
}

/* The term that is shown: the one that binds. */
static size_t shown_term(const struct search_summary *s)
{
    for (size_t i = 0; i < s->terms.slo.len; i++) {
        if (s->answer.binding &&
            strcmp(s->terms.slo.terms[i].text, s->answer.binding) == 0)
            return i;
    }
    return 0;
}

static size_t place(double share)
{
    double at = share > LOWEST ? 1 - log(share) / log(LOWEST) : 0;

    return (size_t)fmin(PLOT - 1, fmax(0, at * PLOT));
}

/* '|' is what the term allows, '*' what was missed. */
static void put_mark(double share, double allowed, struct buf *out)
{
    char line[PLOT + 1];

    memset(line, ' ', PLOT);
    line[PLOT] = '\0';
    line[place(allowed)] = '|';
    line[place(share)] = '*';
    buf_addf(out, " [%s]", line);
}

static void put_ns(double ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, " %8s",
             ns == HIST_TOO_FEW ? "n small" : text_show_ns(ns, text));
}

static const char *remark(const struct search_probe *p)
{
    const struct search_result *r = &p->result;

    if (r->ended_early)
        return "  ended early";
    return r->is_overloaded && !r->discarded ? "  overloaded" : "";
}

static void put_probe(const struct search_summary *s,
                      const struct search_probe *p, size_t term,
                      struct buf *out)
{
    const struct search_counts *c = &p->result.terms[term];
    const struct slo_term *t = &s->terms.slo.terms[term];
    double share = c->n > 0 ? (double)c->misses / (double)c->n : NAN;
    enum measure m = t->kind == SLO_QUANTILE ? t->measure : MEASURE_E2E;
    char *dir = study_point_path(".", p->at);
    char value[UNITS_TEXT];

    buf_addf(out, "%-10s %8s %8lld %6.3gs", dir + strlen("./"),
             units_show_number(p->result.value, value),
             (long long)p->result.requests, (double)p->result.window_ns / 1e9);
    free(dir);
    put_ns(p->run.quantile_ns[m][0], out);
    put_ns(p->run.quantile_ns[m][3], out);
    if (c->n > 0) {
        buf_addf(out, " %8.3g%%", 100 * share);
        put_mark(share, search_allowed(t), out);
    }
    if (p->result.discarded)
        buf_addf(out, "  set aside: %s", p->result.discarded);
    buf_addf(out, "%s\n", remark(p));
}

static void put_curve(const struct search_summary *s, struct buf *out)
{
    const struct search_probe **sorted =
        xcalloc(s->n, sizeof(struct search_probe *));
    size_t term = shown_term(s);
    const struct slo_term *t = &s->terms.slo.terms[term];
    const char *name =
        measure_name(t->kind == SLO_QUANTILE ? t->measure : MEASURE_E2E);
    char p50[24];
    char p99[24];

    snprintf(p50, sizeof(p50), "%.16s p50", name);
    snprintf(p99, sizeof(p99), "%.16s p99", name);
    buf_addf(out, "%-10s %8s %8s %7s %8s %8s %9s  %s\n", "",
             s->has_rate ? "rate" : "clients", "requests", "window", p50, p99,
             "missed", t->text);
    for (size_t i = 0; i < s->n; i++)
        sorted[i] = &s->probes[i];
    qsort(sorted, s->n, sizeof(struct search_probe *), by_value);
    for (size_t i = 0; i < s->n; i++)
        put_probe(s, sorted[i], term, out);
    buf_addf(out, "%63s %.2g%%%*s\n", "", LOWEST * 100, PLOT - 4, "100%");
    free(sorted);
}

void search_text(const struct search_summary *s, struct buf *out)
{
    buf_addf(out, "%s\n", s->title);
    buf_addf(out, "search     the most %s within\n",
             s->has_rate ? "requests a second" : "clients at a time");
    for (size_t i = 0; i < s->terms.slo.len; i++)
        buf_addf(out, "           %s\n", s->terms.slo.terms[i].text);
    put_headline(s, out);
    put_state(s, out);
    put_bracket(s, out);
    if (s->answer.binding)
        buf_addf(out, "binding    %s\n", s->answer.binding);
    put_client(s, out);
    put_spent(s, out);
    buf_adds(out, "\n");
    put_curve(s, out);
}
