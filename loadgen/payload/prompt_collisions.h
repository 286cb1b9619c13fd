/* prompt_collisions.h - how many synthetic prompts will be equal by chance:
 * there are only a few different prompts of one or two tokens.  Pure. */
#ifndef LOADGEN_PAYLOAD_PROMPT_COLLISIONS_H
#define LOADGEN_PAYLOAD_PROMPT_COLLISIONS_H

struct settings;

/* The expected number of requests, out of `requests`, whose prompt was sent
 * before although prompts are to be unique; 0 if prompts are not synthetic or
 * need not be unique. */
double prompt_collisions_expected(const struct settings *s, double requests);

#endif
