/* dataset.h - samples from a file, all in memory before the clock starts.
 *
 * A sample has named fields, each with the text that goes into a body.  The
 * meaning of a field (a prompt, the length of an answer, a label) follows from
 * its name or from the settings.  Reading is strict: damage is an error with
 * its line, and nothing is skipped silently.
 */
#ifndef LOADGEN_PAYLOAD_DATASET_H
#define LOADGEN_PAYLOAD_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/text/jscan.h"

struct data_settings;
struct err;

/* Maximum size of a file, decompressed. */
#define DATASET_MAX ((size_t)4 << 30)

/* As many as a body may have. */
#define DATASET_MAX_COLUMNS 256

enum value_kind {
    VALUE_TEXT, /* the inside of a JSON string, without its quotes */
    VALUE_JSON, /* any other JSON value, as it is */
};

/* A field of a sample. */
struct value {
    uint64_t at; /* offset into `file` or `made` */
    uint32_t len;
    uint16_t column;
    uint8_t kind; /* enum value_kind */
    bool is_made; /* in `made`, not in `file` */
};

/* A prompt may be available in several forms. */
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

/* A sample: its fields are values[first] to values[first + n - 1]. */
struct item {
    uint64_t first;
    uint32_t n;
    uint32_t line;  /* where it begins; 0: the file has no lines */
    int32_t input;  /* tokens of the prompt; -1: not known */
    int32_t output; /* tokens to request; -1: not known */

    /* In the messages: where the first text begins and the last one ends. */
    uint32_t head;
    uint32_t tail;
};

struct dataset {
    char *path;         /* owned */
    const char *format; /* its name; static */
    bool was_detected;  /* the settings do not name it */
    char sha256[SHA256_TEXT];

    struct buf file; /* the file, decompressed */
    struct buf made; /* text derived from it */
    struct value *values;
    size_t n_values;
    size_t cap_values;
    struct item *items;
    size_t n;
    size_t cap;
    struct strlist columns; /* names of fields */
    int64_t left_out;       /* conversations without an answer */
    bool has_conversations; /* the messages are conversations for sessions */

    int role[ROLE_COUNT]; /* its column; -1: the file has none */

    /* The line of the first sample that lacks the field; 0: all have it.
     * forms[f]: there is such a column and all samples have it. */
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

/* The same for bytes in memory, which are moved out of `file`. */
int dataset_read(struct dataset **out, const struct data_settings *s,
                 struct buf *file, struct err *err);

/* The sample's field; NULL: it has none. */
const struct value *dataset_value(const struct dataset *d, size_t item,
                                  int column);
const char *dataset_text(const struct dataset *d, const struct value *v);

/* The column with that name; -1: there is none. */
int dataset_column(const struct dataset *d, const char *name, size_t len);

/* ERR_CONFIG "file:line: ..." if a sample lacks the field. */
int dataset_require(const struct dataset *d, int column, struct err *err);

/* Does each sample define the length of its answer, not just a maximum? */
bool dataset_has_lengths(const struct dataset *d);

/* A few lines of text for the user. */
void dataset_describe(const struct dataset *d, const struct data_settings *s,
                      struct buf *out);

/* ---- conversations for sessions: a JSON list of messages, [system,] user,
 * assistant, user, assistant, ... ---- */

/* The texts of one turn; .at NULL: there is none. */
struct conversation_turn {
    struct jtext system; /* only in the first turn */
    struct jtext question;
    struct jtext answer;
};

/* A turn, from 0; empty if the conversation has fewer. */
struct conversation_turn conversation_turn(const char *messages, size_t len,
                                           int64_t turn);

/* The number of turns. */
int64_t conversation_count(const char *messages, size_t len);

#endif
