/* corpus.h - texts that a terminal would obey, and whether one got through. */
#ifndef TESTS_SUPPORT_CORPUS_H
#define TESTS_SUPPORT_CORPUS_H

#include <stddef.h>

struct hostile {
    const char *what;
    const char *text; /* without NUL and newline */
};

extern const struct hostile corpus[];
extern const size_t corpus_len;

/* All of them in one text, with words between. */
#define CORPUS                                                                 \
    "a\x1b]0;owned\x07"                                                        \
    "b\x1b[31mc\x9b"                                                           \
    "d\xc2\x9b"                                                                \
    "31m\xc2\x9d"                                                              \
    "0;t\xc2\x9c"                                                              \
    "e\xe2\x80\xae"                                                            \
    "f\xe2\x81\xa6"                                                            \
    "g\xff\xfe"                                                                \
    "h\xc0\x9b"                                                                \
    "i\xed\xa0\x80"                                                            \
    "j\x7f\b\x0e"                                                              \
    "k"

/* The same in JSON, as far as it is UTF-8; newline included. */
#define CORPUS_JSON                                                            \
    "a\\u001b]0;owned\\u0007b\\u001b[31mc\\u009b31m\\u009d0;t\\u009c"          \
    "d\\u202ee\\u2066f\\u007f\\b\\r\\ng"

/* A text that was shown has nothing of that kind; newlines and tabs aside. */
void corpus_check(const char *where, const char *shown);

#endif
