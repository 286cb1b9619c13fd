/* search_client.h - what the client of a search cannot do, and whether that is
 * the load or a machine that is disturbed now and then.  Pure.
 *
 * A client's limit is no wall: now and then a run above it goes well, and one
 * below it is disturbed.  So it is the load from which on most runs are set
 * aside, and how sure that is comes from how much better two rates of
 * disturbances, below and above it, explain all runs than a single one, and
 * from how often the client had nothing left.  A run below it has gone well. */
#ifndef ANALYZER_SEARCH_SEARCH_CLIENT_H
#define ANALYZER_SEARCH_SEARCH_CLIENT_H

#include <stdbool.h>

#include "analyzer/search/search_evidence.h"

/* The part of the evidence about the client; `client` must be INFINITY. */
void client_take(struct evidence *e, const struct search *s);

/* Was it discarded because the client had no time, no connection, or no local
 * port, open file or memory left? */
bool client_is_spent(const struct search_result *r);

#endif
