/* baseline.h - the measurement that later claims are divided by, sealed in one
 * file: conditions, four quantities, hashes of the recordings and of the
 * answers.  docs/baseline.md
 *
 * A file that was altered is not loaded; the part is named.
 */
#ifndef ANALYZER_STUDIES_BASELINE_H
#define ANALYZER_STUDIES_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/sha256.h"
#include "common/base/str.h"

struct buf;
struct err;
struct summary;

enum baseline_quantity {
    BASELINE_TIME,   /* s, of the offline set */
    BASELINE_MEMORY, /* bytes, the server's peak */
    BASELINE_THROUGHPUT,
    BASELINE_QUALITY, /* a share */
    BASELINE_QUANTITIES,
};

/* "time_s" and so on, as in the file. */
extern const char *const baseline_quantity_name[BASELINE_QUANTITIES];

#define BASELINE_NOTE 128
#define BASELINE_WHY  512

/* Over trials. */
struct baseline_amount {
    bool is_there;
    double median;
    double least;
    double greatest;
    int64_t n;
    char note[BASELINE_NOTE]; /* why it is not there; "" if it is */
};

/* A file of a recording, named from where the baseline was frozen. */
struct baseline_file {
    char *path;
    char sha256[SHA256_TEXT];
};

/* What was answered to a sample: the first digits of its hash. */
#define BASELINE_ANSWER 17

struct baseline_answer {
    int64_t index;
    char hash[BASELINE_ANSWER];
};

struct baseline {
    char *name;
    char *frozen;  /* UTC */
    char *version; /* of tailgate */
    char *chosen;  /* which configuration was taken, and why */
    struct strmap conditions;
    struct baseline_amount amounts[BASELINE_QUANTITIES];
    struct baseline_file *files;
    size_t n_files;
    struct baseline_answer *answers; /* by index */
    size_t n_answers;
    char seal[SHA256_TEXT]; /* of the whole file */
};

/* Accepts a zeroed one. */
void baseline_fini(struct baseline *b);

void baseline_add_file(struct baseline *b, const char *path,
                       const char sha256[static SHA256_TEXT]);

/* ---- making one ---- */

struct baseline_ask {
    const struct strlist *dirs; /* of trial sets at one replica */
    const char *memory;         /* recording of the memory's pass; NULL: none */
    const char *name;
    double quality_margin; /* so much below the best one holds quality */
};

/* 0; 1 with `why` if what is there makes no baseline; -1. */
int baseline_freeze(struct baseline *b, const struct baseline_ask *ask,
                    char why[static BASELINE_WHY], struct err *err);

/* To a file that is not there yet: a sealed one is never replaced.  Fills in
 * the seal.  ERR_USAGE, ERR_IO. */
int baseline_save(struct baseline *b, const char *path, struct err *err);

/* ---- using one ---- */

/* 0; 1 with `why` if it was altered; -1 (ERR_IO, ERR_FORMAT).  To be followed
 * by baseline_fini() in any case. */
int baseline_load(struct baseline *b, const char *path,
                  char why[static BASELINE_WHY], struct err *err);

/* Are the recordings still there, and as they were sealed?  Appends a line for
 * each that is not; how many are not. */
size_t baseline_check_files(const struct baseline *b, struct buf *out);

/* Answers of a recording (answers.jsonl), by index; 0 if it has none.  *n many,
 * owned by the caller. */
int baseline_read_answers(const char *dir, struct baseline_answer **list,
                          size_t *n, struct err *err);

/* What is later, as a ratio to the baseline. */
struct against {
    const struct baseline *baseline;
    size_t trials; /* that count; 1: perhaps a single run ... */
    size_t warmup; /* ... and those before them */
    bool has[BASELINE_QUANTITIES];
    double value[BASELINE_QUANTITIES]; /* medians; of memory the greatest */
    double ratio[BASELINE_QUANTITIES]; /* of time the baseline's by the later */
    struct strlist differences;        /* of conditions: "key: a, now b" */
    size_t answers;                    /* that both have, over all trials ... */
    size_t agree;                      /* ... and of those, alike */
};

/* Of a recording or a trial set.  against_fini() in any case. */
int against_make(struct against *a, const struct baseline *b, const char *dir,
                 struct err *err);
void against_fini(struct against *a);

/* The caller owns them. */
struct doc *baseline_doc(const struct baseline *b);
struct doc *against_doc(const struct against *a);

#endif
