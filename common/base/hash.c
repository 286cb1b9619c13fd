#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

#define CHUNK ((size_t)64 << 10)

void sha256_begin(struct sha256 *h)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
        abort();
    h->state = ctx;
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
    EVP_DigestUpdate(h->state, data, len);
}

void sha256_end(struct sha256 *h, char out[static SHA256_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[EVP_MAX_MD_SIZE] = {0};

    EVP_DigestFinal_ex(h->state, bytes, NULL);
    EVP_MD_CTX_free(h->state);
    h->state = NULL;
    for (size_t i = 0; i < (SHA256_TEXT - 1) / 2; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 0xf];
    }
    out[SHA256_TEXT - 1] = '\0';
}

void sha256_bytes(const void *data, size_t len, char out[static SHA256_TEXT])
{
    struct sha256 h;

    sha256_begin(&h);
    sha256_add(&h, data, len);
    sha256_end(&h, out);
}

int sha256_file(const char *path, char out[static SHA256_TEXT], struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *chunk = xcalloc(1, CHUNK);
    struct sha256 h;
    ssize_t n = -1;

    sha256_begin(&h);
    while (fd >= 0 && (n = read(fd, chunk, CHUNK)) > 0)
        sha256_add(&h, chunk, (size_t)n);
    if (n < 0)
        err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    sha256_end(&h, out);
    free(chunk);
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}
