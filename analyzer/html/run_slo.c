/* The strip of objectives: each term's value and interval as a share of its
 * limit, so that all rows have one scale. */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/tally/summary.h"

#define ROW 62 /* height in pixels */

static const char *const colours[] = {[VERDICT_NONE] = "ink3",
                                      [VERDICT_PASS] = "pass",
                                      [VERDICT_FAIL] = "fail",
                                      [VERDICT_UNDECIDED] = "und",
                                      [VERDICT_INVALID] = "ink3"};
static const enum icon verdict_icons[] = {[VERDICT_NONE] = ICON_NOTE,
                                          [VERDICT_PASS] = ICON_PASS,
                                          [VERDICT_FAIL] = ICON_FAIL,
                                          [VERDICT_UNDECIDED] = ICON_UNDECIDED,
                                          [VERDICT_INVALID] = ICON_INVALID};
static const char *const tones[] = {[VERDICT_NONE] = "none",
                                    [VERDICT_PASS] = "pass",
                                    [VERDICT_FAIL] = "fail",
                                    [VERDICT_UNDECIDED] = "undecided",
                                    [VERDICT_INVALID] = "invalid"};

const char *run_measure_title(int measure)
{
    static const char *const titles[MEASURE_COUNT] = {
        [MEASURE_E2E] = "Whole answer",
        [MEASURE_SERVICE] = "Answer after sending",
        [MEASURE_LAG] = "Client lag",
        [MEASURE_CONNECT] = "Time to connect",
        [MEASURE_TLS] = "TLS handshake",
        [MEASURE_TTFB] = "Time to first byte",
        [MEASURE_TTFT] = "Time to first token",
        [MEASURE_TPOT] = "Time per output token",
        [MEASURE_STALL] = "Longest pause",
        [MEASURE_TAIL] = "End of the stream",
        [MEASURE_GAP] = "Time between events",
        [MEASURE_ITL] = "Time between tokens",
        [MEASURE_QUERY] = "Slowest of a query",
    };

    return titles[measure];
}

/* A term with everything as a share of its limit; left is always better. */
struct scaled {
    double value; /* NAN: not measured; INFINITY: failed */
    double low;
    double high;
    bool is_minimum;
};

static double mirror(double ratio, bool is_minimum)
{
    return is_minimum ? fmax(0, 2 - ratio) : ratio;
}

static struct scaled scale(const struct term_judgement *j)
{
    const struct slo_term *t = j->term;
    struct scaled s = {NAN, NAN, NAN, false};

    if (t->kind == SLO_QUANTILE) {
        double limit = (double)t->limit_ns;

        s.value = j->measured_ns >= 0 ? (double)j->measured_ns / limit
                  : j->measured_ns == HIST_BEYOND ? INFINITY
                                                  : NAN;
        s.low = (double)j->low_ns / limit;
        s.high = j->high_ns >= 0 ? (double)j->high_ns / limit : INFINITY;
        if (j->low_ns <= 0 && j->high_ns < 0)
            s.low = s.high = NAN;
        return s;
    }
    if (j->is_unmeasured || !(t->limit > 0))
        return s;
    s.is_minimum = t->kind != SLO_ERRORS;
    s.value = mirror(j->measured / t->limit, s.is_minimum);
    if (t->kind != SLO_GOODPUT) { /* its interval is of a share */
        double a = mirror(j->ci90.low / t->limit, s.is_minimum);
        double b = mirror(j->ci90.high / t->limit, s.is_minimum);

        s.low = fmin(a, b);
        s.high = fmax(a, b);
    }
    return s;
}

static void put_bullet(struct page *p, const struct term_judgement *j,
                       const struct scaled *s, const char *limit)
{
    const char *colour = colours[j->verdict];

    page_put(p, "<svg role=\"img\" aria-label=\"");
    page_textf(p, "%s: %s", j->term->text, verdict_name(j->verdict));
    page_putf(p,
              "\"><rect class=\"beyond\" x=\"50%%\" width=\"50%%\" "
              "height=\"%d\"/><line class=\"bl\" x1=\"0\" x2=\"100%%\" "
              "y1=\"%d\" y2=\"%d\"/><line class=\"s-ink\" x1=\"50%%\" "
              "x2=\"50%%\" y1=\"0\" y2=\"%d\" stroke-width=\"1.5\"/><text "
              "class=\"ax\" x=\"50%%\" dx=\"7\" y=\"15\">%s</text>",
              ROW, ROW / 2, ROW / 2, ROW, limit);
    if (!isnan(s->low) && !isnan(s->high)) {
        double a = fmin(2, fmax(0, s->low));
        double b = fmin(2, fmax(0, s->high));

        page_putf(p,
                  "<rect class=\"f-%s soft2\" x=\"%.1f%%\" width=\"%.1f%%\" "
                  "y=\"%d\" height=\"10\" rx=\"%d\"/>",
                  colour, 50 * a, 50 * fmax(b - a, 0.01), ROW / 2 - 5,
                  s->high > 2 ? 0 : 5);
        if (s->high > 2)
            page_putf(
                p,
                "<svg x=\"100%%\" overflow=\"visible\"><path class=\"f-%s "
                "soft2\" d=\"M0 %dl9 5-9 5z\"/></svg>",
                colour, ROW / 2 - 5);
    }
    if (s->value > 2)
        page_putf(p,
                  "<svg x=\"100%%\" overflow=\"visible\"><path class=\"f-%s "
                  "rim\" d=\"M-8 %dl14 8-14 8z\"/></svg>",
                  colour, ROW / 2 - 8);
    else if (!isnan(s->value))
        page_putf(p,
                  "<circle class=\"f-%s rim\" cx=\"%.1f%%\" cy=\"%d\" "
                  "r=\"7\"/>",
                  colour, 50 * fmax(0, s->value), ROW / 2);
    page_put(p, "</svg>");
}

static const char *show_of(const struct slo_term *t, double value, char *out)
{
    if (t->kind == SLO_GOODPUT) {
        char text[SHOW_TEXT];

        snprintf(out, SHOW_TEXT, "%s/s", show_number(value, text));
        return out;
    }
    return show_share(value, out);
}

static const char *limit_of(const struct slo_term *t, char *out)
{
    if (t->kind == SLO_QUANTILE)
        return show_tick_ns((double)t->limit_ns, out);
    if (t->kind == SLO_GOODPUT)
        snprintf(out, SHOW_TEXT, "%.6g/s", t->limit);
    else
        snprintf(out, SHOW_TEXT, "%.6g%%", 100 * t->limit);
    return out;
}

/* "34% over the limit" */
static void put_distance(struct page *p, const struct term_judgement *j,
                         const struct scaled *s)
{
    double r = s->is_minimum ? 2 - s->value : s->value;
    bool is_beyond = s->value >= 1;

    page_put(p, " <span class=\"vs\">");
    if (isinf(s->value) || isnan(s->value))
        ;
    else if (j->term->kind == SLO_ERRORS && j->measured == 0)
        page_put(p, "none failed");
    else if (!s->is_minimum && r >= 3)
        page_putf(p, "%.3g × the limit", r);
    else if (r < 0.01 && !s->is_minimum)
        page_put(p, "far below the limit");
    else if (fabs(r - 1) < 0.005)
        page_put(p,
                 is_beyond && r != 1 ? "just over the limit" : "at the limit");
    else
        page_putf(p, "%.0f%% %s the limit", 100 * fabs(r - 1),
                  r > 1 ? (s->is_minimum ? "above" : "over") : "below");
    page_put(p, "</span>");
}

static void put_interval(struct page *p, const struct term_judgement *j)
{
    const struct slo_term *t = j->term;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_put(p, "<small>");
    if (t->kind == SLO_QUANTILE && j->low_ns > 0 && j->high_ns >= 0)
        page_textf(p, "90%% interval %s to %s", show_ns((double)j->low_ns, a),
                   show_ns((double)j->high_ns, b));
    else if (t->kind == SLO_QUANTILE && j->high_ns >= 0)
        page_textf(p, "90%% interval below %s", show_ns((double)j->high_ns, b));
    else if (t->kind == SLO_QUANTILE && j->low_ns > 0)
        page_textf(p, "90%% interval above %s", show_ns((double)j->low_ns, a));
    else if (t->kind == SLO_QUANTILE)
        page_put(p, "too few requests for an interval");
    else if (!j->is_unmeasured)
        page_textf(p, "90%% interval %s to %s%s", show_share(j->ci90.low, a),
                   show_share(j->ci90.high, b),
                   t->kind == SLO_GOODPUT ? " of all due" : "");
    if (j->more_needed > 0)
        page_textf(p, "; about %s more requests needed",
                   show_count(j->more_needed, a));
    else if (j->why) {
        page_put(p, "; ");
        page_text(p, j->why);
    }
    page_put(p, "</small>");
}

static void put_term(struct page *p, const char *class,
                     const struct term_judgement *j)
{
    const struct slo_term *t = j->term;
    struct scaled s = scale(j);
    char limit[SHOW_TEXT];
    char text[SHOW_TEXT];

    page_putf(p,
              "<div class=\"row v-%s\" role=\"row\"><div class=\"term\" "
              "role=\"cell\">",
              tones[j->verdict]);
    page_putf(p, "<span class=\"i-%s\">", tones[j->verdict]);
    page_icon(p, verdict_icons[j->verdict], "");
    page_put(p, "</span><span>");
    if (class) {
        page_text(p, class);
        page_put(p, ": ");
    }
    if (t->kind == SLO_QUANTILE)
        page_textf(p, "%s, p%.6g", run_measure_title((int)t->measure),
                   100 * t->quantile);
    else
        page_put(p, t->kind == SLO_ERRORS    ? "Errors"
                    : t->kind == SLO_GOOD    ? "Good requests"
                    : t->kind == SLO_GOODPUT ? "Goodput"
                                             : "Correct answers");
    page_putf(p, "<small>%s · <span class=\"mono\">", verdict_name(j->verdict));
    page_text(p, t->text);
    page_put(p, "</span></small></span></div>\n<div class=\"plot\" "
                "role=\"cell\">");
    put_bullet(p, j, &s, limit_of(t, limit));
    page_put(p, "</div><div class=\"val\" role=\"cell\"><b class=\"v\">");
    if (t->kind == SLO_QUANTILE)
        page_text(p, show_ns((double)j->measured_ns, text));
    else
        page_text(p, j->is_unmeasured ? "not measured"
                                      : show_of(t, j->measured, text));
    page_put(p, "</b>");
    put_distance(p, j, &s);
    put_interval(p, j);
    page_put(p, "</div></div>\n");
}

static size_t count_judged(const struct judgement *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->len; i++)
        n += j->terms[i].verdict != VERDICT_NONE;
    return n;
}

static void put_terms(struct page *p, const char *class,
                      const struct judgement *j)
{
    for (size_t i = 0; i < j->len; i++) {
        if (j->terms[i].verdict != VERDICT_NONE)
            put_term(p, class, &j->terms[i]);
    }
}

void run_slo_put(struct page *p, const struct summary *s)
{
    size_t n = count_judged(&s->judgement);

    for (size_t i = 0; i < s->n_classes; i++)
        n += count_judged(&s->classes[i].judgement);
    if (n == 0)
        return;
    page_putf(
        p,
        "<div class=\"slo%s\" role=\"table\" aria-label=\"Objectives\">"
        "<div class=\"row head\" role=\"row\"><div "
        "role=\"columnheader\">Objective</div><div class=\"plot\" "
        "role=\"columnheader\"><span class=\"vh\">Measured against the "
        "limit</span><svg aria-hidden=\"true\"><text class=\"ax\" x=\"0\" "
        "y=\"22\">0</text><text class=\"ax\" x=\"25%%\" y=\"22\" "
        "text-anchor=\"middle\">within</text><text class=\"limt\" "
        "x=\"50%%\" y=\"22\" text-anchor=\"middle\">limit</text><text "
        "class=\"ax\" x=\"75%%\" y=\"22\" text-anchor=\"middle\">beyond"
        "</text><text class=\"ax\" x=\"100%%\" y=\"22\" "
        "text-anchor=\"end\">2 × limit</text></svg></div><div "
        "role=\"columnheader\">Measured</div></div>\n",
        n > 6 ? " many" : "");
    put_terms(p, NULL, &s->judgement);
    for (size_t i = 0; i < s->n_classes; i++)
        put_terms(p, s->classes[i].name, &s->classes[i].judgement);
    page_put(p, "</div>\n");
}
