#include "analyzer/html/chart/slo_strip.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/html/html_text.h"

#define ROW 62 /* height in pixels */

static const struct {
    const char *name;
    const char *colour;
    enum icon icon;
} tones[] = {[TONE_PASS] = {"pass", "pass", ICON_PASS},
             [TONE_FAIL] = {"fail", "fail", ICON_FAIL},
             [TONE_UNDECIDED] = {"undecided", "und", ICON_UNDECIDED},
             [TONE_INVALID] = {"invalid", "ink3", ICON_INVALID},
             [TONE_NONE] = {"none", "ink3", ICON_NOTE}};

static double limit_of(const struct slo_term *t)
{
    return t->kind == SLO_QUANTILE ? (double)t->limit_ns : t->limit;
}

static bool is_minimum(const struct slo_term *t)
{
    return t->kind != SLO_QUANTILE && t->kind != SLO_ERRORS;
}

/* As a share of the limit; a minimum is mirrored, so that left is better. */
static double scaled(const struct slo_term *t, double value)
{
    double ratio = value / limit_of(t);

    return !(limit_of(t) > 0) ? NAN
           : is_minimum(t)    ? fmax(0, 2 - ratio)
                              : ratio;
}

bool slo_is_across(const struct slo_row *r)
{
    double limit = limit_of(r->term);

    /* An interval that ends at the limit is not across it. */
    return r->low < limit * (1 - 1e-9) && r->high > limit * (1 + 1e-9);
}

const char *slo_show(const struct slo_term *t, double value,
                     char out[static SHOW_TEXT])
{
    char text[SHOW_TEXT];

    if (isinf(value))
        snprintf(out, SHOW_TEXT, "failed");
    else if (isnan(value))
        snprintf(out, SHOW_TEXT, "not measured");
    else if (t->kind == SLO_QUANTILE)
        show_ns(value, out);
    else if (t->kind == SLO_GOODPUT)
        snprintf(out, SHOW_TEXT, "%s/s", show_number(value, text));
    else
        show_share(value, out);
    return out;
}

static const char *show_limit(const struct slo_term *t, char *out)
{
    if (t->kind == SLO_QUANTILE)
        return show_tick_ns((double)t->limit_ns, out);
    if (t->kind == SLO_GOODPUT)
        snprintf(out, SHOW_TEXT, "%.6g/s", t->limit);
    else
        snprintf(out, SHOW_TEXT, "%.6g%%", 100 * t->limit);
    return out;
}

/* ---- the picture ---- */

static void put_interval_bar(struct page *p, const struct slo_row *r,
                             const char *colour)
{
    double a = scaled(r->term, r->low);
    double b = scaled(r->term, r->high);
    double low = fmin(a, b);
    double high = fmax(a, b);

    if (isnan(low) || isnan(high))
        return;
    page_putf(p,
              "<rect class=\"f-%s soft2\" x=\"%.1f%%\" width=\"%.1f%%\" "
              "y=\"%d\" height=\"10\" rx=\"%d\"/>",
              colour, 50 * fmin(2, fmax(0, low)),
              50 * fmax(fmin(2, high) - fmin(2, fmax(0, low)), 0.01),
              ROW / 2 - 5, high > 2 ? 0 : 5);
    if (high > 2)
        page_putf(p,
                  "<svg x=\"100%%\" overflow=\"visible\"><path class=\"f-%s "
                  "soft2\" d=\"M0 %dl9 5-9 5z\"/></svg>",
                  colour, ROW / 2 - 5);
}

static void put_bullet(struct page *p, const struct slo_row *r)
{
    const char *colour = tones[r->tone].colour;
    double value = scaled(r->term, r->measured);
    char limit[SHOW_TEXT];
    char text[SHOW_TEXT];

    page_put(p, "<svg role=\"img\" aria-label=\"");
    page_textf(p, "%s: %s, measured %s", r->term->text, r->verdict,
               slo_show(r->term, r->measured, text));
    page_putf(p,
              "\"><rect class=\"beyond\" x=\"50%%\" width=\"50%%\" "
              "height=\"%d\"/><line class=\"bl\" x1=\"0\" x2=\"100%%\" "
              "y1=\"%d\" y2=\"%d\"/><line class=\"s-ink\" x1=\"50%%\" "
              "x2=\"50%%\" y1=\"0\" y2=\"%d\" stroke-width=\"1.5\"/><text "
              "class=\"ax\" x=\"50%%\" dx=\"7\" y=\"15\">%s</text>",
              ROW, ROW / 2, ROW / 2, ROW, show_limit(r->term, limit));
    put_interval_bar(p, r, colour);
    for (size_t i = 0; i < r->n_dots; i++) {
        double x = scaled(r->term, r->dots[i]);

        if (!isnan(x))
            page_putf(p,
                      "<circle class=\"f-none s-%s\" cx=\"%.1f%%\" cy=\"%d\" "
                      "r=\"3.5\" stroke-width=\"1.5\"/>",
                      colour, 50 * fmin(2, fmax(0, x)), ROW - 12);
    }
    if (value > 2)
        page_putf(p,
                  "<svg x=\"100%%\" overflow=\"visible\"><path class=\"f-%s "
                  "rim\" d=\"M-8 %dl14 8-14 8z\"/></svg>",
                  colour, ROW / 2 - 8);
    else if (!isnan(value))
        page_putf(p,
                  "<circle class=\"f-%s rim\" cx=\"%.1f%%\" cy=\"%d\" "
                  "r=\"7\"/>",
                  colour, 50 * fmax(0, value), ROW / 2);
    page_put(p, "</svg>");
}

/* ---- words ---- */

/* "34% over the limit" */
static void put_distance(struct page *p, const struct slo_row *r)
{
    double ratio = r->measured / limit_of(r->term);

    page_put(p, " <span class=\"vs\">");
    if (!isfinite(ratio))
        ;
    else if (r->term->kind == SLO_ERRORS && r->measured == 0)
        page_put(p, "none failed");
    else if (!is_minimum(r->term) && ratio >= 3)
        page_putf(p, "%.3g × the limit", ratio);
    else if (ratio < 0.01 && !is_minimum(r->term))
        page_put(p, "far below the limit");
    else if (fabs(ratio - 1) < 0.005)
        page_put(p, ratio > 1 ? "just over the limit" : "at the limit");
    else
        page_putf(p, "%.0f%% %s the limit", 100 * fabs(ratio - 1),
                  ratio > 1 ? (is_minimum(r->term) ? "above" : "over")
                            : "below");
    page_put(p, "</span>");
}

static const char *title_of(const struct slo_term *t, char *out, size_t size)
{
    if (t->kind == SLO_QUANTILE)
        snprintf(out, size, "%s, p%.6g", measure_title(t->measure),
                 100 * t->quantile);
    else
        snprintf(out, size, "%s",
                 t->kind == SLO_ERRORS    ? "Errors"
                 : t->kind == SLO_GOOD    ? "Good requests"
                 : t->kind == SLO_GOODPUT ? "Goodput"
                                          : "Correct answers");
    return out;
}

void slo_strip_row(struct page *p, const struct slo_row *r)
{
    char text[SHOW_TEXT];
    char title[96];

    page_putf(p,
              "<div class=\"row v-%s\" role=\"row\"><div class=\"term\" "
              "role=\"cell\"><span class=\"i-%s\">",
              tones[r->tone].name, tones[r->tone].name);
    page_icon(p, tones[r->tone].icon, "");
    page_put(p, "</span><span>");
    if (r->class) {
        page_text(p, r->class);
        page_put(p, ": ");
    }
    page_text(p, title_of(r->term, title, sizeof(title)));
    page_put(p, "<small>");
    page_text(p, r->verdict);
    page_put(p, " · <span class=\"mono\">");
    page_text(p, r->term->text);
    page_put(p, "</span></small></span></div>\n<div class=\"plot\" "
                "role=\"cell\">");
    put_bullet(p, r);
    page_put(p, "</div><div class=\"val\" role=\"cell\"><b class=\"v\">");
    page_text(p, slo_show(r->term, r->measured, text));
    page_put(p, "</b>");
    put_distance(p, r);
    page_put(p, "<small>");
    page_text(p, r->interval);
    page_put(p, "</small></div></div>\n");
}

void slo_strip_begin(struct page *p)
{
    page_put(p,
             "<div class=\"slo\" role=\"table\" aria-label=\"Objectives\">"
             "<div class=\"row head\" role=\"row\"><div "
             "role=\"columnheader\">Objective</div><div class=\"plot\" "
             "role=\"columnheader\"><span class=\"vh\">Measured against the "
             "limit</span><svg aria-hidden=\"true\"><text class=\"ax\" x=\"0\" "
             "y=\"22\">0</text><text class=\"ax mid\" x=\"25%\" y=\"22\" "
             "text-anchor=\"middle\">within</text><text class=\"limt\" "
             "x=\"50%\" y=\"22\" text-anchor=\"middle\">limit</text><text "
             "class=\"ax mid\" x=\"75%\" y=\"22\" text-anchor=\"middle\">beyond"
             "</text><text class=\"ax\" x=\"100%\" y=\"22\" "
             "text-anchor=\"end\">2 × limit</text></svg></div><div "
             "role=\"columnheader\">Measured</div></div>\n");
}

void slo_strip_end(struct page *p)
{
    page_put(p, "</div>\n");
}
