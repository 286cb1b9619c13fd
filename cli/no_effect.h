/* no_effect.h - settings that were given and that a run will make nothing of.
 * They contradict nothing, so they are no error; but somebody meant something
 * by them. */
#ifndef CLI_NO_EFFECT_H
#define CLI_NO_EFFECT_H

struct run_plan;
struct settings;

/* Called for each: its key, and why. */
typedef void no_effect_fn(void *arg, const char *key, const char *why);

/* Of resolved settings, with what preflight() found. */
void no_effect_find(const struct settings *s, const struct run_plan *known,
                    no_effect_fn *found, void *arg);

#endif
