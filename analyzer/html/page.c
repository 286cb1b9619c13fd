#include "analyzer/html/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/assets.h"
#include "analyzer/html/html_text.h"
#include "common/base/hash.h"
#include "common/config.h"

#define MAX_TEXT 8192
#define MAX_DATA ((size_t)4 << 20)

static const char *const tone_names[] = {"pass", "fail", "undecided", "invalid",
                                         "none"};
static const char *const tone_colours[] = {"0e7a4d", "b0124c", "8a5800",
                                           "3c454e", "434b54"};

/* Inside 24 by 24; .ik is a stroke and .if a fill in the colour of the paper.
 */
static const char *const icons[] = {
    [ICON_PASS] =
        "<path fill=\"currentColor\" d=\"M12 1a11 11 0 1 0 0 22 11 11 0 0 0 "
        "0-22Z\"/><path class=\"ik\" d=\"m7 12.4 3.4 3.4L17 8.8\"/>",
    [ICON_FAIL] =
        "<path fill=\"currentColor\" d=\"M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 "
        "16.6V7.4Z\"/><path class=\"ik\" d=\"m8.2 8.2 7.6 7.6m0-7.6-7.6 "
        "7.6\"/>",
    [ICON_UNDECIDED] =
        "<path fill=\"currentColor\" d=\"M12 .6 23.4 12 12 23.4.6 12Z\"/><path "
        "class=\"ik\" d=\"M9.3 9.6a2.8 2.8 0 1 1 4.2 2.4c-1 .6-1.5 1.1-1.5 "
        "2.1\"/><circle class=\"if\" cx=\"12\" cy=\"17.1\" r=\"1.4\"/>",
    [ICON_INVALID] =
        "<path fill=\"currentColor\" d=\"M12 1.2 23.6 22H.4Z\"/><path "
        "class=\"ik\" d=\"M12 9v5.6\"/><circle class=\"if\" cx=\"12\" "
        "cy=\"18.3\" r=\"1.45\"/>",
    [ICON_OK] = "<path class=\"io\" d=\"m4.5 12.8 5 5L19.5 7\"/>",
    [ICON_BAD] = "<path class=\"io\" d=\"m6 6 12 12M18 6 6 18\"/>",
    [ICON_NOTE] = "<circle class=\"io\" cx=\"12\" cy=\"12\" r=\"9.2\"/><path "
                  "class=\"io\" "
                  "d=\"M12 7.4v5.4\"/><circle fill=\"currentColor\" cx=\"12\" "
                  "cy=\"16.6\" r=\"1.35\"/>",
    [ICON_FOUND] = "<circle class=\"io\" cx=\"12\" cy=\"12\" r=\"10\"/><circle "
                   "class=\"io\" cx=\"12\" cy=\"12\" r=\"5\"/><circle "
                   "fill=\"currentColor\" cx=\"12\" cy=\"12\" r=\"1.7\"/>",
    [ICON_LIMIT] = "<path class=\"io\" d=\"M12 4v16m-6-6 6 6 6-6\"/>",
    [ICON_AT_LEAST] = "<path class=\"io\" d=\"m6 3 12 6-12 6M6 20h12\"/>",
    [ICON_SAME] = "<path class=\"io\" d=\"M5 9h14M5 15h14\"/>",
};

const struct verdict_look *verdict_look(const char *word)
{
    static const struct verdict_look looks[] = {
        {"pass", "PASS", TONE_PASS, ICON_PASS},
        {"fail", "FAIL", TONE_FAIL, ICON_FAIL},
        {"undecided", "UNDECIDED", TONE_UNDECIDED, ICON_UNDECIDED},
        {"invalid", "INVALID", TONE_INVALID, ICON_INVALID},
        {"none", "NO OBJECTIVE", TONE_NONE, ICON_NOTE},
        {"better", "BETTER", TONE_PASS, ICON_PASS},
        {"worse", "WORSE", TONE_FAIL, ICON_FAIL},
        {"worse within the threshold", "WORSE, WITHIN THE THRESHOLD", TONE_NONE,
         ICON_NOTE},
        {"refused", "REFUSED", TONE_INVALID, ICON_INVALID},
        {"cannot tell", "CANNOT TELL", TONE_UNDECIDED, ICON_UNDECIDED},
        {"no difference shown", "NO DIFFERENCE SHOWN", TONE_NONE, ICON_SAME},
        {"no change for the worse", "NO WORSE", TONE_PASS, ICON_PASS},
        {"scales", "SCALES", TONE_PASS, ICON_PASS},
        {"does not scale", "DOES NOT SCALE", TONE_FAIL, ICON_FAIL},
    };

    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        if (strcmp(looks[i].word, word) == 0)
            return &looks[i];
    }
    return NULL;
}

/* ---- words ---- */

void page_put(struct page *p, const char *html)
{
    buf_adds(p->out, html);
}

void page_putf(struct page *p, const char *fmt, ...)
{
    char text[MAX_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buf_adds(p->out, text);
}

void page_text(struct page *p, const char *text)
{
    html_escape(p->out, text);
}

void page_textf(struct page *p, const char *fmt, ...)
{
    char text[MAX_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    html_escape(p->out, text);
}

void page_icon(struct page *p, enum icon icon, const char *classes)
{
    page_putf(p,
              "<svg class=\"%s\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">",
              classes);
    page_put(p, icons[icon]);
    page_put(p, "</svg>");
}

/* ---- the frame ---- */

/* The hash of an embedded text, as a policy names it. */
static void put_hash(struct page *p, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                 "tuvwxyz0123456789+/";
    char hex[SHA256_TEXT];
    unsigned char bytes[33] = {0};
    char out[45] = "";

    sha256_bytes(text, strlen(text), hex);
    for (size_t i = 0; i < 32; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        unsigned value = 0;

        for (int k = 0; k < 2; k++)
            value =
                value * 16 + (unsigned)(strchr("0123456789abcdef", pair[k]) -
                                        "0123456789abcdef");
        bytes[i] = (unsigned char)value;
    }
    for (size_t i = 0; i < 11; i++) {
        unsigned v = (unsigned)bytes[3 * i] << 16 |
                     (unsigned)bytes[3 * i + 1] << 8 | bytes[3 * i + 2];

        for (size_t k = 0; k < 4; k++)
            out[4 * i + k] = digits[v >> (18 - 6 * k) & 63];
    }
    out[43] = '='; /* 32 bytes are 43 digits and a filler */
    page_putf(p, "'sha256-%s'", out);
}

static void put_head(struct page *p, const struct page_head *h)
{
    page_put(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
                "charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-"
                "Policy\" content=\"default-src 'none'; style-src ");
    put_hash(p, asset_style);
    page_put(p, "; script-src ");
    put_hash(p, asset_script);
    if (h->is_live) {
        page_put(p, " ");
        put_hash(p, asset_live);
        page_put(p, "; connect-src 'self'");
    }
    page_put(p, "; img-src data:\">\n<meta name=\"viewport\" "
                "content=\"width=device-width, initial-scale=1\">\n<meta "
                "name=\"generator\" content=\"tailgate " TAILGATE_VERSION
                "\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<title>");
    page_textf(p, "%s · %s · tailgate", h->badge, h->title);
    page_putf(p,
              "</title>\n<link rel=\"icon\" href=\"data:image/svg+xml,%%3Csvg "
              "xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 "
              "32'%%3E%%3Crect width='32' height='32' rx='7' "
              "fill='%%23%s'/%%3E%%3C/svg%%3E\">\n<!-- begin style -->\n"
              "<style>",
              tone_colours[h->tone]);
    page_put(p, asset_style);
    page_put(p, "</style>\n<!-- end style, begin script -->\n<script>");
    page_put(p, asset_script);
    if (h->is_live) {
        page_put(p, "</script>\n<script>");
        page_put(p, asset_live);
    }
    page_put(p, "</script>\n<!-- end script -->\n</head>\n");
}

void page_part_begin(struct page *p, struct buf *out)
{
    *p = (struct page){.out = out, .svg = {.out = out}, .part = ""};
    buf_init(&p->data, MAX_DATA);
}

void page_part_end(struct page *p, struct buf *data)
{
    buf_adds(data, "{");
    buf_add(data, buf_text(&p->data), p->data.len);
    buf_adds(data, "}");
    buf_fini(&p->data);
}

void page_begin(struct page *p, struct buf *out, const struct page_head *h)
{
    page_part_begin(p, out);
    p->is_live = h->is_live;
    put_head(p, h);
    page_putf(p, "<body class=\"v-%s%s\">\n", tone_names[h->tone],
              h->is_withdrawn ? " withdrawn" : "");
    if (h->is_live)
        page_put(p, "<div class=\"live-bar\"><b>LIVE</b> <span "
                    "id=\"live-state\" aria-live=\"polite\">Without "
                    "script this page does not update itself: load it "
                    "again.</span></div>\n");
    page_put(p, "<svg class=\"defs\" width=\"0\" height=\"0\" "
                "aria-hidden=\"true\"><defs><pattern id=\"hatch\" width=\"5\" "
                "height=\"5\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><rect class=\"f-paper\" "
                "width=\"5\" height=\"5\"/><line class=\"s-ink\" x1=\"0\" "
                "y1=\"0\" x2=\"0\" y2=\"5\" stroke-width=\"2.4\"/></pattern>"
                "</defs></svg>\n");
    page_put(p,
             "<div class=\"bar\"><div class=\"wrap\"><a class=\"brand\" "
             "href=\"#verdict\"><svg width=\"22\" height=\"22\" viewBox=\"0 0 "
             "24 24\" aria-hidden=\"true\"><path class=\"ln s-line2\" d=\"M2 "
             "19.5h20\"/><path class=\"ln s-good\" d=\"M2.5 16.5c6.5 0 8-2 "
             "10-6s3.5-6 9-6\"/><path class=\"ln s-ink\" d=\"M16 2.5v7\"/>"
             "</svg>tailgate</a><span class=\"dim\">");
    page_text(p, h->kind);
    page_put(p, "</span>\n<nav aria-label=\"Sections\">");
    for (size_t i = 0; i < h->n_nav; i++)
        page_putf(p, "<a href=\"#%s\">%s</a>", h->nav[i].id, h->nav[i].name);
    page_put(p,
             "</nav>\n<div class=\"tools js\"><button class=\"btn theme\" "
             "type=\"button\" aria-label=\"Switch between light and dark\">"
             "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path "
             "fill=\"currentColor\" d=\"M12 3a9 9 0 1 0 0 18Z\"/><circle "
             "class=\"io\" cx=\"12\" cy=\"12\" r=\"9\"/></svg></button><button "
             "class=\"btn printb\" type=\"button\">Print</button></div></div>"
             "</div>\n<main class=\"wrap\">\n");
}

/* As in docs/glossary.md; the names are those of key figures. */
static const struct {
    const char *id;
    const char *name;
    const char *says;
} words[] = {
    {"offered", "Offered", "Requests that were due per second, sent or not."},
    {"completed", "Completed",
     "Requests per second that were due in the window and were answered, in "
     "time or not."},
    {"good", "Goodput",
     "Good requests per second. A good request was answered and kept every "
     "limit of the objective."},
    {"attainment", "Attainment",
     "Good requests as a share of those that were due."},
    {"errors", "Errors",
     "Requests that failed or were never sent, as a share of those that were "
     "due."},
    {"capacity", "Capacity", "The largest load at which the objective is met."},
    {"objective", "Objective",
     "What the server was asked to meet (SLO): one or more terms, such as "
     "ttft p99 &lt; 200ms or errors &lt; 1%."},
    {"due", "Due time",
     "When the schedule wanted the request sent. Latencies are counted from "
     "here, so waiting for a slow client or server is part of them."},
    {"percentile", "p95",
     "The 95th percentile: 95% of the requests were faster."},
    {"shown", "Shown, as observed",
     "Shown: with 95% confidence, so the interval does not reach the limit. As "
     "observed: what this run saw; chance may explain it."},
    {"invalid", "Invalid, undecided",
     "Invalid: a check failed, so the numbers describe something else than "
     "what was asked. Undecided: there are too few requests to tell."},
    {"open", "Open loop",
     "Requests are sent when they are due, whatever the server does. In a "
     "closed loop a slow server lowers the load."},
    {"knee", "Knee",
     "The load above which latency grows faster than the rate of completed "
     "requests."},
    {"window", "Warm-up, window",
     "Only requests that are due in the window are judged; those of the "
     "warm-up before it are not."},
    {"ttft", "Time to first token (ttft)",
     "From the due time to the first content of a streamed answer."},
    {"tpot", "Time per output token (tpot)",
     "From the first token to the last, per token after the first."},
    {"e2e", "Whole answer (e2e)",
     "From the due time to the end of the "
     "answer."},
    {"check", "Check",
     "A test of whether the numbers can be trusted: the client was fast "
     "enough, the machine was quiet, the recording is complete."},
};

void page_words(struct page *p)
{
    page_section_begin(p, "words", "Words", NULL, false);
    page_section_body(p);
    page_put(p, "<dl class=\"words\">");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        page_putf(p, "<dt id=\"w-%s\">%s</dt><dd>%s</dd>\n", words[i].id,
                  words[i].name, words[i].says);
    page_put(p, "</dl>\n<p>More words: docs/glossary.md, which is installed "
                "with Tailgate.</p>\n");
    page_section_end(p);
}

/* A name, linked to what it means if that is known. */
static void put_word(struct page *p, const char *name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].name, name) == 0) {
            page_putf(p, "<a class=\"word\" href=\"#w-%s\">%s</a>", words[i].id,
                      name);
            return;
        }
    }
    page_text(p, name);
}

void page_end(struct page *p, const char *origin)
{
    page_put(p,
             "</main>\n<footer class=\"wrap\">tailgate " TAILGATE_VERSION ". ");
    page_text(p, origin);
    page_put(p, p->is_live
                    ? " This page updates itself until the report is there."
                    : " This file is complete: it loads nothing, and works "
                      "without script except for hover, zoom and copying.");
    page_put(p, "</footer>\n<script type=\"application/json\" id=\"data\">");
    page_part_end(p, p->out);
    page_put(p, "</script>\n</body>\n</html>\n");
}

/* ---- the verdict ---- */

void page_hero_begin(struct page *p, const struct page_head *head,
                     const char *name, const char *const *lines, size_t n_lines,
                     const char *headline)
{
    page_put(p,
             "<header class=\"hero\" id=\"verdict\"><div class=\"side\"><div "
             "class=\"badge\">");
    page_icon(p, head->icon, "");
    page_put(p, "<span>");
    page_text(p, head->badge);
    if (head->badge_note) {
        page_put(p, "<small>");
        page_text(p, head->badge_note);
        page_put(p, "</small>");
    }
    page_put(p, "</span></div>\n<p class=\"meta\"><b>");
    page_text(p, name);
    page_put(p, "</b>");
    for (size_t i = 0; i < n_lines; i++) {
        page_put(p, i > 0 ? "<br>" : "");
        page_text(p, lines[i]);
    }
    page_put(p, "</p></div>\n<div><h1 class=\"headline\">");
    page_text(p, headline);
    page_put(p, "</h1>\n");
}

void page_hero_end(struct page *p)
{
    page_put(p, "</div></header>\n");
}

/* ---- key figures ---- */

void page_figs_begin(struct page *p)
{
    page_put(p, "<div class=\"figs\">");
}

void page_fig(struct page *p, const struct key_figure *f)
{
    page_put(p, "<div class=\"fig\"><div class=\"l\">");
    put_word(p, f->name);
    page_put(p, "</div><div class=\"n\">");
    page_text(p, f->value);
    page_putf(p, "<span>%s</span></div>", f->unit);
    if (!isnan(f->share)) {
        page_put(p, "<svg aria-hidden=\"true\"><rect class=\"f-line\" "
                    "y=\"3\" width=\"100%\" height=\"4\" rx=\"2\"/>");
        if (!isnan(f->low))
            page_putf(p,
                      "<rect class=\"f-%s soft2\" x=\"%.1f%%\" "
                      "width=\"%.1f%%\" height=\"10\" rx=\"2\"/>",
                      f->colour, 100 * f->low, 100 * (f->high - f->low));
        if (f->share > 0)
            page_putf(p,
                      "<rect class=\"f-%s\" y=\"3\" width=\"%.1f%%\" "
                      "height=\"4\" rx=\"2\"/>",
                      f->colour, 100 * fmin(1, fmax(f->share, 0.01)));
        page_put(p, "</svg>");
    }
    page_put(p, "<div class=\"s\">");
    page_text(p, f->words);
    page_put(p, "</div></div>\n");
}

void page_figs_end(struct page *p)
{
    page_put(p, "</div>\n");
}

/* ---- sections and figures ---- */

void page_section_begin(struct page *p, const char *id, const char *title,
                        const char *note, bool is_zoomed)
{
    page_putf(p, "<section class=\"sec\" id=\"%s\"><div class=\"sech%s\"><h2>",
              id, is_zoomed ? " sticky" : "");
    p->part = title;
    page_text(p, title);
    page_put(p, "</h2>");
    if (note) {
        page_put(p, "<p>");
        page_text(p, note);
        page_put(p, "</p>");
    }
    if (is_zoomed)
        page_put(p, "<span class=\"zoomed js\" hidden><span class=\"zr\">"
                    "</span> <button class=\"btn zreset\" type=\"button\">Show "
                    "all</button></span>");
}

void page_section_body(struct page *p)
{
    page_put(p, "</div>\n");
}

void page_section_end(struct page *p)
{
    page_put(p, "</section>\n");
}

void page_figure_begin(struct page *p, const char *classes, const char *name,
                       const char *title, const char *caption)
{
    page_putf(p,
              "<figure class=\"chart %s\" id=\"fig-%s\" data-fig=\"%s\">"
              "<figcaption class=\"aside\"><h3>",
              classes, name, name);
    p->part = title;
    page_text(p, title);
    page_put(p, "</h3><p class=\"cap\">");
    page_text(p, caption);
    page_put(p, "</p>");
}

void page_legend_begin(struct page *p, const char *what)
{
    page_put(p, "<p class=\"what\">");
    page_text(p, what);
    page_put(p, "</p><ul class=\"lg\">");
}

static void legend_begin(struct page *p, const char *series)
{
    page_putf(p,
              "<li><button type=\"button\" class=\"tog\" "
              "aria-pressed=\"true\" data-s=\"%s\"><svg viewBox=\"0 0 20 "
              "12\" aria-hidden=\"true\">",
              series);
}

static void legend_end(struct page *p, const char *name, const char *value)
{
    page_put(p, "</svg><span class=\"nm\">");
    page_text(p, name);
    page_put(p, "</span><span class=\"v\">");
    page_text(p, value);
    page_put(p, "</span></button></li>");
}

void page_legend(struct page *p, const char *series, enum swatch swatch,
                 const char *colour, const char *name, const char *value)
{
    legend_begin(p, series);
    if (swatch == SWATCH_AREA)
        page_putf(p,
                  "<rect class=\"f-%s soft2\" y=\"1\" width=\"20\" "
                  "height=\"10\" rx=\"2\"/>",
                  colour);
    else
        page_putf(p,
                  "<line class=\"s-%s w2%s\" x1=\"0\" x2=\"20\" y1=\"6\" "
                  "y2=\"6\"/>",
                  colour,
                  swatch == SWATCH_DASH   ? " dash"
                  : swatch == SWATCH_DOTS ? " dots"
                                          : "");
    legend_end(p, name, value);
}

void page_legend_mark(struct page *p, const char *series, enum mark mark,
                      const char *colour, const char *name)
{
    legend_begin(p, series);
    page_put(p, "<g transform=\"translate(10 6) scale(.9)\">");
    svg_shape(&p->svg, mark, colour);
    page_put(p, "</g>");
    legend_end(p, name, "");
}

void page_legend_end(struct page *p)
{
    page_put(p, "</ul>");
}

void page_figure_plot(struct page *p)
{
    page_put(p, "</figcaption>\n<div class=\"plotcol\"><div class=\"plot\">");
}

void page_figure_end(struct page *p)
{
    page_put(p, "</div></figure>\n");
}

void page_pair_begin(struct page *p)
{
    page_put(p, "<div class=\"pair\">");
}

void page_cell_begin(struct page *p, const char *name, const char *title,
                     const char *caption)
{
    page_putf(p,
              "<figure class=\"cell\" id=\"fig-%s\" data-fig=\"%s\">"
              "<figcaption><h3>",
              name, name);
    p->part = title;
    page_text(p, title);
    page_put(p, "</h3><p class=\"cap\">");
    page_text(p, caption);
    page_put(p, "</p></figcaption>\n<div class=\"plotcol\"><div "
                "class=\"plot\">");
}

void page_cell_end(struct page *p)
{
    page_put(p, "</div></figure>\n");
}

void page_pair_end(struct page *p)
{
    page_put(p, "</div>\n");
}

/* ---- numbers ---- */

void page_table_begin(struct page *p, const char *columns)
{
    page_put(p, "</div><details class=\"nums\"><summary>Numbers</summary><div "
                "class=\"tw\" tabindex=\"0\" role=\"region\" aria-label=\"");
    page_textf(p, "Numbers: %s", p->part);
    page_put(p, "\"><table class=\"t\"><thead><tr>");
    for (const char *c = columns; *c;) {
        size_t len = strcspn(c, "|");

        page_put(p, "<th scope=\"col\">");
        page_textf(p, "%.*s", (int)len, c);
        c += len + (c[len] == '|');
    }
    page_put(p, "</thead><tbody>");
}

/* HTML needs no end tags of rows and cells; without them tables are a third
 * smaller. */
void page_row(struct page *p)
{
    page_put(p, "<tr>");
    p->is_first = true;
}

void page_cell(struct page *p, const char *text)
{
    page_put(p, p->is_first ? "<th scope=\"row\">" : "<td>");
    p->is_first = false;
    page_text(p, text);
}

void page_cellf(struct page *p, const char *fmt, ...)
{
    char text[MAX_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    page_cell(p, text);
}

void page_table_end(struct page *p)
{
    page_put(p, "</table></div><p class=\"copyline js\"><button class=\"btn "
                "csv\" type=\"button\">Copy as CSV</button></p></details>\n");
}

/* ---- data ---- */

void page_data(struct page *p, const char *key)
{
    buf_addf(&p->data, "%s\n\"%s\":", p->data.len > 0 ? "," : "", key);
}

void page_data_numbers(struct page *p, const double *values, size_t n,
                       int digits)
{
    buf_adds(&p->data, "[");
    for (size_t i = 0; i < n; i++) {
        buf_adds(&p->data, i > 0 ? "," : "");
        if (values[i] > 0 && isinf(values[i]))
            buf_adds(&p->data, "\"inf\"");
        else
            put_number(&p->data, values[i], digits);
    }
    buf_adds(&p->data, "]");
}

/* ---- commands ---- */

void page_command(struct page *p, const char *what, const char *text,
                  bool is_prose)
{
    page_put(p, "<div class=\"cmd\"><p class=\"t2\">");
    page_text(p, what);
    page_putf(p, "</p><pre%s>", is_prose ? " class=\"prose\"" : "");
    page_text(p, text);
    page_put(p, "</pre><button class=\"btn copy js\" type=\"button\">Copy"
                "</button></div>\n");
}
