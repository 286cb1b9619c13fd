/* responserig.h - answers by hand: bytes and times in, facts out. */
#ifndef TESTS_SUPPORT_RESPONSERIG_H
#define TESTS_SUPPORT_RESPONSERIG_H

#include <stddef.h>
#include <stdint.h>

#include "common/settings/settings.h"
#include "loadgen/api/response.h"

#define DONE "data: [DONE]\n\n"

/* One chunk of a chat with this content. */
#define TOKEN(text)                                                            \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text          \
    "\"},\"finish_reason\":null}]}\n\n"
#define ROLE                                                                   \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","      \
    "\"content\":\"\"},\"finish_reason\":null}]}\n\n"
#define FINISH(why)                                                            \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why   \
    "\"}]}\n\n"
#define USAGE(prompt, output)                                                  \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" prompt               \
    ",\"completion_tokens\":" output "}}\n\n"

struct responserig {
    struct settings settings;
    struct api api;
    struct facts facts;
    struct response response;
};

void responserig_init(struct responserig *rig, enum api_kind kind);
void responserig_fini(struct responserig *rig);

/* A new answer, of this content type. */
void responserig_begin(struct responserig *rig, const char *type);
void responserig_begin_stream(struct responserig *rig);

/* Bytes of its body, and its end. */
void responserig_take(struct responserig *rig, int64_t at_ns, const char *text);
const char *responserig_finish(struct responserig *rig, int64_t at_ns);

#endif
