/* environment.h - what the client runs on and is made of, as texts for the
 * manifest: whoever repeats a run wants to know. */
#ifndef LOADGEN_OBSERVE_ENVIRONMENT_H
#define LOADGEN_OBSERVE_ENVIRONMENT_H

struct strmap;

/* Files are looked for below `root`: "" but in tests.  What the host does not
 * tell is left out. */
void environment_read(struct strmap *out, const char *root);

#endif
