/* stub_server.h - the life of a request between the front and the simulation.
 *
 * The simulation decides what happens when.  This module turns it into bytes,
 * faults included, and into rows of the truth log.
 */
#ifndef SERVER_STUB_STUB_SERVER_H
#define SERVER_STUB_STUB_SERVER_H

#include <stdint.h>

struct exchange;
struct server;
struct stub_config;
struct stub_settings;
struct truth_log;
struct wire_ops;

/* All borrowed; `truth` may be NULL.  Time begins at `epoch_ns`. */
struct server *server_new(const struct stub_settings *settings,
                          const struct stub_config *config,
                          struct truth_log *truth, int64_t epoch_ns);

/* Call it after freeing the front, which ends the open requests.  Accepts NULL.
 */
void server_free(struct server *server);

/* A request has arrived and is answered through `wire`; its exchange has ended.
 * The hooks of the front call these. */
void server_request(struct server *server, struct exchange *x,
                    const struct wire_ops *wire);
void server_ended(struct server *server, struct exchange *x, int64_t sent_ns);

/* Time of the next thing to do, or INT64_MAX. */
int64_t server_next_ns(const struct server *server);

/* Do everything that is due by `now_ns`. */
void server_advance(struct server *server, int64_t now_ns);

/* How long to delay accepting a connection that arrives now. */
int64_t server_accept_delay_ns(struct server *server, int64_t now_ns);

#endif
