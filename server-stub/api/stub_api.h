/* stub_api.h - the APIs that the stub serves.
 *
 * An API reads what a request wants and writes the answer.  When and whether it
 * is sent, and how events are framed, is decided elsewhere.  The gRPC APIs
 * (stub_grpc.h) use messages instead of JSON.
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
    const char *const *paths; /* patterns for path_matches(), NULL-terminated;
                                 NULL: every path that no other API serves */
    bool opens_with_role;     /* a role event precedes the first tokens */
    bool can_reason;          /* the first tokens may be reasoning */
    bool probe_marks_last;    /* the event of the last token says so */
    bool is_single;   /* a model without tokens makes one, unless the request
                         wants more */
    const char *done; /* event that ends a stream; NULL: none */

    /* Read the request.  False: it is refused with 400.  If call->why is NULL
     * then, it is not a request of this API, and the next API with the same
     * path is tried.  NULL: any request is accepted. */
    bool (*read)(const struct json_t *json, const struct exchange *x,
                 struct call *call);

    /* Write the body of an answer that is not streamed; sets call->json_len if
     * binary data follows the JSON.  NULL: the plain answer, made once. */
    void (*whole)(struct call *call, const struct stub_settings *s,
                  struct buf *out);

    /* Write events of a stream, as JSON: one without content that announces it
     * (optional), one with the next n tokens, one after the last token
     * (optional, may write nothing).  NULL if the API does not stream. */
    void (*role)(const struct call *call, const struct stub_settings *s,
                 struct buf *out);
    void (*tokens)(const struct call *call, const struct stub_settings *s,
                   int64_t n, struct buf *out);
    void (*last)(const struct call *call, const struct stub_settings *s,
                 struct buf *out);

    /* Write an error as JSON, in a stream or instead of an answer.  NULL: in
     * the form of OpenAI. */
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

/* Find the API and read the request.  Always sets call->api.  False: refuse
 * with 400. */
bool api_read(const struct exchange *x, struct call *call);

/* The JSON of the request's body; NULL if it is not JSON.  The caller owns the
 * reference. */
struct json_t *api_json(const struct exchange *x);

/* Append JSON on one line, with all digits of its numbers. */
void api_put_json(const struct json_t *json, struct buf *out);

/* Append an error in the form of the call's API. */
void api_error(const struct call *call, int status, const char *message,
               struct buf *out);

/* Append {"error":"..."}, the form of several APIs. */
void api_error_text(int status, const char *message, struct buf *out);

#endif
