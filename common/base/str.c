#include "common/base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* ---- "did you mean" ---- */

#define MAX_WORD 32
#define MIN_PREFIX                                                             \
    3 /* shorter words do not match the start of a longer one                  \
       */

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance of a and the first nb bytes of b, where swapping two neighbours
 * is one edit (Damerau-Levenshtein); SIZE_MAX for long words. */
static size_t distance(const char *a, const char *b, size_t nb)
{
    size_t rows[3][MAX_WORD + 1]; /* the last three, in turn */

    if (strlen(a) > MAX_WORD || nb > MAX_WORD)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= strlen(a); i++) {
        const size_t *before = rows[(i + 1) % 3];
        const size_t *last = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = min_of(min_of(last[j], row[j - 1]) + 1,
                            last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_of(row[j], before[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][nb];
}

/* Accepts one edit per three letters or part of three. */
void suggest_consider(struct suggest *s, const char *candidate)
{
    size_t len = strlen(s->word);
    size_t d = distance(s->word, candidate, strlen(candidate));

    if (len >= MIN_PREFIX && strlen(candidate) > len)
        d = min_of(d, distance(s->word, candidate, len) + 1);
    if (d > (len + 2) / 3 || (s->best && d >= s->distance))
        return;
    s->best = candidate;
    s->distance = d;
}

const char *suggest_text(const struct suggest *s, const char *prefix, char *out,
                         size_t size)
{
    out[0] = '\0';
    if (s->best)
        snprintf(out, size, "; did you mean '%s%s'?", prefix, s->best);
    return out;
}

/* ---- text that is safe to show ---- */

/* Decode the character at p.  Returns its length, or 0 if it is not UTF-8. */
static size_t decode(const char *p, const char *end, uint32_t *c)
{
    unsigned char lead = (unsigned char)*p;
    size_t len = lead < 0x80 ? 1 : utf8_len(p, end);

    *c = len == 1 ? lead : lead & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++)
        *c = *c << 6 | ((unsigned char)p[i] & 0x3fU);
    return len;
}

/* Does a terminal obey it, or reorder text because of it? */
static bool is_obeyed(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

size_t printable_len(const char *p, const char *end)
{
    uint32_t c;
    size_t len = decode(p, end, &c);

    return len > 0 && !is_obeyed(c) ? len : 0;
}

void printable(char *text, size_t len, const char *kept)
{
    char *end = text + len;

    while (text < end) {
        size_t n = printable_len(text, end);
        uint32_t c;

        if (n == 0 && *text && strchr(kept, *text))
            n = 1;
        if (n == 0) {
            n = decode(text, end, &c);
            n = n > 0 ? n : 1;
            memset(text, '?', n);
        }
        text += n;
    }
}

void printable_add(const char *text, struct buf *out)
{
    size_t len = strlen(text);
    size_t at = out->len;

    if (buf_add(out, text, len) == 0)
        printable(out->data + at, len, "");
}

void str_add_quoted(struct buf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:,+=@%";

    if (text[0] && text[strspn(text, plain)] == '\0') {
        buf_adds(out, text);
        return;
    }
    buf_adds(out, "'");
    for (; *text; text++)
        buf_addf(out, *text == '\'' ? "'\\''" : "%c", *text);
    buf_adds(out, "'");
}

void printable_add_json(const char *json, size_t len, struct buf *out)
{
    const char *end = json + len;
    const char *from = json;

    for (const char *p = json; p < end;) {
        uint32_t c = 0;
        size_t n = decode(p, end, &c);

        if (n == 0 || c == '\n' || !is_obeyed(c)) {
            p += n > 0 ? n : 1; /* jansson writes UTF-8, and no other control */
            continue;
        }
        buf_add(out, from, (size_t)(p - from));
        buf_addf(out, "\\u%04x", (unsigned)c);
        p += n;
        from = p;
    }
    buf_add(out, from, (size_t)(end - from));
}

/* ---- base64 ---- */

int base64_decode(const char *text, size_t len, struct buf *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/-_";
    uint32_t bits = 0;
    int n_bits = 0;

    for (size_t i = 0; i < 2 && len > 0 && text[len - 1] == '='; i++)
        len--;
    if (len % 4 == 1)
        return -1;
    for (size_t i = 0; i < len; i++) {
        const char *at = memchr(letters, text[i], sizeof(letters) - 1);
        ptrdiff_t value = at ? at - letters : 0;
        char byte;

        if (!at)
            return -1;
        bits = bits << 6 | (uint32_t)(value < 64 ? value : value - 2);
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        byte = (char)(bits >> n_bits & 0xff);
        if (buf_add(out, &byte, 1))
            return -1;
    }
    return 0;
}

/* ---- the size of a regular expression ---- */

#define MAX_DEPTH 100

struct sizes {
    double outer[MAX_DEPTH]; /* sums of the enclosing groups */
    size_t depth;
    double sum;  /* of the current group */
    double last; /* the part of it that a repetition would repeat */
};

static void add_part(struct sizes *s, double size)
{
    s->sum += size;
    s->last = size;
}

static void repeat_part(struct sizes *s, double times)
{
    s->sum += s->last * (times - 1);
    s->last *= times;
}

static void close_group(struct sizes *s)
{
    double inside = s->sum + 1;

    if (s->depth == 0)
        return;
    s->sum = s->outer[--s->depth];
    add_part(s, inside);
}

/* "{2}", "{2,}" and "{2,5}" repeat by the larger number.  Returns the end. */
static const char *read_repetition(struct sizes *s, const char *at)
{
    double times = 1;

    for (; *at && *at != '}'; at++) {
        char *end;

        if (!isdigit((unsigned char)*at))
            continue;
        times = fmax(times, (double)strtoul(at, &end, 10));
        at = end - 1;
    }
    repeat_part(s, times);
    return at + (*at == '}');
}

/* Returns the end of the part at `at`. */
static const char *read_part(struct sizes *s, const char *at)
{
    switch (*at++) {
    case '\\':
        add_part(s, 1);
        return at + (*at != '\0');
    case '[': /* a "]" that comes first is part of the set */
        add_part(s, 1);
        at += *at == '^';
        at += *at == ']';
        at += strcspn(at, "]");
        return at + (*at == ']');
    case '(':
        if (s->depth < MAX_DEPTH)
            s->outer[s->depth++] = s->sum;
        else
            s->outer[0] = INFINITY;
        s->sum = 0;
        s->last = 0;
        return at;
    case ')':
        close_group(s);
        return at;
    case '{':
        return read_repetition(s, at);
    case '+':
    case '*':
    case '?':
        repeat_part(s, 2);
        return at;
    default:
        add_part(s, 1);
        return at;
    }
}

double regexsize_of(const char *text)
{
    struct sizes s = {0};

    while (*text)
        text = read_part(&s, text);
    while (s.depth > 0)
        close_group(&s);
    return fmax(1, s.sum);
}
