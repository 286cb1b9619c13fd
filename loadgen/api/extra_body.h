/* extra_body.h - members of the user's that are added to each body that is
 * made. */
#ifndef LOADGEN_API_EXTRA_BODY_H
#define LOADGEN_API_EXTRA_BODY_H

struct api;
struct buf;
struct err;

/* Read target.extra_body, an object or @FILE, as what stands behind the
 * members of a body: ,"top_k":1.  NULL: nothing.  ERR_CONFIG. */
int extra_read(const char *extra, struct buf *out, struct err *err);

/* Refuse members that a body has without them: which of two counts would be
 * the server's choice.  ERR_CONFIG. */
int extra_check(const struct api *api, struct err *err);

#endif
