#include "common/wire/prometheus.h"

#include <stdlib.h>
#include <string.h>

/* No number needs more. */
#define MAX_NUMBER 64

/* What is left of a line. */
struct cursor {
    const char *at;
    const char *end;
};

bool prom_is(struct prom_text text, const char *wanted)
{
    return text.len == strlen(wanted) && memcmp(text.at, wanted, text.len) == 0;
}

/* ---- pieces of a line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_over(const struct cursor *c)
{
    return c->at == c->end;
}

static void skip_blanks(struct cursor *c)
{
    while (!is_over(c) && is_blank(*c->at))
        c->at++;
}

static bool take_char(struct cursor *c, char wanted)
{
    if (is_over(c) || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* Up to the next blank. */
static struct prom_text take_word(struct cursor *c)
{
    struct prom_text word = {.at = c->at};

    while (!is_over(c) && !is_blank(*c->at))
        c->at++;
    word.len = (size_t)(c->at - word.at);
    return word;
}

/* The name of a metric, which may contain colons, or of a label; may be empty.
 */
static struct prom_text take_name(struct cursor *c, bool may_have_colons)
{
    struct prom_text name = {.at = c->at};

    while (!is_over(c) && ((*c->at >= 'a' && *c->at <= 'z') ||
                           (*c->at >= 'A' && *c->at <= 'Z') || *c->at == '_' ||
                           (may_have_colons && *c->at == ':') ||
                           (c->at > name.at && *c->at >= '0' && *c->at <= '9')))
        c->at++;
    name.len = (size_t)(c->at - name.at);
    return name;
}

/* name="value", and the comma if one follows. */
static bool take_label(struct cursor *c, struct prom_text *name,
                       struct prom_text *value)
{
    skip_blanks(c);
    *name = take_name(c, false);
    skip_blanks(c);
    if (name->len == 0 || !take_char(c, '='))
        return false;
    skip_blanks(c);
    if (!take_char(c, '"'))
        return false;
    value->at = c->at;
    while (!is_over(c) && *c->at != '"') {
        if (*c->at == '\\' && c->at + 1 < c->end)
            c->at++; /* the next character does not end it */
        c->at++;
    }
    value->len = (size_t)(c->at - value->at);
    if (!take_char(c, '"'))
        return false;
    skip_blanks(c);
    return take_char(c, ',') || is_over(c) || *c->at == '}';
}

static bool take_labels(struct cursor *c, struct prom_text *labels)
{
    struct prom_text name;
    struct prom_text value;
    int n = 0;

    labels->at = c->at;
    labels->len = 0;
    if (!take_char(c, '{'))
        return true;
    labels->at = c->at;
    for (;;) {
        skip_blanks(c);
        labels->len = (size_t)(c->at - labels->at);
        if (take_char(c, '}'))
            return true;
        if (n++ == PROM_MAX_LABELS || !take_label(c, &name, &value))
            return false;
    }
}

/* strtod() accepts more than the format has; only nan(...) is rejected here. */
static bool read_number(struct prom_text word, double *value)
{
    char text[MAX_NUMBER];
    char *end;

    if (word.len == 0 || word.len >= sizeof(text) || *word.at <= ' ' ||
        memchr(word.at, '(', word.len))
        return false;
    memcpy(text, word.at, word.len);
    text[word.len] = '\0';
    *value = strtod(text, &end);
    return end == text + word.len;
}

/* ---- lines ---- */

/* name{labels} value time; the time is not needed. */
static bool read_sample(struct cursor *c, struct prom_sample *s)
{
    double time;

    s->name = take_name(c, true);
    if (s->name.len == 0 || is_over(c) || (!is_blank(*c->at) && *c->at != '{'))
        return false;
    skip_blanks(c);
    if (!take_labels(c, &s->labels))
        return false;
    skip_blanks(c);
    if (!read_number(take_word(c), &s->value))
        return false;
    skip_blanks(c);
    if (!is_over(c) && !read_number(take_word(c), &time))
        return false;
    skip_blanks(c);
    return is_over(c);
}

struct prom_counts prom_read(const char *page, size_t len, prom_sample_fn *take,
                             void *arg)
{
    struct prom_counts counts = {0};
    struct prom_sample sample;
    size_t at = 0;

    while (at < len) {
        const char *line = page + at;
        const char *end = memchr(line, '\n', len - at);
        size_t line_len = end ? (size_t)(end - line) : len - at;
        struct cursor c = {line, line + line_len};

        at += line_len + 1;
        if (!is_over(&c) && c.end[-1] == '\r')
            c.end--;
        skip_blanks(&c);
        if (line_len <= PROM_MAX_LINE && (is_over(&c) || *c.at == '#'))
            continue;
        if (line_len > PROM_MAX_LINE || !read_sample(&c, &sample)) {
            counts.damaged++;
            continue;
        }
        counts.samples++;
        take(arg, &sample);
    }
    return counts;
}

/* ---- labels ---- */

/* A backslash that does not start an escape stands for itself. */
static bool decode(struct prom_text value, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < value.len; i++) {
        bool is_escaped = value.at[i] == '\\' && i + 1 < value.len &&
                          value.at[i + 1] && strchr("\\\"n", value.at[i + 1]);

        i += is_escaped;
        if (len + 1 >= size)
            return false;
        out[len++] = value.at[i];
        if (is_escaped && value.at[i] == 'n')
            out[len - 1] = '\n';
    }
    out[len] = '\0';
    return true;
}

bool prom_label(const struct prom_sample *s, const char *wanted, char *out,
                size_t size)
{
    struct cursor c = {s->labels.at, s->labels.at + s->labels.len};
    struct prom_text name;
    struct prom_text value;

    while (!is_over(&c) && take_label(&c, &name, &value)) {
        if (prom_is(name, wanted) && decode(value, out, size))
            return true;
        skip_blanks(&c);
    }
    out[0] = '\0';
    return false;
}
