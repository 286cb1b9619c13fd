/* probe_disturbed.h - did the client, or the machine that it shares with the
 * stub server, affect the result of a probe?  Then the probe is discarded.
 *
 * The trust checks (analyzer/verdict/trust.h) compare delays with the measured
 * values, which makes a disturbance that delays everything look small.  A probe
 * counts requests beyond a limit, so here delays are compared with the limit.
 */
#ifndef ANALYZER_SEARCH_PROBE_DISTURBED_H
#define ANALYZER_SEARCH_PROBE_DISTURBED_H

#include "analyzer/search/search.h"

struct hist;
struct recording;
struct search_terms;
struct summary;

/* Does what the term limits include the lag of client and stub? */
bool disturbed_concerns(const struct slo_term *t);

/* Did the client delay so many requests that the counts are useless? */
bool disturbed_by_lag(const struct slo_term *t, const struct search_counts *c);

/* The name of the failed check, a static text; NULL: none.  `late` is the
 * lateness of the stub (TRUTH_STUB); NULL: no stub. */
const char *disturbed_by(const struct summary *s, const struct hist *late,
                         const struct search_terms *terms,
                         const struct search_result *r);

/* The same, into r->discarded, using the truth log if it can be read. */
void disturbed_find(const struct summary *s, struct recording *rec,
                    const struct search_terms *terms, struct search_result *r);

#endif
