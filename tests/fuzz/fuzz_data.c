/* Whatever a file holds, in any format: a data set that is taken has samples
 * whose fields are JSON and lie within it, one that is not says why. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"
#include "loadgen/payload/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool is_json(const char *text, size_t len)
{
    struct jscan s;

    jscan_init(&s, text, len);
    return jscan_skip(&s) && jscan_end(&s);
}

static void check_value(const struct dataset *d, const struct value *v)
{
    const struct buf *in = v->is_made ? &d->made : &d->file;
    const char *at = dataset_text(d, v);

    must(v->column < d->columns.len);
    must(v->at <= in->len && v->len <= in->len - v->at);
    if (v->kind == VALUE_TEXT) {
        must(v->at > 0 && at[-1] == '"');
        must(is_json(at - 1, (size_t)v->len + 2));
    } else {
        must(is_json(at, v->len));
    }
}

static void check(const struct dataset *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct item *item = &d->items[i];
        const struct value *v;

        must(item->first + item->n <= d->n_values);
        for (uint32_t k = 0; k < item->n; k++)
            check_value(d, &d->values[item->first + k]);
        if (!d->forms[FORM_MESSAGES])
            continue;
        v = dataset_value(d, i, d->role[ROLE_MESSAGES]);
        must(v && item->head <= item->tail && item->tail < v->len);
    }
}

static void read_as(int format, int turns, const uint8_t *data, size_t size)
{
    static char name[] = "f";
    struct data_settings s = {.file = name, .format = format, .turns = turns};
    struct err err = {0};
    struct dataset *d;
    struct buf file;

    buf_init(&file, size + 1);
    buf_add(&file, data, size);
    if (dataset_read(&d, &s, &file, &err))
        must(err.code == ERR_CONFIG && d == NULL);
    else
        check(d);
    dataset_free(d);
    buf_fini(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int format = DATA_AUTO; format <= DATA_TENSORS; format++)
        read_as(format, TURNS_FIRST, data, size);
    read_as(DATA_SHAREGPT, TURNS_ALL, data, size);
    return 0;
}
