/* show_view.h - an exchange as text: what was sent, what came back, how long
 * it took.  Pure. */
#ifndef CLI_SHOW_VIEW_H
#define CLI_SHOW_VIEW_H

#include "common/base/buf.h"

struct exchange;

/* Lines that were sent start with "> ", those received with "< "; whatever is
 * not printable is escaped (\x00). */
void show_view(const struct exchange *x, struct buf *out);

/* The exit status: was the answer fine, and was there a connection at all? */
int show_exit_code(const struct exchange *x);

#endif
