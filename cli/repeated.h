/* repeated.h - a run that repeats a recording: what was not the same. */
#ifndef CLI_REPEATED_H
#define CLI_REPEATED_H

/* Say in which of the client's environment, version, transport, endpoints and
 * data the new recording differs from the one it repeats.  One that cannot be
 * read is said to be so. */
void repeated_note(const char *old_dir, const char *new_dir);

#endif
