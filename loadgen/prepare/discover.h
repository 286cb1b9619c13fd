/* discover.h - asks the server before the run for what the settings leave open:
 * the model and its inputs. */
#ifndef LOADGEN_PREPARE_DISCOVER_H
#define LOADGEN_PREPARE_DISCOVER_H

struct err;
struct settings;

/* Fill in what is not set: the model, from /v1/models, the inputs of the model,
 * and a nonce; for a run with classes, those of each class.  ERR_IO if the
 * server does not answer, ERR_CONFIG if the user has to choose. */
int discover(struct settings *s, struct err *err);

/* Refuse settings that are wrong whatever the server answers, before it is
 * asked.  ERR_CONFIG. */
int discover_check(const struct settings *s, struct err *err);

#endif
