/* profile_requests.h - the requests of a profile one by one, for formats that
 * list them, and the fullest second of the run: most events, most requests in
 * flight, counted while the events are read, so that no event has to be kept.
 */
#ifndef ANALYZER_PROFILE_PROFILE_REQUESTS_H
#define ANALYZER_PROFILE_PROFILE_REQUESTS_H

#include "analyzer/profile/profile.h"

/* Prompt tokens as the server counted them, else as requested; 0: unknown. */
int64_t profile_input(const struct facts *f);

void profile_requests_add(struct profile_requests *list, const struct facts *f,
                          const struct profile_ops *ops,
                          const struct profile_run *run, bool succeeds);

/* After the last one: bring them into order. */
void profile_requests_sort(struct profile_requests *list);

/* Of a sorted list; NULL: it is not in it. */
struct profile_request *
profile_requests_find(const struct profile_requests *list, int64_t seq);

/* The next pause of a request of a sorted list. */
void profile_requests_add_pause(struct profile_requests *list,
                                struct profile_request *r, double ns);

/* After the last one: store the pauses of each request next to each other. */
void profile_requests_finish(struct profile_requests *list);

/* Seconds start with the first success.  Only successes are counted. */
struct peaks {
    size_t n;         /* seconds; 0: peaks are not computed */
    int64_t *events;  /* per second; owned */
    int64_t *started; /* minus those that ended before; owned */
};

/* After the last request was listed.  peaks_fini() must follow. */
void peaks_init(struct peaks *p, struct profile_requests *list);
void peaks_fini(struct peaks *p);

/* The next pause between two content events of a listed request. */
void peaks_add_pause(struct peaks *p, struct profile_request *r, double ns);

/* After the last event. */
struct profile_peaks peaks_finish(struct peaks *p,
                                  struct profile_requests *list);

#endif
