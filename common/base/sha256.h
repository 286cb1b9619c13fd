/* sha256.h - SHA-256 of bytes and files, as sha256sum prints it. */
#ifndef COMMON_BASE_SHA256_H
#define COMMON_BASE_SHA256_H

#include <stddef.h>

struct err;

/* In hexadecimal, with its end. */
#define SHA256_TEXT 65

/* Piece by piece: begin, add as often as there are pieces, end. */
struct sha256 {
    void *state; /* owned, from begin to end */
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
void sha256_end(struct sha256 *h, char out[static SHA256_TEXT]);

void sha256_bytes(const void *data, size_t len, char out[static SHA256_TEXT]);

/* ERR_IO. */
int sha256_file(const char *path, char out[static SHA256_TEXT],
                struct err *err);

#endif
