#include "common/wire/api_names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

const char *const api_names[] = {
    [API_AUTO] = "auto",
    [API_HTTP] = "http",
    [API_OPENAI_CHAT] = "openai-chat",
    [API_OPENAI_COMPLETIONS] = "openai-completions",
    [API_OPENAI_EMBEDDINGS] = "openai-embeddings",
    [API_RERANK] = "rerank",
    [API_TGI] = "tgi",
    [API_TRITON_GENERATE] = "triton-generate",
    [API_SGLANG] = "sglang",
    [API_TFSERVING_HTTP] = "tfserving-http",
    [API_KSERVE_HTTP] = "kserve-http",
    [API_GRPC] = "grpc",
    [API_KSERVE_GRPC] = "kserve-grpc",
    [API_TRITON_GRPC_STREAM] = "triton-grpc-stream",
    [API_TFSERVING_GRPC] = "tfserving-grpc",
    [API_COUNT] = NULL,
};

/* A path that contains `inside` and ends with `end`; the first match counts. */
static const struct {
    const char *inside;
    const char *end;
    enum api_kind kind;
} rules[] = {
    {"", "/chat/completions", API_OPENAI_CHAT},
    {"", "/completions", API_OPENAI_COMPLETIONS},
    {"", "/embeddings", API_OPENAI_EMBEDDINGS},
    {"", "/rerank", API_RERANK},
    {"/models/", "/generate_stream", API_TRITON_GENERATE},
    {"/models/", "/generate", API_TRITON_GENERATE},
    {"", "/generate_stream", API_TGI},
    {"/models/", "/infer", API_KSERVE_HTTP},
    {"/models/", ":predict", API_TFSERVING_HTTP},
    {"/models/", ":classify", API_TFSERVING_HTTP},
    {"/models/", ":regress", API_TFSERVING_HTTP},
};

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* Length without the query and trailing slashes. */
static size_t path_len(const char *path)
{
    size_t len = strcspn(path, "?#");

    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

bool api_path_is_whole(enum api_kind kind, const char *path)
{
    return (kind == API_TGI || kind == API_TRITON_GENERATE) &&
           ends_with(path, path_len(path), "/generate");
}

bool api_path_takes_examples(const char *path)
{
    size_t len = path_len(path);

    return ends_with(path, len, ":classify") ||
           ends_with(path, len, ":regress");
}

enum api_kind api_detect(const char *path, const char **hint)
{
    size_t len = path_len(path);

    if (hint)
        *hint = ends_with(path, len, "/generate") ? "tgi or sglang" : NULL;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const char *inside = strstr(path, rules[i].inside);

        if (inside && inside <= path + len &&
            ends_with(path, len, rules[i].end)) {
            if (hint)
                *hint = NULL;
            return rules[i].kind;
        }
    }
    return API_HTTP;
}

/* Ends of paths that other APIs have, and ends that lack something. */
static const struct {
    const char *end;
    const char *name;  /* of an API that is not supported */
    const char *whole; /* or what is probably meant */
} doubts[] = {
    {"/responses", "OpenAI Responses", NULL},
    {"/messages", "Anthropic Messages", NULL},
    {"/audio/transcriptions", "OpenAI transcription", NULL},
    {"/audio/speech", "OpenAI speech", NULL},
    {"/images/generations", "OpenAI image", NULL},
    {"/api/generate", "Ollama", NULL},
    {"/api/chat", "Ollama", NULL},
    {":generateContent", "Gemini", NULL},
    {":streamGenerateContent", "Gemini", NULL},
    {"/v1", NULL, "/chat/completions"},
    {"/v1/chat", NULL, "/completions"},
};

/* More letters than these differ only by chance. */
#define MAX_EDITS 2

/* The last part of a path with as many slashes as `end`, or from its last
 * colon; the whole path if it has fewer. */
static const char *tail_like(const char *path, const char *end)
{
    const char *at = path + strlen(path);
    const char *colon = strrchr(path, ':');

    if (end[0] == ':')
        return colon ? colon : path;
    for (; *end; end++) {
        if (*end != '/')
            continue;
        do {
            if (at == path)
                return path;
        } while (*--at != '/');
    }
    return at;
}

static bool doubt_typo(const char *path, const char *end, struct buf *out)
{
    const char *tail = tail_like(path, end);
    struct suggest s = {.word = tail};

    if (strlen(end) > strlen(tail) + MAX_EDITS)
        return false; /* a name that only begins like it */
    suggest_consider(&s, end);
    if (!s.best || s.distance == 0 || s.distance > MAX_EDITS)
        return false;
    buf_addf(out, "'%s' is not the path of a known API; did you mean '%.*s%s'?",
             path, (int)(tail - path), path, s.best);
    return true;
}

static void doubt_typos(const char *path, struct buf *out)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strstr(path, rules[i].inside) &&
            doubt_typo(path, rules[i].end, out))
            return;
    }
    doubt_typo(path, "/generate", out); /* of two APIs: no rule has it */
}

void api_doubt_path(const char *path, struct buf *out)
{
    size_t len = path_len(path);
    char *whole = xstrndup(path, len);

    for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
        if (!ends_with(path, len, doubts[i].end))
            continue;
        if (doubts[i].name)
            buf_addf(out, "the %s API is not supported yet", doubts[i].name);
        else
            buf_addf(out,
                     "'%s' is not the path of a known API; did you mean "
                     "'%s%s'?",
                     whole, whole, doubts[i].whole);
        free(whole);
        return;
    }
    if (api_detect(path, NULL) == API_HTTP)
        doubt_typos(whole, out);
    free(whole);
}

/* gRPC methods, by API. */
static const char *const methods[API_COUNT] = {
    [API_KSERVE_GRPC] = "/inference.GRPCInferenceService/ModelInfer",
    [API_TRITON_GRPC_STREAM] =
        "/inference.GRPCInferenceService/ModelStreamInfer",
    [API_TFSERVING_GRPC] = "/tensorflow.serving.PredictionService/Predict",
};

enum api_kind api_detect_grpc(const char *path)
{
    if (strcmp(path, "/") == 0)
        return API_KSERVE_GRPC;
    for (int i = 0; i < API_COUNT; i++) {
        if (methods[i] && strcmp(path, methods[i]) == 0)
            return (enum api_kind)i;
    }
    return API_GRPC;
}

const char *api_grpc_method(enum api_kind kind)
{
    return methods[kind];
}

bool api_is_grpc(enum api_kind kind)
{
    return kind == API_GRPC || methods[kind];
}

/* What an API can do, besides the plain request and answer. */
enum { TENSORS = 1, STREAMS = 2 };

static const unsigned char abilities[API_COUNT] = {
    [API_TFSERVING_HTTP] = TENSORS,
    [API_KSERVE_HTTP] = TENSORS,
    [API_KSERVE_GRPC] = TENSORS,
    [API_TFSERVING_GRPC] = TENSORS,
    [API_TRITON_GRPC_STREAM] = TENSORS | STREAMS,
    [API_GRPC] = STREAMS,
    [API_OPENAI_CHAT] = STREAMS,
    [API_OPENAI_COMPLETIONS] = STREAMS,
    [API_TGI] = STREAMS,
    [API_TRITON_GENERATE] = STREAMS,
    [API_SGLANG] = STREAMS,
};

bool api_takes_tensors(enum api_kind kind)
{
    return abilities[kind] & TENSORS;
}

bool api_can_stream(enum api_kind kind)
{
    return abilities[kind] & STREAMS;
}

bool api_generates(enum api_kind kind)
{
    return api_can_stream(kind) && !api_is_grpc(kind);
}
