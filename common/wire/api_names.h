/* api_names.h - the names of the APIs of model servers, and which of them a URL
 * means. */
#ifndef COMMON_WIRE_API_NAMES_H
#define COMMON_WIRE_API_NAMES_H

#include <stdbool.h>

struct buf;

enum api_kind {
    API_AUTO, /* determined by the URL */
    API_HTTP, /* any other: a body is sent, an answer comes back */
    API_OPENAI_CHAT,
    API_OPENAI_COMPLETIONS,
    API_OPENAI_EMBEDDINGS,
    API_RERANK,
    API_TGI,
    API_TRITON_GENERATE,
    API_SGLANG,
    API_TFSERVING_HTTP,
    API_KSERVE_HTTP,
    API_GRPC, /* any gRPC method: a message is sent, messages come back */
    API_KSERVE_GRPC,
    API_TRITON_GRPC_STREAM,
    API_TFSERVING_GRPC,
    API_COUNT,
};

/* By kind; NULL-terminated. */
extern const char *const api_names[];

/* The API that the path of a URL means; API_HTTP if it is not clear.  `hint`,
 * if not NULL, is then set to the APIs to choose from, or NULL. */
enum api_kind api_detect(const char *path, const char **hint);

/* Why a path that means API_HTTP is probably not what the user wants: it is
 * close to that of an API, or of an API that is not supported.  Nothing is
 * added if there is no reason. */
void api_doubt_path(const char *path, struct buf *out);

/* api_detect() for a gRPC URL; "/" means KServe. */
enum api_kind api_detect_grpc(const char *path);

/* Does it use gRPC? */
bool api_is_grpc(enum api_kind kind);

/* The gRPC method that it calls; NULL: given by the path of the URL. */
const char *api_grpc_method(enum api_kind kind);

/* Does it take tensors instead of prompts? */
bool api_takes_tensors(enum api_kind kind);

/* Does the API have a separate path for answers in one piece, and is it this?
 */
bool api_path_is_whole(enum api_kind kind, const char *path);

/* tfserving-http: does this path take examples instead of tensors? */
bool api_path_takes_examples(const char *path);

/* Can its answers be streamed? */
bool api_can_stream(enum api_kind kind);

/* Does it generate text from a prompt? */
bool api_generates(enum api_kind kind);

#endif
