/* baseline.h - the reference measurement for later claims, sealed in one file:
 * conditions, four quantities, hashes of the recordings and of the answers.
 * docs/baseline.md
 *
 * A file that was altered is not loaded; the message names the altered part.
 */
#ifndef ANALYZER_STUDIES_BASELINE_H
#define ANALYZER_STUDIES_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/hash.h"
#include "common/base/str.h"

struct buf;
struct err;
struct summary;

enum baseline_quantity {
    BASELINE_TIME,   /* s, for the offline set */
    BASELINE_MEMORY, /* bytes, the server's peak */
    BASELINE_THROUGHPUT,
    BASELINE_QUALITY, /* share of correct answers */
    BASELINE_QUANTITIES,
};

/* Keys in the file: "time_s" and so on. */
extern const char *const baseline_quantity_name[BASELINE_QUANTITIES];

#define BASELINE_NOTE 128
#define BASELINE_WHY  512

/* One quantity over trials. */
struct baseline_amount {
    bool is_present;
    double median;
    double least;    /* minimum */
    double greatest; /* maximum */
    int64_t n;
    char note[BASELINE_NOTE]; /* why it is missing; "" if it is present */
};

/* A file of a recording; its path is relative to where the baseline was
 * frozen. */
struct baseline_file {
    char *path;
    char sha256[SHA256_TEXT];
};

#define BASELINE_ANSWER 17

struct baseline_answer {
    int64_t index;              /* of the sample */
    char hash[BASELINE_ANSWER]; /* first 16 digits of the hash */
};

struct baseline {
    char *name;
    char *frozen;  /* UTC */
    char *version; /* of tailgate */
    char *chosen;  /* which configuration was chosen, and why */
    struct strmap conditions;
    struct baseline_amount amounts[BASELINE_QUANTITIES];
    struct baseline_file *files;
    size_t n_files;
    struct baseline_answer *answers; /* by index */
    size_t n_answers;
    char seal[SHA256_TEXT]; /* of the whole file */
};

/* Accepts a zeroed struct. */
void baseline_fini(struct baseline *b);

void baseline_add_file(struct baseline *b, const char *path,
                       const char sha256[static SHA256_TEXT]);

/* ---- making one ---- */

struct baseline_ask {
    const struct strlist *dirs; /* of trial sets at one replica */
    const char *memory;         /* recording that measured memory; NULL: none */
    const char *name;
    double quality_margin; /* quality may be lower than the best by this */
};

/* 0; 1 with `why` if the recordings cannot be a baseline; -1 on error. */
int baseline_freeze(struct baseline *b, const struct baseline_ask *ask,
                    char why[static BASELINE_WHY], struct err *err);

/* Writes a new file; an existing file is never replaced.  Sets the seal.
 * ERR_USAGE, ERR_IO. */
int baseline_save(struct baseline *b, const char *path, struct err *err);

/* ---- using one ---- */

/* 0; 1 with `why` if it was altered; -1 (ERR_IO, ERR_CONFIG).
 * baseline_fini() in any case. */
int baseline_load(struct baseline *b, const char *path,
                  char why[static BASELINE_WHY], struct err *err);

/* Do the recordings still exist, unaltered?  Appends a line for each file that
 * does not, and returns their number. */
size_t baseline_check_files(const struct baseline *b, struct buf *out);

/* The answers of a recording (answers.jsonl) by index; *n is 0 if it has none.
 * The list is owned by the caller. */
int baseline_read_answers(const char *dir, struct baseline_answer **list,
                          size_t *n, struct err *err);

/* A later measurement as ratios to the baseline. */
struct against {
    const struct baseline *baseline;
    size_t trials; /* that count */
    size_t warmup; /* warm-up trials before them, which do not */
    bool has[BASELINE_QUANTITIES];
    double value[BASELINE_QUANTITIES]; /* medians; for memory the maximum */
    double ratio[BASELINE_QUANTITIES]; /* later / baseline; for time
                                          baseline / later */
    struct strlist differences;        /* of conditions: "key: a, now b" */
    size_t answers;                    /* compared answers, over all trials */
    size_t agree;                      /* identical ones among them */
};

/* From a recording or a trial set.  against_fini() in any case. */
int against_make(struct against *a, const struct baseline *b, const char *dir,
                 struct err *err);
void against_fini(struct against *a);

/* The caller owns them. */
struct doc *baseline_doc(const struct baseline *b);
struct doc *against_doc(const struct against *a);

#endif
