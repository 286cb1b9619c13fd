/* However the bytes are cut, the parser sees the same message.  The first two
 * bytes of the input say what is read and how it is cut. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/http_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct http1 parser;
    struct buf headers;
    struct buf body;
    ssize_t used; /* -1: refused */
};

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct run *run = arg;

    buf_add(&run->headers, name, name_len);
    buf_adds(&run->headers, "\n");
    buf_add(&run->headers, value, value_len);
    buf_adds(&run->headers, "\n");
}

static void on_body(void *arg, const char *data, size_t len)
{
    buf_add(&((struct run *)arg)->body, data, len);
}

static const struct http1_hooks hooks = {.header = on_header, .body = on_body};

static void feed_all(struct run *run, unsigned flags, const char *text,
                     size_t len, size_t step)
{
    size_t used = 0;

    buf_init(&run->headers, (size_t)1 << 24);
    buf_init(&run->body, (size_t)1 << 24);
    http1_init(&run->parser, flags & 1 ? HTTP1_REQUEST : HTTP1_RESPONSE, &hooks,
               run);
    run->parser.is_head_request = flags & 2;
    while (used < len && !http1_is_done(&run->parser)) {
        size_t want = len - used < step ? len - used : step;
        ssize_t n = http1_feed(&run->parser, text + used, want);

        if (n < 0) {
            run->used = -1;
            return;
        }
        used += (size_t)n;
    }
    run->used = (ssize_t)used;
}

static void run_fini(struct run *run)
{
    http1_fini(&run->parser);
    buf_fini(&run->headers);
    buf_fini(&run->body);
}

static void compare_bytes(const struct buf *a, const struct buf *b)
{
    if (a->len != b->len || memcmp(buf_text(a), buf_text(b), a->len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run whole;
    struct run cut;

    if (size < 2)
        return 0;
    feed_all(&whole, data[0], (const char *)data + 2, size - 2, size);
    feed_all(&cut, data[0], (const char *)data + 2, size - 2, data[1] % 16 + 1);
    if (whole.used != cut.used || whole.parser.error != cut.parser.error ||
        whole.parser.state != cut.parser.state ||
        whole.parser.status != cut.parser.status ||
        whole.parser.keeps_alive != cut.parser.keeps_alive)
        abort();
    compare_bytes(&whole.headers, &cut.headers);
    compare_bytes(&whole.body, &cut.body);
    run_fini(&whole);
    run_fini(&cut);
    return 0;
}
