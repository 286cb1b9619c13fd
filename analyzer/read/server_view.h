/* server_view.h - what the server said of itself in the window: one pass over
 * server.tgr.  Pure but for serverview_read().
 *
 * Gauges are averaged over the looks in the window; of counters what they grew
 * by between its first and its last look is taken, so that the server's past,
 * and other clients before the run, have no part in it.
 */
#ifndef ANALYZER_READ_SERVER_VIEW_H
#define ANALYZER_READ_SERVER_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/notes.h"
#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

/* Over the n looks that have it. */
struct look_gauge {
    int64_t n;
    double sum;
    int64_t max;
};

/* From the first look that has it to the last. */
struct look_counter {
    bool is_seen;
    int64_t from_ns;
    int64_t to_ns;
    int64_t last;
    double grown; /* a server that starts anew counts from 0 */
};

struct server_view {
    struct window window;
    int64_t looks;  /* in the window, ... */
    int64_t failed; /* ... of which failed */
    struct look_gauge running;
    struct look_gauge waiting;
    struct look_gauge present; /* both, where both are known */
    struct look_gauge cache_use;
    struct look_counter queue_sum_us;
    struct look_counter queue_count;
    struct look_counter prompt_tokens;
    struct look_counter generated_tokens;
    struct look_counter cached_tokens;
    struct look_counter preemptions;
    struct look_counter requests;
};

/* What that comes to; below 0: not known. */
struct server_summary {
    bool is_there;   /* the recording has such a table; else nothing holds */
    bool is_unknown; /* or a page without series that are known: only its url */
    const char *dialect; /* borrowed from the recording; NULL: not known */
    const char *url;     /* likewise */
    bool is_partial;     /* requests went to others as well */
    int64_t looks;       /* in the window */
    int64_t failed;      /* of those */
    double running_mean;
    double running_max;
    double waiting_mean;
    double waiting_max;
    double present_mean;    /* running and waiting */
    double client_mean;     /* sent and not over, as the client saw it */
    double cache_mean;      /* shares of one */
    double cache_max;       /* likewise */
    double queue_mean_ns;   /* a request */
    double prompt_per_s;    /* tokens */
    double generated_per_s; /* likewise */
    double cached_share;    /* of the prompts' tokens */
    double preemptions;
    double requests_per_s; /* answered */
};

void server_view_init(struct server_view *v, struct window window);
void server_view_add(struct server_view *v, const struct server_scrape *look);

/* Every row of DIR/server.tgr; false if there is no such file. */
bool server_view_read(struct server_view *v, const char *dir);

/* All but whose it is.  `client_mean`: requests in flight in the window. */
struct server_summary server_view_sum_up(const struct server_view *v,
                                         double client_mean);

/* Does the server know of far fewer requests than the client has sent?  Then
 * something holds them back on the way; *note says so. */
bool server_view_misses_requests(const struct server_summary *s,
                                 struct note *note);

#endif
