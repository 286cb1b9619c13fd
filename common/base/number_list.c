#include "common/base/number_list.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

/* What a sum of steps may be off by, as a share of one. */
#define ROUNDING 1e-6

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static int add(struct numlist *v, double value, struct err *err)
{
    if (v->len == NUMLIST_MAX)
        return err_set(err, ERR_CONFIG, "more than %d values", NUMLIST_MAX);
    for (size_t i = 0; i < v->len; i++) {
        if (v->items[i] == value)
            return err_set(err, ERR_CONFIG, "%.10g stands there twice", value);
    }
    v->items = xrealloc(v->items, v->len + 1, sizeof(*v->items));
    v->items[v->len++] = value;
    return 0;
}

/* What stands behind a number, to the next of ",", ".." and the end. */
static int take_unit(struct numlist *v, const char **p, bool is_first,
                     struct err *err)
{
    const char *start = skip_blanks(*p);
    size_t len = strcspn(start, ",. \t\n");

    *p = start + len;
    if (len >= sizeof(v->unit) || isdigit((unsigned char)*start))
        return err_set(err, ERR_CONFIG,
                       "'%s': expected numbers such as 10,20,40..200", start);
    if (is_first)
        memcpy(v->unit, start, len);
    else if (strlen(v->unit) != len || strncmp(v->unit, start, len) != 0)
        return err_set(err, ERR_CONFIG,
                       "all of them need the same unit, as in 1ms, 2ms..10ms");
    return 0;
}

/* strtod() would take the first point of "40..200" for its own. */
static int take_number(const char **p, double *value, struct err *err)
{
    const char *start = skip_blanks(*p);
    const char *dots = strstr(start, "..");
    size_t len = strcspn(start, ",");
    char *copy;
    char *end;

    if (dots && dots < start + len)
        len = (size_t)(dots - start);
    copy = xasprintf("%.*s", (int)len, start);
    *value = strtod(copy, &end);
    *p = start + (end - copy);
    len = (size_t)(end - copy);
    free(copy);
    if (len == 0 || !isfinite(*value) || *value < 0)
        return err_set(err, ERR_CONFIG,
                       "'%s': expected numbers such as 10,20,40..200", start);
    return 0;
}

/* On by the last difference. */
static int go_on(struct numlist *v, double last, struct err *err)
{
    double step;
    double from;

    if (v->len < 2)
        return err_set(err, ERR_CONFIG,
                       ".. goes on by the last difference: two values must "
                       "stand before it, as in 10,20..200");
    from = v->items[v->len - 1];
    step = from - v->items[v->len - 2];
    if ((last - from) / step < 1 - ROUNDING)
        return err_set(err, ERR_CONFIG, "%.10g does not lead to %.10g by %.10g",
                       from, last, step);
    if ((last - from) / step > NUMLIST_MAX)
        return err_set(err, ERR_CONFIG, "more than %d values", NUMLIST_MAX);
    for (int64_t i = 1; (double)i <= (last - from) / step + ROUNDING; i++) {
        if (add(v, from + (double)i * step, err))
            return -1;
    }
    return 0;
}

int numlist_parse(struct numlist *v, const char *text, struct err *err)
{
    const char *p = text;
    bool goes_on = false;

    *v = (struct numlist){0};
    for (;;) {
        double value;

        if (take_number(&p, &value, err) ||
            take_unit(v, &p, v->len == 0, err) ||
            (goes_on ? go_on(v, value, err) : add(v, value, err)))
            return -1;
        p = skip_blanks(p);
        if (*p == '\0')
            return 0;
        goes_on = strncmp(p, "..", 2) == 0;
        if (!goes_on && *p != ',')
            return err_set(err, ERR_CONFIG,
                           "'%s': expected numbers such as 10,20,40..200", p);
        p += goes_on ? 2 : 1;
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
