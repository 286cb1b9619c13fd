#include "loadgen/trace/trace_format.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"

/* ---- rows ---- */

void row_fini(struct row *row)
{
    free(row->blocks);
    *row = (struct row){0};
}

static void make_room(struct row *row, size_t n)
{
    size_t cap = row->cap_blocks > 0 ? row->cap_blocks : 16;

    if (n <= row->cap_blocks)
        return;
    while (cap < n)
        cap *= 2;
    row->blocks = xrealloc(row->blocks, cap, sizeof(*row->blocks));
    row->cap_blocks = cap;
}

void row_add_block(struct row *row, int64_t id)
{
    make_room(row, row->n_blocks + 1);
    row->blocks[row->n_blocks++] = id;
}

void row_copy(struct row *to, const struct row *from)
{
    struct row old = *to;

    *to = *from;
    to->blocks = old.blocks;
    to->cap_blocks = old.cap_blocks;
    make_room(to, from->n_blocks);
    if (from->n_blocks > 0)
        memcpy(to->blocks, from->blocks,
               from->n_blocks * sizeof(*from->blocks));
}

/* ---- formats ---- */

static const struct trace_format known[] = {
    [TRACE_AZURE] = {.name = "azure",
                     .syntax = &syntax_csv,
                     .column = {"TIMESTAMP", "ContextTokens",
                                "GeneratedTokens"},
                     .unit_ns = NS_PER_S},
    [TRACE_BURSTGPT] = {.name = "burstgpt",
                        .syntax = &syntax_csv,
                        .column = {"Timestamp", "Request tokens",
                                   "Response tokens"},
                        .unit_ns = NS_PER_S,
                        .zero_is_failure = true},
    [TRACE_MOONCAKE] = {.name = "mooncake",
                        .syntax = &syntax_jsonl,
                        .column = {"timestamp", "input_length", "output_length",
                                   "hash_ids"},
                        .unit_ns = NS_PER_MS,
                        .block_tokens = 512},
    [TRACE_BAILIAN] = {.name = "bailian",
                       .syntax = &syntax_jsonl,
                       .column = {"timestamp", "input_length", "output_length",
                                  "hash_ids"},
                       .unit_ns = NS_PER_S,
                       .block_tokens = 16},
    [TRACE_CSV] = {.name = "csv", .syntax = &syntax_csv},
    [TRACE_JSONL] = {.name = "jsonl", .syntax = &syntax_jsonl},
};

/* The columns that the user named, or the default names. */
static void take_columns(struct trace_format *f, const struct trace_settings *s)
{
    static const int64_t unit_ns[] = {[UNIT_S] = NS_PER_S,
                                      [UNIT_MS] = NS_PER_MS,
                                      [UNIT_US] = NS_PER_US,
                                      [UNIT_NS] = 1};

    f->column[COLUMN_TIME] = s->time ? s->time : "timestamp";
    f->column[COLUMN_INPUT] = s->input ? s->input : "input_length";
    f->column[COLUMN_OUTPUT] = s->output ? s->output : "output_length";
    f->column[COLUMN_BLOCKS] = s->blocks ? s->blocks : "hash_ids";
    f->unit_ns = unit_ns[s->unit];
    f->block_tokens = s->block_tokens;
}

/* ---- detection ---- */

/* Bailian has chat ids; Mooncake's times are whole milliseconds. */
static int detect_jsonl(const char *line, size_t len)
{
    bool has_blocks = false;
    bool has_chat = false;
    bool is_whole = false;
    int64_t ignored;
    struct jscan s;
    struct jtext key;

    jscan_init(&s, line, len);
    if (!jscan_object(&s))
        return TRACE_AUTO;
    while (jscan_key(&s, &key)) {
        has_blocks |= jtext_is(key, "hash_ids");
        has_chat |= jtext_is(key, "chat_id");
        if (jtext_is(key, "timestamp"))
            is_whole = jscan_int(&s, &ignored);
        else
            jscan_skip(&s);
    }
    if (!jscan_end(&s) || !has_blocks)
        return TRACE_AUTO;
    return has_chat ? TRACE_BAILIAN : is_whole ? TRACE_MOONCAKE : TRACE_AUTO;
}

static bool has_columns(const struct trace_format *format, const char *line,
                        size_t len)
{
    struct parser p = {.format = *format};
    const char *ignored;

    return format->syntax->read_header(&p, line, len, &ignored) == 0;
}

/* If the user named columns, the format is a custom one. */
static int detect(const struct trace_settings *s, const char *line, size_t len)
{
    struct trace_format plain = known[TRACE_CSV];
    size_t blanks = 0;
    bool is_jsonl;

    while (blanks < len && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    is_jsonl = blanks < len && line[blanks] == '{';
    if (s->time || s->input || s->output || s->blocks)
        return is_jsonl ? TRACE_JSONL : TRACE_CSV;
    if (is_jsonl)
        return detect_jsonl(line, len);
    if (has_columns(&known[TRACE_AZURE], line, len))
        return TRACE_AZURE;
    if (has_columns(&known[TRACE_BURSTGPT], line, len))
        return TRACE_BURSTGPT;
    take_columns(&plain, s);
    return has_columns(&plain, line, len) ? TRACE_CSV : TRACE_AUTO;
}

int parser_init(struct parser *p, const struct trace_settings *s,
                const char *line, size_t len, struct err *err)
{
    const char *missing = NULL;
    int format = s->format;

    if (format == TRACE_AUTO)
        format = detect(s, line, len);
    if (format == TRACE_AUTO)
        return err_set(err, ERR_CONFIG,
                       "the format cannot be detected from the first line; "
                       "set it (--trace-format) or name the columns "
                       "(--time-column, ...)");
    *p = (struct parser){.format = known[format]};
    if (format == TRACE_CSV || format == TRACE_JSONL)
        take_columns(&p->format, s);
    if (p->format.syntax->read_header &&
        p->format.syntax->read_header(p, line, len, &missing))
        return err_set(err, ERR_CONFIG, "no column '%s' in the first line",
                       missing);
    if (p->twice)
        return err_set(err, ERR_CONFIG, "two columns '%s' in the first line",
                       p->twice);
    return 0;
}

bool parser_read(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw)
{
    row->n_blocks = 0;
    row->block_tokens = p->format.block_tokens;
    *flaw = (struct flaw){0};
    if (!p->format.syntax->read(p, line, len, row, flaw))
        return false;
    for (int c = COLUMN_INPUT; c <= COLUMN_OUTPUT; c++) {
        int64_t length = c == COLUMN_INPUT ? row->input : row->output;

        flaw->column = p->format.column[c];
        if (length < 0)
            flaw->what = "negative";
        else if (length > TRACE_MAX_TOKENS)
            flaw->what = "more than 3,000,000 tokens";
        if (flaw->what)
            return false;
    }
    return true;
}

/* ---- times ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read a point and the digits after it, if there are any, as billionths, and
 * move *p behind them.  False if no digit follows the point. */
static bool read_fraction(const char **p, const char *end, int64_t *billionths)
{
    const char *start = *p + 1;

    *billionths = 0;
    if (*p == end || **p != '.')
        return true;
    *p = start;
    for (int64_t scale = NS_PER_S / 10; *p < end && is_digit(**p); ++*p) {
        *billionths += (**p - '0') * scale;
        scale /= 10;
    }
    return *p > start;
}

bool trace_parse_time(const char *text, size_t len, int64_t unit, int64_t *ns)
{
    const char *end = text + len;
    const char *p = text;
    int64_t max = (INT64_C(1) << 62) / unit;
    int64_t whole = 0;
    int64_t billionths;

    for (; p < end && is_digit(*p); p++) {
        if (whole >= max / 10)
            return false;
        whole = whole * 10 + (*p - '0');
    }
    if (p == text || !read_fraction(&p, end, &billionths))
        return false;
    *ns = whole * unit + billionths / (NS_PER_S / unit);
    return p == end;
}

/* The number of two digits at p; -1 if there is none or it exceeds `max`. */
static int two(const char *p, int max)
{
    int n;

    if (!is_digit(p[0]) || !is_digit(p[1]))
        return -1;
    n = (p[0] - '0') * 10 + (p[1] - '0');
    return n <= max ? n : -1;
}

/* Days since 1970 in the Gregorian calendar.  Years begin with March, so that a
 * leap day is the last day of a year. */
static int64_t days_of(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1;
    int m = month > 2 ? month - 3 : month + 9;
    int era = y / 400;
    int of_era = y - era * 400;
    int of_year = (153 * m + 2) / 5 + day - 1;

    return (int64_t)era * 146097 + (int64_t)of_era * 365 + of_era / 4 -
           of_era / 100 + of_year - 719468;
}

/* "+01:00", "Z" or nothing; false if it is something else. */
static bool read_zone(const char *p, const char *end, int64_t *seconds)
{
    int64_t hours;
    int64_t minutes;

    *seconds = 0;
    if (p == end || (end - p == 1 && *p == 'Z'))
        return true;
    if (end - p != 6 || (*p != '+' && *p != '-') || p[3] != ':')
        return false;
    hours = two(p + 1, 23);
    minutes = two(p + 4, 59);
    *seconds = (hours * 60 + minutes) * 60;
    if (*p == '-')
        *seconds = -*seconds;
    return hours >= 0 && minutes >= 0;
}

/* "2023-11-16 18:17:03" */
#define DATE_LEN 19

static bool read_seconds(const char *p, int64_t *seconds)
{
    int century = two(p, 22);
    int of_century = two(p + 2, 99);
    int year = century * 100 + of_century;
    int month = two(p + 5, 12);
    int day = two(p + 8, 31);
    int64_t hour = two(p + 11, 23);
    int minute = two(p + 14, 59);
    int second = two(p + 17, 60); /* a leap second */

    if (century < 19 || of_century < 0 || month < 1 || day < 1 || hour < 0 ||
        minute < 0 || second < 0)
        return false;
    if (days_of(year, month, day) >=
        days_of(month < 12 ? year : year + 1, month % 12 + 1, 1))
        return false; /* such as February 30 */
    if (p[4] != '-' || p[7] != '-' || (p[10] != ' ' && p[10] != 'T') ||
        p[13] != ':' || p[16] != ':')
        return false;
    *seconds =
        days_of(year, month, day) * 86400 + (hour * 60 + minute) * 60 + second;
    return true;
}

bool trace_parse_date(const char *text, size_t len, int64_t *ns)
{
    const char *end = text + len;
    const char *p = text + DATE_LEN;
    int64_t fraction;
    int64_t seconds;
    int64_t zone;

    if (len < DATE_LEN || !read_seconds(text, &seconds))
        return false;
    if (!read_fraction(&p, end, &fraction) || !read_zone(p, end, &zone) ||
        seconds - zone < 0 || seconds - zone >= (INT64_C(1) << 62) / NS_PER_S)
        return false;
    *ns = (seconds - zone) * NS_PER_S + fraction;
    return true;
}
