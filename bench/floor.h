/* floor.h - what the bare clients have in common.
 *
 * A bare client shows what the machine allows: one thread, N kept connections,
 * each with one request on its way, and nothing recorded.  Every response is
 * taken to be as long as the first one, so that reading is counting.  Only the
 * event loop, and whether there is TLS (floor_io.h), differ between them.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct floor_client;

struct floor_conn {
    struct floor_client *client;
    int fd;
    struct ssl_st *ssl; /* NULL: no TLS */
    size_t got;         /* bytes of the response that is on its way */
};

struct floor_client {
    char *request; /* owned; the same bytes every time */
    size_t request_len;
    size_t response_len;
    struct floor_conn *conns; /* owned */
    int n_conns;
    int64_t start_ns;
    int64_t end_ns; /* when to stop */
    int64_t done;   /* responses */
};

/* From HOST PORT CONNECTIONS SECONDS BODY, HOST being an IPv4 address: connect,
 * learn how long a response is, send the first request on every connection.
 * Says what is wrong and returns -1 if it cannot; floor_end() is due then too.
 */
int floor_begin(struct floor_client *client, int argc, char **argv);

/* A connected socket that blocks; says what is wrong and returns -1. */
struct sockaddr_in;
int floor_connect(const struct sockaddr_in *address);

/* Read once from a connection that has something, and send the next request if
 * that was the end of a response.  -1 if the connection is broken. */
int floor_read(struct floor_conn *conn);

/* Print requests and seconds. */
void floor_print(const struct floor_client *client);

void floor_end(struct floor_client *client);

#endif
