/* tgr.h - tables of integers on disk: columnar, self-describing, checksummed.
 *
 * A file begins with its schema, followed by blocks of rows.  The blocks are
 * independent: each can be written by any thread in one append, and read even
 * if its neighbours are damaged.  docs/recording.md specifies the bytes.
 *
 * In memory a row is a struct whose fields are int64_t: TIME_ABSENT, or less
 * than 2^62 away from 0.  A reader matches columns by name.  It skips unknown
 * columns and fills in missing ones, so that a new column needs no new version.
 */
#ifndef COMMON_RECORDING_TGR_H
#define COMMON_RECORDING_TGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What a value is stored relative to: nothing, the row before, or an earlier
 * column of the same row (TGR_COLUMN(i)). */
#define TGR_PLAIN     0
#define TGR_PREVIOUS  1
#define TGR_COLUMN(i) (2 + (i))

#define TGR_MAX_COLUMNS 64
#define TGR_MAX_ROWS    4096

/* Maximum number of rows of a table in blocks of less than a byte per row,
 * unless its schema is_dense.  Unsent requests are recorded like that: a second
 * at the highest rate fits. */
#define TGR_MAX_DENSE_ROWS (1 << 24)

struct tgr_column {
    const char *name;
    const char *unit;
    int relative_to;
    size_t offset;   /* of the int64_t in a row */
    int64_t missing; /* value if the file lacks this column */
};

struct tgr_schema {
    const char *table;
    const struct tgr_column *columns;
    size_t len;
    size_t row_size;
    bool is_dense; /* rows may take almost no space: events of one read */
};

struct tgr_writer;

/* Create a file with its schema.  ERR_IO. */
int tgr_create(struct tgr_writer **writer, const char *path,
               const struct tgr_schema *schema, struct err *err);

/* Append n rows (at most TGR_MAX_ROWS) of one shard as one block, in one write.
 * One thread at a time.  ERR_IO. */
int tgr_append(struct tgr_writer *writer, unsigned shard, const void *rows,
               size_t n, struct err *err);

/* Append a block of another file with the same columns as it is, as one of this
 * shard.  ERR_IO. */
int tgr_append_block(struct tgr_writer *writer, unsigned shard,
                     const char *block, size_t len, struct err *err);

/* Flush to the disk and close; accepts NULL. */
int tgr_finish(struct tgr_writer *writer, struct err *err);

struct tgr_reader;

/* What could not be read. */
struct tgr_damage {
    uint64_t skipped_bytes; /* between good blocks */
    uint64_t cut_off_bytes; /* at the end: the last block is incomplete */
    uint64_t vain_bytes;    /* checksummed because of false headers */
};

/* ERR_IO if it cannot be opened, ERR_FORMAT if it is not such a file, has
 * another table or an unknown version. */
int tgr_open(struct tgr_reader **reader, const char *path,
             const struct tgr_schema *schema, struct err *err);

/* Returns 1 and the rows of the next block, valid until the next call; 0 at the
 * end.  Damage is skipped and counted.  -1: ERR_IO if reading failed;
 * ERR_FORMAT if there are too many false block headers or dense rows.  Time is
 * linear in the size of the file, unless the schema is_dense. */
int tgr_next(struct tgr_reader *reader, const void **rows, size_t *n,
             struct err *err);

/* The shard of the last block. */
unsigned tgr_shard(const struct tgr_reader *reader);

/* The size of the last block. */
size_t tgr_block_bytes(const struct tgr_reader *reader);

/* The bytes of the last block, valid until the next call; their number is
 * tgr_block_bytes(). */
const char *tgr_block(const struct tgr_reader *reader);

/* Does the file have exactly the columns of its schema, so that its blocks can
 * be copied? */
bool tgr_has_same_columns(const struct tgr_reader *reader);

/* Hand every row of the table DIR/NAME to `fn`, as far as it can be read, with
 * its shard.  False: there is no such table. */
bool tgr_each(const char *dir, const char *name,
              const struct tgr_schema *schema,
              void (*fn)(void *arg, unsigned shard, const void *row),
              void *arg);

struct tgr_damage tgr_damage(const struct tgr_reader *reader);
void tgr_close(struct tgr_reader *reader);

#endif
