/* rows.h - requests made by hand, with facts that can be reckoned in the head.
 * Times in ms, as tests like to say them. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "common/measure/measure.h"
#include "common/spec/slo.h"

/* Issued when due and sent 1 ms later, over a connection that was there; head,
 * first and last come together, e2e_ms after it was due. */
struct facts row_ok(int64_t seq, int64_t due_ms, int64_t e2e_ms);

/* Issued and sent in the same way, and over at due + e2e_ms without an answer.
 */
struct facts row_failed(int64_t seq, int64_t due_ms, int64_t e2e_ms,
                        enum outcome outcome);

/* Never issued. */
struct facts row_unsent(int64_t seq, int64_t due_ms);

/* Terms separated by commas; "" for none.  Fails the test if one is wrong. */
struct slo slo_of(const char *terms);

#endif
