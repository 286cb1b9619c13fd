/* str.h - lists of strings and ordered maps of strings, as settings hold them,
 * and the words of a text. */
#ifndef COMMON_BASE_STR_H
#define COMMON_BASE_STR_H

#include <stddef.h>

struct strlist {
    char **items; /* owned, with their texts */
    size_t len;
};

struct strmap {
    struct strlist keys;
    struct strlist values; /* as many as keys */
};

void strlist_add(struct strlist *list, const char *item);
void strlist_fini(struct strlist *list);

/* Replaces the value of a key that is there.  Order is that of first use. */
void strmap_put(struct strmap *map, const char *key, const char *value);

/* NULL if there is none. */
const char *strmap_get(const struct strmap *map, const char *key);
void strmap_fini(struct strmap *map);

/* The next of the words between spaces, cut off *rest, which moves on behind
 * it; NULL: there is none. */
char *str_next_word(char **rest);

/* How long the byte order mark is that a text in UTF-8 begins with: 0 or 3. */
size_t str_bom_len(const char *text, size_t len);

/* `text` with `to` wherever it has `from`; the caller owns it. */
char *str_replace(const char *text, const char *from, const char *to);

/* The text without the blanks, tabs and carriage returns around it, which are
 * cut off. */
char *str_trim(char *text);

#endif
