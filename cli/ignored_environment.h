/* ignored_environment.h - what the environment would have us do, and we do not.
 */
#ifndef CLI_IGNORED_ENVIRONMENT_H
#define CLI_IGNORED_ENVIRONMENT_H

struct target_settings;

/* Note that a proxy of the environment is not used, unless one was asked for,
 * nor what it says of hosts that need none. */
void ignored_environment_note_proxy(const struct target_settings *target);

#endif
