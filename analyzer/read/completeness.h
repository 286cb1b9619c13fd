/* completeness.h - are the tables of a recording the run's, all of it and
 * nothing else?
 *
 * What is missing is counted, and judged both ways.  What is there twice, or is
 * another run's, cannot be told from the rest: then there is no answer.
 */
#ifndef ANALYZER_READ_COMPLETENESS_H
#define ANALYZER_READ_COMPLETENESS_H

#include <stdint.h>

#include "analyzer/read/client_log.h"
#include "analyzer/tally/tally.h"

struct err;
struct recording;

/* Requests that there must have been: as the manifest says, or, of a run that
 * was killed, by the places that were seen and what the client wrote down. */
int64_t completeness_expected(const struct tally *t,
                              const struct client *client,
                              const struct recording *rec);

/* Of those that are missing, in an offline run that was killed: all were due,
 * and as many as may be were in flight; that the rest was sent nobody has seen.
 */
int64_t completeness_never_sent(const struct tally *t,
                                const struct client *client,
                                const struct recording *rec);

/* ERR_FORMAT if there are more requests than there must have been, or more
 * content events (`events` of them were read) than the requests have. */
int completeness_check_surplus(const struct tally *t, int64_t events,
                               const struct client *client,
                               const struct recording *rec, struct err *err);

#endif
