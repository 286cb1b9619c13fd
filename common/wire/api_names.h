/* api_names.h - the names of the protocols that model servers speak, and which
 * of them a URL means. */
#ifndef COMMON_WIRE_API_NAMES_H
#define COMMON_WIRE_API_NAMES_H

#include <stdbool.h>

enum api_kind {
    API_AUTO, /* by the URL */
    API_HTTP, /* whatever it is: a body goes out, an answer comes back */
    API_OPENAI_CHAT,
    API_OPENAI_COMPLETIONS,
    API_OPENAI_EMBEDDINGS,
    API_RERANK,
    API_TGI,
    API_TRITON_GENERATE,
    API_SGLANG,
    API_TFSERVING_HTTP,
    API_KSERVE_HTTP,
    API_GRPC, /* any method of gRPC: a message goes out, others come back */
    API_KSERVE_GRPC,
    API_TRITON_GRPC_STREAM,
    API_TFSERVING_GRPC,
    API_COUNT,
};

/* By kind; NULL-terminated. */
extern const char *const api_names[];

/* The one that the path of a URL means; API_HTTP if that is not clear, and then
 * `hint`, if not NULL, becomes what to choose from, or NULL. */
enum api_kind api_detect(const char *path, const char **hint);

/* The same of a URL of gRPC; "/" is KServe's. */
enum api_kind api_detect_grpc(const char *path);

/* Is it spoken over gRPC? */
bool api_is_grpc(enum api_kind kind);

/* The method of gRPC that it calls; NULL: the path of the URL is. */
const char *api_grpc_method(enum api_kind kind);

/* Does it take tensors, not prompts? */
bool api_takes_tensors(enum api_kind kind);

/* Has the API a path of its own for answers in one piece, and is it this? */
bool api_path_is_whole(enum api_kind kind, const char *path);

/* Of tfserving-http: does this path take examples, not tensors? */
bool api_path_takes_examples(const char *path);

/* Does an answer of its come in events, if asked to? */
bool api_can_stream(enum api_kind kind);

/* Does it make text of a prompt? */
bool api_generates(enum api_kind kind);

#endif
