/* forty.h - runs of forty requests, all of which must end alike. */
#ifndef TESTS_SUPPORT_FORTY_H
#define TESTS_SUPPORT_FORTY_H

#include "tests/support/proc.h"
#include "tests/support/tmpdir.h"

struct json_t;

#define FORTY 40

/* A few clients, and a number of requests. */
#define RUN(status, ...)                                                       \
    forty_run(status, ARGS("run", "-c", "4", "-n", "40", "-q", "--force",      \
                           "-o", tmpdir_path("run"), __VA_ARGS__))

struct json_t *forty_run(int status, const char *const *argv);

/* All of four at once, see run_must_time_out().  The timeout is long enough for
 * what a busy machine makes of a handshake. */
#define TIME_OUT(text, ...)                                                    \
    four_time_out(text,                                                        \
                  ARGS("run", "-c", "4", "-n", "4", "-q", "--force", "-o",     \
                       tmpdir_path("run"), "--timeout", "1s", __VA_ARGS__))

void four_time_out(const char *text, const char *const *argv);

/* No run of that kind, and nothing recorded, since ... */
#define REFUSED(part, ...)                                                     \
    must_not_start(part, ARGS("run", "-c", "4", "-n", "40", "-q", "-o",        \
                              tmpdir_path("never"), __VA_ARGS__))

void must_not_start(const char *part, const char *const *argv);

/* These take the summary. */
void must_be_ok(struct json_t *summary);
void must_all_say(struct json_t *summary, const char *outcome,
                  const char *text);

/* Libraries word things differently; the part that says it all. */
void must_all_mention(struct json_t *summary, const char *outcome,
                      const char *part);

#endif
