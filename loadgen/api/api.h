/* api.h - how a model server is spoken to: a sample becomes the body of a
 * request, the bytes of an answer become pieces.
 *
 * Pure: no I/O, no clock, and nothing kept from one call to the next.  What an
 * answer comes to as a whole is response.h's work, for all of them.
 */
#ifndef LOADGEN_API_API_H
#define LOADGEN_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/jscan.h"
#include "common/base/str.h"
#include "common/measure/measure.h"
#include "common/spec/answer_check.h"
#include "common/wire/api_names.h"
#include "common/wire/status.h"
#include "loadgen/api/body_template.h"
#include "loadgen/payload/sample.h"

struct err;
struct settings;
struct api_ops;
struct session;

/* Everything about the way requests are made that is the same for all of a
 * run.  Const once the clock has started, and shared. */
struct api {
    const struct api_ops *ops;
    const struct settings *settings; /* borrowed */
    struct sampler sampler;
    bool streams;         /* an answer may be a stream of events ... */
    bool must_stream;     /* ... and was asked to be one */
    bool makes_bodies;    /* a body for each request; else all have the same */
    bool asks_prompt;     /* a body asks for a prompt of some length, ... */
    bool asks_output;     /* ... and for an answer of some */
    bool uses_ids;        /* prompts are token ids, ... */
    bool uses_messages;   /* ... or messages of a chat */
    char *model;          /* owned; NULL: none needed, or not known */
    struct checks checks; /* of answers */
    bool keeps_text;      /* of answers, until they have been looked at */
    struct statuses success;
    struct template body; /* of the user's */
    struct buf extra;     /* members to add to a body: ,"top_k":1 */
    void *own;            /* the API's own, see init(); owned */
};

/* What the server has counted; TIME_ABSENT where it does not say. */
struct usage {
    int64_t prompt;
    int64_t output;
    int64_t cached;
    int64_t reasoning;
};

/* What one event of a stream, or a whole answer, says. */
struct piece {
    bool is_whole;          /* an answer, not an event; known from the start */
    bool has_content;       /* text, reasoning or a tool call, and not empty */
    bool has_choices;       /* OpenAI's `choices`, and not empty */
    bool is_reasoning;      /* that is what it is */
    bool is_cumulative;     /* `text` is all so far, not what is new */
    bool may_be_cumulative; /* it depends on the server */
    bool is_last;           /* nothing comes after it ... */
    bool is_not_last;       /* ... or something must */
    struct jtext text;      /* content, if it is text; .at NULL: none */
    int64_t ids;            /* token ids in it; TIME_ABSENT: not given */
    int64_t raw_len;        /* bytes of tensors that are to stand behind it */
    struct usage usage;
    enum finish finish;
    bool is_error;      /* the server says that it failed ... */
    struct jtext error; /* ... and why; .at NULL: not why */
};

/* The head of an answer, as far as one needs it. */
struct response_head {
    int status;
    bool is_event_stream;
    const char
        *coding;      /* how the body is compressed, such as gzip; NULL: not */
    int64_t json_len; /* Inference-Header-Content-Length; -1: not given */
};

/* Takes the value of a member; true if the member says what this is. */
typedef bool api_member_fn(struct jscan *s, struct jtext key, struct piece *p);

struct api_ops {
    enum api_kind kind;
    bool takes_ids;      /* as a prompt */
    bool takes_messages; /* likewise */
    bool takes_tensors;  /* and no prompt */
    bool takes_more;     /* than a prompt: no data set has all it needs */

    /* Get ready: `own` is zeroed memory of own_size.  Optional. */
    int (*init)(struct api *api, struct err *err);
    size_t own_size;
    void (*fini)(struct api *api);

    /* Header lines of every request, beside Content-Type: application/json.
     * Optional. */
    void (*add_headers)(const struct api *api, struct strlist *lines);

    /* Append the body.  Optional: then the body is the user's. */
    void (*write)(const struct api *api, const struct sample *sample,
                  struct buf *body);

    /* What ends a stream, as the data of an event ("[DONE]"); NULL: a piece
     * says is_last, or nothing does and the end of the body must do. */
    const char *terminator;
    bool ends_with_piece; /* so a stream without is_last is truncated */

    /* Of an event, and of a whole answer.  Required, unless there are no events
     * and read_whole() reads the answers. */
    api_member_fn *member;

    /* Read a whole answer that is more than an object, as api_read_whole()
     * does.  Optional. */
    int (*read_whole)(const struct api *api, const struct response_head *head,
                      const char *data, size_t len, struct piece *p);

    /* Read one message of a stream of gRPC, likewise.  Required of those. */
    int (*read_message)(const struct api *api, const char *data, size_t len,
                        struct piece *p);

    /* Find a tensor of an answer that is no JSON, see struct check_answer; its
     * bytes may be put into `room`.  Optional. */
    bool (*find_tensor)(const char *data, size_t len, const char *name,
                        struct check_tensor *tensor, struct buf *room);
};

/* The stub has the other side of most of them, hence the prefix. */
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

/* By the settings, which are resolved.  ERR_CONFIG.  api_fini() may follow
 * either way. */
int api_init(struct api *api, const struct settings *settings, struct err *err);
void api_fini(struct api *api);

/* May its prompts be token ids? */
bool api_takes_ids(enum api_kind kind);

/* The API, or NULL if it has nothing to do: then nobody needs to ask it. */
const struct api *api_if_needed(const struct api *api);

struct piece piece_none(void);

/* Draw the request's sample, note in its facts what that asks for, and append
 * its body; of an API that makes them.  `row` is what the schedule says of it,
 * `session` whose turn it is; each may be NULL. */
void api_make_body(const struct api *api, struct facts *facts,
                   const struct row *row, const struct session *session,
                   struct buf *body);

/* sampler_cached_share(), of bodies that have the prompt in them; below 0: of
 * others nobody knows. */
double api_cached_share(const struct api *api);

/* Read an event's data, or a whole answer of status 2xx.  -1: it is not what
 * the API allows.  *p is piece_none() before. */
int api_read_event(const struct api *api, const char *data, size_t len,
                   struct piece *p);
int api_read_whole(const struct api *api, const struct response_head *head,
                   const char *data, size_t len, struct piece *p);

/* Read one message of a stream of gRPC, likewise. */
int api_read_message(const struct api *api, const char *data, size_t len,
                     struct piece *p);

/* Why a request was refused, as the body of an answer with a status of failure
 * says it, whatever the API: the reason in an object of JSON, else the text.
 * .len 0: it does not say, or is a page for people. */
struct jtext api_find_reason(const char *data, size_t len);

/* ---- for those who write bodies ---- */

/* "name":"prompt" or "name":[ids], as the API uses them; no comma. */
void api_put_prompt(const struct api *api, const struct sample *sample,
                    const char *name, struct buf *body);

/* The beginning of a body: { and, if it is known, "model":"...", */
void api_put_model(const struct api *api, struct buf *body);

/* Its end: the members of the user's, and } */
void api_end_body(const struct api *api, struct buf *body);

/* A text as it stands between quotes in JSON, and with them. */
void api_put_escaped(struct buf *body, const char *text);
void api_put_string(struct buf *body, const char *text);

/* ---- for those who read answers; each takes the next value ---- */

/* Content. */
void api_read_text(struct jscan *s, struct piece *p);
void api_read_finish(struct jscan *s, struct piece *p);

/* An error: a text, {"message":...}, {"msg":...} or a list of those; null is
 * none. */
void api_read_error(struct jscan *s, struct piece *p);

/* TIME_ABSENT if it is no array. */
int64_t api_count_items(struct jscan *s);

/* An object, member by member.  -1 if it is none, or holds neither an error nor
 * a member that says what it is. */
int api_read_object(const char *data, size_t len, api_member_fn *member,
                    struct piece *p);

#endif
