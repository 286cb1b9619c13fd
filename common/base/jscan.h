/* jscan.h - JSON text, read in one pass by whoever knows what to look for.
 *
 * A pull scanner: no tree and no memory.  The caller asks for the value that
 * comes next, and names what it does not want to jscan_skip():
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
 *         it was no JSON, and what was found is not to be used;
 *
 * All that is passed over is checked against RFC 8259, strings for UTF-8 too,
 * so that jscan_end() answers for the whole text.  Jansson agrees, except:
 *
 *   - nesting is bounded by JSCAN_MAX_DEPTH, jansson's by 2048;
 *   - a number may have any size, and a key may hold \u0000;
 *   - a NUL byte is refused; jansson passes over one after a number or word;
 *   - half of a surrogate pair (\ud83d alone) is taken, as the RFC's grammar
 *     does: servers that count in UTF-16 cut an emoji in two.
 */
#ifndef COMMON_BASE_JSCAN_H
#define COMMON_BASE_JSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/json_text.h"

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
    const char *end; /* once it has failed, at == end */
    int depth;
    bool is_fresh;   /* just inside of { or [ */
    bool has_failed; /* this is no JSON; stays */
};

/* The text is borrowed until the last call. */
void jscan_init(struct jscan *s, const char *text, size_t len);

/* What comes next?  Takes nothing, and checks its first byte alone. */
enum jscan_type jscan_peek(struct jscan *s);

/* Take the next value, whatever it is; false if it is broken. */
bool jscan_skip(struct jscan *s);

/* Each of these takes the next value.  Of another kind than asked for, it is
 * skipped and the answer is false, and *out as it was: so null, which servers
 * like to send, needs no case of its own.  False too if the text is broken. */
bool jscan_string(struct jscan *s, struct jtext *out);
bool jscan_bool(struct jscan *s, bool *out);

/* A number without fraction and exponent that fits. */
bool jscan_int(struct jscan *s, int64_t *out);

/* A finite number of less than JSCAN_MAX_NUMBER bytes. */
#define JSCAN_MAX_NUMBER 128
bool jscan_number(struct jscan *s, double *out);

/* These two go into the value.  What is in it must then be taken to the end:
 * until jscan_key() or jscan_item() has said false. */
bool jscan_object(struct jscan *s);
bool jscan_array(struct jscan *s);

/* Is there a next member, or item?  If so its value must be taken. */
bool jscan_key(struct jscan *s, struct jtext *key);
bool jscan_item(struct jscan *s);

/* Was that all, and all of it JSON? */
bool jscan_end(struct jscan *s);

#endif
