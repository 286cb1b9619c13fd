/* status_set.h - a set of HTTP statuses, as people write it: "200,201", "2xx".
 */
#ifndef COMMON_WIRE_STATUS_SET_H
#define COMMON_WIRE_STATUS_SET_H

#include <stdbool.h>

struct err;

#define STATUSES_MAX 600

struct statuses {
    bool has[STATUSES_MAX];
};

/* ERR_CONFIG. */
int statuses_parse(const char *text, struct statuses *s, struct err *err);

/* For an option table. */
int statuses_check(const char *text, struct err *err);

/* From one up to another, that one not included. */
struct statuses statuses_range(int from, int to);

static inline bool statuses_have(const struct statuses *s, int status)
{
    return status >= 0 && status < STATUSES_MAX && s->has[status];
}

#endif
