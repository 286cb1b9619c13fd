#include "common/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"

void strlist_add(struct strlist *list, const char *item)
{
    list->items = xrealloc(list->items, list->len + 1, sizeof(*list->items));
    list->items[list->len++] = xstrdup(item);
}

void strlist_fini(struct strlist *list)
{
    for (size_t i = 0; i < list->len; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct strlist){0};
}

void strmap_put(struct strmap *map, const char *key, const char *value)
{
    for (size_t i = 0; i < map->keys.len; i++) {
        if (strcmp(map->keys.items[i], key) == 0) {
            free(map->values.items[i]);
            map->values.items[i] = xstrdup(value);
            return;
        }
    }
    strlist_add(&map->keys, key);
    strlist_add(&map->values, value);
}

const char *strmap_get(const struct strmap *map, const char *key)
{
    for (size_t i = 0; i < map->keys.len; i++) {
        if (strcmp(map->keys.items[i], key) == 0)
            return map->values.items[i];
    }
    return NULL;
}

void strmap_fini(struct strmap *map)
{
    strlist_fini(&map->keys);
    strlist_fini(&map->values);
}

char *str_next_word(char **rest)
{
    char *word = strsep(rest, " ");

    while (word && !word[0])
        word = strsep(rest, " ");
    return word;
}

char *str_replace(const char *text, const char *from, const char *to)
{
    const char *at;
    struct buf out;
    char *replaced;

    buf_init(&out, SIZE_MAX);
    while ((at = strstr(text, from))) {
        buf_add(&out, text, (size_t)(at - text));
        buf_adds(&out, to);
        text = at + strlen(from);
    }
    buf_adds(&out, text);
    replaced = xstrdup(buf_text(&out));
    buf_fini(&out);
    return replaced;
}

char *str_trim(char *text)
{
    size_t len;

    text += strspn(text, " \t");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        text[--len] = '\0';
    return text;
}

size_t str_bom_len(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
