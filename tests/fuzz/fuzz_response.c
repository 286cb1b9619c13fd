/* Whatever a server sends, in whichever API, however it is cut and however its
 * connection ends: the facts are the same, they are consistent, and what is not
 * whole is no success.
 * An input is the API, how it is cut, and the bytes of the body; with the top
 * bit of the first byte set it is a stream. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum api_kind kinds[] = {
    API_OPENAI_CHAT,
    API_OPENAI_COMPLETIONS,
    API_OPENAI_EMBEDDINGS,
    API_RERANK,
    API_TGI,
    API_TRITON_GENERATE,
    API_SGLANG,
    API_TFSERVING_HTTP,
    API_KSERVE_HTTP,
};

enum ending { FINISHED, BROKEN };

/* Everything came at one time, so that cuts leave no trace in the facts. */
static struct facts read_cut(const struct api *api, bool is_stream, size_t step,
                             const char *text, size_t len, enum ending ending)
{
    struct facts f = facts_unknown(0, 0);
    struct response r = {0};
    const char *type = is_stream ? "text/event-stream" : "application/json";

    response_begin(&r, api, &f);
    response_header(&r, "content-type", 12, type, strlen(type));
    for (size_t at = 0; at < len; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *copy = xcalloc(n, 1);

        memcpy(copy, text + at, n);
        response_take(&r, 200, NS_PER_MS, copy, n);
        free(copy);
    }
    if (ending == FINISHED) {
        response_finish(&r, 200, NS_PER_MS);
    } else {
        f.outcome = OUTCOME_RESET;
        response_break(&r, "reset");
    }
    for (int64_t i = 0; i < f.events; i++)
        (void)response_event(&r, (size_t)i);
    response_fini(&r);
    return f;
}

static void check(const struct facts *f)
{
    if (f->outcome == OUTCOME_OK && f->first == TIME_ABSENT)
        abort();
    if ((f->outcome == OUTCOME_OK || f->outcome == OUTCOME_RESET) !=
        (f->detail == 0))
        abort();
    if (facts_count(f->events) == TIME_ABSENT)
        abort();
    if (f->events > 0 && f->event_tokens == TIME_ABSENT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings settings;
    struct api api;
    struct facts whole;
    struct facts cut;
    struct facts broken;
    struct err err = {0};
    bool is_stream;

    if (size < 2)
        return 0;
    is_stream = (data[0] & 0x80) != 0;
    settings_init(&settings);
    settings.target.api =
        (int)kinds[(data[0] & 0x7f) % (sizeof(kinds) / sizeof(kinds[0]))];
    strlist_add(&settings.data.tensors, "x FP32 1");
    strlist_add(&settings.checks, "contains x");
    strlist_add(&settings.checks, "json /a/0 = 1");
    strlist_add(&settings.checks, "tensor y = 1");
    if (api_init(&api, &settings, &err))
        abort();
    api.must_stream = is_stream && api.streams;
    whole = read_cut(&api, is_stream, size, (const char *)data + 2, size - 2,
                     FINISHED);
    broken = read_cut(&api, is_stream, size, (const char *)data + 2, size - 2,
                      BROKEN);
    cut = read_cut(&api, is_stream, data[1] + (size_t)1, (const char *)data + 2,
                   size - 2, FINISHED);
    check(&whole);
    check(&broken);
    if (memcmp(&whole, &cut, sizeof(whole)) != 0)
        abort();
    api_fini(&api);
    settings_fini(&settings);
    return 0;
}
