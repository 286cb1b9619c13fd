/* api.h - the API of a model server: turns a sample into the body of a request,
 * and the bytes of an answer into pieces.
 *
 * Pure: no I/O, no clock, no state between calls.  response.h assembles the
 * pieces of an answer, for all APIs.
 */
#ifndef LOADGEN_API_API_H
#define LOADGEN_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/measure/measure.h"
#include "common/spec/answer_check.h"
#include "common/text/jscan.h"
#include "common/wire/api_names.h"
#include "common/wire/status.h"
#include "loadgen/api/body_template.h"
#include "loadgen/payload/sample.h"

struct api_ops;
struct session;
struct settings;

/* What the requests of a run have in common.  Const once the clock has started,
 * and shared. */
struct api {
    const struct api_ops *ops;
    const struct settings *settings; /* borrowed */
    struct sampler sampler;
    bool streams;         /* an answer may be a stream of events ... */
    bool must_stream;     /* ... and has to be one */
    bool makes_bodies;    /* one per request; false: all have the same body */
    bool asks_prompt;     /* a body contains a prompt of known length, ... */
    bool asks_output;     /* ... and requests an answer of known length */
    bool uses_ids;        /* prompts are token ids, ... */
    bool uses_messages;   /* ... or messages of a chat */
    char *model;          /* owned; NULL: not needed, or not known */
    struct checks checks; /* of answers */
    bool keeps_text;      /* keeps the text of an answer until it is checked */
    struct statuses success;
    struct template body; /* target.body, if set */
    struct buf extra;     /* members to add to a body: ,"top_k":1 */
    void *own;            /* state of the ops, see init(); owned */
};

/* Token counts of the server; TIME_ABSENT if it does not report them. */
struct usage {
    int64_t prompt;
    int64_t output;
    int64_t cached;
    int64_t reasoning;
};

/* The contents of one event of a stream, or of a whole answer. */
struct piece {
    bool is_whole;      /* an answer, not an event; set before reading */
    bool has_content;   /* text, reasoning or a tool call, and not empty */
    bool has_choices;   /* OpenAI's `choices`, and not empty */
    bool is_reasoning;  /* the content is reasoning */
    bool is_cumulative; /* `text` is all text so far, not just the new; ... */
    bool may_be_cumulative; /* ... the stream shows whether that is so */
    bool is_last;           /* nothing comes after it ... */
    bool is_not_last;       /* ... or something must */
    struct jtext text;      /* the content, if it is text; .at NULL: none */
    int64_t ids;            /* number of token ids; TIME_ABSENT: not given */
    int64_t raw_len;        /* bytes of tensors that must follow it */
    struct usage usage;
    enum finish finish;
    bool is_error;      /* the server reports an error ... */
    struct jtext error; /* ... and the reason; .at NULL: no reason */
};

/* The parts of an answer's head that are needed. */
struct response_head {
    bool is_event_stream;
    const char *coding; /* how the body is compressed, such as gzip; NULL: it is
                           not */
    int64_t json_len;   /* Inference-Header-Content-Length; -1: not given */
};

/* Reads the value of a member; true if the member identifies an answer of the
 * API. */
typedef bool api_member_fn(struct jscan *s, struct jtext key, struct piece *p);

struct api_ops {
    enum api_kind kind;
    bool takes_ids;      /* a prompt may be token ids ... */
    bool takes_messages; /* ... or messages of a chat */
    bool takes_tensors;  /* instead of a prompt */
    bool takes_more;     /* than a prompt: no data set has all it needs */

    /* `own` is zeroed memory of own_size.  ERR_CONFIG.  Optional. */
    int (*init)(struct api *api, struct err *err);
    size_t own_size;
    void (*fini)(struct api *api);

    /* Add header lines of every request, besides Content-Type:
     * application/json.  Optional. */
    void (*add_headers)(const struct api *api, struct strlist *lines);

    /* Append the body.  Optional: without it target.body is required. */
    void (*write)(const struct api *api, const struct sample *sample,
                  struct buf *body);

    /* The data of the event that ends a stream ("[DONE]").  NULL: a piece has
     * is_last, or the end of the body ends the stream. */
    const char *terminator;
    bool ends_with_piece; /* a stream without is_last is truncated */

    /* Reads a member of an event or of a whole answer.  Required, unless there
     * are no events and read_whole() reads the answers. */
    api_member_fn *member;

    /* Read a whole answer that is not just a JSON object; returns as
     * api_read_whole().  Optional. */
    int (*read_whole)(const struct api *api, const struct response_head *head,
                      const char *data, size_t len, struct piece *p);

    /* Read one message of a gRPC stream; returns as api_read_whole().  Required
     * for gRPC streams. */
    int (*read_message)(const struct api *api, const char *data, size_t len,
                        struct piece *p);

    /* Find a tensor of an answer that is not JSON, see struct check_answer; its
     * bytes may be put into `room`.  Optional. */
    bool (*find_tensor)(const char *data, size_t len, const char *name,
                        struct check_tensor *tensor, struct buf *room);
};

/* The stub has the server side of most of them, hence the prefix. */
extern const struct api_ops client_http;
extern const struct api_ops client_openai_chat;
extern const struct api_ops client_openai_completions;
extern const struct api_ops client_openai_embeddings;
extern const struct api_ops client_rerank;
extern const struct api_ops client_tgi;
extern const struct api_ops client_triton_generate;
extern const struct api_ops client_sglang;
extern const struct api_ops client_tfserving_http;
extern const struct api_ops client_kserve_http;

/* If built with gRPC. */
extern const struct api_ops client_grpc;
extern const struct api_ops client_kserve_grpc;
extern const struct api_ops client_triton_grpc_stream;
extern const struct api_ops client_tfserving_grpc;

/* The settings are resolved.  ERR_CONFIG.  api_fini() may follow either way. */
int api_init(struct api *api, const struct settings *settings, struct err *err);
void api_fini(struct api *api);

/* May its prompts be token ids? */
bool api_takes_ids(enum api_kind kind);

/* The API, or NULL if requests need nothing from it. */
const struct api *api_if_needed(const struct api *api);

/* Refuse settings that have no effect with this API and body: a user who sets
 * one expects otherwise.  The API is initialised.  ERR_CONFIG. */
int api_check_settings(const struct api *api, struct err *err);

struct piece piece_none(void);

/* Draw the request's sample, note in its facts what it asks for, and append its
 * body; only if makes_bodies.  `row` comes from the schedule, `session` is the
 * one that the request is a turn of; each may be NULL. */
void api_make_body(const struct api *api, struct facts *facts,
                   const struct row *row, const struct session *session,
                   struct buf *body);

/* sampler_cached_share(); negative also if bodies do not contain the prompt. */
double api_cached_share(const struct api *api);

/* Read the data of an event, or a whole answer with status 2xx.  -1: the API
 * does not allow it.  *p is piece_none() before. */
int api_read_event(const struct api *api, const char *data, size_t len,
                   struct piece *p);
int api_read_whole(const struct api *api, const struct response_head *head,
                   const char *data, size_t len, struct piece *p);

/* Why a request was refused, according to the body of an answer with an error
 * status, for any API: the reason in a JSON object, otherwise the text.  .len
 * 0: no reason, or an HTML page. */
struct jtext api_find_reason(const char *data, size_t len);

/* ---- writing bodies ---- */

/* "name":"prompt" or "name":[ids], whichever the API uses; without a comma. */
void api_put_prompt(const struct api *api, const struct sample *sample,
                    const char *name, struct buf *body);

/* The beginning of a body: { and, if it is known, "model":"...", */
void api_put_model(const struct api *api, struct buf *body);

/* The end of a body: target.extra_body and } */
void api_end_body(const struct api *api, struct buf *body);

/* A text as a JSON string. */
void api_put_string(struct buf *body, const char *text);

/* ---- reading answers; each function reads the next value ---- */

/* Content. */
void api_read_text(struct jscan *s, struct piece *p);
void api_read_finish(struct jscan *s, struct piece *p);

/* An error: a text, {"message":...}, {"msg":...} or a list of those; null means
 * no error. */
void api_read_error(struct jscan *s, struct piece *p);

/* The number `name` of an object, whose other members are skipped. */
void api_read_number(struct jscan *s, const char *name, int64_t *out);

/* The number of items; TIME_ABSENT if it is not an array. */
int64_t api_count_items(struct jscan *s);

/* An object, member by member.  -1 if it is not one, or contains neither an
 * error nor a member that identifies an answer of the API. */
int api_read_object(const char *data, size_t len, api_member_fn *member,
                    struct piece *p);

/* ---- target.extra_body, for api_init() ---- */

/* Read it, an object or @FILE, as members to put after those of a body:
 * ,"top_k":1.  NULL: nothing.  ERR_CONFIG. */
int extra_read(const char *extra, struct buf *out, struct err *err);

/* Refuse members that bodies already have: it would be up to the server which
 * of the two counts.  ERR_CONFIG. */
int extra_check(const struct api *api, struct err *err);

#endif
