/* KServe v2 over HTTP, and Triton's extension that sends tensors as raw bytes
 * after the JSON; TensorFlow Serving's predict, which takes tensors as well,
 * and its classify and regress, which take examples. */
#include "loadgen/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/url.h"
#include "common/wire/tensor.h"
#include "loadgen/api/tensor_inputs.h"

#define MAX_JSON ((size_t)1 << 20)

/* Sizes are padded to this many digits, so that the JSON has the same length in
 * all requests. */
#define SIZE_DIGITS 10

struct own {
    struct inputs in;
    struct buf json;  /* of a binary request: the same for all, except ... */
    size_t size_at;   /* ... the size of a prompt, which is here */
    bool are_example; /* TensorFlow Serving: the features of an example */
};

static const struct own *own_of(const struct api *api)
{
    return api->own;
}

/* ---- initialisation ---- */

/* {"name":"x","datatype":"FP32","shape":[1,16] */
static void put_tensor(const struct tensor *t, struct buf *out)
{
    buf_adds(out, "{\"name\":");
    api_put_string(out, t->name);
    buf_addf(out, ",\"datatype\":\"%s\",\"shape\":", t->type->name);
    tensor_put_shape(t, out);
}

/* JSON cannot express NaN and infinities, nor types that are only raw. */
static int check_json(const struct api *api, struct err *err)
{
    const struct inputs *in = &own_of(api)->in;
    const struct dataset *d = api->sampler.data;
    bool is_raw = d && d->is_tensors;
    const char *at = is_raw ? d->file.data : NULL;
    const char *end = is_raw ? at + d->file.len : NULL;

    for (size_t i = 0; at < end; i = (i + 1) % in->len) {
        const struct tensor *t = &in->tensors[i];

        if (!tensor_is_finite(t, at))
            return err_set(err, ERR_CONFIG,
                           "data.file: %s: at byte %zu: %s has a value that is "
                           "not a finite number and can only be sent as raw "
                           "bytes (--binary-tensors)",
                           d->path, (size_t)(at - d->file.data), t->name);
        at += tensor_size(t);
    }
    for (size_t i = 0; i < in->len; i++) {
        if (in->tensors[i].type->kind == TENSOR_RAW)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: %s can only be sent as raw bytes "
                           "(--binary-tensors)",
                           in->tensors[i].type->name);
    }
    return 0;
}

static int kserve_init(struct api *api, struct err *err)
{
    struct own *own = api->own;
    const struct inputs *in = &own->in;
    struct buf *json = &own->json;

    buf_init(json, MAX_JSON);
    if (!api->makes_bodies)
        return 0;
    if (inputs_init(&own->in, api, err))
        return -1;
    if (!api->settings->data.binary)
        return check_json(api, err);
    buf_adds(json, "{\"inputs\":[");
    for (size_t i = 0; i < in->len; i++) {
        bool is_prompt = &in->tensors[i] == in->prompt;

        buf_adds(json, i > 0 ? "," : "");
        put_tensor(&in->tensors[i], json);
        buf_adds(json, ",\"parameters\":{\"binary_data_size\":");
        own->size_at = is_prompt ? json->len : own->size_at;
        buf_addf(json, "%*zu}}", is_prompt ? SIZE_DIGITS : 0,
                 tensor_size(&in->tensors[i]));
    }
    buf_adds(json, "],\"parameters\":{\"binary_data_output\":true}");
    api_end_body(api, json);
    return 0;
}

static void kserve_fini(struct api *api)
{
    struct own *own = api->own;

    inputs_fini(&own->in);
    buf_fini(&own->json);
}

static void add_headers(const struct api *api, struct strlist *lines)
{
    char *line;

    if (!api->makes_bodies || !api->settings->data.binary)
        return;
    line = xasprintf("Inference-Header-Content-Length: %zu",
                     own_of(api)->json.len);
    strlist_add(lines, line);
    free(line);
}

/* ---- requests ---- */

static void write_binary(const struct own *own, struct values v,
                         struct buf *body)
{
    size_t start = body->len;
    char digits[SIZE_DIGITS + 1];

    buf_add(body, own->json.data, own->json.len);
    for (size_t i = 0; i < own->in.len; i++) {
        size_t from = body->len;

        values_put_raw(&v, &own->in.tensors[i], body);
        if (&own->in.tensors[i] != own->in.prompt || body->overflowed)
            continue;
        snprintf(digits, sizeof(digits), "%*zu", SIZE_DIGITS, body->len - from);
        memcpy(body->data + start + own->size_at, digits, SIZE_DIGITS);
    }
}

static void kserve_write(const struct api *api, const struct sample *sample,
                         struct buf *body)
{
    const struct inputs *in = &own_of(api)->in;
    struct values v = values_of(in, api, sample);

    if (api->settings->data.binary) {
        write_binary(own_of(api), v, body);
        return;
    }
    buf_adds(body, "{\"inputs\":[");
    for (size_t i = 0; i < in->len; i++) {
        buf_adds(body, i > 0 ? "," : "");
        put_tensor(&in->tensors[i], body);
        buf_adds(body, ",\"data\":");
        values_put_flat(&v, &in->tensors[i], body);
        buf_adds(body, "}");
    }
    buf_adds(body, "]");
    api_end_body(api, body);
}

static int tfserving_init(struct api *api, struct err *err)
{
    struct own *own = api->own;
    struct url url;

    own->are_example =
        url_parse(settings_url(api->settings), &url, &(struct err){0}) == 0 &&
        api_path_takes_examples(url.path);
    return kserve_init(api, err);
}

/* {"inputs":{"x":[[...]]}}: the column format, which needs no batch dimension.
 * {"examples":[{"x":[...]}]}: the features of an example are flat lists. */
static void tfserving_write(const struct api *api, const struct sample *sample,
                            struct buf *body)
{
    const struct inputs *in = &own_of(api)->in;
    bool are_example = own_of(api)->are_example;
    struct values v = values_of(in, api, sample);

    buf_adds(body, are_example ? "{\"examples\":[{" : "{\"inputs\":{");
    for (size_t i = 0; i < in->len; i++) {
        buf_adds(body, i > 0 ? "," : "");
        api_put_string(body, in->tensors[i].name);
        buf_adds(body, ":");
        if (are_example)
            values_put_flat(&v, &in->tensors[i], body);
        else
            values_put_nested(&v, &in->tensors[i], body);
    }
    buf_adds(body, are_example ? "}]" : "}");
    api_end_body(api, body);
}

/* ---- answers ---- */

static void read_output(struct jscan *s, struct piece *p)
{
    struct jtext key;
    int64_t size = 0;

    if (!jscan_object(s))
        return;
    p->has_content = true;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "parameters"))
            api_read_number(s, "binary_data_size", &size);
        else
            jscan_skip(s);
    }
    if (size > 0 && p->raw_len >= 0 &&
        __builtin_add_overflow(p->raw_len, size, &p->raw_len))
        p->raw_len = -1; /* no answer has so many bytes */
}

static bool kserve_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_outputs = jtext_is(key, "outputs");

    if (is_outputs && jscan_array(s)) {
        while (jscan_item(s))
            read_output(s, p);
    } else if (jtext_is(key, "error")) {
        api_read_error(s, p);
    } else if (!is_outputs) {
        jscan_skip(s);
    }
    return is_outputs;
}

static int kserve_read(const struct api *api, const struct response_head *head,
                       const char *data, size_t len, struct piece *p)
{
    size_t json_len = head->json_len < 0 ? len : (size_t)head->json_len;

    (void)api;
    if (json_len > len || api_read_object(data, json_len, kserve_member, p))
        return -1;
    return p->is_error || p->raw_len == (int64_t)(len - json_len) ? 0 : -1;
}

static bool tfserving_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_answer = jtext_is(key, "predictions") || jtext_is(key, "outputs") ||
                     jtext_is(key, "results");

    if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    p->has_content |= is_answer;
    return is_answer;
}

const struct api_ops client_kserve_http = {
    .kind = API_KSERVE_HTTP,
    .takes_tensors = true,
    .own_size = sizeof(struct own),
    .init = kserve_init,
    .fini = kserve_fini,
    .add_headers = add_headers,
    .write = kserve_write,
    .read_whole = kserve_read,
};

const struct api_ops client_tfserving_http = {
    .kind = API_TFSERVING_HTTP,
    .takes_tensors = true,
    .own_size = sizeof(struct own),
    .init = tfserving_init,
    .fini = kserve_fini,
    .write = tfserving_write,
    .member = tfserving_member,
};
