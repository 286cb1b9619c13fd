/* probe_windows.h - how long the runs of a search are: long enough for a queue
 * to grow as long as the objective allows, and for requests to be counted. */
#ifndef ANALYZER_SEARCH_PROBE_WINDOWS_H
#define ANALYZER_SEARCH_PROBE_WINDOWS_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"

/* Windows in seconds: of a probe that only brackets, of one at a light load, of
 * one near the boundary, and of a confirmation. */
double windows_short(const struct search *s, double value);
double windows_light(const struct search *s, double value);
double windows_probe(const struct search *s, const struct evidence *e,
                     double value);
double windows_confirm(const struct search *s, const struct evidence *e,
                       double value);

/* Of one at the client's limit: no estimate is tested, so it is shorter. */
double windows_client(const struct search *s, const struct evidence *e,
                      double value);

/* Is this one shorter than it would be near the boundary? */
bool windows_is_short(const struct search *s, const struct evidence *e,
                      const struct search_result *r);

/* The warm-up before a window of so many seconds. */
double windows_warmup(const struct search *s, double window_s);

/* Requests a second at a value, as far as one knows; 0: nobody does. */
double windows_rate(const struct search *s, double value);

#endif
