#include "tests/support/grpcrig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

void grpcrig_begin(struct grpcrig *r, enum api_kind kind, const char *tensor)
{
    *r = (struct grpcrig){.facts = facts_unknown(7, 0)};
    settings_init(&r->settings);
    r->settings.target.api = (int)kind;
    r->settings.target.model = xstrdup("m");
    if (tensor)
        strlist_add(&r->settings.data.tensors, tensor);
    buf_init(&r->body, GRPCRIG_MAX_BODY);
}

void grpcrig_take_data(struct grpcrig *r, const char *lines)
{
    struct data_settings *d = &r->settings.data;
    struct err err = {0};
    struct buf file;

    d->file = xstrdup("f");
    d->unique = UNIQUE_FALSE;
    buf_init(&file, GRPCRIG_MAX_BODY);
    buf_adds(&file, lines);
    if (dataset_read(&r->data, d, &file, &err))
        fail_msg("%s", err.msg);
    d->loaded = r->data;
    buf_fini(&file);
}

void grpcrig_ready(struct grpcrig *r)
{
    struct err err = {0};

    if (api_init(&r->api, &r->settings, &err))
        fail_msg("%s", err.msg);
    response_begin(&r->response, &r->api, &r->facts);
}

void grpcrig_end(struct grpcrig *r)
{
    response_fini(&r->response);
    api_fini(&r->api);
    dataset_free(r->data);
    settings_fini(&r->settings);
    buf_fini(&r->body);
}
