/* server_view.h - the server's own metrics in the window: one pass over
 * server.tgr.  Only server_view_read() does I/O.
 *
 * Gauges are averaged over the scrapes in the window.  For counters the growth
 * between the first and last scrape of the window counts, so that the server's
 * past and other clients before the run have no effect.
 */
#ifndef ANALYZER_READ_SERVER_VIEW_H
#define ANALYZER_READ_SERVER_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/notes.h"
#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

/* Over the n scrapes that have it. */
struct look_gauge {
    int64_t n;
    double sum;
    int64_t max;
};

/* From the first scrape that has it to the last. */
struct look_counter {
    bool is_seen;
    int64_t from_ns;
    int64_t to_ns;
    int64_t last;
    double grown; /* a server that restarts counts from 0 */
};

struct server_view {
    struct window window;
    int64_t looks;  /* scrapes in the window */
    int64_t failed; /* of those */
    struct look_gauge running;
    struct look_gauge waiting;
    struct look_gauge present; /* sum of both, if both are known */
    struct look_gauge cache_use;
    struct look_counter queue_sum_us;
    struct look_counter queue_count;
    struct look_counter prompt_tokens;
    struct look_counter generated_tokens;
    struct look_counter cached_tokens;
    struct look_counter preemptions;
    struct look_counter requests;
};

/* Results; below 0: unknown. */
struct server_summary {
    bool is_there;       /* the recording has the table */
    bool is_unknown;     /* the page has no known series: only url is set */
    const char *dialect; /* borrowed from the recording; NULL: unknown */
    const char *url;     /* borrowed from the recording */
    bool is_partial;     /* requests went to other servers as well */
    int64_t looks;       /* scrapes in the window */
    int64_t failed;      /* of those */
    double running_mean;
    double running_max;
    double waiting_mean;
    double waiting_max;
    double present_mean; /* running and waiting */
    double client_mean;  /* in flight, as seen by the client */
    double cache_mean;   /* shares of one */
    double cache_max;
    double queue_mean_ns;   /* per request */
    double prompt_per_s;    /* tokens */
    double generated_per_s; /* tokens */
    double cached_share;    /* of prompt tokens */
    double preemptions;
    double requests_per_s; /* answered */
};

void server_view_init(struct server_view *v, struct window window);
void server_view_add(struct server_view *v, const struct server_scrape *look);

/* Add every row of DIR/server.tgr; false if there is no such file. */
bool server_view_read(struct server_view *v, const char *dir);

/* Everything but dialect, url and is_partial.  `client_mean`: mean number of
 * requests in flight in the window. */
struct server_summary server_view_sum_up(const struct server_view *v,
                                         double client_mean);

/* Does the server know of far fewer requests than the client has in flight?
 * Then something delays them on the way; *note says so. */
bool server_view_misses_requests(const struct server_summary *s,
                                 struct note *note);

#endif
