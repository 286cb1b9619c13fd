/* printable.h - text from elsewhere, safe to show on a terminal.
 *
 * Servers, files and recordings choose texts that we show.  Characters that a
 * terminal obeys instead of showing must not get through: C0 controls (ESC and
 * with it every escape sequence), DEL, C1 controls (U+0080 to U+009F),
 * characters that reorder text (U+202A to U+202E, U+2066 to U+2069), and bytes
 * that are not UTF-8.  Every text sink uses this: messages, the log, standard
 * output, the live view; JSON has \u escapes instead, by the same rule.  Pure.
 */
#ifndef COMMON_BASE_PRINTABLE_H
#define COMMON_BASE_PRINTABLE_H

#include <stddef.h>

struct buf;

/* Bytes of the character at p, before `end`, if it is safe to show; else 0. */
size_t printable_len(const char *p, const char *end);

/* Put '?' for every byte of a text that is not safe to show, in place.  The
 * characters in `kept`, such as "\n\t", stay where they are intended. */
void printable(char *text, size_t len, const char *kept);

/* Append a text on one line. */
void printable_add(const char *text, struct buf *out);

/* Append JSON with \u escapes for what is not safe to show in it, which can
 * only be in its strings. */
void printable_add_json(const char *json, size_t len, struct buf *out);

#endif
