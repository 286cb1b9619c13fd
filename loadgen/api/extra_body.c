#include "loadgen/api/extra_body.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "loadgen/api/api.h"
#include "loadgen/prepare/target.h"

/* Of a member's name in a message. */
#define MAX_SHOWN 60

/* The members of an object, each behind a comma. */
static int add_members(const char *text, size_t len, struct buf *out,
                       struct err *err)
{
    struct jscan s;
    struct jtext key;
    const char *from = NULL;

    jscan_init(&s, text, len);
    if (!jscan_object(&s))
        return err_set(err, ERR_CONFIG, "must be a JSON object");
    while (jscan_key(&s, &key)) {
        if (!from)
            from = key.at - 1;
        jscan_skip(&s);
    }
    if (!jscan_end(&s))
        return err_set(err, ERR_CONFIG, "is not JSON");
    if (from) {
        const char *to = text + len;

        while (*--to != '}')
            continue;
        buf_adds(out, ",");
        buf_add(out, from, (size_t)(to - from));
    }
    return 0;
}

int extra_read(const char *extra, struct buf *out, struct err *err)
{
    struct buf text;
    int rc;

    if (!extra)
        return 0;
    buf_init(&text, TARGET_MAX_REQUEST);
    rc = extra[0] == '@' ? file_read(extra + 1, &text, err)
                         : buf_adds(&text, extra);
    buf_consume(&text, str_bom_len(text.data, text.len));
    if (rc == 0)
        rc = add_members(buf_text(&text), text.len, out, err);
    buf_fini(&text);
    return rc ? err_context(err, "target.extra_body") : 0;
}

/* ---- is a member said twice? ---- */

/* What says it instead. */
static const char *way_of(struct jtext member)
{
    static const struct {
        const char *member;
        const char *flag;
    } ways[] = {
        {"model", "--model"},
        {"stream", "--stream"},
        {"max_completion_tokens", "--output-len"},
        {"max_tokens", "--output-len"},
        {"min_tokens", "--ignore-eos"},
        {"ignore_eos", "--ignore-eos"},
        {"temperature", "--temperature"},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (jtext_is(member, ways[i].member))
            return ways[i].flag;
    }
    return "--body";
}

static bool is_same(struct jtext a, struct jtext b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Is there a member of this name before it? */
static bool is_said_before(const struct buf *body, struct jtext name)
{
    struct jscan s;
    struct jtext key;

    jscan_init(&s, buf_text(body), body->len);
    jscan_object(&s);
    while (jscan_key(&s, &key) && key.at < name.at) {
        if (is_same(key, name))
            return true;
        jscan_skip(&s);
    }
    return false;
}

/* Raw tensors may stand behind the object: its end is not looked at. */
static int check_body(const struct buf *body, struct err *err)
{
    struct jscan s;
    struct jtext key;

    jscan_init(&s, buf_text(body), body->len);
    jscan_object(&s);
    while (jscan_key(&s, &key)) {
        size_t shown = key.len < MAX_SHOWN ? key.len : MAX_SHOWN;

        if (is_said_before(body, key))
            return err_set(err, ERR_CONFIG,
                           "target.extra_body: a body has a member '%.*s' "
                           "already; it is said with %s",
                           (int)shown, key.at, way_of(key));
        jscan_skip(&s);
    }
    return 0;
}

int extra_check(const struct api *api, struct err *err)
{
    const struct sample sample = sample_draw(&api->sampler, 0, NULL);
    struct buf body;
    int rc;

    if (api->extra.len == 0 || !api->ops->write)
        return 0;
    buf_init(&body, TARGET_MAX_REQUEST);
    api->ops->write(api, &sample, &body);
    rc = check_body(&body, err);
    buf_fini(&body);
    return rc;
}
