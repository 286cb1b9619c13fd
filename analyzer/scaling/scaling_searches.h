/* scaling_searches.h - points of a scaling study from searches
 * (docs/search.md): the capacity at K replicas, with its interval. */
#ifndef ANALYZER_SCALING_SCALING_SEARCHES_H
#define ANALYZER_SCALING_SCALING_SEARCHES_H

struct err;
struct scaling;

/* One that found no capacity is refused.  ERR_IO, ERR_FORMAT. */
int scale_search_read(struct scaling *s, const char *dir, struct err *err);

#endif
