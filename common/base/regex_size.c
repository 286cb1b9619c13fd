#include "common/base/regex_size.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 100

struct sizes {
    double groups[MAX_DEPTH]; /* what was before each that is open */
    size_t depth;
    double sum;  /* of the group that is open */
    double last; /* of that, what a repetition would repeat */
};

static void add(struct sizes *s, double size)
{
    s->sum += size;
    s->last = size;
}

static void repeat(struct sizes *s, double times)
{
    s->sum += s->last * (times - 1);
    s->last *= times;
}

static void open_group(struct sizes *s)
{
    if (s->depth < MAX_DEPTH)
        s->groups[s->depth++] = s->sum;
    else
        s->groups[0] = INFINITY;
    s->sum = 0;
    s->last = 0;
}

static void close_group(struct sizes *s)
{
    double inside = s->sum + 1;

    if (s->depth == 0)
        return;
    s->sum = s->groups[--s->depth];
    add(s, inside);
}

/* Behind "[...]", in which "]" may stand first. */
static const char *skip_set(const char *at)
{
    at += at[0] == '^';
    at += at[0] == ']';
    at += strcspn(at, "]");
    return at + (*at == ']');
}

/* "{2}", "{2,}" and "{2,5}": as often as the greater number; behind it. */
static const char *read_times(struct sizes *s, const char *at)
{
    double times = 1;

    for (; *at && *at != '}'; at++) {
        char *end;
        double n;

        if (!isdigit((unsigned char)*at))
            continue;
        n = (double)strtoul(at, &end, 10);
        times = fmax(times, n);
        at = end - 1;
    }
    repeat(s, times);
    return at + (*at == '}');
}

/* One part; behind it. */
static const char *read_part(struct sizes *s, const char *at)
{
    switch (*at++) {
    case '\\':
        add(s, 1);
        return at + (*at != '\0');
    case '[':
        add(s, 1);
        return skip_set(at);
    case '(':
        open_group(s);
        return at;
    case ')':
        close_group(s);
        return at;
    case '{':
        return read_times(s, at);
    case '+':
    case '*':
    case '?':
        repeat(s, 2);
        return at;
    default:
        add(s, 1);
        return at;
    }
}

double regexsize_of(const char *text)
{
    struct sizes s = {0};

    while (*text)
        text = read_part(&s, text);
    while (s.depth > 0)
        close_group(&s);
    return fmax(1, s.sum);
}
