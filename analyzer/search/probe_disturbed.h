/* probe_disturbed.h - did the client, or the machine that it shares with the
 * stub, have a part in what a probe says?  Then it says nothing of the server.
 *
 * A run is judged by what was measured (analyzer/verdict/trust.h), and a
 * disturbance that delays everything looks small beside that.  What a probe
 * counts is who is beyond a limit, so here delays are held against the limit.
 */
#ifndef ANALYZER_SEARCH_PROBE_DISTURBED_H
#define ANALYZER_SEARCH_PROBE_DISTURBED_H

#include "analyzer/search/search.h"

struct hist;
struct recording;
struct search_terms;
struct summary;

/* Is the client's lag, or the stub's, in what the term limits? */
bool disturbed_concerns(const struct slo_term *t);

/* Has the client spoilt so many that the term's counts say nothing? */
bool disturbed_by_lag(const struct slo_term *t, const struct search_counts *c);

/* The check that fails, a static text; NULL: none.  `late` is how late the stub
 * was (TRUTH_STUB), NULL if there was none. */
const char *disturbed_by(const struct summary *s, const struct hist *late,
                         const struct search_terms *terms,
                         const struct search_result *r);

/* The same, into r->set_aside, with the truth log beside the recording, if
 * there is one that can be read. */
void disturbed_find(const struct summary *s, struct recording *rec,
                    const struct search_terms *terms, struct search_result *r);

#endif
