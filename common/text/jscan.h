/* jscan.h - a pull scanner for JSON text: one pass, no tree, no allocation.
 *
 * The caller takes one value after the other and passes those that it does not
 * need to jscan_skip():
 *
 *     jscan_init(&s, text, len);
 *     if (jscan_object(&s))
 *         while (jscan_key(&s, &key)) {
 *             if (jtext_is(key, "id"))
 *                 jscan_string(&s, &id);
 *             else
 *                 jscan_skip(&s);
 *         }
 *     if (!jscan_end(&s))
 *         the text is not JSON, and nothing found in it may be used;
 *
 * Everything that is passed is checked against RFC 8259, strings for UTF-8 too,
 * so that jscan_end() vouches for the whole text.  Differences from jansson:
 *
 *   - nesting is limited to JSCAN_MAX_DEPTH (jansson: 2048);
 *   - a number may have any size, and a key may contain \u0000;
 *   - a NUL byte is an error (jansson ignores one after a number or a word);
 *   - half of a surrogate pair (\ud83d alone) is accepted, as in the grammar of
 *     the RFC: servers that count in UTF-16 cut an emoji in two.
 */
#ifndef COMMON_BASE_JSCAN_H
#define COMMON_BASE_JSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf;

#define JSCAN_MAX_DEPTH 64

enum jscan_type {
    JSCAN_NOTHING, /* no value starts here */
    JSCAN_OBJECT,
    JSCAN_ARRAY,
    JSCAN_STRING,
    JSCAN_NUMBER,
    JSCAN_BOOL,
    JSCAN_NULL,
};

struct jscan {
    const char *at;
    const char *end; /* at == end after a failure */
    int depth;
    bool is_fresh;   /* just after { or [ */
    bool has_failed; /* the text is not JSON; never cleared */
};

/* The inside of a JSON string, without the quotes and already checked.  Most
 * have no escapes and are their own meaning. */
struct jtext {
    const char *at; /* borrowed from the text */
    size_t len;
    bool has_escapes;
};

/* The text is borrowed until the last call. */
void jscan_init(struct jscan *s, const char *text, size_t len);

/* The type of the next value.  Takes nothing, and checks only its first byte.
 */
enum jscan_type jscan_peek(struct jscan *s);

/* Take the next value of any type; false if it is malformed. */
bool jscan_skip(struct jscan *s);

/* Each of these takes the next value.  If it has another type (such as the null
 * that servers like to send), it is skipped, *out is unchanged and the result
 * is false.  Also false if the text is malformed. */
bool jscan_string(struct jscan *s, struct jtext *out);
bool jscan_bool(struct jscan *s, bool *out);

/* A number without fraction and exponent that fits. */
bool jscan_int(struct jscan *s, int64_t *out);

/* A finite number of less than JSCAN_MAX_NUMBER bytes. */
#define JSCAN_MAX_NUMBER 128
bool jscan_number(struct jscan *s, double *out);

/* Enter the next value.  The caller must then take all of its members or items,
 * until jscan_key() or jscan_item() returns false. */
bool jscan_object(struct jscan *s);
bool jscan_array(struct jscan *s);

/* Is there another member or item?  If so, its value must be taken. */
bool jscan_key(struct jscan *s, struct jtext *key);
bool jscan_item(struct jscan *s);

/* True if the whole text was taken and is JSON. */
bool jscan_end(struct jscan *s);

/* ---- strings ---- */

/* jtext_is() for strings with escapes. */
bool jtext_is_escaped(struct jtext text, const char *s);

/* Does the string stand for `s`? */
static inline bool jtext_is(struct jtext text, const char *s)
{
    size_t len = strlen(s);

    if (text.has_escapes)
        return jtext_is_escaped(text, s);
    return text.len == len && memcmp(text.at, s, len) == 0;
}

/* Append what the string stands for, in UTF-8; half of a surrogate pair becomes
 * U+FFFD.  -1 if it does not fit; part of it may have been added then. */
int jtext_decode(struct jtext text, struct buf *out);

/* Append text as the inside of a JSON string.  Only what must be escaped is;
 * other bytes are copied, UTF-8 or not.  -1 if it does not fit. */
int jtext_encode(const char *text, size_t len, struct buf *out);

#endif
