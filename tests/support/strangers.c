#include "tests/support/strangers.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "common/base/xalloc.h"

/* All that stands in a JSON text. */
struct leaves {
    double *numbers;
    size_t n;
    struct strlist texts;
};

static void gather(const json_t *json, struct leaves *l)
{
    const char *key;
    json_t *part;
    size_t i;

    if (json_is_number(json)) {
        l->numbers = xrealloc(l->numbers, l->n + 1, sizeof(*l->numbers));
        l->numbers[l->n++] = json_number_value(json);
    } else if (json_is_string(json)) {
        strlist_add(&l->texts, json_string_value(json));
    }
    json_array_foreach(json, i, part)
    {
        gather(part, l);
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, part)
    {
        strlist_add(&l->texts, key); /* a status, say */
        gather(part, l);
    }
}

/* A number as it is shown, and what is behind it. */
struct shown {
    double value;
    double tolerance; /* half of its last digit */
    char text[48];    /* with its unit */
};

/* Units of the text, and how often JSON's go into them. */
static const struct {
    const char *unit;
    double in_json[2];
} units[] = {
    {"ns", {1e-6, 1e-9}}, {"us", {1e-3, 1e-6}}, {"ms", {1, 1e-3}},
    {"kB", {1e3, 0}},     {"MB", {1e6, 0}},     {"GB", {1e9, 0}},
    {"k/s", {1e3, 0}},    {"M/s", {1e6, 0}},    {"s", {1e3, 1}},
    {"%", {1, 0.01}},     {"", {1, 0}},
};

static const double *scales_of(const char *behind, size_t *len)
{
    for (size_t i = 0;; i++) {
        *len = strlen(units[i].unit);
        if (strncmp(behind, units[i].unit, *len) == 0)
            return units[i].in_json;
    }
}

static bool is_in_numbers(const struct leaves *l, const struct shown *s,
                          double scale)
{
    for (size_t i = 0; scale > 0 && i < l->n; i++) {
        if (fabs(fabs(l->numbers[i]) / scale - s->value) <= s->tolerance)
            return true;
    }
    return false;
}

static bool is_in_texts(const struct leaves *l, const char *text)
{
    for (size_t i = 0; i < l->texts.len; i++) {
        if (strstr(l->texts.items[i], text))
            return true;
    }
    return false;
}

/* How much longer it is for its exponent, as of 1.5e-05. */
static size_t exponent_of(const char *behind)
{
    bool is_one = behind[0] == 'e' && (behind[1] == '-' || behind[1] == '+');
    size_t len = is_one ? strspn(behind + 2, "0123456789") : 0;

    return len > 0 ? len + 2 : 0;
}

/* The number at `text`; returns what is behind it and its unit. */
static const char *take_number(const char *text, struct shown *s,
                               const double **scales)
{
    size_t len = strspn(text, "0123456789.");
    double digits;
    const char *dot;
    size_t unit;

    len -= text[len - 1] == '.'; /* of a sentence, or an ellipsis */
    snprintf(s->text, sizeof(s->text), "%.*s", (int)len, text);
    dot = strchr(s->text, '.');
    digits = dot ? (double)strlen(dot + 1) : 0;
    if (exponent_of(text + len) > 0)
        digits -= strtod(text + len + 1, NULL);
    len += exponent_of(text + len);
    *scales = scales_of(text + len, &unit);
    snprintf(s->text, sizeof(s->text), "%.*s", (int)len, text);
    s->value = strtod(s->text, NULL);
    s->tolerance = 0.500001 * pow(10, -digits) + 1e-12;
    snprintf(s->text, sizeof(s->text), "%.*s", (int)(len + unit), text);
    return text + len + unit;
}

static const char *after_one_of(const char *text, const char *const *names)
{
    for (size_t i = 0; names && names[i]; i++) {
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return text + strlen(names[i]);
    }
    return NULL;
}

/* What is a name, though it has a digit. */
static const char *after_name(const char *text, const char *const *more)
{
    static const char *const names[] = {
        "e2e", "p50",          "p90",      "p95",  "p99.9",
        "p99", "95% interval", "HTTP/1.1", "> 1h", NULL,
    };
    const char *behind = after_one_of(text, more);

    return behind ? behind : after_one_of(text, names);
}

/* The next number of the text, which goes on behind it; false: there is none.
 */
static bool next_number(const char **text, const char *const *names,
                        struct shown *s, const double **scales)
{
    while (**text) {
        const char *behind = after_name(*text, names);

        if (!behind && **text >= '0' && **text <= '9') {
            *text = take_number(*text, s, scales);
            return true;
        }
        *text = behind ? behind : *text + 1;
    }
    return false;
}

static bool is_among(const struct leaves *l, const struct shown *s,
                     const double *scales)
{
    return is_in_numbers(l, s, scales[0]) || is_in_numbers(l, s, scales[1]);
}

static int count_strangers(const char *text, const struct leaves *l,
                           const char *const *names)
{
    const double *scales;
    struct shown s = {0};
    int strangers = 0;

    while (next_number(&text, names, &s, &scales)) {
        if (!is_among(l, &s, scales) && !is_in_texts(l, s.text)) {
            const char *end = strchr(text, '\n');

            print_error("%s is not in the JSON; after it stands '%.*s'\n",
                        s.text, end ? (int)(end - text) : 0, text);
            strangers++;
        }
    }
    return strangers;
}

static bool is_shown(const char *text, double number)
{
    const struct leaves one = {.numbers = &number, .n = 1};
    const double *scales;
    struct shown s = {0};

    while (next_number(&text, NULL, &s, &scales)) {
        if (is_among(&one, &s, scales))
            return true;
    }
    return false;
}

int unsaid_in(const char *text, const json_t *json)
{
    struct leaves l = {0};
    int unsaid = 0;

    gather(json, &l);
    assert_true(l.n > 0);
    for (size_t i = 0; i < l.n; i++) {
        if (l.numbers[i] != 0 && !is_shown(text, l.numbers[i])) {
            print_error("%.15g is not in the text\n", l.numbers[i]);
            unsaid++;
        }
    }
    strlist_fini(&l.texts);
    free(l.numbers);
    return unsaid;
}

int strangers_in(const char *text, const json_t *json, const char *const *names)
{
    struct leaves l = {0};
    int strangers;

    gather(json, &l);
    assert_true(l.n > 0);
    strangers = count_strangers(text, &l, names);
    strlist_fini(&l.texts);
    free(l.numbers);
    return strangers;
}
