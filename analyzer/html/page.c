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
    [ICON_SAME] = "<path class=\"io\" d=\"M5 9h14M5 15h14\"/>",
};

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
    page_put(p, "</script>\n<!-- end script -->\n</head>\n");
}

void page_begin(struct page *p, struct buf *out, const struct page_head *h)
{
    *p = (struct page){.out = out, .svg = {.out = out}};
    buf_init(&p->data, MAX_DATA);
    put_head(p, h);
    page_putf(p, "<body class=\"v-%s%s\">\n", tone_names[h->tone],
              h->is_withdrawn ? " withdrawn" : "");
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

void page_end(struct page *p, const char *origin)
{
    page_put(p,
             "</main>\n<footer class=\"wrap\">tailgate " TAILGATE_VERSION ". ");
    page_text(p, origin);
    page_put(p, " This file is complete: it loads nothing, and works without "
                "script except for hover, zoom and copying.</footer>\n"
                "<script type=\"application/json\" id=\"data\">{");
    buf_add(p->out, buf_text(&p->data), p->data.len);
    page_put(p, "}</script>\n</body>\n</html>\n");
    buf_fini(&p->data);
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

/* ---- sections and figures ---- */

void page_section_begin(struct page *p, const char *id, const char *title,
                        const char *note, bool is_zoomed)
{
    page_putf(p, "<section class=\"sec\" id=\"%s\"><div class=\"sech%s\"><h2>",
              id, is_zoomed ? " sticky" : "");
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
              "<figure class=\"chart %s\" data-fig=\"%s\"><figcaption "
              "class=\"aside\"><h3>",
              classes, name);
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

void page_legend(struct page *p, const char *series, enum swatch swatch,
                 const char *colour, const char *name, const char *value)
{
    page_putf(p,
              "<li><button type=\"button\" class=\"tog\" "
              "aria-pressed=\"true\" data-s=\"%s\"><svg viewBox=\"0 0 20 "
              "12\" aria-hidden=\"true\">",
              series);
    if (swatch == SWATCH_AREA)
        page_putf(p,
                  "<rect class=\"f-%s soft2\" y=\"1\" width=\"20\" "
                  "height=\"10\" rx=\"2\"/>",
                  colour);
    else if (swatch == SWATCH_MARK)
        page_putf(p, "<circle class=\"f-%s\" cx=\"10\" cy=\"6\" r=\"5\"/>",
                  colour);
    else
        page_putf(p,
                  "<line class=\"s-%s w2%s\" x1=\"0\" x2=\"20\" y1=\"6\" "
                  "y2=\"6\"/>",
                  colour,
                  swatch == SWATCH_DASH   ? " dash"
                  : swatch == SWATCH_DOTS ? " dots"
                                          : "");
    page_put(p, "</svg><span class=\"nm\">");
    page_text(p, name);
    page_put(p, "</span><span class=\"v\">");
    page_text(p, value);
    page_put(p, "</span></button></li>");
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
    page_putf(p, "<figure class=\"cell\" data-fig=\"%s\"><figcaption><h3>",
              name);
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
    page_put(p,
             "</div><details class=\"nums\"><summary>Numbers</summary><div "
             "class=\"tw\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers "
             "of this chart\"><table class=\"t\"><thead><tr>");
    for (const char *c = columns; *c;) {
        size_t len = strcspn(c, "|");

        page_put(p, "<th scope=\"col\">");
        buf_add(p->out, c, len);
        c += len + (c[len] == '|');
    }
    page_put(p, "</thead><tbody>");
}

/* HTML needs no end tags of rows and cells; without them tables are a third
 * smaller. */
void page_row(struct page *p)
{
    page_put(p, "<tr>");
}

void page_cell(struct page *p, const char *text)
{
    page_put(p, "<td>");
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
