#include "cli/repeated.h"

#include <jansson.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/recording/manifest.h"

/* Parts of a manifest that a repetition should have alike. */
static const char *const parts[] = {"tailgate",  "environment", "endpoints",
                                    "transport", "data",        "trace"};

/* A value in a line; the caller frees it. */
static char *shown(const json_t *value)
{
    if (!value)
        return NULL;
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static int note_pair(const char *part, const char *key, const json_t *old,
                     const json_t *new)
{
    char *before;
    char *after;

    if (old == new || json_equal(old, new))
        return 0;
    before = shown(old);
    after = shown(new);
    log_note("           %s%s%s: %s, now %s", part, key ? "." : "",
             key ? key : "", before ? before : "(not known)",
             after ? after : "(not known)");
    free(before);
    free(after);
    return 1;
}

/* Members of either, and those of the second that the first has not. */
static int note_members(const char *part, json_t *old, json_t *new)
{
    const char *key;
    json_t *value;
    int n = 0;

    json_object_foreach(old, key, value)
    {
        n += note_pair(part, key, value, json_object_get(new, key));
    }
    json_object_foreach(new, key, value)
    {
        if (!json_object_get(old, key))
            n += note_pair(part, key, NULL, value);
    }
    return n;
}

static int note_part(const char *part, const struct manifest *old,
                     const struct manifest *new)
{
    json_t *before = json_object_get(old->json, part);
    json_t *after = json_object_get(new->json, part);

    if (json_is_object(before) && json_is_object(after))
        return note_members(part, before, after);
    return note_pair(part, NULL, before, after);
}

void repeated_note(const char *old_dir, const char *new_dir)
{
    struct manifest old = {0};
    struct manifest new = {0};
    struct err err = {0};
    int n = 0;

    if (manifest_load(&old, old_dir, &err) ||
        manifest_load(&new, new_dir, &err)) {
        log_error("%s", err.msg);
    } else {
        log_note("repeated   %s; what differs beside the numbers:", old_dir);
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            n += note_part(parts[i], &old, &new);
        if (n == 0)
            log_note("           nothing that was written down");
    }
    manifest_fini(&old);
    manifest_fini(&new);
}
