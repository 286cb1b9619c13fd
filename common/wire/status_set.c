#include "common/wire/status_set.h"

#include <string.h>

#include "common/base/err.h"

struct statuses statuses_range(int from, int to)
{
    struct statuses s = {0};

    for (int i = from; i < to; i++)
        s.has[i] = true;
    return s;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "404" or "4xx"; the first of those it means, and how many; 0: no such. */
static int read_item(const char *text, size_t len, int *from)
{
    if (len != 3 || text[0] < '1' || text[0] > '5')
        return 0;
    *from = (text[0] - '0') * 100;
    if (memcmp(text + 1, "xx", 2) == 0)
        return 100;
    if (!is_digit(text[1]) || !is_digit(text[2]))
        return 0;
    *from += (text[1] - '0') * 10 + text[2] - '0';
    return 1;
}

int statuses_parse(const char *text, struct statuses *s, struct err *err)
{
    *s = (struct statuses){0};
    for (;;) {
        size_t len = strcspn(text, ",");
        int from = 0;
        int n = read_item(text, len, &from);

        if (n == 0)
            return err_set(err, ERR_CONFIG,
                           "'%.*s' is no HTTP status; write 200, or 2xx",
                           (int)len, text);
        memset(s->has + from, 1, (size_t)n);
        if (!text[len])
            return 0;
        text += len + 1;
        text += strspn(text, " ");
    }
}

int statuses_check(const char *text, struct err *err)
{
    struct statuses s;

    return statuses_parse(text, &s, err);
}
