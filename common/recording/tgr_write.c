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
    struct buf frame;               /* kept between blocks for its memory */
    uint64_t code[TGR_MAX_ROWS];    /* of the column that is being written */
    int64_t *base[TGR_MAX_COLUMNS]; /* values of a column to which others are
                                     * relative; else NULL */
};

/* Column by column: the rows of a table are long, and codes of all columns in
 * turn would lie a power of two apart, in the same cache lines.  An absent
 * value is replaced by the expected one for what is relative to it, so that the
 * codes stay small. */
static void make_codes(struct tgr_writer *w, size_t c, const void *rows,
                       size_t n)
{
    const struct tgr_column *column = &w->schema->columns[c];
    int to = column->relative_to;
    const int64_t *base =
        to >= TGR_COLUMN(0) ? w->base[to - TGR_COLUMN(0)] : NULL;
    int64_t *kept = w->base[c];
    int64_t expected = 0;

    for (size_t r = 0; r < n; r++) {
        const char *row = (const char *)rows + r * w->schema->row_size;
        int64_t value = field_at(row, column->offset);

        if (base)
            expected = base[r];
        w->code[r] = code_of(value, expected);
        if (value == TIME_ABSENT)
            value = expected;
        if (kept)
            kept[r] = value;
        if (to == TGR_PREVIOUS)
            expected = value;
    }
}

/* Is the value the same in every row, independent of other columns?  Most are.
 */
static bool is_one_value(const struct tgr_writer *w, size_t c, const void *rows,
                         size_t n)
{
    const struct tgr_column *column = &w->schema->columns[c];
    const char *field = (const char *)rows + column->offset;
    int64_t value = field_at(field, 0);

    if (w->base[c] ||
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

/* Runs pay off if they are long: a length takes a byte or two. */
static void put_column(struct buf *out, const uint64_t *code, size_t n)
{
    char *start = buf_reserve(out, 5 + n * 10);
    char *p = start + 1;
    size_t first = 0;
    size_t runs = 1;

    assert(start);
    for (size_t i = 1; i < n; i++)
        runs += code[i] != code[i - 1];
    if (runs == 1) {
        *start = ENCODING_SAME;
        p = put_varint(p, code[0]);
        buf_commit(out, (size_t)(p - start));
        return;
    }
    p += 4; /* for the length */
    *start = runs < n / 4 ? ENCODING_RUNS : ENCODING_VARINT;
    for (size_t i = 0; i < n && *start == ENCODING_VARINT; i++)
        p = put_varint(p, code[i]);
    for (size_t i = 1; i <= n && *start == ENCODING_RUNS; i++) {
        if (i < n && code[i] == code[first])
            continue;
        p = put_varint(p, code[first]);
        p = put_varint(p, i - first);
        first = i;
    }
    put_u32(start + 1, (uint32_t)(p - start - 5));
    buf_commit(out, (size_t)(p - start));
}

/* Reserve space for the header, which finish_frame() fills in. */
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

int tgr_append_block(struct tgr_writer *w, unsigned shard, const char *block,
                     size_t len, struct err *err)
{
    assert(len >= FRAME_HEADER);
    buf_reset(&w->frame);
    buf_add(&w->frame, block, len);
    finish_frame(&w->frame, FRAME_ROWS, shard, get_u32(block + 8));
    return write_frame(w, err);
}

static void put_name(struct buf *out, const char *name)
{
    char len = (char)strlen(name);

    buf_add(out, &len, 1);
    buf_adds(out, name);
}

/* The file header and the schema. */
static int write_opening(struct tgr_writer *w, struct err *err)
{
    const struct tgr_schema *s = w->schema;
    char header[FILE_HEADER] = FILE_MAGIC;
    char number[2];

    put_u32(header + 8, FILE_VERSION);
    put_u32(header + 12, 0);
    if (file_write_all(w->fd, header, sizeof(header)))
        return err_set(err, ERR_IO, "%s: %s", w->path, strerror(errno));
    begin_frame(&w->frame);
    put_name(&w->frame, s->table);
    put_u16(number, (unsigned)s->len);
    buf_add(&w->frame, number, 2);
    for (size_t c = 0; c < s->len; c++) {
        put_name(&w->frame, s->columns[c].name);
        put_name(&w->frame, s->columns[c].unit);
        put_u16(number, (unsigned)s->columns[c].relative_to);
        buf_add(&w->frame, number, 2);
    }
    finish_frame(&w->frame, FRAME_SCHEMA, 0, 0);
    return write_frame(w, err);
}

static void writer_free(struct tgr_writer *w)
{
    close(w->fd);
    buf_fini(&w->frame);
    for (size_t c = 0; c < w->schema->len; c++)
        free(w->base[c]);
    free(w->path);
    free(w);
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
    for (size_t c = 0; c < schema->len; c++) {
        int to = schema->columns[c].relative_to - TGR_COLUMN(0);

        if (to >= 0 && !w->base[to])
            w->base[to] = xcalloc(TGR_MAX_ROWS, sizeof(int64_t));
    }
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
