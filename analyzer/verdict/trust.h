/* trust.h - may the measurement be believed?
 *
 * Named checks, each with a value, a limit and one line of advice.  They judge
 * the size of an effect, never its significance.  A check for which nothing is
 * known is left out.
 */
#ifndef ANALYZER_VERDICT_TRUST_H
#define ANALYZER_VERDICT_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/client_log.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"

#define TRUST_MAX_CHECKS 24

struct check {
    const char *name;
    const char *unit; /* of value and limit: "ms", "requests" */
    bool ok;
    bool is_fatal;   /* if it fails the run is invalid, not just undecided */
    bool is_minimum; /* the limit is the least value, not the most */
    double value;
    double limit;
    const char *advice; /* "" if it passed */
};

struct trust {
    bool valid;
    struct check checks[TRUST_MAX_CHECKS];
    size_t len;
};

/* What is known of the recording itself. */
struct integrity {
    int64_t lost_requests; /* issued, and their end is not in the recording */
    int64_t lost_events;   /* of requests whose end is */
    bool was_killed;
};

/* Everything that a check may look at; borrowed. */
struct evidence {
    const struct tally *tally;
    const struct judgement *judgement;
    const struct integrity *integrity;
    const struct client *client;
    bool is_open_loop;
    bool is_offline; /* all was due at once: nothing was late */
};

/* The check of that name; NULL: it was not made. */
const struct check *trust_find(const struct trust *t, const char *name);

void trust_check(const struct evidence *e, struct trust *out);

#endif
