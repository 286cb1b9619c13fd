/* compare_side.h - one side of a comparison: a recording, or a set of trials.
 *
 * A set of trials is a directory with a recording in each of trial-1, trial-2,
 * and so on.  Everything that a comparison needs is taken out of the
 * recordings, which are closed again.  study.json, if it is there, says whether
 * the server was started anew for each (docs/trials.md).
 */
#ifndef ANALYZER_COMPARE_COMPARE_SIDE_H
#define ANALYZER_COMPARE_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/compare/finding.h"
#include "analyzer/compare/quantity.h"
#include "analyzer/compare/window_blocks.h"
#include "common/base/str.h"

struct cost_ask;
struct err;
struct slo;

#define RUN_CARD_WHY 160

struct run_card {
    char *dir;
    struct strmap card;     /* its conditions */
    char *load;             /* in a line */
    int64_t started_ns;     /* since 1970; 0: not known */
    char why[RUN_CARD_WHY]; /* it may not be compared; "": it may */

    bool is_open_loop;
    bool is_overloaded;
    bool has_slo;
    bool breaks_slo;
    bool has_warmup;   /* is left out of the window ... */
    bool is_cold;      /* ... which begins before it is over, all the same */
    int64_t checked;   /* answers */
    double makespan_s; /* of an offline set: from its start to its last end; 0:
                          it is none */

    struct reading whole[QUANTITIES_MAX];
    struct block_readings blocks[QUANTITIES_MAX];
};

/* What is taken of the recordings, and what they are judged by. */
struct side_ask {
    const struct quantities *qs;
    const struct strlist *slo;   /* NULL: their own */
    const struct cost_ask *cost; /* likewise of prices */
};

struct side {
    char *dir;
    bool is_set;
    bool is_one_launch; /* its trials are known to be of one process ... */
    bool has_own_stubs; /* ... or each to have started a stub of its own */
    char *home;         /* where it is, resolved; NULL: no study.json */
    char *turned_with;  /* likewise the set it took turns with; NULL: none */
    struct run_card *runs;
    size_t n;

    /* Of each quantity one value a recording; owned. */
    double *units[QUANTITIES_MAX];
    bool has_all[QUANTITIES_MAX];
};

/* ERR_CONFIG if there is nothing at `dir`, ERR_IO and ERR_FORMAT as
 * recording_open(). */
int side_load(struct side *side, const char *dir, const struct side_ask *ask,
              struct err *err);
void side_fini(struct side *side);

/* How many of its first trials do no more than warm the server: one of an
 * offline set of one launch, since such runs have no warm-up of their own. */
size_t side_warmup(const struct side *side);

/* Of the runs behind the first so many one value each of quantity i; how many
 * have one. */
size_t side_values(const struct side *side, size_t first, size_t i,
                   double *out);

/* The objective of a recording, or of the first of a set. */
int side_slo(const char *dir, const struct strlist *replace, struct slo *slo,
             struct err *err);

/* When a recording, or the first of a set, began, since 1970. */
int side_started(const char *dir, int64_t *started_ns, struct err *err);

/* What is compared of quantity i.  Of a set its trials, of a single recording
 * its blocks. */
struct sample side_sample(const struct side *side, size_t i);

/* Its value: the median of its trials, or of the whole window; false: there is
 * none. */
bool side_value(const struct side *side, size_t i, double *value);

/* The first recording that may not be compared; one of a set is enough, since
 * leaving it out would be to choose.  NULL: all may. */
const struct run_card *side_obstacle(const struct side *side);

/* In how many of its recordings it misses its objective. */
size_t side_missed(const struct side *side);

/* In how many the window begins before the server is warm. */
size_t side_cold(const struct side *side);

/* Two sets that say of each other that they took turns are pairs, if none has
 * more trials. */
enum basis basis_of(const struct side *a, const struct side *b);

#endif
