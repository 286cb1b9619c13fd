/* fetch.h - gets a page from a server, over the transport that a run would use.
 */
#ifndef LOADGEN_PREPARE_FETCH_H
#define LOADGEN_PREPARE_FETCH_H

#include <stdatomic.h>
#include <stdint.h>

struct buf;
struct err;
struct fetch;
struct json_t;
struct target_settings;

/* Prepare to GET `url`; the settings are borrowed.  Credentials are sent only
 * to the target's origin: target_aim().  May block to resolve a name.
 * ERR_CONFIG, ERR_IO. */
int fetch_new(struct fetch **fetch, const struct target_settings *s,
              const char *url, int64_t max_body, struct err *err);
void fetch_free(struct fetch *fetch);

/* Try the addresses of the server and keep those that answer.  ERR_IO if none
 * does. */
int fetch_probe(struct fetch *fetch, int64_t timeout_ns, struct err *err);

/* Get the page, which must have a status 2xx, into `body`, replacing its
 * contents.  Blocks.  ERR_IO; ERR_STOPPED if the flag of common/base/stop.h is
 * set or `cancel`, which may be NULL, becomes true. */
int fetch_page(struct fetch *fetch, int64_t timeout_ns,
               const atomic_bool *cancel, struct buf *body, struct err *err);

/* The first target's URL with another path; the caller frees it. */
char *fetch_url(const struct target_settings *s, const char *path);

/* A unary gRPC call; everything is borrowed. */
struct fetch_message {
    const char *method; /* "/package.Service/Method" */
    const struct buf *message;
    int64_t timeout_ns;
    struct buf *reply; /* gets the answer, replacing its contents */
    int64_t *status;   /* gets the status code if it is not OK */
};

/* Call the server of the first target.  Blocks.  ERR_IO, also for a status
 * other than OK; ERR_STOPPED. */
int fetch_message(const struct target_settings *s,
                  const struct fetch_message *m, struct err *err);

/* GET `path` from the server of the first target as JSON; the caller owns the
 * reference.  ERR_IO, with the message of a run if the server cannot be
 * reached, otherwise "GET http://host/v1/models: ... (called because <why>)".
 */
int fetch_json(const struct target_settings *s, const char *path,
               const char *why, struct json_t **json, struct err *err);

#endif
