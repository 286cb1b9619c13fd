/* Whatever a server of gRPC sends, in whichever API, as one message or as a
 * stream, and however the call ends: the facts are consistent, and what is no
 * answer is no success.
 * An input is the API, a length by which a stream is cut into messages, and
 * bytes. */
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
    API_KSERVE_GRPC,
    API_TRITON_GRPC_STREAM,
    API_TFSERVING_GRPC,
    API_GRPC,
};

/* Each message in memory of its own, so that reading beyond it is seen. */
static void take(struct response *r, const uint8_t *data, size_t len)
{
    char *copy = xcalloc(len + 1, 1);

    memcpy(copy, data, len);
    copy = xrealloc(copy, len > 0 ? len : 1, 1);
    if (r->api->streams)
        response_message(r, NS_PER_MS, copy, len);
    else
        response_take(r, 0, NS_PER_MS, copy, len);
    free(copy);
}

static struct facts read_all(const struct api *api, size_t step,
                             const uint8_t *data, size_t len, bool is_broken)
{
    struct facts f = facts_unknown(0, 0);
    struct response r = {0};

    response_begin(&r, api, &f);
    if (api->streams)
        response_expect_messages(&r);
    for (size_t at = 0; at < len; at += step)
        take(&r, data + at, len - at < step ? len - at : step);
    if (is_broken) {
        f.outcome = OUTCOME_RESET;
        response_break(&r, "reset");
    } else {
        response_finish(&r, 0, NS_PER_MS);
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
    if (f->check == CHECK_PASSED && f->outcome != OUTCOME_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings settings;
    struct api api;
    struct facts whole;
    struct facts broken;
    struct err err = {0};
    size_t step;

    if (size < 2)
        return 0;
    settings_init(&settings);
    settings.target.api =
        (int)kinds[data[0] % (sizeof(kinds) / sizeof(kinds[0]))];
    settings.target.model = xstrdup("m");
    strlist_add(&settings.data.tensors, "x FP32 1");
    strlist_add(&settings.checks, "contains x");
    strlist_add(&settings.checks, "tensor y = 1");
    if (api_init(&api, &settings, &err))
        abort();
    step = api.streams ? data[1] + (size_t)1 : size;
    whole = read_all(&api, step, data + 2, size - 2, false);
    broken = read_all(&api, step, data + 2, size - 2, true);
    check(&whole);
    check(&broken);
    api_fini(&api);
    settings_fini(&settings);
    return 0;
}
