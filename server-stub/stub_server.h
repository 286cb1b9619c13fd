/* stub_server.h - the life of a request between the front and the simulation.
 *
 * What happens when is the simulation's; this puts it into words and bytes,
 * faults included, and into the truth log.
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

/* After the front, which ends what is still at hand.  Accepts NULL. */
void server_free(struct server *server);

/* A request is there, and is answered through `wire`; the front's hooks call
 * these two. */
void server_request(struct server *server, struct exchange *x,
                    const struct wire_ops *wire);
void server_ended(struct server *server, struct exchange *x, int64_t sent_ns);

/* When there is something to do next; INT64_MAX if there is nothing. */
int64_t server_next_ns(const struct server *server);

/* Do what is due by `now_ns`. */
void server_advance(struct server *server, int64_t now_ns);

/* By how much accepting a connection is put off at this time. */
int64_t server_accept_delay_ns(struct server *server, int64_t now_ns);

#endif
