/* stub_api.h - the languages that the stub speaks.
 *
 * An API reads what a request asks for and words the answer; when and whether
 * it goes out, and how events are framed, is not its business.  Those of gRPC
 * (api/grpc.h) have messages where the others have JSON.
 */
#ifndef SERVER_STUB_API_STUB_API_H
#define SERVER_STUB_API_STUB_API_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call;
struct exchange;
struct json_t;
struct stub_settings;

struct api_ops {
    const char *name;
    const char *const *paths; /* server-stub/front/url_path.h, NULL-terminated;
                                 NULL: any that no other has */
    bool opens_with_role;     /* a stream's first tokens follow a role event */
    bool can_reason;          /* the first tokens may be reasoning */
    bool probe_marks_last;    /* the event of the last token says that it is */
    bool is_single;   /* a model without tokens gives one, unless more are asked
                         for */
    const char *done; /* event that ends a stream; NULL: there is none */

    /* What does it ask for?  False: the answer is 400.  If call->why does not
     * say why, it is no request of this API; another one with the same path is
     * asked first.  NULL: anything will do. */
    bool (*read)(const struct json_t *json, const struct exchange *x,
                 struct call *call);

    /* Body of the whole answer, not streamed; sets call->json_len if something
     * else follows the JSON.  NULL: the plain one, made once. */
    void (*whole)(struct call *call, const struct stub_settings *s,
                  struct buf *out);

    /* Events of a stream, as JSON: one that announces it and carries nothing
     * (optional), one with n tokens after those sent, one after the last
     * (optional, and may write nothing).  NULL if the API does not stream. */
    void (*role)(const struct call *call, const struct stub_settings *s,
                 struct buf *out);
    void (*tokens)(const struct call *call, const struct stub_settings *s,
                   int64_t n, struct buf *out);
    void (*last)(const struct call *call, const struct stub_settings *s,
                 struct buf *out);

    /* An error as JSON, in a stream or instead of an answer.  NULL: as OpenAI
     * has it. */
    void (*error)(int status, const char *message, struct buf *out);
};

extern const struct api_ops api_plain;
extern const struct api_ops api_openai_chat;
extern const struct api_ops api_openai_completions;
extern const struct api_ops api_openai_embeddings;
extern const struct api_ops api_rerank;
extern const struct api_ops api_tgi;
extern const struct api_ops api_tgi_stream;
extern const struct api_ops api_triton;
extern const struct api_ops api_sglang;
extern const struct api_ops api_tfserving;
extern const struct api_ops api_kserve;

/* Which API is this, and what does it ask for?  Sets call->api in any case.
 * False: 400. */
bool api_read(const struct exchange *x, struct call *call);

/* Body of the request, or its part that is JSON; NULL if it is none.  The
 * caller owns the reference. */
struct json_t *api_json(const struct exchange *x);

/* An error in the form of the call's API. */
void api_error(const struct call *call, int status, const char *message,
               struct buf *out);

/* {"error":"..."}, for those whose form that is. */
void api_error_text(int status, const char *message, struct buf *out);

#endif
