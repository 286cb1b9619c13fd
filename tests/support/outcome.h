/* outcome.h - how a run ended, for tests of what can go wrong. */
#ifndef TESTS_SUPPORT_OUTCOME_H
#define TESTS_SUPPORT_OUTCOME_H

#include <stdbool.h>

#include "tests/support/proc.h"

struct json_t;

/* Wait; it must end so. */
void must_end(struct proc *p, int status);

/* The same for a run that records to `dir`, see run_expect(). */
void run_must_end(struct proc *p, const char *dir, int status);

/* Start it and wait for it; `dir` is to be found in argv as well. */
void run_for(const char *const *argv, const char *dir, int status);

/* `tailgate stub` with these arguments, and against it `tailgate run` with
 * those and -q -o `dir`, which must end so; the caller owns its summary. */
struct json_t *run_on_stub(const char *const *stub, const char *const *run,
                           const char *dir, int status);

/* How many failed so: "reset", "status", ... */
double failures_of(const struct json_t *summary, const char *outcome);

/* How many said so when they failed, of this outcome. */
double failures_saying(const struct json_t *summary, const char *outcome,
                       const char *text);

/* No check of the run complains, not even in a note: times that were measured
 * are not those of a busy machine. */
bool was_quiet(const struct json_t *summary);

/* Did the trust check of this name fail? */
bool check_failed(const struct json_t *summary, const char *name);

#endif
