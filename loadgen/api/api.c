#include "loadgen/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"
#include "loadgen/api/history.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"

static const struct api_ops *const all[API_COUNT] = {
    [API_HTTP] = &client_http,
    [API_OPENAI_CHAT] = &client_openai_chat,
    [API_OPENAI_COMPLETIONS] = &client_openai_completions,
    [API_OPENAI_EMBEDDINGS] = &client_openai_embeddings,
    [API_RERANK] = &client_rerank,
    [API_TGI] = &client_tgi,
    [API_TRITON_GENERATE] = &client_triton_generate,
    [API_SGLANG] = &client_sglang,
    [API_TFSERVING_HTTP] = &client_tfserving_http,
    [API_KSERVE_HTTP] = &client_kserve_http,
#if HAVE_GRPC
    [API_GRPC] = &client_grpc,
    [API_KSERVE_GRPC] = &client_kserve_grpc,
    [API_TRITON_GRPC_STREAM] = &client_triton_grpc_stream,
    [API_TFSERVING_GRPC] = &client_tfserving_grpc,
#endif
};

/* The fields of a template may be those of the data set. */
static int read_body(struct api *api, const char *body, struct err *err)
{
    struct buf text;
    int rc;

    if (!body || api_is_grpc(api->ops->kind))
        return 0; /* a gRPC message is sent unchanged */
    buf_init(&text, TARGET_MAX_REQUEST);
    rc = target_read_body(body, &text, err);
    if (rc == 0 && template_init(&api->body, &text, api->sampler.data, err))
        rc = err_context(err, "target.body");
    buf_fini(&text);
    return rc;
}

/* Choose the form of prompts among those available. */
static int choose_form(struct api *api, struct err *err)
{
    const struct api_ops *ops = api->ops;
    const bool *forms = api->sampler.forms;
    int asked = api->settings->data.prompts;

    if (asked == PROMPT_IDS && !ops->takes_ids)
        return err_set(err, ERR_CONFIG,
                       "data.prompts: %s does not accept token ids",
                       api_names[ops->kind]);
    api->uses_messages = ops->takes_messages && forms[FORM_MESSAGES];
    api->uses_ids =
        ops->takes_ids && forms[FORM_IDS] && !api->sampler.has_sessions &&
        (asked == PROMPT_IDS ||
         (asked == PROMPT_AUTO && (!api->sampler.data || !forms[FORM_TEXT])));
    if (asked == PROMPT_IDS && !api->uses_ids)
        return err_set(err, ERR_CONFIG,
                       "data.prompts: the data set has no token ids");
    return 0;
}

/* The first line without a prompt, if other samples have one; 0: none has. */
static uint32_t first_without(const struct api *api)
{
    const struct dataset *d = api->sampler.data;
    const bool takes[FORM_COUNT] = {
        [FORM_TEXT] = true,
        [FORM_IDS] = api->ops->takes_ids,
        [FORM_MESSAGES] = api->ops->takes_messages,
    };

    for (int f = 0; f < FORM_COUNT; f++) {
        if (takes[f] && d->role[f] >= 0 && d->lacks[f] > 0)
            return d->lacks[f];
    }
    return 0;
}

/* Does the data set have what the API needs? */
static int check_data(const struct api *api, struct err *err)
{
    const struct dataset *d = api->sampler.data;
    const char *name = api_names[api->ops->kind];

    if (d && api->settings->target.body && !template_has_fields(&api->body))
        return err_set(err, ERR_CONFIG,
                       "data.file has no effect: the body (--body) has no "
                       "placeholder such as {{prompt}}");
    if (!d || api->settings->target.body)
        return 0;
    if (!api->ops->write || api->ops->takes_more)
        return err_set(err, ERR_CONFIG,
                       "data.file: %s requires a body with fields: --body "
                       "'{\"q\":\"{{prompt}}\"}'",
                       name);
    if (d->is_tensors && !api->ops->takes_tensors)
        return err_set(err, ERR_CONFIG,
                       "data.file: %s accepts prompts, not tensors", name);
    if (d->is_tensors || api->uses_messages || api->uses_ids ||
        api->sampler.forms[FORM_TEXT])
        return 0;
    if (first_without(api) > 0)
        return err_set(err, ERR_CONFIG,
                       "data.file: %s:%u: no prompt for %s, although other "
                       "samples have one; name the field with --prompt-field",
                       d->path, first_without(api), name);
    return err_set(err, ERR_CONFIG,
                   "data.file: %s: has no prompts for %s; name the field with "
                   "--prompt-field",
                   d->path, name);
}

static int init_parts(struct api *api, struct err *err)
{
    const struct settings *s = api->settings;
    const struct target_settings *t = &s->target;
    bool is_grpc = api_is_grpc(api->ops->kind);
    const struct dataset *d;

    if (checks_parse(&s->checks, &api->checks, err))
        return err_context(err, "checks");
    api->keeps_text = api->checks.len > 0 || s->data.accuracy;
    if (sampler_init(&api->sampler, s, err) || choose_form(api, err))
        return -1;
    d = api->sampler.data;
    if (checks_need_label(&api->checks)) { /* with every answer, so of all */
        if (!d || d->role[ROLE_LABEL] < 0)
            return err_set(err, ERR_CONFIG,
                           "checks: label requires labels in the data set "
                           "(--data, --label-field)");
        if (dataset_require(d, d->role[ROLE_LABEL], err))
            return -1;
    }
    if (read_body(api, t->body, err))
        return -1;
    if (is_grpc && t->success)
        return err_set(err, ERR_CONFIG,
                       "target.success cannot be set for gRPC, where only OK "
                       "is a success");
    api->success = is_grpc                      ? statuses_range(0, 1)
                   : api->ops->kind == API_HTTP ? statuses_range(0, 400)
                                                : statuses_range(200, 300);
    if (t->success && statuses_parse(t->success, &api->success, err))
        return err_context(err, "target.success");
    if (extra_read(t->extra_body, &api->extra, err))
        return -1;
    if (template_has(&api->body, "model") && !t->model)
        return err_set(err, ERR_CONFIG,
                       "target.body: {{model}} requires a model (--model)");
    return check_data(api, err);
}

#define MAX_FIELDS 3

/* Does the template of the user have one of these fields?  Without a template:
 * `otherwise`. */
static bool body_has(const struct api *api, const char *const *fields,
                     bool otherwise)
{
    if (!template_has_fields(&api->body))
        return otherwise;
    for (size_t i = 0; i < MAX_FIELDS && fields[i]; i++) {
        if (template_has(&api->body, fields[i]))
            return true;
    }
    return false;
}

static bool has_prompt(const struct api *api)
{
    static const char *const fields[MAX_FIELDS] = {"prompt", "prompt_ids",
                                                   "messages"};

    return body_has(api, fields, true);
}

bool api_takes_ids(enum api_kind kind)
{
    return all[kind] && all[kind]->takes_ids;
}

/* Documents to rank are counted together with the query, and tensors have no
 * tokens, so that prompts of these have no known length. */
int api_init(struct api *api, const struct settings *settings, struct err *err)
{
    static const char *const input[MAX_FIELDS] = {"prompt", "prompt_ids",
                                                  "input_tokens"};
    static const char *const output[MAX_FIELDS] = {"output_tokens"};
    const struct target_settings *t = &settings->target;
    enum api_kind kind = (enum api_kind)t->api;
    const struct dataset *d;

    *api = (struct api){.ops = all[t->api], .settings = settings};
    buf_init(&api->extra, TARGET_MAX_REQUEST);
    if (!api->ops)
        return err_set(err, ERR_CONFIG,
                       "target.api: %s: this tailgate was built without gRPC",
                       api_names[t->api]);
    if (api->ops->own_size > 0)
        api->own = xcalloc(1, api->ops->own_size);
    if (init_parts(api, err))
        return -1;
    api->makes_bodies =
        t->body ? template_has_fields(&api->body) : api->ops->write != NULL;
    d = api->sampler.data;
    if (settings->data.cache_check && (!api->makes_bodies || !has_prompt(api)))
        return err_set(err, ERR_CONFIG,
                       "data.cache_check requires prompts, which these "
                       "requests do not have");
    if (settings->data.cache_check && d && d->is_tensors)
        return err_set(err, ERR_CONFIG,
                       "data.cache_check cannot be combined with a file of "
                       "tensors, whose samples are never new");
    api->keeps_text |= api->sampler.has_sessions && api->makes_bodies;
    api->asks_prompt = body_has(
        api, input, api_generates(kind) || kind == API_OPENAI_EMBEDDINGS);
    api->asks_output = body_has(api, output, api_generates(kind));
    api->model = t->model ? xstrdup(t->model) : NULL;
    api->streams = api_can_stream(kind) && t->stream != STREAM_OFF;
    api->must_stream = api->streams && (!t->body || t->stream == STREAM_ON);
    if (history_check(api, err) || (api->ops->init && api->ops->init(api, err)))
        return -1;
    return t->body ? 0 : extra_check(api, err);
}

void api_fini(struct api *api)
{
    if (!api->ops)
        return;
    if (api->ops->fini)
        api->ops->fini(api);
    checks_fini(&api->checks);
    template_fini(&api->body);
    free(api->own);
    sampler_fini(&api->sampler);
    free(api->model);
    buf_fini(&api->extra);
}

const struct api *api_if_needed(const struct api *api)
{
    bool is_plain = api->ops->kind == API_HTTP && !api->makes_bodies &&
                    !api->settings->target.success && !api->keeps_text;

    return is_plain ? NULL : api;
}

struct piece piece_none(void)
{
    return (struct piece){
        .ids = TIME_ABSENT,
        .usage = {TIME_ABSENT, TIME_ABSENT, TIME_ABSENT, TIME_ABSENT}};
}

void api_make_body(const struct api *api, struct facts *facts,
                   const struct row *row, const struct session *session,
                   struct buf *body)
{
    struct sample sample = sample_draw(&api->sampler, request_key(facts), row);

    facts->repeat = sample.is_repeat;
    if (session)
        sample.past = &session->past;
    if (api->asks_prompt)
        facts->prompt_asked =
            history_tokens(session, sample_input_tokens(&api->sampler, &sample,
                                                        api->uses_ids));
    if (api->asks_output)
        facts->output_asked = sample.output_tokens;
    if (template_has_fields(&api->body))
        template_write(&api->body, api, &sample, body);
    else
        api->ops->write(api, &sample, body);
}

double api_cached_share(const struct api *api)
{
    const struct dataset *d = api->sampler.data;

    return has_prompt(api) && !(d && d->is_tensors)
               ? sampler_cached_share(&api->sampler)
               : -1;
}

int api_read_event(const struct api *api, const char *data, size_t len,
                   struct piece *p)
{
    return api_read_object(data, len, api->ops->member, p);
}

int api_read_whole(const struct api *api, const struct response_head *head,
                   const char *data, size_t len, struct piece *p)
{
    p->is_whole = true;
    if (api->ops->read_whole)
        return api->ops->read_whole(api, head, data, len, p);
    return api_read_object(data, len, api->ops->member, p);
}

/* ---- plain HTTP: the body of the user; the answer may be anything ---- */

static int http_read_whole(const struct api *api,
                           const struct response_head *head, const char *data,
                           size_t len, struct piece *p)
{
    (void)api;
    (void)head;
    p->text = (struct jtext){.at = data, .len = len};
    p->has_content = true; /* an empty answer is fine, too */
    return 0;
}

const struct api_ops client_http = {.kind = API_HTTP,
                                    .read_whole = http_read_whole};

/* ---- writing bodies ---- */

void api_put_prompt(const struct api *api, const struct sample *sample,
                    const char *name, struct buf *body)
{
    buf_addf(body, "\"%s\":%c", name, api->uses_ids ? '[' : '"');
    if (api->uses_ids)
        sample_put_ids(&api->sampler, sample, body);
    else if (api->sampler.has_sessions)
        history_put_past(api, sample, body);
    if (!api->uses_ids)
        sample_put_text(&api->sampler, sample, body);
    buf_adds(body, api->uses_ids ? "]" : "\"");
}

void api_put_string(struct buf *body, const char *text)
{
    buf_adds(body, "\"");
    jtext_encode(text, strlen(text), body);
    buf_adds(body, "\"");
}

void api_put_model(const struct api *api, struct buf *body)
{
    buf_adds(body, "{");
    if (!api->model)
        return;
    buf_adds(body, "\"model\":");
    api_put_string(body, api->model);
    buf_adds(body, ",");
}

void api_end_body(const struct api *api, struct buf *body)
{
    buf_add(body, buf_text(&api->extra), api->extra.len);
    buf_adds(body, "}");
}

/* ---- reading answers ---- */

void api_read_text(struct jscan *s, struct piece *p)
{
    struct jtext text;

    if (!jscan_string(s, &text))
        return;
    p->text = text;
    p->has_content |= text.len > 0;
}

void api_read_finish(struct jscan *s, struct piece *p)
{
    static const struct {
        const char *name;
        enum finish finish;
    } others[] = {
        {"eos_token", FINISH_STOP},
        {"stop_sequence", FINISH_STOP},
        {"max_tokens", FINISH_LENGTH},
    };
    struct jtext text;

    if (!jscan_string(s, &text))
        return;
    p->finish = FINISH_OTHER;
    for (int f = FINISH_STOP; f < FINISH_OTHER; f++) {
        if (jtext_is(text, finish_name((enum finish)f)))
            p->finish = (enum finish)f;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (jtext_is(text, others[i].name))
            p->finish = others[i].finish;
    }
}

void api_read_number(struct jscan *s, const char *name, int64_t *out)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, name))
            jscan_int(s, out);
        else
            jscan_skip(s);
    }
}

int64_t api_count_items(struct jscan *s)
{
    int64_t n = 0;

    if (!jscan_array(s))
        return TIME_ABSENT;
    while (jscan_item(s)) {
        jscan_skip(s);
        n++;
    }
    return n;
}

static void read_message(struct jscan *s, struct jtext *reason)
{
    struct jtext key;

    if (jscan_peek(s) != JSCAN_OBJECT) {
        jscan_string(s, reason);
        return;
    }
    jscan_object(s);
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "message") || jtext_is(key, "msg"))
            jscan_string(s, reason);
        else
            jscan_skip(s);
    }
}

/* In a list, the first reason that is not empty. */
static void read_reason(struct jscan *s, struct jtext *reason)
{
    if (jscan_peek(s) != JSCAN_ARRAY) {
        read_message(s, reason);
        return;
    }
    jscan_array(s);
    while (jscan_item(s)) {
        if (reason->len == 0)
            read_message(s, reason);
        else
            jscan_skip(s);
    }
}

void api_read_error(struct jscan *s, struct piece *p)
{
    if (jscan_peek(s) == JSCAN_NULL) {
        jscan_skip(s);
        return;
    }
    p->is_error = true;
    read_reason(s, &p->error);
}

struct jtext api_find_reason(const char *data, size_t len)
{
    struct jtext reason = {0};
    struct jtext key;
    struct jscan s;

    jscan_init(&s, data, len);
    if (jscan_object(&s)) {
        while (jscan_key(&s, &key)) {
            bool is_reason = jtext_is(key, "error") ||
                             jtext_is(key, "message") ||
                             jtext_is(key, "detail");

            if (is_reason && reason.len == 0)
                read_reason(&s, &reason);
            else
                jscan_skip(&s);
        }
    }
    if (jscan_end(&s))
        return reason;
    while (len > 0 && strchr(" \t\r\n", *data)) {
        data++;
        len--;
    }
    return (struct jtext){.at = data, .len = len > 0 && *data != '<' ? len : 0};
}

int api_read_object(const char *data, size_t len, api_member_fn *member,
                    struct piece *p)
{
    struct jscan s;
    struct jtext key;
    bool is_known = false;

    jscan_init(&s, data, len);
    if (!jscan_object(&s))
        return -1;
    while (jscan_key(&s, &key))
        is_known |= member(&s, key, p);
    return jscan_end(&s) && (is_known || p->is_error) ? 0 : -1;
}
