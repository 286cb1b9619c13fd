/* abort_rule.h - when a run is aborted: "errors > 50% over 10s".
 *
 * Pure: counts in, a finding out.  Nothing is found before ABORT_MIN requests
 * have ended. */
#ifndef COMMON_SPEC_ABORT_RULE_H
#define COMMON_SPEC_ABORT_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define ABORT_MIN  10
#define ABORT_TEXT 160

struct abort_rule {
    double share;   /* the limit, below 1 */
    int64_t over_s; /* whole seconds, 1 to 3600 */
    char text[40];  /* "errors > 50%" */
};

/* errors > SHARE [over DURATION]; the default is over 10s.  ERR_CONFIG. */
int abort_parse(const char *text, struct abort_rule *rule, struct err *err);

/* For an option table. */
int abort_check(const char *text, struct err *err);

/* About requests that ended in the last over_s seconds, or since the start. */
struct abort_finding {
    bool is_exceeded;
    int64_t seconds;
    int64_t ended;
    int64_t failed;
};

struct abort_counts {
    int64_t ended;
    int64_t failed; /* of those */
};

/* The last seconds, as a ring of the counts at the end of each. */
struct abort_window {
    struct abort_rule rule;
    struct abort_counts *ring; /* owned; over_s of them */
    int64_t n;                 /* seconds so far */
};

void abort_window_init(struct abort_window *w, const struct abort_rule *rule);
void abort_window_fini(struct abort_window *w);

/* Called once per second, with the counts since the start. */
struct abort_finding abort_window_add(struct abort_window *w,
                                      struct abort_counts so_far);

/* "errors > 50%: 63% of 1024 requests in 10s". */
void abort_describe(const struct abort_rule *rule,
                    const struct abort_finding *finding,
                    char out[static ABORT_TEXT]);

#endif
