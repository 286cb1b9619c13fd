/* plan.h - what a run would do, printed before it does anything. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

struct err;
struct run_plan;
struct settings;
struct settings_args;
struct settings_file;
struct strlist;

/* Print the plan of parsed settings, of each variant if they have any, and warn
 * about what is doubtful.  Sends nothing, but refuses everything that a run
 * would refuse before it connects.  ERR_CONFIG, ERR_IO. */
int plan_print(const struct settings_args *a, struct err *err);

/* The warnings alone, for struct run_options; `arg` is the settings file. */
void plan_warn(void *arg, const struct run_plan *known);

/* Warn of URLs that probably mean another API than plain HTTP.  Resolved
 * settings; the file may be empty. */
void plan_warn_of_apis(const struct settings_file *file,
                       const struct settings *s);

/* Warn about terms of `slo` on ttft if answers come in one piece. */
void plan_warn_whole(const struct settings *s, const struct strlist *slo);

#endif
