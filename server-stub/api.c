#include "server-stub/api.h"

#include <stddef.h>
#include <string.h>

static const struct api_ops *const apis[] = {
    &api_openai_chat,
    &api_openai_completions,
};

const struct api_ops *api_for(const char *path)
{
    for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
        if (strcmp(apis[i]->path, path) == 0)
            return apis[i];
    }
    return &api_plain;
}

static bool read_anything(const struct exchange *x, struct call *call)
{
    (void)x;
    (void)call;
    return true;
}

const struct api_ops api_plain = {
    .name = "plain",
    .read = read_anything,
};
