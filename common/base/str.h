/* str.h - strings: lists and maps, words, text that is safe to show, "did you
 * mean", base64, and the size of a regular expression. */
#ifndef COMMON_BASE_STR_H
#define COMMON_BASE_STR_H

#include <stddef.h>

struct buf;

struct strlist {
    char **items; /* owned, like their texts */
    size_t len;
};

struct strmap {
    struct strlist keys; /* in the order of first use */
    struct strlist values;
};

void strlist_add(struct strlist *list, const char *item);
void strlist_fini(struct strlist *list);

/* Add a key, or replace its value. */
void strmap_put(struct strmap *map, const char *key, const char *value);

/* NULL if the key is missing. */
const char *strmap_get(const struct strmap *map, const char *key);
void strmap_fini(struct strmap *map);

/* Cut the next space-separated word off *rest and advance *rest past it; NULL
 * at the end. */
char *str_next_word(char **rest);

/* Length of the UTF-8 byte order mark at the start of a text: 0 or 3. */
size_t str_bom_len(const char *text, size_t len);

/* Length of the UTF-8 character at p, whose first byte is above 0x7f; 0 if it
 * is incomplete, overlong, a surrogate, or beyond U+10FFFF. */
static inline size_t utf8_len(const char *p, const char *end)
{
    const unsigned char *b = (const unsigned char *)p;
    size_t len = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;

    if (b[0] < 0xc2 || b[0] > 0xf4 || end - p < (ptrdiff_t)len ||
        (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
        (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    return len;
}

/* A copy of `text` with every `from` replaced by `to`; the caller owns it. */
char *str_replace(const char *text, const char *from, const char *to);

/* Strip blanks, tabs and carriage returns from both ends, in place.  Returns
 * the start of the text. */
char *str_trim(char *text);

/* Append the bytes that base64 text stands for (RFC 4648).  Padding may be
 * missing, and the URL alphabet is accepted.  -1 if it is not base64 or does
 * not fit; part of it may have been added then. */
int base64_decode(const char *text, size_t len, struct buf *out);

/* ---- "did you mean": the known word closest to a mistyped one ---- */

/* Start with {.word = the mistyped word}. */
struct suggest {
    const char *word;
    const char *best; /* borrowed; NULL if no candidate is close enough */
    size_t distance;
};

void suggest_consider(struct suggest *s, const char *candidate);

/* Writes "; did you mean 'rate'?" or "" to out and returns out.  `prefix` is
 * put before the word. */
const char *suggest_text(const struct suggest *s, const char *prefix, char *out,
                         size_t size);

/* ---- text that is safe to show on a terminal ----
 *
 * Servers, files and recordings choose texts that we show.  Characters that a
 * terminal obeys instead of showing must not get through: C0 controls (ESC and
 * with it every escape sequence), DEL, C1 controls (U+0080 to U+009F),
 * characters that reorder text (U+202A to U+202E, U+2066 to U+2069), and bytes
 * that are not UTF-8.  Every text output uses this: messages, the log, standard
 * output, the live view.  JSON has \u escapes for the same characters. */

/* Length of the character at p, before `end`, if it is safe to show; else 0. */
size_t printable_len(const char *p, const char *end);

/* Replace every byte that is not safe to show by '?', in place.  The characters
 * in `kept`, such as "\n\t", are left alone. */
void printable(char *text, size_t len, const char *kept);

/* Append a text on one line, with '?' for what is not safe to show. */
void printable_add(const char *text, struct buf *out);

/* Append a text as one word of a shell's command line: in quotes if it needs
 * them. */
void str_add_quoted(struct buf *out, const char *text);

/* Append JSON text in UTF-8 as jansson writes it; what is not safe to show
 * becomes \uXXXX, except newlines. */
void printable_add_json(const char *json, size_t len, struct buf *out);

/* Approximate number of parts of a POSIX extended regular expression once it is
 * compiled, at least 1.  Repetition copies, and copies of copies multiply:
 * "a++++++++++++++++++++++++++++++" takes gigabytes.  INFINITY if it is nested
 * too deeply.  Does not check the syntax. */
double regexsize_of(const char *text);

#endif
