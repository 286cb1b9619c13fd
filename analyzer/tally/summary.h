/* summary.h - everything that is said of a run, in one struct.
 *
 * Every report is a rendering of it; none computes a number of its own.
 */
#ifndef ANALYZER_TALLY_SUMMARY_H
#define ANALYZER_TALLY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/read/server_view.h"
#include "analyzer/tally/bars.h"
#include "analyzer/tally/cache_check.h"
#include "analyzer/tally/class_summary.h"
#include "analyzer/tally/curve.h"
#include "analyzer/tally/fluid.h"
#include "analyzer/tally/notes.h"
#include "analyzer/tally/outlen.h"
#include "analyzer/tally/sessions.h"
#include "analyzer/tally/spread.h"
#include "analyzer/tally/tally.h"
#include "analyzer/tally/tiers.h"
#include "analyzer/tally/tokens.h"
#include "analyzer/verdict/cost.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/metered.h"
#include "analyzer/verdict/mlperf.h"
#include "analyzer/verdict/next_step.h"
#include "analyzer/verdict/steady.h"
#include "analyzer/verdict/trust.h"
#include "common/measure/decide.h"
#include "common/recording/failures.h"
#include "common/recording/manifest.h"
#include "common/recording/tgr.h"
#include "common/spec/calibration.h"
#include "common/stats/stats.h"

struct err;
struct recording;

/* Of the answers that were checked. */
struct quality {
    int64_t checked;
    int64_t passed;
    double share;       /* the rest if any was checked */
    double n_effective; /* as many independent answers say as much */
    struct interval ci95;
};

/* How many answers had an HTTP status. */
struct status_count {
    int status;
    int64_t count;
};

#define SUMMARY_STATUSES 16

struct summary {
    const char *dir; /* borrowed from the recording */
    const struct settings *settings;
    struct slo slo;

    double window_start_s;
    double window_length_s;
    double warmup_s;
    double cooldown_s;        /* as asked */
    bool cut_by_max_duration; /* before what else was asked for */

    /* scheduled = issued + unsent; issued = ok + failed. */
    int64_t scheduled;
    int64_t issued;
    int64_t unsent;
    int64_t ok;
    int64_t failed;
    int64_t outcome[OUTCOME_COUNT];
    struct failures failures; /* texts and counts, of the whole run */
    struct status_count statuses[SUMMARY_STATUSES]; /* but 200, most first */
    size_t n_statuses;       /* the rarest are left out where they do not fit */
    int64_t warmup_requests; /* beside those */
    int64_t cooldown_requests; /* likewise */
    int64_t good;
    int64_t fresh_connections;
    int64_t reused_connections;
    int64_t retried; /* sent again after a stale connection */

    double offered_rps;
    double throughput_rps;
    double goodput_rps;
    double attainment;
    struct interval attainment_ci95;
    double output_tokens_per_s;  /* that arrived in the window */
    double goodput_tokens_per_s; /* of good requests */
    double bytes_in_per_s;
    double bytes_out_per_s;

    /* The client, and the network path; noted, not judged. */
    const char *transport; /* borrowed; NULL: not known */
    int64_t threads;
    int64_t rtt_floor_ns; /* smallest round trip; 0: not known */
    int64_t segments;     /* sent */
    int64_t retransmits;  /* of those, sent again */
    struct calibration_stamp calibration;
    double calibration_used; /* offered, as a share of what the client is good
                                for; below 0: not known */

    /* The answers. */
    bool is_streamed; /* some came in events, or should have */
    bool has_tokens;  /* somebody counts them */
    struct tokens tokens;
    struct outlen outlen;
    struct quality quality;
    struct notes notes;

    struct steady steady; /* state of the run, and how sure its numbers are */
    struct session_summary sessions;
    struct server_summary server;
    struct cache_check cache;
    struct mlperf mlperf;
    struct metered metered;

    bool has_trace; /* one was replayed: */
    struct trace_seen trace;
    bool has_data; /* bodies were made, of this */
    struct data_seen data;

    struct spread spread[MEASURE_COUNT][VIEW_COUNT];
    struct bars bars;           /* of ttft where answers stream, else of e2e */
    struct judgement judgement; /* of all requests, by the run's terms */
    struct tiers tiers;         /* likewise, by those of each tier */
    struct misses misses;
    struct fluid_summary fluid;
    struct cost cost;
    const struct curve *curve; /* borrowed; NULL: nobody asked for one */
    struct class_summary classes[CLASSES_MAX];
    size_t n_classes;
    enum verdict answer; /* of the run's terms and those of all classes */
    struct trust trust;
    struct integrity integrity;
    struct tgr_damage damage;

    int64_t stopped_by;        /* signal; 0: not interrupted */
    bool was_enough;           /* a study ended it early */
    char decided[DECIDE_TEXT]; /* early, and why; "": it was not */
    const char *aborted;       /* by load.abort_on, and why; NULL: it was not */
    enum verdict verdict;
    struct next next; /* what to do about it */
};

/* One distribution whole, beside the summary. */
struct kept_hist {
    enum measure measure;
    enum view view;
    struct hist hist; /* owned by whoever asked */
};

/* Read the recording once and work everything out.  `slo` replaces the one in
 * the recording; NULL keeps that. */
int summary_make(struct summary *s, struct recording *rec,
                 const struct strlist *slo, struct err *err);

/* The same with prices in place of the recording's, whose settings are changed;
 * `cost` may be NULL. */
int summary_make_priced(struct summary *s, struct recording *rec,
                        const struct strlist *slo, const struct cost_ask *cost,
                        struct err *err);

/* The same, with the distribution that *keep names, and the attainment of one
 * measure, which is begun here by the SLO; NULL: neither. */
int summary_make_keeping(struct summary *s, struct recording *rec,
                         const struct strlist *slo, struct kept_hist *keep,
                         struct curve *curve, struct err *err);

/* The part of it that is about how many there were, and how many a second; its
 * window is known.  Of the tally's unfinished so many were never sent. */
void summary_count(struct summary *s, const struct tally *t,
                   int64_t never_sent);

/* The window in nanoseconds of the run. */
struct window summary_window(const struct summary *s);

/* More was asked of the server than it takes. */
bool summary_is_overloaded(const struct summary *s);

/* 0 yes, 1 no, aborted or answers that are cached, 4 invalid or undecided,
 * 130/143 interrupted. */
int summary_exit_code(const struct summary *s);

#endif
