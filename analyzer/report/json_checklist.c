/* The checklist for programs. */
#include <jansson.h>
#include <string.h>

#include "analyzer/verdict/checklist.h"
#include "common/base/json.h"

void checklist_json(const struct checklist *c, struct buf *out)
{
    json_t *items = json_array();
    json_t *o = json_object();

    for (size_t i = 0; i < c->len; i++) {
        const struct checklist_item *item = &c->items[i];
        json_t *one = json_object();

        json_object_set_new(one, "name", json_string(item->name));
        json_object_set_new(one, "present", json_boolean(item->is_present));
        json_object_set_new(one, "text",
                            json_bytes(item->text, strlen(item->text)));
        json_array_append_new(items, one);
    }
    json_object_set_new(o, "items", items);
    json_object_set_new(o, "of", json_integer((json_int_t)c->len));
    json_object_set_new(o, "missing", json_integer((json_int_t)c->missing));
    json_print(o, out);
    json_decref(o);
}
