/* cost_asked.h - the table of prices that a command which reads recordings is
 * given. */
#ifndef CLI_COST_ASKED_H
#define CLI_COST_ASKED_H

struct cost_ask;
struct err;
struct prices;

#define PRICES_HELP                                                            \
    "CSV file of machine,usd_per_hour; each recording is priced by its "       \
    "machine, or its condition 'hardware'"

/* Read the file, if one is named, into `table`, and have `ask` use it, whose
 * other fields are set.  ERR_USAGE if they contradict each other.  `table` is
 * the caller's to end if that succeeds. */
int cost_asked(struct cost_ask *ask, struct prices *table, const char *path,
               struct err *err);

#endif
