/* fetch.h - one page of a server, by the way that a run would take. */
#ifndef LOADGEN_PREPARE_FETCH_H
#define LOADGEN_PREPARE_FETCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct fetch;
struct json_t;
struct target_settings;

/* Get ready to GET what is at `url`; the settings are borrowed.  Credentials
 * go to the target's origin only: target_aim().  May block to resolve a name.
 * ERR_CONFIG, ERR_IO. */
int fetch_new(struct fetch **fetch, const struct target_settings *s,
              const char *url, int64_t max_body, struct err *err);
void fetch_free(struct fetch *fetch);

/* Try the addresses of its server, and keep those that answer.  ERR_IO if none
 * does. */
int fetch_probe(struct fetch *fetch, int64_t timeout_ns, struct err *err);

/* The page, which must come with a status 2xx, in place of what `body` held.
 * Blocks.  ERR_IO; ERR_STOPPED if common/base/stop.h's flag was set or
 * `cancel`, which may be NULL, became true. */
int fetch_page(struct fetch *fetch, int64_t timeout_ns,
               const atomic_bool *cancel, struct buf *body, struct err *err);

/* The first target's URL with another path; the caller frees it. */
char *fetch_url(const struct target_settings *s, const char *path);

/* A unary call of gRPC; everything is borrowed. */
struct fetch_message {
    const char *method; /* "/package.Service/Method" */
    const struct buf *message;
    int64_t timeout_ns;
    struct buf *reply; /* the answer, in place of what it held */
    int64_t *status;   /* its code, if it was another than OK */
};

/* Call the first target's server.  Blocks.  ERR_IO, of a failing status as
 * well; ERR_STOPPED. */
int fetch_message(const struct target_settings *s,
                  const struct fetch_message *m, struct err *err);

/* What is at `path` of the first target's server, as JSON; the caller owns the
 * reference.  ERR_IO, as a run would say it, if the server cannot be reached,
 * and "<need>: GET http://host/v1/models: ..." if nothing of use is there. */
int fetch_json(const struct target_settings *s, const char *path,
               const char *need, struct json_t **json, struct err *err);

#endif
