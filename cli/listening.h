/* listening.h - --listen and --metrics-file at the command line. */
#ifndef CLI_LISTENING_H
#define CLI_LISTENING_H

struct buf;
struct err;
struct listen;
struct record_args;

/* Serve what is recorded to `dir`, if the flags ask for that; else *l is NULL.
 * Says where.  ERR_USAGE, ERR_IO. */
int listening_start(struct listen **l, const struct record_args *args,
                    const char *dir, struct err *err);

/* Offer the report `page`, maybe empty, and DIR/summary.json; then stop.  A
 * NULL `l` is accepted. */
void listening_stop(struct listen *l, const struct record_args *args,
                    const char *dir, const struct buf *page);

#endif
