/* KServe v2 over HTTP, and Triton's extension that sends tensors as raw bytes
 * behind the JSON; TensorFlow Serving's predict, which takes tensors too, and
 * its classify and regress, which take examples. */
#include "loadgen/api/api.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/tensor.h"
#include "common/url.h"
#include "common/xalloc.h"

#define MAX_JSON ((size_t)1 << 20)

struct inputs {
    struct tensor *tensors;
    size_t len;
    struct buf json;  /* of a binary request: the same for all */
    bool are_example; /* of TensorFlow Serving: features of one */
};

static const struct inputs *inputs_of(const struct api *api)
{
    return api->own;
}

/* ---- what is the same for all requests ---- */

static int parse_tensors(struct api *api, struct err *err)
{
    const struct strlist *texts = &api->settings->data.tensors;
    struct inputs *in = api->own;

    in->tensors = xcalloc(texts->len, sizeof(*in->tensors));
    for (size_t i = 0; i < texts->len; i++) {
        if (tensor_parse(texts->items[i], &in->tensors[in->len++], err))
            return err_context(err, "data.tensors");
    }
    return 0;
}

/* {"name":"x","datatype":"FP32","shape":[1,16] */
static void put_tensor(const struct tensor *t, struct buf *out)
{
    buf_adds(out, "{\"name\":");
    api_put_string(out, t->name);
    buf_addf(out, ",\"datatype\":\"%s\",\"shape\":", t->type->name);
    tensor_put_shape(t, out);
}

static void make_json(const struct api *api, struct inputs *in)
{
    buf_adds(&in->json, "{\"inputs\":[");
    for (size_t i = 0; i < in->len; i++) {
        buf_adds(&in->json, i > 0 ? "," : "");
        put_tensor(&in->tensors[i], &in->json);
        buf_addf(&in->json, ",\"parameters\":{\"binary_data_size\":%zu}}",
                 tensor_size(&in->tensors[i]));
    }
    buf_adds(&in->json, "],\"parameters\":{\"binary_data_output\":true}");
    api_end_body(api, &in->json);
}

static int check_json(const struct inputs *in, struct err *err)
{
    for (size_t i = 0; i < in->len; i++) {
        if (in->tensors[i].type->kind == TENSOR_RAW)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: %s goes as raw bytes alone "
                           "(--binary-tensors)",
                           in->tensors[i].type->name);
    }
    return 0;
}

/* JSON has no form for what is no number. */
static int check_numbers(const struct api *api, struct err *err)
{
    const struct inputs *in = inputs_of(api);
    const struct dataset *d = api->sampler.data;
    const char *at = d->file.data;
    const char *end = at + d->file.len;

    for (size_t i = 0; at < end; i = (i + 1) % in->len) {
        const struct tensor *t = &in->tensors[i];

        if (!tensor_is_finite(t, at))
            return err_set(err, ERR_CONFIG,
                           "data.file: %s: at byte %zu: %s holds what is no "
                           "number; it goes as raw bytes alone "
                           "(--binary-tensors)",
                           d->path, (size_t)(at - d->file.data), t->name);
        at += tensor_size(t);
    }
    return 0;
}

/* One sample is one of each tensor, in their order. */
static int cut_data(struct api *api, struct err *err)
{
    const struct inputs *in = inputs_of(api);
    size_t size = 0;

    if (!api->sampler.data)
        return 0;
    for (size_t i = 0; i < in->len; i++) {
        if (in->tensors[i].type->kind == TENSOR_BYTES)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: %s has no fixed size, and cannot "
                           "come from a file",
                           in->tensors[i].name);
        size += tensor_size(&in->tensors[i]);
    }
    if (sampler_cut(&api->sampler, size, err))
        return -1;
    return api->settings->data.binary ? 0 : check_numbers(api, err);
}

static int kserve_init(struct api *api, struct err *err)
{
    struct inputs *in = api->own;

    buf_init(&in->json, MAX_JSON);
    if (!api->makes_bodies)
        return 0;
    if (api->settings->data.tensors.len == 0)
        return err_set(err, ERR_CONFIG,
                       "data.tensors: what does the model take? ('x FP32 "
                       "1x16')");
    if (parse_tensors(api, err) || cut_data(api, err))
        return -1;
    if (!api->settings->data.binary)
        return check_json(in, err);
    make_json(api, in);
    return 0;
}

static void kserve_fini(struct api *api)
{
    struct inputs *in = api->own;

    free(in->tensors);
    buf_fini(&in->json);
}

static void add_headers(const struct api *api, struct strlist *lines)
{
    char *line;

    if (!api->makes_bodies || !api->settings->data.binary)
        return;
    line = xasprintf("Inference-Header-Content-Length: %zu",
                     inputs_of(api)->json.len);
    strlist_add(lines, line);
    free(line);
}

/* ---- requests ---- */

/* Where values come from: the data set's bytes or, if there are none, rng. */
struct values {
    const char *raw;
    struct rng rng;
};

static struct values values_of(const struct api *api,
                               const struct sample *sample)
{
    return (struct values){
        .raw = api->sampler.data ? sample_raw(&api->sampler, sample) : NULL,
        .rng = sample->rng};
}

static void put_flat(const struct tensor *t, struct values *v, struct buf *out)
{
    if (!v->raw) {
        tensor_put_flat(t, &v->rng, out);
        return;
    }
    tensor_show_flat(t, v->raw, out);
    v->raw += tensor_size(t);
}

static void put_nested(const struct tensor *t, struct values *v,
                       struct buf *out)
{
    if (!v->raw) {
        tensor_put_nested(t, &v->rng, out);
        return;
    }
    tensor_show_nested(t, v->raw, out);
    v->raw += tensor_size(t);
}

static void write_binary(const struct inputs *in, struct values v,
                         struct buf *body)
{
    buf_add(body, in->json.data, in->json.len);
    for (size_t i = 0; i < in->len; i++) {
        if (!v.raw) {
            tensor_put_raw(&in->tensors[i], &v.rng, body);
            continue;
        }
        buf_add(body, v.raw, tensor_size(&in->tensors[i]));
        v.raw += tensor_size(&in->tensors[i]);
    }
}

static void write_json(const struct api *api, struct values v, struct buf *body)
{
    const struct inputs *in = inputs_of(api);

    buf_adds(body, "{\"inputs\":[");
    for (size_t i = 0; i < in->len; i++) {
        buf_adds(body, i > 0 ? "," : "");
        put_tensor(&in->tensors[i], body);
        buf_adds(body, ",\"data\":");
        put_flat(&in->tensors[i], &v, body);
        buf_adds(body, "}");
    }
    buf_adds(body, "]");
    api_end_body(api, body);
}

static void kserve_write(const struct api *api, const struct sample *sample,
                         struct buf *body)
{
    if (api->settings->data.binary)
        write_binary(inputs_of(api), values_of(api, sample), body);
    else
        write_json(api, values_of(api, sample), body);
}

static int tfserving_init(struct api *api, struct err *err)
{
    struct inputs *in = api->own;
    struct url url;

    in->are_example =
        url_parse(settings_url(api->settings), &url, &(struct err){0}) == 0 &&
        api_path_takes_examples(url.path);
    return kserve_init(api, err);
}

/* {"inputs":{"x":[[...]]}}: the columns, which need no batch dimension.  Of an
 * example {"examples":[{"x":[...]}]}: its features are lists without shape. */
static void tfserving_write(const struct api *api, const struct sample *sample,
                            struct buf *body)
{
    const struct inputs *in = inputs_of(api);
    struct values v = values_of(api, sample);

    buf_adds(body, in->are_example ? "{\"examples\":[{" : "{\"inputs\":{");
    for (size_t i = 0; i < in->len; i++) {
        buf_adds(body, i > 0 ? "," : "");
        api_put_string(body, in->tensors[i].name);
        buf_adds(body, ":");
        if (in->are_example)
            put_flat(&in->tensors[i], &v, body);
        else
            put_nested(&in->tensors[i], &v, body);
    }
    buf_adds(body, in->are_example ? "}]" : "}");
    api_end_body(api, body);
}

/* ---- answers ---- */

static void read_parameters(struct jscan *s, int64_t *binary)
{
    struct jtext key;
    int64_t size = 0;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "binary_data_size"))
            jscan_int(s, &size);
        else
            jscan_skip(s);
    }
    *binary += size > 0 ? size : 0;
}

static void read_output(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    p->has_content = true;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "parameters"))
            read_parameters(s, &p->raw_len);
        else
            jscan_skip(s);
    }
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
    .own_size = sizeof(struct inputs),
    .init = kserve_init,
    .fini = kserve_fini,
    .add_headers = add_headers,
    .write = kserve_write,
    .read_whole = kserve_read,
};

const struct api_ops client_tfserving_http = {
    .kind = API_TFSERVING_HTTP,
    .takes_tensors = true,
    .own_size = sizeof(struct inputs),
    .init = tfserving_init,
    .fini = kserve_fini,
    .write = tfserving_write,
    .member = tfserving_member,
};
