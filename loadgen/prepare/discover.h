/* discover.h - what the server itself can say before the run: which model it
 * has. */
#ifndef LOADGEN_PREPARE_DISCOVER_H
#define LOADGEN_PREPARE_DISCOVER_H

struct err;
struct settings;

/* Fill in what was not given: the model, from /v1/models, and a nonce; of a run
 * with classes that of each.  ERR_IO
 * if the server does not answer, ERR_CONFIG if the choice is the user's. */
int discover(struct settings *s, struct err *err);

/* Refuse, before anybody is asked, what no answer could mend.  ERR_CONFIG. */
int discover_check(const struct settings *s, struct err *err);

#endif
