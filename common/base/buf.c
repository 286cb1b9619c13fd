#include "common/base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

#define FIRST_CAP 64

void buf_init(struct buf *b, size_t max)
{
    assert(max > 0);
    *b = (struct buf){.max = max};
}

void buf_fini(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.max = b->max};
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->overflowed = false;
    if (b->data)
        b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t len)
{
    size_t need;

    if (len > b->max - b->len) {
        b->overflowed = true;
        return NULL;
    }
    need = b->len + len + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : FIRST_CAP;

        while (cap < need)
            cap *= 2;
        b->data = xrealloc(b->data, cap, 1);
        b->cap = cap;
    }
    return b->data + b->len;
}

void buf_swap(struct buf *a, struct buf *b)
{
    struct buf was = *a;

    *a = *b;
    *b = was;
}

int buf_add(struct buf *b, const void *data, size_t len)
{
    char *p = buf_reserve(b, len);

    if (!p)
        return -1;
    if (len > 0)
        memcpy(p, data, len);
    buf_commit(b, len);
    return 0;
}

int buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int rc;

    va_start(ap, fmt);
    s = xvasprintf(fmt, ap);
    va_end(ap);
    rc = buf_adds(b, s);
    free(s);
    return rc;
}

void buf_commit(struct buf *b, size_t len)
{
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_consume(struct buf *b, size_t len)
{
    assert(len <= b->len);
    if (len == 0)
        return;
    b->len -= len;
    memmove(b->data, b->data + len, b->len);
    b->data[b->len] = '\0';
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

static _Atomic int64_t max = INT64_MAX;
static _Atomic int64_t taken;

void budget_set(int64_t bytes)
{
    atomic_store_explicit(&max, bytes, memory_order_relaxed);
}

bool budget_take(int64_t bytes)
{
    int64_t sum =
        atomic_fetch_add_explicit(&taken, bytes, memory_order_relaxed) + bytes;

    if (sum <= atomic_load_explicit(&max, memory_order_relaxed))
        return true;
    budget_give(bytes);
    return false;
}

void budget_give(int64_t bytes)
{
    atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed);
}

bool budget_is_tight(void)
{
    return atomic_load_explicit(&taken, memory_order_relaxed) >
           atomic_load_explicit(&max, memory_order_relaxed) / 2;
}
