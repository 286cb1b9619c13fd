/* profile.h - what another tool would have reported for a recording: its ttft,
 * itl, tpot, e2e and rates.
 *
 * Each tool is a table of rules (profile_tools.c).  Its numbers are computed
 * from the recorded facts of the requests that were due in the window, and are
 * shown next to ours with the reason for the difference.  docs/profiles.md
 */
#ifndef ANALYZER_PROFILE_PROFILE_H
#define ANALYZER_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/profile/profile_values.h"
#include "analyzer/tally/window.h"
#include "common/measure/measure.h"

struct buf;
struct err;
struct summary;

enum profile_time {
    PROFILE_TTFT,
    PROFILE_ITL,
    PROFILE_TPOT,
    PROFILE_E2E,
    PROFILE_TIMES,
};

enum profile_rate {
    PROFILE_REQUESTS, /* per second, as the others */
    PROFILE_TOKENS,   /* output tokens */
    PROFILE_GOODPUT,
    PROFILE_RATES,
};

/* How the pauses of a stream become values of itl.  n is the number of tokens
 * of the event that ends the pause. */
enum profile_pause {
    PAUSE_OF_REQUEST, /* not used: value[PROFILE_ITL] has one per request */
    PAUSE_OF_EVENT,   /* one value per pause */
    PAUSE_OF_TOKEN,   /* gap / n, n times */
    PAUSE_STAMPED,    /* the gap, then n - 1 times 0 */
};

/* The time that counts are divided by. */
enum profile_span {
    SPAN_ALL_ENDED,   /* start of the window ... the last end */
    SPAN_CONTENT,     /* first start ... last content, of successes */
    SPAN_REQUESTS,    /* first start ... last end, of all; for goodput of
                         successes */
    SPAN_WINDOW,      /* the window; what ended in it is counted */
    SPAN_LAST_ISSUED, /* start ... end of the request that was due last, and
                         one request less unless it is an offline set */
};

/* What the rules need to know of the run, in addition to the request. */
struct profile_run {
    bool is_chat;
    bool is_sglang; /* its own API */
    bool is_offline;
    struct window window;
};

struct profile_ops {
    const char *name;  /* as in --profile */
    const char *start; /* where its clock starts, in words */
    enum percentile_rule percentile;
    enum profile_span span;
    bool has_goodput;
    bool lacking_is_kept;         /* a limit on what a request does not have */
    enum profile_time tpot_limit; /* what a limit on tpot is held against */
    bool counts_silent; /* an event without content ends a pause, too */

    /* Does the tool count it among the successes? */
    bool (*succeeds)(const struct facts *f, const struct profile_run *run);

    /* In ns; NAN: the tool ignores the request.  NULL: the tool has no such
     * number, or computes itl from the pauses. */
    double (*value[PROFILE_TIMES])(const struct facts *f,
                                   const struct profile_run *run);
    enum profile_pause (*pause)(const struct profile_run *run);

    /* Output tokens. */
    int64_t (*tokens)(const struct facts *f);

    /* Why it is not what ours is; NULL: as ours. */
    const char *why[PROFILE_TIMES];
    const char *why_rate[PROFILE_RATES];
    const char *note; /* what the recording cannot give; NULL: nothing */
};

/* The pauses of a stream that no content event ends or begins: around a chat's
 * role and a last event with the finish reason.  The recording has the number
 * of such events, and the times of the first and the last event with `choices`:
 * pauses of others count as 0, so that number and sum are right.  A recording
 * without the number has the pause before the first content at most. */
struct profile_silent {
    int64_t n_before; /* 0 or 1, of before_ns */
    int64_t n_between;
    int64_t n_after; /* 0 or 1, of after_ns */
    double before_ns;
    double after_ns;
};

struct profile_silent profile_silent(const struct facts *f);

/* NULL-terminated, for an option. */
extern const char *const profile_names[];
const struct profile_ops *profile_find(const char *name);

/* A number as both tools report it.  Times below 0 are HIST_EMPTY and the
 * like. */
struct profile_pair {
    double theirs;
    double ours;
};

#define PROFILE_QUANTILES 4
extern const double profile_quantile[PROFILE_QUANTILES];
extern const char *const profile_quantile_name[PROFILE_QUANTILES];

/* Times in ns. */
struct profile_line {
    bool is_theirs;   /* the tool has such a number */
    int64_t n;        /* of its values */
    double deviation; /* of its values, over all n */
    struct profile_pair mean;
    struct profile_pair quantile[PROFILE_QUANTILES];
    const char *why; /* NULL: the definitions agree */
};

/* One request of the window that was issued, for formats that list them. */
struct profile_request {
    int64_t seq;
    int64_t issued; /* ns */
    int64_t outcome;
    int64_t detail;
    int64_t input_tokens;
    int64_t output_tokens; /* 0 of a failure */
    bool succeeds;
    double ttft_ns; /* 0: it got no token */
    double e2e_ns;  /* 0 of a failure */

    /* The pauses between its content events: n_pauses from first_pause on in
     * the list's; and the others. */
    size_t first_pause;
    size_t n_pauses;
    struct profile_silent silent;
    double
        at_s; /* while events are read: the last one, in the peaks' seconds */
};

struct profile_requests {
    struct profile_request *items; /* in the order of the schedule; owned */
    size_t len;
    size_t cap;
    double *pauses; /* ns, request by request; owned */

    /* While they are read: pauses as they come, and whose. */
    struct found_pause *found; /* owned */
    size_t n_found;
    size_t cap_found;
};

/* What is kept of each request. */
enum profile_list {
    PROFILE_LIST_NONE,
    PROFILE_LIST_REQUESTS, /* all but the pauses between content events */
    PROFILE_LIST_PAUSES,   /* these as well, 24 bytes per event */
};

/* In the fullest second, of successes; 0: not computed. */
struct profile_peaks {
    int64_t events;
    int64_t requests;
};

struct profile {
    const struct profile_ops *ops;
    const struct summary *summary; /* ours; borrowed */
    int64_t completed;
    int64_t failed;
    int64_t input_tokens;  /* of the completed */
    int64_t output_tokens; /* the same */
    double duration_s;     /* that it divides by */
    struct profile_line lines[PROFILE_TIMES];
    struct profile_pair rates[PROFILE_RATES]; /* below 0: there is none */

    /* If asked for. */
    struct profile_requests requests;
    struct profile_peaks peaks;
    int64_t start_ns; /* of the run, by the monotonic clock ... */
    int64_t ended_ns; /* ... and its last end, since 1970; 0: not known */
};

extern const char *const profile_time_name[PROFILE_TIMES];
extern const char *const profile_rate_name[PROFILE_RATES];

/* Make the profile of a recording, which is opened and read again, from its
 * summary.  If requests are listed, profile_fini() must follow, even after an
 * error. */
int profile_make(struct profile *out, const struct profile_ops *ops,
                 const struct summary *s, enum profile_list list,
                 struct err *err);
void profile_fini(struct profile *p);

/* A document of their numbers next to ours; the caller owns it. */
struct doc *profile_doc(const struct profile *p);

/* Write the file that vLLM's benchmark saves, with its keys.  The profile is
 * that of vLLM, with requests listed.  `detailed` requires PROFILE_LIST_PAUSES
 * and adds the values of each request.  Text is passed to `put` in pieces.
 * ERR_FORMAT if a value is too long to print. */
int profile_vllm_json(const struct profile *p, bool detailed,
                      int (*put)(const char *text, struct err *err),
                      struct err *err);

#endif
