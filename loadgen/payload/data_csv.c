/* The formats without JSON: CSV, plain text and raw tensors. */
#include <string.h>

#include "common/base/err.h"
#include "loadgen/payload/data_format.h"

/* ---- CSV as in RFC 4180: names in the first line; a quoted field may contain
 * commas, doubled quotes and line ends ---- */

#define MAX_FIELD ((size_t)64 << 20)

struct csv {
    struct dataset *d;
    const char *at;
    const char *end;
    uint32_t line;     /* of `at`, from 1 */
    struct buf field;  /* the field that was read */
    bool is_last;      /* of its line */
    const char *wrong; /* what is wrong with it; NULL: nothing */
};

static void read_quoted(struct csv *c)
{
    c->at++;
    for (;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));

        if (!quote) {
            c->wrong = "a quote that does not end";
            return;
        }
        for (const char *p = c->at; p < quote; p++)
            c->line += *p == '\n';
        buf_add(&c->field, c->at, (size_t)(quote - c->at));
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"')
            return;
        buf_adds(&c->field, "\"");
        c->at++;
    }
}

/* The field, and what follows it: a comma, the end of the line, or of the file.
 * `line` is for messages; 0: the current one. */
static int read_field(struct csv *c, uint32_t line, struct err *err)
{
    const char *from = c->at;

    buf_reset(&c->field);
    if (c->at < c->end && *c->at == '"') {
        read_quoted(c);
    } else {
        while (c->at < c->end && *c->at != ',' && *c->at != '\n')
            c->at++;
        if (c->at > from && c->at[-1] == '\r' &&
            (c->at == c->end || *c->at == '\n'))
            c->at--;
        buf_add(&c->field, from, (size_t)(c->at - from));
    }
    if (c->field.overflowed)
        c->wrong = "a field of more than 64 MB";
    if (!c->wrong) {
        if (c->at < c->end && *c->at == '\r')
            c->at++;
        c->is_last = c->at == c->end || *c->at == '\n';
        if (!c->is_last && *c->at != ',')
            c->wrong = "text after a closing quote";
        if (c->at < c->end) {
            c->line += *c->at == '\n';
            c->at++;
        }
    }
    if (c->wrong)
        return data_fail(c->d, line ? line : c->line, err, "%s", c->wrong);
    return 0;
}

static int read_header(struct csv *c, struct err *err)
{
    do {
        size_t before = c->d->columns.len;

        if (read_field(c, 0, err) ||
            data_add_column(c->d, buf_text(&c->field), c->field.len, err) < 0)
            return -1;
        if (c->d->columns.len == before)
            return data_fail(c->d, 1, err, "there are two columns '%s'",
                             buf_text(&c->field));
    } while (!c->is_last);
    return 0;
}

static int read_row(struct csv *c, struct err *err)
{
    uint32_t line = c->line;
    int column = 0;

    data_add_item(c->d, line);
    do {
        if (read_field(c, line, err))
            return -1;
        if (column == (int)c->d->columns.len)
            return data_fail(c->d, line, err,
                             "more fields than the first line");
        if (data_add_text(c->d, column, buf_text(&c->field), c->field.len, err))
            return -1;
        column++;
    } while (!c->is_last);
    if (column < (int)c->d->columns.len)
        return data_fail(c->d, line, err, "fewer fields than the first line");
    return 0;
}

int data_read_csv(struct dataset *d, const struct data_settings *s,
                  struct err *err)
{
    const char *text = buf_text(&d->file);
    struct csv c = {.d = d, .at = text, .end = text + d->file.len, .line = 1};
    int rc;

    (void)s;
    buf_init(&c.field, MAX_FIELD);
    rc = read_header(&c, err);
    while (rc == 0 && c.at < c.end) {
        size_t cr = *c.at == '\r' ? 1 : 0;

        if (c.at + cr == c.end || c.at[cr] != '\n') {
            rc = read_row(&c, err);
            continue;
        }
        c.at += cr + 1; /* an empty line */
        c.line++;
    }
    buf_fini(&c.field);
    return rc;
}

/* ---- plain text: one prompt per line; empty lines are skipped ---- */

int data_read_text(struct dataset *d, const struct data_settings *s,
                   struct err *err)
{
    const char *at = buf_text(&d->file);
    const char *end = at + d->file.len;
    int column = data_add_column(d, "prompt", strlen("prompt"), err);
    uint32_t line = 0;

    (void)s;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);

        line++;
        if (len > 0 && at[len - 1] == '\r')
            len--;
        if (len > 0) {
            data_add_item(d, line);
            if (data_add_text(d, column, at, len, err))
                return -1;
        }
        at = stop ? stop + 1 : end;
    }
    return 0;
}

/* ---- raw tensors: the bytes of the samples, one after the other.  The size of
 * a sample follows from the inputs of the model: sampler_set_size() ---- */

int data_read_tensors(struct dataset *d, const struct data_settings *s,
                      struct err *err)
{
    (void)s;
    (void)err;
    d->is_tensors = true;
    for (int r = 0; r < ROLE_COUNT; r++)
        d->role[r] = -1;
    return 0;
}
