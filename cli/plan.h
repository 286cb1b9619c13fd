/* plan.h - what a run would do, said before it does anything. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stddef.h>

struct err;
struct run_plan;
struct settings_args;

/* Print the plan of resolved settings, and warn of what speaks against it.
 * Sends nothing, but refuses all that a run would refuse before it asks
 * anybody.  ERR_CONFIG, ERR_IO. */
int plan_print(struct settings_args *a, struct err *err);

/* The warnings alone; `arg` is the struct settings_args. */
void plan_warn(void *arg, const struct run_plan *known);

/* The same of settings with variants: of each of them, as `read` reads them. */
int plan_print_variants(size_t n,
                        int (*read)(const char *const *argv, size_t i,
                                    struct settings_args *a, struct err *err),
                        const char *const *argv, struct err *err);

#endif
