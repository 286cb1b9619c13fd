#include "common/recording/tgr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr_impl.h"

#define READ_STEP ((size_t)256 << 10)

/* A false header costs the checksum of the block that it claims, and false
 * headers may overlap.  Real damage stays below one byte per byte read, since
 * only the header of a real block matches.  The limit keeps reading linear. */
#define MAX_VAIN_PER_BYTE 4

/* A column of the file. */
struct file_column {
    int relative_to;
    const struct tgr_column *wanted; /* NULL: skip it */
    int64_t *base; /* its values, the expected ones for absent; NULL: no column
                    * is relative to it */
};

/* A column of the rows in memory whose first n rows hold `value`. */
struct filled {
    int64_t value;
    size_t n;
};

struct tgr_reader {
    int fd;
    char *path;
    const struct tgr_schema *schema;
    struct file_column columns[TGR_MAX_COLUMNS];
    size_t len;
    struct buf in; /* bytes read */
    size_t used;   /* of those, already consumed */
    bool at_end;
    uint64_t read_bytes;
    struct tgr_damage damage;
    unsigned shard;        /* of the last block */
    size_t block_bytes;    /* of the last block */
    uint64_t dense_rows;   /* in blocks of less than a byte per row */
    char *rows;            /* TGR_MAX_ROWS of schema->row_size */
    struct filled *filled; /* one for each of schema->columns */
};

struct frame {
    unsigned kind;
    unsigned shard;
    size_t rows;
    const char *payload;
    size_t len;
};

static size_t available(const struct tgr_reader *r)
{
    return r->in.len - r->used;
}

static const char *at(const struct tgr_reader *r)
{
    return r->in.data + r->used;
}

/* Read until at least `want` bytes are available, or the file ends.  -1:
 * reading failed. */
static int fill(struct tgr_reader *r, size_t want, struct err *err)
{
    while (available(r) < want && !r->at_end) {
        char *room;
        ssize_t n;

        if (r->used > 0) {
            buf_consume(&r->in, r->used);
            r->used = 0;
        }
        room = buf_reserve(&r->in, READ_STEP);
        n = read(r->fd, room, READ_STEP);
        if (n < 0)
            return err_set(err, ERR_IO, "%s: %s", r->path, strerror(errno));
        r->in.len += (size_t)n;
        r->read_bytes += (uint64_t)n;
        r->at_end = n == 0;
    }
    return 0;
}

/* 1: there is a complete, correct frame here; 0: there is not; -1: reading
 * failed, or the file is refused. */
static int frame_here(struct tgr_reader *r, struct frame *f, struct err *err)
{
    const char *h;

    if (fill(r, FRAME_HEADER, err))
        return -1;
    if (available(r) < FRAME_HEADER || get_u32(at(r)) != FRAME_MAGIC)
        return 0;
    f->len = get_u32(at(r) + 12);
    if (f->len > MAX_PAYLOAD)
        return 0;
    if (fill(r, FRAME_HEADER + f->len, err))
        return -1;
    if (available(r) < FRAME_HEADER + f->len)
        return 0;
    h = at(r);
    f->kind = get_u16(h + 4);
    f->shard = get_u16(h + 6);
    f->rows = get_u32(h + 8);
    f->payload = h + FRAME_HEADER;
    if (get_u32(h + 16) == frame_crc(h, f->payload, f->len))
        return 1;
    r->damage.vain_bytes += FRAME_HEADER + f->len;
    if (r->damage.vain_bytes <= MAX_VAIN_PER_BYTE * r->read_bytes + MAX_PAYLOAD)
        return 0;
    return err_set(err, ERR_FORMAT,
                   "%s: too many false block headers; it was not written by "
                   "tailgate",
                   r->path);
}

/* The next correct frame; everything before it is damage.  0 at the end. */
static int next_frame(struct tgr_reader *r, struct frame *f, struct err *err)
{
    uint64_t skipped = 0;

    for (;;) {
        int rc = frame_here(r, f, err);

        if (rc < 0)
            return -1;
        if (rc) {
            r->damage.skipped_bytes += skipped;
            r->used += FRAME_HEADER + f->len;
            return 1;
        }
        if (available(r) == 0) {
            r->damage.cut_off_bytes += skipped;
            return 0;
        }
        r->used++;
        skipped++;
    }
}

/* ---- rows ---- */

/* Reads within [p, end).  NULL: damaged. */
static const char *get_varint(const char *p, const char *end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64 && p < end; shift += 7) {
        uint64_t byte = (unsigned char)*p++;

        *v |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return p;
    }
    return NULL;
}

/* Most columns have one value throughout a recording, so usually there is
 * nothing to do. */
static void store_same(const struct tgr_reader *r,
                       const struct tgr_column *wanted, size_t rows,
                       int64_t value)
{
    struct filled *filled = &r->filled[wanted - r->schema->columns];

    if (filled->value != value)
        *filled = (struct filled){.value = value};
    for (; filled->n < rows; filled->n++)
        memcpy(r->rows + filled->n * r->schema->row_size + wanted->offset,
               &value, sizeof(value));
}

static bool is_allowed(int64_t value)
{
    return value == TIME_ABSENT ||
           (value > -(INT64_C(1) << 62) && value < INT64_C(1) << 62);
}

/* The codes of a column in a block. */
struct codes {
    const char *p; /* NULL: damaged */
    const char *end;
    char encoding;
    uint64_t code;
    uint64_t left; /* number of rows with this code */
};

static struct codes codes_begin(const char *p, const char *end, size_t rows)
{
    struct codes c = {.p = p, .end = end};

    if (p >= end || *p < ENCODING_SAME || *p > ENCODING_RUNS) {
        c.p = NULL;
        return c;
    }
    c.encoding = *c.p++;
    if (c.encoding != ENCODING_SAME) {
        c.p = end - c.p < 4 ? NULL : c.p + 4;
        return c;
    }
    c.p = get_varint(c.p, end, &c.code);
    c.left = rows;
    return c;
}

/* Read the next code.  Returns how many consecutive rows have it; 0: damaged.
 */
static uint64_t codes_next(struct codes *c)
{
    uint64_t n = c->left;

    c->left = 0;
    if (n > 0)
        return n; /* all rows */
    c->p = get_varint(c->p, c->end, &c->code);
    if (!c->p)
        return 0;
    if (c->encoding != ENCODING_RUNS)
        return 1;
    c->p = get_varint(c->p, c->end, &n);
    return c->p ? n : 0;
}

/* Destination of the values of a column. */
struct column_out {
    const int64_t *base; /* what each is relative to; NULL: `expected` */
    char *at;            /* in the rows in memory; NULL: nowhere */
    size_t step;
    int64_t *kept;   /* file_column.base, or NULL */
    bool is_chained; /* the next is relative to this one */
    int64_t expected;
};

/* Rows [row, end) have this code. */
static inline bool put_run(struct column_out *out, size_t row, size_t end,
                           uint64_t code)
{
    for (; row < end; row++) {
        int64_t expected = out->base ? out->base[row] : out->expected;
        int64_t value = value_of(code, expected);

        if (!is_allowed(value))
            return false;
        if (out->at) {
            memcpy(out->at, &value, sizeof(value));
            out->at += out->step;
        }
        if (value == TIME_ABSENT)
            value = expected;
        if (out->kept)
            out->kept[row] = value;
        if (out->is_chained)
            out->expected = value;
    }
    return true;
}

static const char *read_column(const struct tgr_reader *r,
                               const struct file_column *column, size_t rows,
                               const char *p, const char *end)
{
    const struct tgr_column *wanted = column->wanted;
    struct codes codes = codes_begin(p, end, rows);
    int to = column->relative_to;
    struct column_out out = {
        .base =
            to >= TGR_COLUMN(0) ? r->columns[to - TGR_COLUMN(0)].base : NULL,
        .step = r->schema->row_size,
        .kept = column->base,
        .is_chained = to == TGR_PREVIOUS,
    };

    if (!codes.p)
        return NULL;
    if (codes.encoding == ENCODING_SAME && !column->base &&
        (to == TGR_PLAIN || codes.code == 0)) { /* one value in every row */
        int64_t value = value_of(codes.code, 0);

        if (is_allowed(value) && wanted)
            store_same(r, wanted, rows, value);
        return is_allowed(value) ? codes.p : NULL;
    }
    if (wanted) {
        r->filled[wanted - r->schema->columns].n = 0;
        out.at = r->rows + wanted->offset;
    }
    for (size_t row = 0; row < rows;) {
        uint64_t n = codes_next(&codes);

        if (n == 0 || n > rows - row ||
            !put_run(&out, row, row + n, codes.code))
            return NULL;
        row += n;
    }
    return codes.p;
}

static bool read_rows(const struct tgr_reader *r, const struct frame *f)
{
    const char *p = f->payload;
    const char *end = p + f->len;

    if (f->rows == 0 || f->rows > TGR_MAX_ROWS)
        return false;
    for (size_t c = 0; c < r->len && p; c++)
        p = read_column(r, &r->columns[c], f->rows, p, end);
    if (p != end)
        return false;
    for (size_t i = 0; i < r->schema->len; i++) {
        const struct tgr_column *w = &r->schema->columns[i];
        bool is_found = false;

        for (size_t c = 0; c < r->len && !is_found; c++)
            is_found = r->columns[c].wanted == w;
        if (!is_found)
            store_same(r, w, f->rows, w->missing);
    }
    return true;
}

int tgr_next(struct tgr_reader *r, const void **rows, size_t *n,
             struct err *err)
{
    struct frame f;
    int rc;

    while ((rc = next_frame(r, &f, err)) > 0) {
        if (f.kind != FRAME_ROWS)
            continue; /* written by a later version */
        /* A few bytes can stand for thousands of rows: limit them first. */
        r->block_bytes = FRAME_HEADER + f.len;
        if (!r->schema->is_dense && f.rows <= TGR_MAX_ROWS &&
            r->block_bytes < f.rows)
            r->dense_rows += f.rows;
        if (r->dense_rows > TGR_MAX_DENSE_ROWS)
            return err_set(err, ERR_FORMAT,
                           "%s: more than %d rows of less than a byte each, "
                           "too many to read",
                           r->path, TGR_MAX_DENSE_ROWS);
        if (read_rows(r, &f)) {
            *rows = r->rows;
            *n = f.rows;
            r->shard = f.shard;
            return 1;
        }
        r->damage.skipped_bytes += FRAME_HEADER + f.len;
    }
    return rc;
}

/* ---- opening ---- */

static const char *get_name(const char *p, const char *end, char name[256])
{
    size_t len;

    if (!p || p >= end)
        return NULL;
    len = (unsigned char)*p++;
    if ((size_t)(end - p) < len)
        return NULL;
    memcpy(name, p, len);
    name[len] = '\0';
    return p + len;
}

static const char *get_u16_at(const char *p, const char *end, unsigned *v)
{
    if (!p || end - p < 2)
        return NULL;
    *v = get_u16(p);
    return p + 2;
}

static int refuse_head(const struct tgr_reader *r, struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "%s: the beginning is damaged; nothing can be read",
                   r->path);
}

static int read_schema(struct tgr_reader *r, const struct frame *f,
                       struct err *err)
{
    const struct tgr_schema *s = r->schema;
    const char *end = f->payload + f->len;
    char name[256];
    char unit[256];
    unsigned len = 0;
    const char *p = get_name(f->payload, end, name);

    p = get_u16_at(p, end, &len);
    if (p && f->kind == FRAME_SCHEMA && len <= TGR_MAX_COLUMNS &&
        strcmp(name, s->table) != 0)
        return err_set(err, ERR_FORMAT,
                       "%s: contains the table %s instead of %s", r->path, name,
                       s->table);
    if (f->kind != FRAME_SCHEMA || len > TGR_MAX_COLUMNS)
        p = NULL;
    for (r->len = 0; r->len < len && p; r->len++) {
        struct file_column *column = &r->columns[r->len];
        unsigned to = 0;

        p = get_name(p, end, name);
        p = get_name(p, end, unit);
        p = get_u16_at(p, end, &to);
        if (to >= (unsigned)TGR_COLUMN(0) + r->len)
            p = NULL; /* not relative to an earlier column */
        column->relative_to = (int)to;
        for (size_t i = 0; i < s->len && p; i++) {
            if (strcmp(s->columns[i].name, name) == 0)
                column->wanted = &s->columns[i];
        }
    }
    return p ? 0 : refuse_head(r, err);
}

static int read_header(struct tgr_reader *r, struct err *err)
{
    struct frame f;
    uint32_t version;
    int rc;

    if (fill(r, FILE_HEADER, err))
        return -1;
    if (available(r) < FILE_HEADER || memcmp(at(r), FILE_MAGIC, 8) != 0)
        return err_set(err, ERR_FORMAT, "%s: not a tailgate recording",
                       r->path);
    version = get_u32(at(r) + 8);
    if (version != FILE_VERSION)
        return err_set(err, ERR_FORMAT,
                       "%s: unknown format version %u; this tailgate reads "
                       "version %d",
                       r->path, version, FILE_VERSION);
    r->used += FILE_HEADER;
    rc = frame_here(r, &f, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return refuse_head(r, err);
    r->used += FRAME_HEADER + f.len;
    return read_schema(r, &f, err);
}

int tgr_open(struct tgr_reader **reader, const char *path,
             const struct tgr_schema *schema, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct tgr_reader *r;

    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    r = xcalloc(1, sizeof(*r));
    r->fd = fd;
    r->path = xstrdup(path);
    r->schema = schema;
    buf_init(&r->in, MAX_PAYLOAD + FRAME_HEADER + 2 * READ_STEP);
    if (read_header(r, err)) {
        tgr_close(r);
        return -1;
    }
    r->rows = xcalloc(TGR_MAX_ROWS, schema->row_size);
    r->filled = xcalloc(schema->len, sizeof(*r->filled));
    for (size_t c = 0; c < r->len; c++) {
        int to = r->columns[c].relative_to - TGR_COLUMN(0);

        if (to >= 0 && !r->columns[to].base)
            r->columns[to].base = xcalloc(TGR_MAX_ROWS, sizeof(int64_t));
    }
    *reader = r;
    return 0;
}

unsigned tgr_shard(const struct tgr_reader *reader)
{
    return reader->shard;
}

size_t tgr_block_bytes(const struct tgr_reader *reader)
{
    return reader->block_bytes;
}

const char *tgr_block(const struct tgr_reader *r)
{
    return r->in.data + r->used - r->block_bytes;
}

bool tgr_has_same_columns(const struct tgr_reader *r)
{
    bool is_same = r->len == r->schema->len;

    for (size_t c = 0; c < r->len && is_same; c++)
        is_same =
            r->columns[c].wanted == &r->schema->columns[c] &&
            r->columns[c].relative_to == r->schema->columns[c].relative_to;
    return is_same;
}

struct tgr_damage tgr_damage(const struct tgr_reader *reader)
{
    return reader->damage;
}

void tgr_close(struct tgr_reader *r)
{
    if (!r)
        return;
    close(r->fd);
    free(r->path);
    free(r->rows);
    free(r->filled);
    for (size_t c = 0; c < r->len; c++)
        free(r->columns[c].base);
    buf_fini(&r->in);
    free(r);
}

bool tgr_each(const char *dir, const char *name,
              const struct tgr_schema *schema,
              void (*fn)(void *arg, unsigned shard, const void *row), void *arg)
{
    char *path = xasprintf("%s/%s", dir, name);
    struct tgr_reader *r = NULL;
    struct err ignored = {0};
    const void *rows = NULL;
    bool is_there;
    size_t n = 0;

    is_there = tgr_open(&r, path, schema, &ignored) == 0 && r;
    while (is_there && tgr_next(r, &rows, &n, &ignored) > 0) {
        for (size_t i = 0; i < n; i++)
            fn(arg, r->shard, (const char *)rows + i * schema->row_size);
    }
    tgr_close(r);
    free(path);
    return is_there;
}
