/* json_text.h - a string of JSON as it stands in the text, and what it means.
 *
 * The pieces that common/jscan hands out; most have no escapes and mean what
 * they are.
 */
#ifndef COMMON_BASE_JSON_TEXT_H
#define COMMON_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf;

/* The inside of a string, quotes left off; checked by whoever made it. */
struct jtext {
    const char *at; /* borrowed from the text */
    size_t len;
    bool has_escapes;
};

/* The slow way of jtext_is(), for strings with escapes. */
bool jtext_is_escaped(struct jtext text, const char *s);

/* Does the string mean this? */
static inline bool jtext_is(struct jtext text, const char *s)
{
    size_t len = strlen(s);

    if (text.has_escapes)
        return jtext_is_escaped(text, s);
    return text.len == len && memcmp(text.at, s, len) == 0;
}

/* Append what the string means, in UTF-8; half of a surrogate pair becomes
 * U+FFFD.  -1 if it does not fit; some of it is then there. */
int jtext_decode(struct jtext text, struct buf *out);

/* Append text as the inside of a string of JSON; other bytes than those that
 * must be escaped are taken as they are, UTF-8 or not.  -1 if it does not fit.
 */
int jtext_encode(const char *text, size_t len, struct buf *out);

/* Bytes of the escape at p, a backslash; 0 if there is no such escape. */
size_t jtext_escape_len(const char *p, const char *end);

#endif
