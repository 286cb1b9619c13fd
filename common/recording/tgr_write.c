#include "common/recording/tgr.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr_impl.h"

struct tgr_writer {
    int fd;
    char *path;
    const struct tgr_schema *schema;
    struct buf frame;            /* kept between blocks for its memory */
    uint64_t code[TGR_MAX_ROWS]; /* of the column that is being written */
    int64_t *standing[TGR_MAX_COLUMNS]; /* where the rows of a column stand that
                                         * others are relative to; else NULL */
};

/* A value that is absent stands where it was expected, so that what is
 * relative to it stays small. */
static int64_t standing(int64_t value, int64_t expected)
{
    return value == TIME_ABSENT ? expected : value;
}

/* What column c is relative to, a value a row; NULL: nothing, or itself. */
static const int64_t *base_of(const struct tgr_writer *w, size_t c)
{
    int to = w->schema->columns[c].relative_to;

    return to >= TGR_COLUMN(0) ? w->standing[to - TGR_COLUMN(0)] : NULL;
}

/* Column by column: a table's row is long, and codes of all the columns in
 * turn would lie a power of two apart, in the same lines of the cache. */
static void make_codes(struct tgr_writer *w, size_t c, const void *rows,
                       size_t n)
{
    const struct tgr_column *column = &w->schema->columns[c];
    const int64_t *base = base_of(w, c);
    int64_t *kept = w->standing[c];
    int64_t expected = 0;

    for (size_t r = 0; r < n; r++) {
        const char *row = (const char *)rows + r * w->schema->row_size;
        int64_t value = field_at(row, column->offset);

        if (base)
            expected = base[r];
        w->code[r] = code_of(value, expected);
        if (kept)
            kept[r] = standing(value, expected);
        if (column->relative_to == TGR_PREVIOUS)
            expected = standing(value, expected);
    }
}

/* The same in every row, whatever the other columns hold: so are most. */
static bool is_one_value(const struct tgr_writer *w, size_t c, const void *rows,
                         size_t n)
{
    const struct tgr_column *column = &w->schema->columns[c];
    const char *field = (const char *)rows + column->offset;
    int64_t value = field_at(field, 0);

    if (w->standing[c] ||
        (column->relative_to != TGR_PLAIN && value != TIME_ABSENT))
        return false;
    for (size_t r = 1; r < n; r++) {
        field += w->schema->row_size;
        if (field_at(field, 0) != value)
            return false;
    }
    return true;
}

static char *put_varint(char *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (char)v;
    return p;
}

static size_t count_runs(const uint64_t *code, size_t n)
{
    size_t runs = 1;

    for (size_t i = 1; i < n; i++)
        runs += code[i] != code[i - 1];
    return runs;
}

static char *put_runs(char *p, const uint64_t *code, size_t n)
{
    size_t start = 0;

    for (size_t i = 1; i <= n; i++) {
        if (i < n && code[i] == code[start])
            continue;
        p = put_varint(p, code[start]);
        p = put_varint(p, i - start);
        start = i;
    }
    return p;
}

static char *put_each(char *p, const uint64_t *code, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p = put_varint(p, code[i]);
    return p;
}

/* Runs pay where they are long: a length takes a byte or two. */
static void put_column(struct buf *out, const uint64_t *code, size_t n)
{
    size_t runs = count_runs(code, n);
    char *start = buf_reserve(out, 5 + n * 10);
    char *p = start + 1;

    assert(start);
    if (runs == 1) {
        *start = ENCODING_SAME;
        p = put_varint(p, code[0]);
    } else if (runs < n / 4) {
        *start = ENCODING_RUNS;
        p = put_runs(p + 4, code, n);
    } else {
        *start = ENCODING_VARINT;
        p = put_each(p + 4, code, n);
    }
    if (runs > 1)
        put_u32(start + 1, (uint32_t)(p - start - 5));
    buf_commit(out, (size_t)(p - start));
}

/* Reserve the header; finish_frame() fills it in when the payload is there. */
static void begin_frame(struct buf *out)
{
    static const char blank[FRAME_HEADER];

    buf_reset(out);
    buf_add(out, blank, sizeof(blank));
}

static void finish_frame(struct buf *out, unsigned kind, unsigned shard,
                         size_t rows)
{
    size_t len = out->len - FRAME_HEADER;
    char *h = out->data;

    put_u32(h, FRAME_MAGIC);
    put_u16(h + 4, kind);
    put_u16(h + 6, shard);
    put_u32(h + 8, (uint32_t)rows);
    put_u32(h + 12, (uint32_t)len);
    put_u32(h + 16, frame_crc(h, h + FRAME_HEADER, len));
}

static int write_frame(struct tgr_writer *w, struct err *err)
{
    if (file_write_all(w->fd, w->frame.data, w->frame.len))
        return err_set(err, ERR_IO, "%s: %s", w->path, strerror(errno));
    return 0;
}

int tgr_append(struct tgr_writer *w, unsigned shard, const void *rows, size_t n,
               struct err *err)
{
    assert(n > 0 && n <= TGR_MAX_ROWS);
    begin_frame(&w->frame);
    for (size_t c = 0; c < w->schema->len; c++) {
        bool is_one = is_one_value(w, c, rows, n);

        make_codes(w, c, rows, is_one ? 1 : n);
        put_column(&w->frame, w->code, is_one ? 1 : n);
    }
    finish_frame(&w->frame, FRAME_ROWS, shard, n);
    return write_frame(w, err);
}

static void put_name(struct buf *out, const char *name)
{
    char len = (char)strlen(name);

    buf_add(out, &len, 1);
    buf_adds(out, name);
}

static void put_schema(struct buf *out, const struct tgr_schema *s)
{
    char number[2];

    begin_frame(out);
    put_name(out, s->table);
    put_u16(number, (unsigned)s->len);
    buf_add(out, number, 2);
    for (size_t c = 0; c < s->len; c++) {
        put_name(out, s->columns[c].name);
        put_name(out, s->columns[c].unit);
        put_u16(number, (unsigned)s->columns[c].relative_to);
        buf_add(out, number, 2);
    }
    finish_frame(out, FRAME_SCHEMA, 0, 0);
}

static int write_opening(struct tgr_writer *w, struct err *err)
{
    char header[FILE_HEADER] = FILE_MAGIC;

    put_u32(header + 8, FILE_VERSION);
    put_u32(header + 12, 0);
    if (file_write_all(w->fd, header, sizeof(header)))
        return err_set(err, ERR_IO, "%s: %s", w->path, strerror(errno));
    put_schema(&w->frame, w->schema);
    return write_frame(w, err);
}

static void writer_free(struct tgr_writer *w)
{
    close(w->fd);
    buf_fini(&w->frame);
    for (size_t c = 0; c < w->schema->len; c++)
        free(w->standing[c]);
    free(w->path);
    free(w);
}

static void keep_bases(struct tgr_writer *w)
{
    for (size_t c = 0; c < w->schema->len; c++) {
        int to = w->schema->columns[c].relative_to - TGR_COLUMN(0);

        if (to >= 0 && !w->standing[to])
            w->standing[to] = xcalloc(TGR_MAX_ROWS, sizeof(int64_t));
    }
}

int tgr_create(struct tgr_writer **writer, const char *path,
               const struct tgr_schema *schema, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    struct tgr_writer *w;

    assert(schema->len <= TGR_MAX_COLUMNS);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    w = xcalloc(1, sizeof(*w));
    w->fd = fd;
    w->path = xstrdup(path);
    w->schema = schema;
    keep_bases(w);
    buf_init(&w->frame, FRAME_HEADER + MAX_PAYLOAD);
    if (write_opening(w, err)) {
        writer_free(w);
        return -1;
    }
    *writer = w;
    return 0;
}

int tgr_finish(struct tgr_writer *w, struct err *err)
{
    int rc = 0;

    if (!w)
        return 0;
    if (fsync(w->fd) < 0 && errno != EINVAL)
        rc = err_set(err, ERR_IO, "%s: %s", w->path, strerror(errno));
    writer_free(w);
    return rc;
}
