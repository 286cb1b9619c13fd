#include "analyzer/html/html_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/stats/hist.h"

#define NARROW "\u202f" /* between a number and its unit */

/* U+FFFE and U+FFFF: XML, and so SVG, does not have them. */
static bool is_no_character(const char *p, size_t n)
{
    return n == 3 && (memcmp(p, "\xEF\xBF\xBE", 3) == 0 ||
                      memcmp(p, "\xEF\xBF\xBF", 3) == 0);
}

void html_escape(struct buf *out, const char *text)
{
    const char *p = text ? text : "";
    const char *end = p + strlen(p);

    while (p < end) {
        size_t n = *p == '\n' ? 1 : printable_len(p, end);

        if (*p == '&')
            buf_adds(out, "&amp;");
        else if (*p == '<')
            buf_adds(out, "&lt;");
        else if (*p == '>')
            buf_adds(out, "&gt;");
        else if (*p == '"')
            buf_adds(out, "&quot;");
        else if (*p == '\'')
            buf_adds(out, "&#39;");
        else if (n > 0 && !is_no_character(p, n))
            buf_add(out, p, n);
        else
            buf_adds(out, "?");
        p += n > 0 ? n : 1;
    }
}

/* Digits after the point that give `digits` significant ones. */
static int places(double x, int digits)
{
    int above;

    if (!(fabs(x) > 0))
        return 0;
    above = (int)floor(log10(fabs(x)) + 1e-9);
    /* 9.996 becomes 10.0. */
    if (fabs(x) >= pow(10, above + 1) - 0.5 * pow(10, above + 1 - digits))
        above++;
    return digits - 1 - above > 0 ? digits - 1 - above : 0;
}

static const char *word(char out[static SHOW_TEXT], const char *text)
{
    snprintf(out, SHOW_TEXT, "%s", text);
    return out;
}

/* With commas between thousands. */
static void add_commas(const char *plain, char out[static SHOW_TEXT])
{
    size_t whole = strcspn(plain, ".");
    size_t first = plain[0] == '-';
    size_t n = 0;

    for (size_t i = 0; plain[i] && n + 2 < SHOW_TEXT; i++) {
        if (i > first && i < whole && (whole - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = plain[i];
    }
    out[n] = '\0';
}

const char *show_number(double x, char out[static SHOW_TEXT])
{
    char plain[SHOW_TEXT];

    if (!isfinite(x))
        return word(out, "–");
    snprintf(plain, sizeof(plain), "%.*f", places(x, 3),
             fabs(x) < 1e20 ? x : 0);
    add_commas(plain, out);
    return out;
}

const char *show_count(int64_t n, char out[static SHOW_TEXT])
{
    char plain[SHOW_TEXT];

    snprintf(plain, sizeof(plain), "%lld", (long long)n);
    add_commas(plain, out);
    return out;
}

struct unit {
    double ns;
    const char *name;
};

static struct unit unit_of(double ns)
{
    static const struct unit units[] = {
        {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    double a = fabs(ns) * 1.0000001;

    if (a >= 1.2e11)
        return units[0];
    for (size_t i = 1; i < 4; i++) {
        if (a >= units[i].ns)
            return units[i];
    }
    return a > 0 ? units[4] : units[2];
}

const char *show_ns(double ns, char out[static SHOW_TEXT])
{
    struct unit unit = unit_of(ns);
    char text[SHOW_TEXT];

    if (ns <= HIST_BEYOND || !isfinite(ns))
        return word(out, ns <= HIST_TOO_FEW || isnan(ns) ? "–" : "failed");
    snprintf(out, SHOW_TEXT, "%s" NARROW "%s", show_number(ns / unit.ns, text),
             unit.name);
    return out;
}

const char *show_tick_ns(double ns, char out[static SHOW_TEXT])
{
    struct unit unit = unit_of(ns);

    snprintf(out, SHOW_TEXT, "%.6g" NARROW "%s", ns / unit.ns, unit.name);
    return out;
}

const char *show_share(double share, char out[static SHOW_TEXT])
{
    double percent = 100 * share;
    int digits;

    if (!isfinite(percent))
        return word(out, "–");
    if (percent > 0 && percent < 0.001)
        return word(out, "<0.001%");
    if (percent >= 99.95 && percent < 100) /* never rounded up to all */
        percent = floor(percent * 100) / 100;
    digits = percent == 0 || percent == 100 ? 0
             : percent >= 99.95             ? 2
             : percent >= 1                 ? 1
             : percent >= 0.1               ? 2
                                            : 3;
    snprintf(out, SHOW_TEXT, "%.*f%%", digits, percent);
    return out;
}

const char *show_change(double ratio, const struct change_words *words,
                        char out[static SHOW_TEXT])
{
    double percent = 100 * fabs(ratio - 1);
    char text[SHOW_TEXT];

    if (!isfinite(ratio))
        return word(out, "–");
    if (fabs(ratio - 1) < 0.0005)
        return word(out, "the same");
    if (ratio >= 1000)
        snprintf(out, SHOW_TEXT, "%s %s", show_number(ratio, text),
                 words->times);
    else if (ratio >= 2)
        snprintf(out, SHOW_TEXT, "%.3g %s", ratio, words->times);
    else if (percent >= 99) /* never rounded up to all */
        snprintf(out, SHOW_TEXT, "%s %s", show_share(percent / 100, text),
                 ratio < 1 ? words->less : words->more);
    else
        snprintf(out, SHOW_TEXT, "%.2g%% %s", percent,
                 ratio < 1 ? words->less : words->more);
    return out;
}

const char *show_time(double s, char out[static SHOW_TEXT])
{
    long whole = (long)floor(s + 1e-9);

    if (s < 600)
        snprintf(out, SHOW_TEXT, "%.6g" NARROW "s", round(s * 1e3) / 1e3);
    else if (s < 3600)
        snprintf(out, SHOW_TEXT, "%ld:%02ld", whole / 60, whole % 60);
    else
        snprintf(out, SHOW_TEXT, "%ld:%02ld:%02ld", whole / 3600,
                 whole / 60 % 60, whole % 60);
    return out;
}

/* Without printf(), which took most of the time of a page. */
void put_number(struct buf *out, double x, int digits)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    char text[32];
    size_t at = sizeof(text);
    uint64_t value;

    if (!isfinite(x)) {
        buf_adds(out, "null");
        return;
    }
    if (digits > 6)
        digits = 6;
    value = (uint64_t)(fmin(fabs(x) * powers[digits], 1e19) + 0.5);
    while (digits > 0 && value % 10 == 0) {
        value /= 10;
        digits--;
    }
    if (value == 0)
        x = 0;
    for (int place = 0; value > 0 || place <= digits; place++) {
        if (digits > 0 && place == digits)
            text[--at] = '.';
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    }
    if (x < 0)
        text[--at] = '-';
    buf_add(out, text + at, sizeof(text) - at);
}

const char *measure_title(enum measure measure)
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
