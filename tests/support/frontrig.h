/* frontrig.h - the front of the stub over a pair of sockets, with a clock and
 * answers in the test's hands. */
#ifndef TESTS_SUPPORT_FRONTRIG_H
#define TESTS_SUPPORT_FRONTRIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "server-stub/front/front.h"
#include "server-stub/front/http_answer.h"

#define FRONTRIG_BODY "{\"pad\":\"xx\"}"
#define FRONTRIG_HEAD(connection)                                              \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"                    \
    "Connection: " connection "\r\nContent-Length: 12\r\n\r\n"
#define FRONTRIG_KEPT   FRONTRIG_HEAD("keep-alive") FRONTRIG_BODY
#define FRONTRIG_CLOSED FRONTRIG_HEAD("close") FRONTRIG_BODY
#define FRONTRIG_ONE    "GET / HTTP/1.1\r\n\r\n"

struct loop;

struct frontrig {
    struct clk_fake clock;
    struct loop *loop;
    struct answer answers[2];
    struct front *front;
    int client;
    bool holds;            /* the test answers, not the hook */
    struct exchange *held; /* the last request that was held */
    int requests;
    int ended;
    struct exchange asked; /* the last request, as it came ... */
    struct buf body;       /* ... and its body */
    int64_t sent_ns;       /* of the last that ended */
};

/* One that answers a GET with 200 and a body of a number of bytes, kept alive
 * or not as the client wants it. */
void frontrig_begin(struct frontrig *rig, int64_t body_bytes);

/* The same with hooks of the test's own, whose argument is the rig. */
void frontrig_begin_hooked(struct frontrig *rig, const struct front_hooks *with,
                           int64_t body_bytes);

/* Over TCP, which can be reset.  What one end sends is at the other when the
 * call returns, since both are here. */
void frontrig_begin_tcp(struct frontrig *rig);

/* Every request must have been reported as ended. */
void frontrig_end(struct frontrig *rig);

/* What the hooks do. */
void frontrig_on_request(void *arg, struct exchange *x);
void frontrig_on_ended(void *arg, struct exchange *x, int64_t sent_ns);

/* To one that was held. */
void frontrig_answer(struct frontrig *rig, struct exchange *x);

/* As many passes as it takes to do whatever there is to do. */
void frontrig_pass(struct frontrig *rig);

/* The client sends this, and the front does what there is to do. */
void frontrig_say(struct frontrig *rig, const char *text, size_t len);

/* Add what came to `heard`; true if the server has closed. */
bool frontrig_hear(struct frontrig *rig, struct buf *heard);

/* This came, no more and no less, and the server has closed or not. */
void frontrig_expect(struct frontrig *rig, const char *want, bool closes);

#endif
