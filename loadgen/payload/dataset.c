#include "loadgen/payload/dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"
#include "common/wire/tensor.h"
#include "loadgen/payload/data_format.h"
#include "loadgen/trace/unpack.h"

static data_read_fn *const readers[] = {
    [DATA_JSONL] = data_read_json,      [DATA_CSV] = data_read_csv,
    [DATA_TEXT] = data_read_text,       [DATA_SHAREGPT] = data_read_json,
    [DATA_TENSORS] = data_read_tensors,
};

/* ---- adding samples ---- */

int data_fail(const struct dataset *d, uint32_t line, struct err *err,
              const char *fmt, ...)
{
    char what[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    if (line == 0)
        return err_set(err, ERR_CONFIG, "%s: %s", d->path, what);
    return err_set(err, ERR_CONFIG, "%s:%u: %s", d->path, line, what);
}

void data_add_item(struct dataset *d, uint32_t line)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 64;
        d->items = xrealloc(d->items, d->cap, sizeof(*d->items));
    }
    d->items[d->n++] = (struct item){
        .first = d->n_values, .line = line, .input = -1, .output = -1};
}

void data_drop_item(struct dataset *d)
{
    d->n--;
    d->n_values -= d->items[d->n].n;
}

int data_add_column(struct dataset *d, const char *name, size_t len,
                    struct err *err)
{
    int column = dataset_column(d, name, len);
    char *copy;

    if (column >= 0)
        return column;
    if (d->columns.len == DATASET_MAX_COLUMNS)
        return data_fail(d, d->n > 0 ? d->items[d->n - 1].line : 0, err,
                         "more than %d different fields", DATASET_MAX_COLUMNS);
    copy = xstrndup(name, len);
    strlist_add(&d->columns, copy);
    free(copy);
    return (int)d->columns.len - 1;
}

static void add(struct dataset *d, struct value v)
{
    if (d->n_values == d->cap_values) {
        d->cap_values = d->cap_values ? 2 * d->cap_values : 256;
        d->values = xrealloc(d->values, d->cap_values, sizeof(*d->values));
    }
    d->values[d->n_values++] = v;
    d->items[d->n - 1].n++;
}

void data_add_value(struct dataset *d, int column, enum value_kind kind,
                    const char *at, size_t len)
{
    add(d, (struct value){.at = (uint64_t)(at - d->file.data),
                          .len = (uint32_t)len,
                          .column = (uint16_t)column,
                          .kind = (uint8_t)kind});
}

void data_add_made(struct dataset *d, int column, enum value_kind kind,
                   size_t start)
{
    add(d, (struct value){.at = start,
                          .len = (uint32_t)(d->made.len - start),
                          .column = (uint16_t)column,
                          .kind = (uint8_t)kind,
                          .is_made = true});
}

int data_add_text(struct dataset *d, int column, const char *text, size_t len,
                  struct err *err)
{
    size_t start = d->made.len + 1; /* after the quote */
    struct jscan s;

    buf_adds(&d->made, "\"");
    jtext_encode(text, len, &d->made);
    data_add_made(d, column, VALUE_TEXT, start);
    buf_adds(&d->made, "\"");
    jscan_init(&s, d->made.data + start - 1, d->made.len - start + 1);
    return jscan_skip(&s) && jscan_end(&s)
               ? 0
               : data_fail(d, d->items[d->n - 1].line, err, "not valid UTF-8");
}

/* ---- reading ---- */

static bool ends_with(const char *path, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && memcmp(path + len - n, end, n) == 0;
}

/* CSV and text are recognised by their names, JSON by its first byte, and
 * conversations by a key of the first object. */
static int detect(const struct dataset *d)
{
    const char *text = buf_text(&d->file);
    const char *end = text + d->file.len;
    size_t len = strlen(d->path);
    struct jtext key;
    struct jscan s;

    if (ends_with(d->path, len, ".gz"))
        len -= strlen(".gz");
    else if (ends_with(d->path, len, ".zst"))
        len -= strlen(".zst");
    if (ends_with(d->path, len, ".csv"))
        return DATA_CSV;
    if (ends_with(d->path, len, ".txt"))
        return DATA_TEXT;
    text += strspn(text, " \t\r\n[");
    jscan_init(&s, text, (size_t)(end - text));
    if (jscan_peek(&s) != JSCAN_OBJECT)
        return DATA_AUTO;
    jscan_object(&s);
    while (jscan_key(&s, &key)) {
        if (jtext_is(key, "conversations"))
            return DATA_SHAREGPT;
        jscan_skip(&s);
    }
    return DATA_JSONL;
}

static int read_samples(struct dataset *d, const struct data_settings *s,
                        struct err *err)
{
    int format = s->format;

    if (format != DATA_TENSORS)
        buf_consume(&d->file, str_bom_len(d->file.data, d->file.len));
    if (d->file.len == 0)
        return data_fail(d, 0, err, "is empty");
    if (format == DATA_AUTO)
        format = detect(d);
    if (format == DATA_AUTO)
        return data_fail(d, 0, err,
                         "the format cannot be detected; set --data-format to "
                         "jsonl, csv, text, sharegpt or tensors");
    d->format = data_format_names[format];
    d->was_detected = s->format == DATA_AUTO;
    if (readers[format](d, s, err))
        return -1;
    if (d->is_tensors)
        return 0;
    if (d->n == 0)
        return data_fail(d, 0, err, "contains no samples%s",
                         d->left_out > 0 ? " with a question and an answer"
                                         : "");
    if (d->made.overflowed)
        return data_fail(d, 0, err, "does not fit into memory");
    return columns_resolve(d, s, err);
}

static struct dataset *new (const char *path)
{
    struct dataset *d = xcalloc(1, sizeof(*d));

    d->path = xstrdup(path ? path : "");
    buf_init(&d->file, DATASET_MAX);
    buf_init(&d->made, DATASET_MAX);
    return d;
}

static int finish(struct dataset *d, int rc, struct dataset **out)
{
    *out = rc ? NULL : d;
    if (rc)
        dataset_free(d);
    return rc;
}

int dataset_read(struct dataset **out, const struct data_settings *s,
                 struct buf *file, struct err *err)
{
    struct dataset *d = new (s->file);

    buf_swap(&d->file, file);
    return finish(d, read_samples(d, s, err), out);
}

int dataset_load(struct dataset **out, const struct data_settings *s,
                 struct err *err)
{
    struct dataset *d = new (s->file);
    int rc = slurp(s->file, &d->file, d->sha256, err);

    if (rc == 0)
        rc = read_samples(d, s, err);
    return finish(d, rc, out);
}

void dataset_free(struct dataset *d)
{
    if (!d)
        return;
    free(d->path);
    buf_fini(&d->file);
    buf_fini(&d->made);
    free(d->values);
    free(d->items);
    strlist_fini(&d->columns);
    free(d);
}

/* ---- access ---- */

const struct value *dataset_value(const struct dataset *d, size_t item,
                                  int column)
{
    const struct item *it = &d->items[item];

    for (uint64_t i = it->first; i < it->first + it->n; i++) {
        if (d->values[i].column == column)
            return &d->values[i];
    }
    return NULL;
}

const char *dataset_text(const struct dataset *d, const struct value *v)
{
    return (v->is_made ? d->made.data : d->file.data) + v->at;
}

int dataset_column(const struct dataset *d, const char *name, size_t len)
{
    for (size_t i = 0; i < d->columns.len; i++) {
        const char *known = d->columns.items[i];

        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return (int)i;
    }
    return -1;
}

int dataset_require(const struct dataset *d, int column, struct err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        if (!dataset_value(d, i, column))
            return data_fail(d, d->items[i].line, err, "has no field '%s'",
                             d->columns.items[column]);
    }
    return 0;
}

/* A field such as max_tokens is a maximum that answers need not reach. */
bool dataset_has_lengths(const struct dataset *d)
{
    int column = d->role[ROLE_OUTPUT];

    return !d->is_tensors && d->n > 0 && column >= 0 &&
           d->lacks[ROLE_OUTPUT] == 0 &&
           strncmp(d->columns.items[column], "max_", 4) != 0;
}

/* ---- the description ---- */

#define INDENT "           "

/* One length per sample: a number of tokens, or of bytes of the prompt. */
enum length { LENGTH_INPUT, LENGTH_OUTPUT, LENGTH_BYTES };

static void put_lengths(const struct dataset *d, const char *name,
                        enum length which, struct buf *out)
{
    int column = d->role[d->forms[FORM_TEXT] ? ROLE_TEXT : ROLE_MESSAGES];
    int64_t sum = 0;
    int64_t max = 0;
    int64_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        int64_t length = d->items[i].output;

        if (which == LENGTH_INPUT)
            length = d->items[i].input;
        else if (which == LENGTH_BYTES)
            length = dataset_value(d, i, column)->len;
        if (length < 0)
            continue;
        sum += length;
        max = length > max ? length : max;
        n++;
    }
    if (n > 0)
        buf_addf(out, INDENT "%s: mean %.0f, max %lld%s\n", name,
                 (double)sum / (double)n, (long long)max,
                 n < (int64_t)d->n ? ", in the samples that define it" : "");
}

static void put_selection(const struct dataset *d,
                          const struct data_settings *s, struct buf *out)
{
    static const char *const ways[] = {
        [SELECT_PERMUTATION] = "each once, then again in another order",
        [SELECT_REPLACEMENT] = "at random, with repetition",
        [SELECT_ORDER] = "in the order of the file, repeatedly",
    };

    buf_adds(out, INDENT);
    if (s->cache_check) {
        buf_adds(out, "one sample for all requests; half of the prompts are "
                      "identical, the others begin with a unique word\n");
        return;
    }
    if (s->limit > 0 && (d->is_tensors || s->limit < (int64_t)d->n))
        buf_addf(out, "%lld of them (%s), ", (long long)s->limit,
                 s->select == SELECT_ORDER ? "the first" : "shuffled");
    buf_adds(out, s->accuracy ? "each once, in the order of the file"
                              : ways[s->select]);
    if (!d->is_tensors)
        buf_adds(out, s->unique == UNIQUE_FALSE
                          ? "; prompts are sent as they are"
                          : "; each prompt begins with a unique word");
    settings_describe_reuse(s, out);
    buf_adds(out, "\n");
}

void dataset_describe(const struct dataset *d, const struct data_settings *s,
                      struct buf *out)
{
    struct tensor tensor;
    size_t size = 0; /* of a sample of tensors, from the inputs of the model */

    for (size_t i = 0; i < s->tensors.len; i++) {
        if (tensor_parse(s->tensors.items[i], &tensor, &(struct err){0}) == 0)
            size += tensor_size(&tensor);
    }
    buf_adds(out, "data       ");
    printable_add(d->path, out);
    buf_addf(out, ", %s%s, ", d->format, d->was_detected ? " (detected)" : "");
    if (!d->is_tensors)
        buf_addf(out, "%zu sample%s", d->n, d->n == 1 ? "" : "s");
    else if (size > 0)
        buf_addf(out, "%zu sample%s of %zu bytes", d->file.len / size,
                 d->file.len / size == 1 ? "" : "s", size);
    else
        buf_addf(out, "%zu bytes", d->file.len);
    buf_addf(out, ", sha256 %.12s…\n", d->sha256);
    put_lengths(d, "input tokens", LENGTH_INPUT, out);
    put_lengths(d, "output tokens", LENGTH_OUTPUT, out);
    if (d->forms[FORM_TEXT] || d->forms[FORM_MESSAGES])
        put_lengths(d,
                    d->forms[FORM_TEXT] ? "bytes per prompt"
                                        : "bytes of messages per sample",
                    LENGTH_BYTES, out);
    if (d->left_out > 0)
        buf_addf(out,
                 INDENT "%lld conversations without a question and an answer "
                        "are skipped\n",
                 (long long)d->left_out);
    put_selection(d, s, out);
}
