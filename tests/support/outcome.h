/* outcome.h - how a run ended, for tests of what can go wrong. */
#ifndef TESTS_SUPPORT_OUTCOME_H
#define TESTS_SUPPORT_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "tests/support/proc.h"

struct json_t;

/* Wait; it must end so. */
void must_end(struct proc *p, int status);

/* The same for a run that records to `dir`, see run_expect(). */
void run_must_end(struct proc *p, const char *dir, int status);

/* The same for a run that fails, and whose timeout is so short that a busy
 * machine may keep the client from sending a request within it: that one is
 * unsent, and the numbers are withdrawn. */
struct json_t *run_must_fail(struct proc *p, const char *dir);

/* The same where all of the n requests that are sent time out, saying so. */
void run_must_time_out(struct proc *p, const char *dir, int n,
                       const char *text);

/* Start it and wait for it; `dir` is to be found in argv as well. */
void run_for(const char *const *argv, const char *dir, int status);

/* `tailgate stub` with these arguments, and against it `tailgate run` with
 * those and -q -o `dir`, which must end so; its summary. */
struct json_t *run_on_stub(const char *const *stub, const char *const *run,
                           const char *dir, int status);

/* Until the run that records to `dir` has written down a request with this
 * outcome that comes after `seq` in the schedule; which one that is. */
int64_t wait_for_outcome(const char *dir, enum outcome outcome, int64_t seq);

/* How many failed so: "reset", "status", ... */
double failures_of(const struct json_t *summary, const char *outcome);

/* How many said so when they failed, of this outcome. */
double failures_saying(const struct json_t *summary, const char *outcome,
                       const char *text);

/* Did the trust check of this name fail? */
bool check_failed(const struct json_t *summary, const char *name);

#endif
