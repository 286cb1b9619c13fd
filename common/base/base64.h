/* base64.h - bytes that were written as text (RFC 4648). */
#ifndef COMMON_BASE_BASE64_H
#define COMMON_BASE_BASE64_H

#include <stddef.h>

struct buf;

/* Append what the text stands for; its padding may be missing, and the letters
 * may be those for URLs.  -1 if it is none, or does not fit; some of it may
 * then be there. */
int base64_decode(const char *text, size_t len, struct buf *out);

#endif
