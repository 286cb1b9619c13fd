/* target_rows.h - the requests of a run by target, and whether one target is
 * slower than the others.  No I/O.
 *
 * Targets take turns, so they get the same requests at the same times.  Each
 * target has a row: requests due in the window, ok, latencies, and the share
 * that was not good.
 *
 * The straggler.  The schedule is cut into 64 blocks of equal numbers of
 * places. In each block a target is compared with the mean of the others, as a
 * ratio (on logarithms), in two ways:
 *
 *   - the time that it took for a request, from when the client began to act on
 *     it to the last content: waiting in the client does not count;
 *   - its pace, the time per request that ended: this shows a slow target if
 *     all requests are due at once and wait for it.
 *
 * A target is a straggler if one of the two ratios is at least TARGET_SLOWER
 * over all blocks and a t test on the blocks shows it, at a level that the
 * targets and the two ways share.  Latencies of a busy queue are correlated for
 * a long time, so blocks count as fewer independent ones, and there is no
 * answer below TARGET_INDEPENDENT: a difference that lasts for the whole run
 * may be chance then.  The constants are from simulated queues;
 * docs/metrics-slo.md has the table.
 */
#ifndef ANALYZER_TALLY_TARGET_ROWS_H
#define ANALYZER_TALLY_TARGET_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "common/base/str.h"
#include "common/stats/hist.h"

#define TARGETS_MAX 64 /* with more of them there are no rows */

#define TARGET_SLOWER      1.25
#define TARGET_LEVEL       0.002
#define TARGET_FINE        64 /* blocks of the test */
#define TARGET_IN_ONE      3  /* requests per block and target that it needs */
#define TARGET_INDEPENDENT 20 /* of these blocks */
#define TARGET_STILL       0.02 /* blocks that differ less need no test */

/* Blocks of the schedule, of equal numbers of places; when the last one is
 * full, neighbours are joined. */
#define TARGET_BLOCKS 512

struct target_block {
    int64_t n;      /* ok */
    double log_sum; /* of the times that the target took for these */
    int64_t ended;  /* ok or failed */
    int64_t end_ns; /* of the last of these */
};

struct target_tally {
    int64_t due;
    int64_t ok;
    int64_t good;
    struct hist e2e; /* from due */
    struct hist ttft;
    struct target_block blocks[TARGET_BLOCKS];
};

/* All zero: there is one target. */
struct target_tallies {
    struct target_tally *items; /* owned */
    size_t n;
    int64_t places; /* of the schedule in one block */
};

void target_tallies_init(struct target_tallies *t, size_t n);
void target_tallies_fini(struct target_tallies *t);

/* A request of the run; only those due in the window count.  `tally` says what
 * is good. */
void target_tallies_add(struct target_tallies *t, const struct tally *tally,
                        const struct facts *f);

/* ---- results ---- */

enum { TARGET_P50, TARGET_P99, TARGET_QUANTILES };

struct target_row {
    char *name; /* owned */
    int64_t n;  /* due in the window and sent */
    int64_t ok;
    int64_t good;
    int64_t e2e_ns[TARGET_QUANTILES]; /* may be HIST_TOO_FEW or another */
    int64_t ttft_ns[TARGET_QUANTILES];
    double slower; /* times that the others take, of a straggler in the way in
                      which it shows, else per request; NAN: too few requests */
    bool is_straggler;
};

/* All zero: there is one target, or the recording does not say. */
struct target_rows {
    struct target_row *items; /* owned */
    size_t n;
    size_t stragglers; /* number of them */
    size_t slowest;    /* index of the slowest straggler, if any */
};

/* Targets without a request in the window are left out. */
void target_rows_make(struct target_rows *rows, const struct target_tallies *t,
                      const struct strlist *names);
void target_rows_fini(struct target_rows *rows);

#endif
