/* h2raw.h - a server of HTTP/2 without TLS that answers each request with the
 * same frames, such as no honest server would send. */
#ifndef TESTS_SUPPORT_H2RAW_H
#define TESTS_SUPPORT_H2RAW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/support/rawserver.h"

/* A frame as it goes out; `is_of_stream`: with the request's number, else with
 * 0. */
struct h2raw_frame {
    unsigned char type;
    unsigned char flags;
    bool is_of_stream;
    const char *payload;
    size_t len;
};

#define H2RAW_DATA       0
#define H2RAW_HEADERS    1
#define H2RAW_RST_STREAM 3
#define H2RAW_SETTINGS   4
#define H2RAW_PING       6
#define H2RAW_GOAWAY     7
#define H2RAW_WINDOW     8
#define H2RAW_CONTINUED  9

#define H2RAW_END_STREAM  1
#define H2RAW_END_HEADERS 4
#define H2RAW_PADDED      8

struct h2raw {
    pid_t pid;
    char url[40];         /* grpc://127.0.0.1:PORT, or http:// */
    atomic_bool *is_held; /* of an endless one; else NULL */
};

/* Frames up to one with a payload of NULL are borrowed until it is stopped.
 * Then, if `closes`, the connection is closed. */
struct h2raw h2raw_start(const struct h2raw_frame *frames, bool closes);

/* The same for requests of HTTP.  Each client gets the frames of `hello` first;
 * NULL: SETTINGS without any. */
struct h2raw h2raw_start_http(const struct h2raw_frame *hello,
                              const struct h2raw_frame *frames,
                              enum raw_ending ending);

/* A server that sends the frames of `hello` to each client.  After the first
 * HEADERS it reads no more, and repeats the frames of `flood` until the socket
 * is full. */
struct h2raw h2raw_start_deaf(const struct h2raw_frame *hello,
                              const struct h2raw_frame *flood);

/* A server that answers a request with an endless stream of gRPC messages of
 * `len` zeros, as fast as flow control allows.  *is_held is true while it has
 * been waiting for flow control for 50 ms or more. */
struct h2raw h2raw_start_endless(size_t len);

void h2raw_stop(struct h2raw *s);

#endif
