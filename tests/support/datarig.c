#include "tests/support/datarig.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"

const char datarig_three[] =
    "{\"prompt\":\"one\",\"label\":\"1\",\"max_tokens\":4,\"k\":{\"a\":1}}\n"
    "{\"prompt\":\"two\\n\",\"label\":\"2\",\"k\":[2]}\n"
    "{\"prompt\":\"three\",\"label\":\"3\\t\",\"k\":\"x\"}\n";

void datarig_set(struct datarig *rig, const char *assignment)
{
    struct err err = {0};

    if (settings_assign(&rig->settings, assignment, &err))
        fail_msg("%s", err.msg);
}

void datarig_init(struct datarig *rig, const char *api, const char *text)
{
    char *choice = keepf("target.api=%s", api);

    *rig = (struct datarig){0};
    settings_init(&rig->settings);
    datarig_set(rig, choice);
    datarig_set(rig, "target.stream=off");
    datarig_set(rig, "data.nonce=5");
    datarig_set(rig, "data.first_id=10");
    datarig_set(rig, "data.last_id=19");
    if (text) {
        struct err err = {0};
        struct buf file;

        datarig_set(rig, "data.file=f");
        buf_init(&file, 100000);
        buf_adds(&file, text);
        if (dataset_read(&rig->data, &rig->settings.data, &file, &err))
            fail_msg("%s", err.msg);
        rig->settings.data.loaded = rig->data;
        buf_fini(&file);
    }
}

void datarig_start(struct datarig *rig)
{
    struct err err = {0};

    if (api_init(&rig->api, &rig->settings, &err))
        fail_msg("%s", err.msg);
}

void datarig_fini(struct datarig *rig)
{
    api_fini(&rig->api);
    dataset_free(rig->data);
    settings_fini(&rig->settings);
}

void datarig_put_body(const struct datarig *rig, int64_t seq, struct buf *out)
{
    struct facts f = facts_unknown(seq, 0);

    buf_reset(out);
    api_make_body(&rig->api, &f, NULL, NULL, out);
}

json_t *datarig_body(const struct datarig *rig, int64_t seq)
{
    struct buf body;
    json_t *json;

    buf_init(&body, 100000);
    datarig_put_body(rig, seq, &body);
    json = json_loadb(buf_text(&body), body.len, 0, NULL);
    if (!json)
        fail_msg("no JSON: %s", buf_text(&body));
    buf_fini(&body);
    return keep(json);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int datarig_count_different(const struct datarig *rig, int n)
{
    char **all = xcalloc((size_t)n, sizeof(*all));
    struct buf body;
    int different = 0;

    buf_init(&body, 100000);
    for (int i = 0; i < n; i++) {
        datarig_put_body(rig, i, &body);
        all[i] = xstrdup(buf_text(&body));
    }
    qsort(all, (size_t)n, sizeof(*all), compare);
    for (int i = 0; i < n; i++)
        different += i == 0 || strcmp(all[i - 1], all[i]) != 0;
    for (int i = 0; i < n; i++)
        free(all[i]);
    free(all);
    buf_fini(&body);
    return different;
}
