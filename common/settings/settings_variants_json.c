/* The variant of a study in a manifest. */
#include <jansson.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/settings/variant_settings.h"

struct json_t *variants_to_json(const struct settings *s)
{
    json_t *list;

    if (s->varied.len == 0)
        return NULL;
    list = json_array();
    for (size_t i = 0; i < s->varied.len; i++)
        json_array_append_new(list, json_string(s->varied.items[i]));
    return json_pack("{so}", "keys", list);
}

int variants_from_json(struct settings *s, const struct json_t *json,
                       struct err *err)
{
    const json_t *list = json_object_get(json, "keys");
    const json_t *item;
    size_t i;

    strlist_fini(&s->varied);
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return err_set(err, ERR_FORMAT,
                           "settings in the manifest: variant: not of the "
                           "kind it should be");
        strlist_add(&s->varied, json_string_value(item));
    }
    return 0;
}
