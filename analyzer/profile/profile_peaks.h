/* profile_peaks.h - the fullest second of a run: most events, most requests in
 * flight. Counted while the events are read, so that no event has to be kept.
 */
#ifndef ANALYZER_PROFILE_PROFILE_PEAKS_H
#define ANALYZER_PROFILE_PROFILE_PEAKS_H

#include "analyzer/profile/profile.h"

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
