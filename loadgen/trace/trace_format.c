#include "loadgen/trace/trace_format.h"

#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/jscan.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "loadgen/trace/trace_row.h"

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

/* ---- a format of the user's ---- */

static int64_t unit_ns(int unit)
{
    static const int64_t ns[] = {[UNIT_S] = NS_PER_S,
                                 [UNIT_MS] = NS_PER_MS,
                                 [UNIT_US] = NS_PER_US,
                                 [UNIT_NS] = 1};

    return ns[unit];
}

static const char *or_else(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void take_columns(struct trace_format *f, const struct trace_settings *s)
{
    f->column[COLUMN_TIME] = or_else(s->time, "timestamp");
    f->column[COLUMN_INPUT] = or_else(s->input, "input_length");
    f->column[COLUMN_OUTPUT] = or_else(s->output, "output_length");
    f->column[COLUMN_BLOCKS] = or_else(s->blocks, "hash_ids");
    f->unit_ns = unit_ns(s->unit);
    f->block_tokens = s->block_tokens;
}

/* ---- which one it is ---- */

static bool is_json(const char *line, size_t len)
{
    size_t i = 0;

    while (i < len && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i < len && line[i] == '{';
}

/* Bailian's have the chat's id; Mooncake's times are whole milliseconds. */
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

/* The last has the names that nobody needs to say. */
static int detect_csv(const struct trace_settings *s, const char *line,
                      size_t len)
{
    struct trace_format plain = known[TRACE_CSV];

    if (has_columns(&known[TRACE_AZURE], line, len))
        return TRACE_AZURE;
    if (has_columns(&known[TRACE_BURSTGPT], line, len))
        return TRACE_BURSTGPT;
    take_columns(&plain, s);
    return has_columns(&plain, line, len) ? TRACE_CSV : TRACE_AUTO;
}

/* Whoever names columns has a format of his own. */
static int detect(const struct trace_settings *s, const char *line, size_t len)
{
    bool is_jsonl = is_json(line, len);

    if (s->time || s->input || s->output || s->blocks)
        return is_jsonl ? TRACE_JSONL : TRACE_CSV;
    return is_jsonl ? detect_jsonl(line, len) : detect_csv(s, line, len);
}

/* ---- beginning ---- */

int parser_init(struct parser *p, const struct trace_settings *s,
                const char *line, size_t len, struct err *err)
{
    size_t bom_len = str_bom_len(line, len);
    const char *missing = NULL;
    int format = s->format;

    line += bom_len;
    len -= bom_len;
    if (format == TRACE_AUTO)
        format = detect(s, line, len);
    if (format == TRACE_AUTO)
        return err_set(err, ERR_CONFIG,
                       "the first line does not say which format this is; "
                       "name it (--trace-format) or its columns "
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

/* ---- a row ---- */

static bool check_lengths(const struct parser *p, const struct row *row,
                          struct flaw *flaw)
{
    flaw->column = p->format.column[COLUMN_INPUT];
    flaw->what = trace_check_length(row->input);
    if (flaw->what)
        return false;
    flaw->column = p->format.column[COLUMN_OUTPUT];
    flaw->what = trace_check_length(row->output);
    return flaw->what == NULL;
}

bool parser_read(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw)
{
    row->n_blocks = 0;
    row->block_tokens = p->format.block_tokens;
    *flaw = (struct flaw){0};
    return p->format.syntax->read(p, line, len, row, flaw) &&
           check_lengths(p, row, flaw);
}

const char *trace_check_length(int64_t length)
{
    if (length < 0)
        return "negative";
    return length > TRACE_MAX_TOKENS ? "more than 3,000,000 tokens" : NULL;
}

/* ---- times ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits behind a point, as billionths; how many there were, or -1. */
static int read_fraction(const char *p, const char *end, int64_t *billionths)
{
    int64_t scale = NS_PER_S / 10;
    int n = 0;

    *billionths = 0;
    for (; p + n < end && is_digit(p[n]); n++) {
        *billionths += (p[n] - '0') * scale;
        scale /= 10;
    }
    return n > 0 ? n : -1;
}

bool trace_parse_time(const char *text, size_t len, int64_t unit, int64_t *ns)
{
    const char *end = text + len;
    const char *p = text;
    int64_t most = (INT64_C(1) << 62) / unit;
    int64_t whole = 0;
    int64_t billionths = 0;

    for (; p < end && is_digit(*p); p++) {
        if (whole >= most / 10)
            return false;
        whole = whole * 10 + (*p - '0');
    }
    if (p == text)
        return false;
    if (p < end && *p == '.') {
        int n = read_fraction(p + 1, end, &billionths);

        if (n < 0)
            return false;
        p += 1 + n;
    }
    *ns = whole * unit + billionths / (NS_PER_S / unit);
    return p == end;
}

/* Two digits at p, at most `most`; -1 if they are none. */
static int two(const char *p, int most)
{
    int n;

    if (!is_digit(p[0]) || !is_digit(p[1]))
        return -1;
    n = (p[0] - '0') * 10 + (p[1] - '0');
    return n <= most ? n : -1;
}

/* Days since 1970 of a day in the Gregorian calendar, years beginning with
 * March, so that the day that comes and goes is the last one. */
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

static bool is_day(int year, int month, int day)
{
    int y = month < 12 ? year : year + 1;

    return days_of(year, month, day) < days_of(y, month % 12 + 1, 1);
}

/* "+01:00", "Z" or nothing; false if it is none of these. */
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
    int year = two(p + 2, 99);
    int month = two(p + 5, 12);
    int day = two(p + 8, 31);
    int64_t hour = two(p + 11, 23);
    int minute = two(p + 14, 59);
    int second = two(p + 17, 60); /* a leap second */

    if (century < 19 || year < 0 || month < 1 || day < 1 || hour < 0 ||
        minute < 0 || second < 0 || !is_day(century * 100 + year, month, day))
        return false;
    if (p[4] != '-' || p[7] != '-' || (p[10] != ' ' && p[10] != 'T') ||
        p[13] != ':' || p[16] != ':')
        return false;
    *seconds = days_of(century * 100 + year, month, day) * 86400 +
               (hour * 60 + minute) * 60 + second;
    return true;
}

bool trace_parse_date(const char *text, size_t len, int64_t *ns)
{
    const char *end = text + len;
    const char *p = text + DATE_LEN;
    int64_t fraction = 0;
    int64_t seconds;
    int64_t zone;

    if (len < DATE_LEN || !read_seconds(text, &seconds))
        return false;
    if (p < end && *p == '.') {
        int n = read_fraction(p + 1, end, &fraction);

        if (n < 0)
            return false;
        p += 1 + n;
    }
    if (!read_zone(p, end, &zone) || seconds - zone < 0 ||
        seconds - zone >= (INT64_C(1) << 62) / NS_PER_S)
        return false;
    *ns = (seconds - zone) * NS_PER_S + fraction;
    return true;
}
