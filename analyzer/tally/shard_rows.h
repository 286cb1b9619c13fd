/* shard_rows.h - a merged recording, machine by machine: what each sent, how
 * late it was and what its clock says. */
#ifndef ANALYZER_TALLY_SHARD_ROWS_H
#define ANALYZER_TALLY_SHARD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/probe_shard.h"
#include "analyzer/tally/tally.h"
#include "common/recording/shards.h"
#include "common/stats/hist.h"

/* Above this many shards there are no histograms of each, which take 600 kB. */
#define SHARD_ROWS_HISTS 64

struct shard_tally {
    int64_t due; /* in the window */
    int64_t ok;
    int64_t unsent;
    struct hist lag;
    struct hist e2e; /* from due */
};

/* All zero: the recording was not merged. */
struct shard_tallies {
    struct shard_tally *items; /* owned; by shard */
    int64_t of;
    struct shard_layout layout;
    struct hist
        probe; /* e2e from due of the probe shard, if there is one, ... */
    struct hist rest; /* ... and of the others */
};

/* `probe_every` as client.probe_shard. */
void shard_tallies_init(struct shard_tallies *t, const struct shard_list *list,
                        int64_t probe_every);
void shard_tallies_fini(struct shard_tallies *t);

/* A request of the run; only those due in the window count. */
void shard_tallies_add(struct shard_tallies *t, const struct tally *tally,
                       const struct facts *f);

/* ---- results ---- */

struct shard_row {
    struct shard_info info; /* of one that is missing, only the index */
    bool is_missing;
    int64_t due;
    int64_t ok;
    int64_t unsent;
    int64_t lag_p50_ns; /* may be HIST_TOO_FEW or another */
    int64_t lag_p99_ns;
    int64_t e2e_p50_ns;
    int64_t e2e_p99_ns;
    int64_t offset_ns; /* of its start, after the common one, or the first */
};

/* All zero: the recording was not merged. */
struct shard_rows {
    struct shard_row *items; /* owned; all shards of the run, by index */
    size_t n;
    bool is_one_host;       /* all have the same name, so the same clock */
    int64_t missing;        /* shards */
    int64_t killed;         /* shards */
    int64_t damaged;        /* shards */
    int64_t skew_ns;        /* from the first start to the last */
    int64_t latest;         /* the shard that started last */
    int64_t clock_error_ns; /* the largest; 0: unknown */
    int64_t worst_clock; /* the shard that has it, or an unsynchronised one */
    int64_t unsynchronised; /* shards */

    /* Of clocks that a launcher asked for the time, all of them: how far they
     * are apart at most, and the shard that is furthest from the launcher. */
    bool has_offsets;
    bool are_corrected; /* offsets were taken out of the start; what is left is
                           their errors */
    int64_t apart_ns;
    int64_t furthest;

    bool has_probe; /* the last shard only measured */
    struct probe_shard probe;
};

void shard_rows_make(struct shard_rows *rows, const struct shard_tallies *t,
                     const struct shard_list *list);
void shard_rows_fini(struct shard_rows *rows);

#endif
