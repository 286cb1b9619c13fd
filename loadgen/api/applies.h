/* applies.h - which settings mean something, by the API and the body.
 *
 * One that nobody would look at is refused: who gives it believes otherwise.
 */
#ifndef LOADGEN_API_APPLIES_H
#define LOADGEN_API_APPLIES_H

struct api;
struct err;

/* The API is initialised.  ERR_CONFIG. */
int applies_check(const struct api *api, struct err *err);

#endif
