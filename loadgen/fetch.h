/* fetch.h - one GET, by the way that a run would take, before it starts. */
#ifndef LOADGEN_FETCH_H
#define LOADGEN_FETCH_H

struct err;
struct json_t;
struct target_settings;

/* What is at `path` of the first target's server, as JSON; the caller owns the
 * reference.  ERR_IO "GET /v1/models: ..." if nothing of use is. */
int fetch_json(const struct target_settings *s, const char *path,
               struct json_t **json, struct err *err);

#endif
