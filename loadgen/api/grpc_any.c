/* Any gRPC method: sends a message of the user, from a file or, as base64, from
 * a field of the data set; accepts any answer. */
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/text/jscan.h"
#include "loadgen/api/api.h"
#include "loadgen/prepare/target.h"

/* The prompt of the data set is the message. */
static int field_of(const struct api *api)
{
    return api->sampler.data ? api->sampler.data->role[ROLE_TEXT] : -1;
}

/* -1: it is not base64. */
static int put_message(const struct dataset *d, const struct value *v,
                       struct buf *out)
{
    struct buf text;
    int rc;

    if (!v || v->kind != VALUE_TEXT)
        return -1;
    buf_init(&text, 2 * TARGET_MAX_REQUEST);
    jtext_decode((struct jtext){.at = dataset_text(d, v),
                                .len = v->len,
                                .has_escapes = true},
                 &text);
    rc = text.overflowed ? -1 : base64_decode(buf_text(&text), text.len, out);
    buf_fini(&text);
    return rc;
}

static void any_write(const struct api *api, const struct sample *sample,
                      struct buf *body)
{
    const struct dataset *d = api->sampler.data;

    if (field_of(api) < 0)
        return; /* an empty message */
    if (put_message(d, dataset_value(d, (size_t)sample->index, field_of(api)),
                    body))
        body->overflowed = true;
}

/* Check all messages before the run. */
static int any_init(struct api *api, struct err *err)
{
    const struct dataset *d = api->sampler.data;
    struct buf bytes;
    int rc = 0;

    if (!api->makes_bodies || field_of(api) < 0)
        return 0;
    buf_init(&bytes, TARGET_MAX_REQUEST);
    for (size_t i = 0; rc == 0 && i < d->n; i++) {
        buf_reset(&bytes);
        if (put_message(d, dataset_value(d, i, field_of(api)), &bytes))
            rc = err_set(err, ERR_CONFIG,
                         "data.file: %s:%u: the message is not base64", d->path,
                         d->items[i].line);
    }
    buf_fini(&bytes);
    return rc;
}

static int any_read(const struct api *api, const struct response_head *head,
                    const char *data, size_t len, struct piece *p)
{
    (void)api;
    (void)head;
    p->text = (struct jtext){.at = data, .len = len};
    p->has_content = true; /* what content is depends on the method */
    return 0;
}

static int any_read_message(const struct api *api, const char *data, size_t len,
                            struct piece *p)
{
    return any_read(api, NULL, data, len, p);
}

const struct api_ops client_grpc = {
    .kind = API_GRPC,
    .init = any_init,
    .write = any_write,
    .read_whole = any_read,
    .read_message = any_read_message,
};
