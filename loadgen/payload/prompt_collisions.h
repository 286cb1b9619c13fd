/* prompt_collisions.h - how many of the prompts that are made will be alike by
 * chance: of those with a token or two there are only so many.  Pure. */
#ifndef LOADGEN_PAYLOAD_PROMPT_COLLISIONS_H
#define LOADGEN_PAYLOAD_PROMPT_COLLISIONS_H

struct settings;

/* Of so many requests of resolved settings, how many carry a prompt that was
 * sent before though none was to be, on average; 0 where prompts are not made,
 * or may be alike. */
double prompt_collisions_expected(const struct settings *s, double requests);

#endif
