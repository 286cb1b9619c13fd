/* plan.h - what a run would do, said before it does anything. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

struct err;
struct preflight;
struct settings_args;

/* Print the plan of resolved settings, and warn of what speaks against it.
 * Sends nothing, but refuses all that a run would refuse before it asks
 * anybody.  ERR_CONFIG, ERR_IO. */
int plan_print(struct settings_args *a, struct err *err);

/* The warnings alone; `arg` is the struct settings_args. */
void plan_warn(void *arg, const struct preflight *known);

#endif
