/* answer.h - the few texts that the stub ever sends, made once at the start. */
#ifndef SERVER_STUB_ANSWER_H
#define SERVER_STUB_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http1.h"

/* The body is JSON: 2 bytes are the least that can be. */
#define ANSWER_MIN_BODY 2
#define ANSWER_MAX_BODY ((int64_t)64 << 20)

struct answer {
    struct buf text;
    size_t head_len; /* what a HEAD request gets */
};

struct answers {
    struct answer ok[2]; /* [1]: and the connection stays open */
    struct answer refusal[HTTP1_ERROR_COUNT]; /* 400, by what was wrong */
};

/* `body_bytes` within the bounds above. */
void answers_init(struct answers *answers, int64_t body_bytes);
void answers_fini(struct answers *answers);

#endif
