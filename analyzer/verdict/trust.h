/* trust.h - can the measurement be trusted?  Was the client late, starved of
 * CPU or out of resources, and is the recording complete?
 *
 * Named checks, each with a value, a limit and one line of advice.  They judge
 * the size of an effect, not its significance.  A check without evidence is
 * left out.
 */
#ifndef ANALYZER_VERDICT_TRUST_H
#define ANALYZER_VERDICT_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/client_log.h"
#include "analyzer/tally/shard_rows.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"

#define TRUST_MAX_CHECKS 28

struct check {
    const char *name;
    const char *unit; /* of value and limit, such as "ms" */
    bool ok;
    bool is_fatal;    /* if it fails, the run is invalid, ... */
    bool is_lateness; /* ... unless verdicts allow for a late client */
    bool is_minimum;  /* the limit is a minimum, not a maximum */
    bool is_damage;   /* if it fails, the recording is not whole */
    double value;
    double limit;
    const char *advice; /* "" if it passed */

    /* Of a run on several machines: the worst one, and its value.  -1: one
     * machine, or it is not known which. */
    int64_t worst_shard;
    double worst_value;
};

struct trust {
    bool valid;        /* the numbers may be quoted */
    bool is_only_late; /* not valid, but every fatal check that failed says that
                          the client was late, in an open loop: see
                          judge_late_client() */
    const char *late;  /* the first of those checks; NULL: none */
    struct check checks[TRUST_MAX_CHECKS];
    size_t len;
};

/* The state of the recording itself. */
struct integrity {
    int64_t lost_requests; /* issued, but not in the recording */
    int64_t lost_events;   /* of recorded requests */
    bool was_killed;
    int64_t lost_shards; /* missing, or killed */
};

/* Everything that checks are based on; borrowed. */
struct evidence {
    const struct tally *tally;
    const struct judgement *judgement;
    const struct integrity *integrity;
    const struct client *client;
    const struct shard_rows *shards; /* NULL or empty: one machine */
    bool is_open_loop;
    bool is_offline; /* all requests were due at once: none can be late */
};

/* The check of that name; NULL: there was no evidence. */
const struct check *trust_find(const struct trust *t, const char *name);

void trust_check(const struct evidence *e, struct trust *out);

#endif
