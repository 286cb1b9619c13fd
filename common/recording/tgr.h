/* tgr.h - tables of integers on disk: columnar, self-describing, checksummed.
 *
 * A file opens with its schema and goes on with blocks of rows.  Each block
 * stands on its own: it can be written by any thread in one append, and read
 * whatever became of its neighbours.  docs/recording.md specifies the bytes.
 *
 * In memory a row is a struct whose fields are int64_t: TIME_ABSENT, or less
 * than 2^62 away from 0.  A reader matches columns by name: it skips those it
 * does not know and fills in those that are missing, so that adding a column
 * needs no new version.
 */
#ifndef COMMON_RECORDING_TGR_H
#define COMMON_RECORDING_TGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What a value is stored relative to: nothing, the row before, or another
 * column of the same row (TGR_COLUMN(i), an earlier one). */
#define TGR_PLAIN     0
#define TGR_PREVIOUS  1
#define TGR_COLUMN(i) (2 + (i))

#define TGR_MAX_COLUMNS 64
#define TGR_MAX_ROWS    4096

/* Rows in blocks of less than one byte a row that a table may have, unless its
 * schema is_dense.  Requests that are never sent are recorded like that: a
 * second of the highest rate fits in. */
#define TGR_MAX_DENSE_ROWS (1 << 24)

struct tgr_column {
    const char *name;
    const char *unit;
    int relative_to;
    size_t offset;   /* of the int64_t in a row */
    int64_t missing; /* what a file without this column means */
};

struct tgr_schema {
    const char *table;
    const struct tgr_column *columns;
    size_t len;
    size_t row_size;
    bool is_dense; /* real rows may take next to nothing: events of one read */
};

struct tgr_writer;

/* Make a new file with its schema.  ERR_IO. */
int tgr_create(struct tgr_writer **writer, const char *path,
               const struct tgr_schema *schema, struct err *err);

/* Append n rows (at most TGR_MAX_ROWS) as one block, in one write.  `shard`
 * says whose rows they are.  One thread at a time.  ERR_IO. */
int tgr_append(struct tgr_writer *writer, unsigned shard, const void *rows,
               size_t n, struct err *err);

/* Flush to the disk and close; accepts NULL. */
int tgr_finish(struct tgr_writer *writer, struct err *err);

struct tgr_reader;

/* What could not be read. */
struct tgr_damage {
    uint64_t skipped_bytes; /* between good blocks */
    uint64_t cut_off_bytes; /* at the end: the file stops inside a block */
    uint64_t vain_bytes;    /* checksummed for blocks that were none */
};

/* ERR_IO if it cannot be opened, ERR_FORMAT if it is not such a file, is of
 * another table or a version that we do not know. */
int tgr_open(struct tgr_reader **reader, const char *path,
             const struct tgr_schema *schema, struct err *err);

/* The next block's rows, valid until the next call; 0 at the end.  Damage is
 * skipped and counted, not an error.  -1: ERR_IO if the disk failed; ERR_FORMAT
 * if the file is full of false block headers, or has too many dense rows.  Time
 * is linear in the size of the file, unless the schema is_dense. */
int tgr_next(struct tgr_reader *reader, const void **rows, size_t *n,
             struct err *err);

/* Whose rows the last tgr_next() gave. */
unsigned tgr_shard(const struct tgr_reader *reader);

/* The bytes of its block. */
size_t tgr_block_bytes(const struct tgr_reader *reader);

struct tgr_damage tgr_damage(const struct tgr_reader *reader);
void tgr_close(struct tgr_reader *reader);

#endif
