#include "common/text/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

struct unit {
    const char *name;
    double factor;
};

/* Largest first: units_print_duration() uses the first that divides. */
static const struct unit durations[] = {
    {"d", 86400e9}, {"h", 3600e9}, {"m", 60e9}, {"s", 1e9},    {"ms", 1e6},
    {"us", 1e3},    {"µs", 1e3},   {"ns", 1},   {"min", 60e9}, {"sec", 1e9},
};

static const struct unit sizes[] = {
    {"G", 0x1p30},   {"M", 0x1p20},   {"k", 0x1p10},   {"K", 0x1p10},
    {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"kiB", 0x1p10},
    {"GB", 1e9},     {"MB", 1e6},     {"kB", 1e3},     {"KB", 1e3},
    {"B", 1},        {"", 1},
};

static const struct unit multiples[] = {
    {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"K", 1e3}, {"", 1},
};

/* Whole words for a rate; nothing follows them. */
static const struct unit rates[] = {{"rps", 1}, {"qps", 1}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NUMBER "0123456789."

#define MAX_INSTANT_S INT64_C(9000000000) /* its nanoseconds fit */

/* units_print_number() writes these in plain digits that the parsers read. */
#define MIN_NUMBER 1e-12
#define MAX_NUMBER 1e15

/* Digits with at most one point, no sign, no inf or nan; times 10^exponent in
 * one rounding: 99.9 / 100 is not 0.999. */
static bool take_number(const char **p, int exponent, double *value)
{
    size_t n = strspn(*p, NUMBER);
    char digits[40];

    if (n == 0 || n > 31)
        return false;
    snprintf(digits, sizeof(digits), "%.*se%d", (int)n, *p, exponent);
    if (digits[strspn(digits, ".")] == 'e' ||
        strchr(digits, '.') != strrchr(digits, '.'))
        return false;
    *value = strtod(digits, NULL);
    *p += n;
    return true;
}

/* The same with an exponent such as e3 or e-2. */
static bool take_scientific(const char **p, double *value)
{
    const char *e = *p + strspn(*p, NUMBER);
    size_t sign = e[0] == 'e' && (e[1] == '-' || e[1] == '+') ? 1 : 0;
    size_t digits = e[0] == 'e' ? strspn(e + 1 + sign, "0123456789") : 0;
    bool has_exponent = digits > 0 && digits <= 3;

    if (!take_number(p, has_exponent ? (int)strtol(e + 1, NULL, 10) : 0, value))
        return false;
    if (has_exponent)
        *p += 1 + sign + digits;
    return true;
}

/* The unit ends before the next digit, '/' or the end of the text. */
static bool take_unit(const char **p, const struct unit *units, size_t n,
                      double *factor)
{
    size_t len = strcspn(*p, NUMBER "/");

    for (size_t i = 0; i < n; i++) {
        if (strlen(units[i].name) == len &&
            memcmp(units[i].name, *p, len) == 0) {
            *factor = units[i].factor;
            *p += len;
            return true;
        }
    }
    return false;
}

/* Numbers with units; INT64_MAX from 2^62 ns on.  The whole part of a number
 * does not go through a double, which would lose nanoseconds after 104 days. */
static bool scan_duration(const char *p, int64_t *ns)
{
    *ns = 0;
    if (strcmp(p, "0") == 0)
        return true;
    do {
        int64_t part = INT64_MAX;
        const char *text = p;
        char *point;
        double value;
        double factor;

        if (!take_number(&p, 0, &value) ||
            !take_unit(&p, durations, COUNT(durations), &factor))
            return false;
        if (value * factor <= 0x1p62) {
            part = strtoll(text, &point, 10) * (int64_t)factor;
            if (*point == '.')
                part += llround(strtod(point, NULL) * factor);
        }
        *ns = part < INT64_MAX - *ns ? *ns + part : INT64_MAX;
    } while (*p);
    return true;
}

static bool is_too_long(int64_t ns)
{
    return ns >= INT64_C(1) << 62;
}

int units_parse_duration(const char *text, int64_t *ns, struct err *err)
{
    if (!scan_duration(text, ns))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a duration; write 500ms, 2s or 1h30m",
                       text);
    if (is_too_long(*ns))
        return err_set(err, ERR_CONFIG, "'%s' is too long; at most 53375d",
                       text);
    return 0;
}

/* 50/s, 2/m, 100/10s, or nothing after the number: per second. */
static bool scan_rate(const char *p, double *per_second)
{
    char period[UNITS_TEXT];
    double value;
    double factor;
    int64_t ns = NS_PER_S;

    if (!take_scientific(&p, &value))
        return false;
    if (take_unit(&p, rates, COUNT(rates), &factor)) {
        *per_second = value;
        return *p == '\0' && value > 0;
    }
    if (!take_unit(&p, multiples, COUNT(multiples), &factor))
        return false;
    if (*p == '/') {
        bool has_number = strspn(p + 1, NUMBER) > 0;
        int n = snprintf(period, sizeof(period), "%s%s", has_number ? "" : "1",
                         p + 1);

        if (n >= (int)sizeof(period) || !scan_duration(period, &ns) ||
            ns == 0 || is_too_long(ns))
            return false;
        p = "";
    }
    *per_second = value * factor / ((double)ns / 1e9);
    return *p == '\0' && *per_second > 0;
}

int units_parse_instant(const char *text, int64_t now_ns, int64_t *ns,
                        struct err *err)
{
    struct tm tm = {0};
    int64_t after_ns;
    double seconds = 0;
    const char *p;

    if (*text == '+') {
        if (units_parse_duration(text + 1, &after_ns, err))
            return -1;
        *ns = now_ns + after_ns;
        return 0;
    }
    if (*text == '@') { /* whole and fraction apart, which keeps nanoseconds */
        char *end;

        tm.tm_year = 70;
        after_ns = strtoll(text + 1, &end, 10);
        p = end;
        if (!isdigit((unsigned char)text[1]))
            p = NULL;
    } else {
        p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        after_ns = p ? (int64_t)timegm(&tm) : 0;
        if (p && p[strlen(p) - (*p != '\0')] != 'Z')
            p = NULL;
    }
    if (p && *p == '.' && !take_number(&p, 0, &seconds))
        p = NULL;
    if (!p || strcmp(p, *text == '@' ? "" : "Z") != 0)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a time: expected "
                       "2026-12-31T23:59:59Z, @SECONDS since 1970, or +10s",
                       text);
    if (after_ns < 1 || after_ns > MAX_INSTANT_S)
        return err_set(err, ERR_CONFIG,
                       "'%s' is out of range: a time is from 1970 to 2255",
                       text);
    *ns = after_ns * NS_PER_S + llround(seconds * 1e9);
    return 0;
}

int units_parse_rate(const char *text, double *per_second, struct err *err)
{
    if (!scan_rate(text, per_second))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a rate; write 50, 0.5 or 2/m (above 0)",
                       text);
    if (*per_second < MIN_NUMBER || *per_second > MAX_NUMBER)
        return err_set(err, ERR_CONFIG,
                       "'%s' is out of range; a rate is 1e-12/s to 1e15/s",
                       text);
    return 0;
}

static bool scan_whole(const char *p, const struct unit *units, size_t n,
                       int64_t *whole)
{
    double value;
    double factor;
    double rounded;

    if (!take_scientific(&p, &value) || !take_unit(&p, units, n, &factor) || *p)
        return false;
    value *= factor;
    rounded = round(value); /* 1.005k is a shade below 1005 */
    if (value > 0x1p53 || fabs(value - rounded) > rounded * 0x1p-51)
        return false;
    *whole = (int64_t)rounded;
    return true;
}

int units_parse_size(const char *text, int64_t *bytes, struct err *err)
{
    if (!scan_whole(text, sizes, COUNT(sizes), bytes))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a size; write 512, 64k or 1MiB", text);
    return 0;
}

int units_parse_count(const char *text, int64_t *count, struct err *err)
{
    if (!scan_whole(text, multiples, COUNT(multiples), count))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a count; write 1000, 10k or 1M", text);
    return 0;
}

int units_parse_share(const char *text, double *share, struct err *err)
{
    bool is_percent = strcmp(text + strspn(text, NUMBER), "%") == 0;
    const char *p = text;
    double value;

    if (!take_number(&p, is_percent ? -2 : 0, &value) || p[is_percent] ||
        value > 1 || (value > 0 && value < MIN_NUMBER))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a share of 0 to 100%%; write 0.1%% or "
                       "0.001",
                       text);
    *share = value;
    return 0;
}

int units_parse_number(const char *text, double *value, struct err *err)
{
    const char *p = text;

    if (!take_scientific(&p, value) || *p)
        return err_set(
            err, ERR_CONFIG,
            "'%s' is not valid; write a number from 0 up, such as 0.5", text);
    return units_check_range(text, *value, err);
}

int units_check_range(const char *text, double value, struct err *err)
{
    if (value == 0 || (value >= MIN_NUMBER && value <= MAX_NUMBER))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "'%.80s' is out of range; a number is 0 or 1e-12 to 1e15",
                   text);
}

const char *units_print_duration(int64_t ns, char out[static UNITS_TEXT])
{
    if (ns == 0)
        return memcpy(out, "0s", sizeof("0s"));
    for (size_t i = 0; i < COUNT(durations); i++) {
        int64_t factor = (int64_t)durations[i].factor;

        if (ns % factor == 0) {
            snprintf(out, UNITS_TEXT, "%lld%s", (long long)(ns / factor),
                     durations[i].name);
            break;
        }
    }
    return out;
}

const char *units_print_number(double value, char out[static UNITS_TEXT])
{
    for (int decimals = 0; decimals <= 29; decimals++) {
        int n = snprintf(out, UNITS_TEXT, "%.*f", decimals, value);

        if (n < UNITS_TEXT && strtod(out, NULL) == value)
            return out;
    }
    snprintf(out, UNITS_TEXT, "%.17g", value);
    return out;
}

/* 2/m rather than 0.03333333333333333/s. */
const char *units_print_rate(double per_second, char out[static UNITS_TEXT])
{
    static const struct unit periods[] = {{"/m", 60}, {"/h", 3600}};
    char number[UNITS_TEXT];
    const char *period = "/s";

    units_print_number(per_second, number);
    for (size_t i = 0; i < COUNT(periods) && strlen(number) > 8; i++) {
        double whole = round(per_second * periods[i].factor);

        if (whole >= 1 && whole < MAX_NUMBER &&
            whole / periods[i].factor == per_second) {
            units_print_number(whole, number);
            period = periods[i].name;
            break;
        }
    }
    snprintf(out, UNITS_TEXT, "%.45s%s", number, period);
    return out;
}

const char *units_print_count(int64_t count, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, "%lld", (long long)count);
    return out;
}

/* Three digits, 1.23, 12.3 or 123, in a suitable unit, each a thousand of the
 * one before; whole numbers in the first unit. */
static const char *show(double value, const char *const units[4],
                        char out[static UNITS_TEXT])
{
    int unit = 0;
    int decimals;

    while (fabs(value) >= 999.5 && unit < 3) {
        value /= 1e3;
        unit++;
    }
    decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    snprintf(out, UNITS_TEXT, "%.*f%s", unit > 0 ? decimals : 0, value,
             units[unit]);
    return out;
}

const char *units_show_duration(double ns, char out[static UNITS_TEXT])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    return show(ns, units, out);
}

const char *units_show_size(double bytes, char out[static UNITS_TEXT])
{
    static const char *const units[] = {"B", "kB", "MB", "GB"};

    return show(bytes, units, out);
}

const char *units_show_rate(double per_second, char out[static UNITS_TEXT])
{
    if (per_second < 999.5)
        snprintf(out, UNITS_TEXT, "%.3g/s", per_second);
    else if (per_second < 999.5e3)
        snprintf(out, UNITS_TEXT, "%.3gk/s", per_second / 1e3);
    else
        snprintf(out, UNITS_TEXT, "%.3gM/s", per_second / 1e6);
    return out;
}

const char *units_show_span(int64_t ns, char out[static UNITS_TEXT])
{
    long long s = (long long)((ns + NS_PER_S / 2) / NS_PER_S);

    if (s < 60)
        snprintf(out, UNITS_TEXT, "%llds", s);
    else if (s < 3600)
        snprintf(out, UNITS_TEXT, "%lldm%02llds", s / 60, s % 60);
    else
        snprintf(out, UNITS_TEXT, "%lldh%02lldm", s / 3600, s / 60 % 60);
    return out;
}

const char *units_show_number(double value, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
    return out;
}

/* ---- lists of numbers ---- */

#define LIST_EXAMPLE "expected numbers such as 10,20,40..200"

/* Tolerance for a sum of steps, as a share of one step. */
#define ROUNDING 1e-6

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static int add_value(struct numlist *v, double value, struct err *err)
{
    if (v->len == NUMLIST_MAX)
        return err_set(err, ERR_CONFIG, "more than %d values", NUMLIST_MAX);
    for (size_t i = 0; i < v->len; i++) {
        if (v->items[i] == value)
            return err_set(err, ERR_CONFIG, "%.10g appears twice", value);
    }
    v->items = xrealloc(v->items, v->len + 1, sizeof(*v->items));
    v->items[v->len++] = value;
    return 0;
}

/* "1-10" is explained in its own numbers: "1,2..10".  The step is 1, 2 or 5
 * times a power of ten, gives at most ten more values and ends at the last one,
 * if one does. */
static int refuse_range(double from, double to, struct err *err)
{
    static const double digits[] = {1, 2, 5};
    double power = pow(10, floor(log10(to - from)) - 1);
    double step = 0;
    char text[4][UNITS_TEXT];

    for (int i = 0; i < 9; i++) {
        int tens = i / 3;
        double each = digits[i % 3] * power * pow(10, tens);
        double n = (to - from) / each;

        if (n <= 10 + ROUNDING && n >= 1 &&
            (step == 0 || fabs(n - round(n)) < ROUNDING)) {
            step = each;
            if (fabs(n - round(n)) < ROUNDING)
                break;
        }
    }
    return err_set(
        err, ERR_CONFIG,
        "write '%s,%s..%s' for the range from %s to %s in steps of %s",
        units_show_number(from, text[0]),
        units_show_number(from + step, text[1]), units_show_number(to, text[2]),
        text[0], text[2], units_show_number(step, text[3]));
}

/* A number and its unit, up to the next ",", ".." or the end; the first point
 * of "40..200" is not one of the number. */
static int take_item(struct numlist *v, const char **p, double *value,
                     struct err *err)
{
    const char *start = skip_blanks(*p);
    const char *dots = strstr(start, "..");
    size_t len = strcspn(start, ",");
    char text[64];
    bool is_number;
    const char *unit;
    const char *end = text;

    if (dots && dots < start + len)
        len = (size_t)(dots - start);
    snprintf(text, sizeof(text), "%.*s", (int)len, start);
    is_number = take_scientific(&end, value) && *end != 'x' && *end != 'X' &&
                isfinite(*value);
    len = (size_t)(end - text);
    if (*start == '\0')
        return err_set(err, ERR_CONFIG, "a number is missing; " LIST_EXAMPLE);
    if (!is_number)
        return err_set(err, ERR_CONFIG, "'%s': " LIST_EXAMPLE, start);

    unit = skip_blanks(start + len);
    if ((*unit == '-' || *unit == ':') && strtod(unit + 1, NULL) > *value)
        return refuse_range(*value, strtod(unit + 1, NULL), err);
    len = strcspn(unit, ",. \t\n");
    *p = skip_blanks(unit + len);
    if (len >= sizeof(v->unit) || isdigit((unsigned char)*unit))
        return err_set(err, ERR_CONFIG, "'%s': " LIST_EXAMPLE, unit);
    if (v->len == 0)
        memcpy(v->unit, unit, len);
    else if (strlen(v->unit) != len || memcmp(v->unit, unit, len) != 0)
        return err_set(err, ERR_CONFIG,
                       "all values need the same unit, as in 1ms, 2ms..10ms");
    return 0;
}

/* Continue up to `last` by the difference of the last two values. */
static int add_range(struct numlist *v, double last, struct err *err)
{
    double step;
    double from;

    if (v->len < 2)
        return err_set(err, ERR_CONFIG,
                       "'..' repeats the last step and requires two values "
                       "before it, as in 10,20..200");
    from = v->items[v->len - 1];
    step = from - v->items[v->len - 2];
    if ((last - from) / step < 1 - ROUNDING)
        return err_set(err, ERR_CONFIG,
                       "steps of %.10g from %.10g do not reach %.10g", step,
                       from, last);
    if ((last - from) / step > NUMLIST_MAX)
        return err_set(err, ERR_CONFIG, "more than %d values", NUMLIST_MAX);
    for (int64_t i = 1; (double)i <= (last - from) / step + ROUNDING; i++) {
        if (add_value(v, from + (double)i * step, err))
            return -1;
    }
    return 0;
}

int numlist_parse(struct numlist *v, const char *text, struct err *err)
{
    const char *p = text;
    bool is_range = false;

    *v = (struct numlist){0};
    for (;;) {
        double value = 0;

        if (take_item(v, &p, &value, err) ||
            (is_range ? add_range : add_value)(v, value, err))
            return -1;
        if (*p == '\0')
            return 0;
        is_range = strncmp(p, "..", 2) == 0;
        if (!is_range && *p != ',')
            return err_set(err, ERR_CONFIG, "'%s': " LIST_EXAMPLE, p);
        p += is_range ? 2 : 1;
    }
}

int numlist_check(const char *text, struct err *err)
{
    struct numlist v;
    int rc = numlist_parse(&v, text, err);

    numlist_fini(&v);
    return rc;
}

void numlist_fini(struct numlist *v)
{
    free(v->items);
    *v = (struct numlist){0};
}
