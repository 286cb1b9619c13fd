#include "tests/support/responserig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"

void responserig_init(struct responserig *rig, enum api_kind kind)
{
    struct err err = {0};

    *rig = (struct responserig){0};
    settings_init(&rig->settings);
    rig->settings.target.api = (int)kind;
    assert_int_equal(api_init(&rig->api, &rig->settings, &err), 0);
}

void responserig_fini(struct responserig *rig)
{
    response_fini(&rig->response);
    api_fini(&rig->api);
    settings_fini(&rig->settings);
}

void responserig_begin(struct responserig *rig, const char *type)
{
    rig->facts = facts_unknown(7, 0);
    response_begin(&rig->response, &rig->api, &rig->facts);
    response_header(&rig->response, "Content-Type", 12, type, strlen(type));
}

void responserig_begin_stream(struct responserig *rig)
{
    responserig_begin(rig, "text/event-stream; charset=utf-8");
}

void responserig_take(struct responserig *rig, int64_t at_ns, const char *text)
{
    response_take(&rig->response, 200, at_ns, text, strlen(text));
}

const char *responserig_finish(struct responserig *rig, int64_t at_ns)
{
    return response_finish(&rig->response, 200, at_ns);
}
