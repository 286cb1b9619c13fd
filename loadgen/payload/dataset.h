/* dataset.h - samples from a file, all in memory before the clock starts.
 *
 * A sample has fields by name, each with the text that goes into a body.  What
 * some of them mean (a prompt, the length of an answer, a label) is known by
 * their names or said in the settings.  Strict: what is damaged is an error
 * with its line, and nothing is passed over in silence.
 */
#ifndef LOADGEN_PAYLOAD_DATASET_H
#define LOADGEN_PAYLOAD_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "loadgen/payload/slurp.h"

struct data_settings;
struct err;

/* Of a file as it is unpacked. */
#define DATASET_MAX ((size_t)4 << 30)

/* As much as a body may have. */
#define DATASET_MAX_COLUMNS 256

enum value_kind {
    VALUE_TEXT, /* what stands between the quotes of a string of JSON */
    VALUE_JSON, /* any other value of JSON, as it stands */
};

/* A field of a sample. */
struct value {
    uint64_t at; /* offset into the file or into what was made of it */
    uint32_t len;
    uint16_t column;
    uint8_t kind; /* enum value_kind */
    bool is_made;
};

/* A prompt may be there in several forms. */
enum form { FORM_TEXT, FORM_IDS, FORM_MESSAGES };
#define FORM_COUNT 3

enum role {
    ROLE_TEXT = FORM_TEXT,
    ROLE_IDS = FORM_IDS,
    ROLE_MESSAGES = FORM_MESSAGES,
    ROLE_INPUT, /* tokens of the prompt */
    ROLE_OUTPUT,
    ROLE_LABEL,
};
#define ROLE_COUNT 6

/* A sample: values[first] and those behind it. */
struct item {
    uint64_t first;
    uint32_t n;
    uint32_t line;  /* where it begins; 0: of a file without lines */
    int32_t input;  /* tokens of the prompt; -1: not known */
    int32_t output; /* tokens to ask for; -1: not known */

    /* Of messages: where their first text begins and their last one ends. */
    uint32_t head;
    uint32_t tail;
};

struct dataset {
    char *path;         /* owned */
    const char *format; /* its name; static */
    bool was_detected;  /* nobody named it */
    char sha256[SHA256_TEXT];

    struct buf file;
    struct buf made;
    struct value *values;
    size_t n_values;
    size_t cap_values;
    struct item *items;
    size_t n;
    size_t cap;
    struct strlist columns; /* names of fields */
    int64_t left_out;       /* conversations without an answer */
    bool has_talks;         /* its messages are talk.h's, for sessions */

    int role[ROLE_COUNT]; /* its column; -1: there is none */

    /* The line of the first sample that lacks it; 0: all have it.  All samples
     * have forms[f] if none lacks it and there is such a column. */
    uint32_t lacks[ROLE_COUNT];
    bool forms[FORM_COUNT];

    /* Raw tensors: the file as it is, no items. */
    bool is_tensors;
};

/* Read data.file.  ERR_CONFIG "file:line: ...".  The caller owns *out, which is
 * NULL on failure. */
int dataset_load(struct dataset **out, const struct data_settings *s,
                 struct err *err);
void dataset_free(struct dataset *d);

/* The same of bytes that are there already; takes them from `file`. */
int dataset_read(struct dataset **out, const struct data_settings *s,
                 struct buf *file, struct err *err);

/* The sample's field; NULL: it has none. */
const struct value *dataset_value(const struct dataset *d, size_t item,
                                  int column);
const char *dataset_text(const struct dataset *d, const struct value *v);

/* The column of that name; -1: there is none. */
int dataset_column(const struct dataset *d, const char *name, size_t len);

/* ERR_CONFIG "file:line: ..." if a sample lacks the field. */
int dataset_require(const struct dataset *d, int column, struct err *err);

/* Does each sample say how long its answer is, not at most? */
bool dataset_has_lengths(const struct dataset *d);

/* Some lines for people. */
void dataset_describe(const struct dataset *d, const struct data_settings *s,
                      struct buf *out);

#endif
