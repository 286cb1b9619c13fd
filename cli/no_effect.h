/* no_effect.h - settings that are given but have no effect in a run.  They are
 * not an error, but the user should know. */
#ifndef CLI_NO_EFFECT_H
#define CLI_NO_EFFECT_H

struct run_plan;
struct settings;

/* Called for each: its key and the reason. */
typedef void no_effect_fn(void *arg, const char *key, const char *why);

/* The settings are resolved; `known` is what preflight() found. */
void no_effect_find(const struct settings *s, const struct run_plan *known,
                    no_effect_fn *found, void *arg);

#endif
