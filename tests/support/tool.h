/* tool.h - programs of the system that tests need: openssl, nginx. */
#ifndef TESTS_SUPPORT_TOOL_H
#define TESTS_SUPPORT_TOOL_H

#include <sys/types.h>

#define TOOL(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Found in PATH or, since daemons live there, in /usr/sbin.  What it says goes
 * to the file `log`.  It ends with the test, if not before. */
pid_t tool_start(const char *const *argv, const char *log);

/* It must end with 0. */
void tool_run(const char *const *argv, const char *log);

/* SIGTERM, and it must end with 0. */
void tool_stop(pid_t pid);

#endif
