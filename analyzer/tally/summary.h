/* summary.h - all results of a run in one struct.
 *
 * Every report renders it; none computes a number of its own.
 */
#ifndef ANALYZER_TALLY_SUMMARY_H
#define ANALYZER_TALLY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/read/server_view.h"
#include "analyzer/tally/cache_check.h"
#include "analyzer/tally/cohorts.h"
#include "analyzer/tally/distribution.h"
#include "analyzer/tally/notes.h"
#include "analyzer/tally/sessions.h"
#include "analyzer/tally/shard_rows.h"
#include "analyzer/tally/stream.h"
#include "analyzer/tally/tally.h"
#include "analyzer/tally/target_rows.h"
#include "analyzer/tally/tokens.h"
#include "analyzer/verdict/conclusion.h"
#include "analyzer/verdict/cost.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/mlperf.h"
#include "analyzer/verdict/next_step.h"
#include "analyzer/verdict/precision.h"
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
struct run_bins;

/* Checked answers. */
struct quality {
    int64_t checked;
    int64_t passed;
    double share;       /* the following is set if any was checked */
    double n_effective; /* number of independent answers worth as much */
    struct interval ci95;
};

/* Number of answers with an HTTP status. */
struct status_count {
    int status;
    int64_t count;
};

#define SUMMARY_STATUSES 16

/* Failures of the whole run by kind, the most frequent first. */
struct failure_list {
    struct failure_kind *kinds; /* owned */
    size_t len;
    int64_t overflow; /* of further kinds */
};

/* Classes, tiers and failures are on the heap: summary_fini(). */
struct summary {
    const char *dir; /* borrowed from the recording */
    const struct settings *settings;
    struct slo slo;
    int64_t started_ns; /* since 1970; 0: unknown */

    double window_start_s;
    double window_length_s;
    double warmup_s;
    double cooldown_s;        /* the load continued for this long after it */
    double e2e_p99_share;     /* p99 of the ok requests by its length, whatever
                                 their number; below 0: unknown */
    bool cut_by_max_duration; /* before anything else ended the run */

    /* scheduled = issued + unsent; issued = ok + failed. */
    int64_t scheduled;
    int64_t issued;
    int64_t unsent;
    int64_t ok;
    int64_t failed;
    int64_t outcome[OUTCOME_COUNT];
    struct failure_list failures;
    struct status_count statuses[SUMMARY_STATUSES]; /* except 200; the most
                                                       frequent ones first */
    size_t n_statuses;
    int64_t warmup_requests;   /* not part of scheduled */
    int64_t cooldown_requests; /* not part of scheduled */
    int64_t good;
    int64_t fresh_connections;
    int64_t reused_connections;
    int64_t retried; /* sent again, ... */
    int64_t resends; /* ... so often all in all */

    /* Of the requests due in the window: offered >= completed >= goodput. */
    double offered_rps;
    double completed_rps; /* ended ok, whenever that was */
    double goodput_rps;
    double throughput_rps; /* ended ok in the window, whenever due */
    double attainment;
    struct interval attainment_ci95;
    double output_tokens_per_s;  /* arrived in the window */
    double goodput_tokens_per_s; /* of good requests due in it */
    double bytes_in_per_s;
    double bytes_out_per_s;

    /* The client and the network path; shown, not judged. */
    const char *transport; /* borrowed; NULL: unknown */
    int64_t threads;
    int64_t rtt_floor_ns; /* smallest round trip; 0: unknown */
    int64_t segments;     /* TCP segments sent */
    int64_t retransmits;  /* of those, sent again */
    const char *tls;      /* version and cipher; NULL: unknown, or none */
    int64_t tls_handshakes;
    int64_t tls_resumed; /* of those */
    struct calibration_stamp calibration;
    double calibration_used; /* offered rate / calibrated maximum of the client;
                                below 0: unknown */

    /* The answers. */
    bool is_streamed; /* some had events, or should have had */
    bool has_tokens;  /* token counts are known */
    struct tokens tokens;
    struct outlen outlen;
    struct quality quality;
    struct notes notes;

    struct steady steady; /* steady state, and how precise quantiles are */
    struct precision_found precision; /* of what study.until asks for */
    struct session_summary sessions;
    struct server_summary server;
    struct cache_check cache;
    struct mlperf mlperf;
    struct metered metered;

    bool has_trace; /* a trace was replayed */
    struct trace_seen trace;
    bool has_data; /* bodies were made from data */
    struct data_seen data;

    struct spread spread[MEASURE_COUNT][VIEW_COUNT];
    struct bars bars;           /* of ttft if answers stream, else of e2e */
    struct judgement judgement; /* all requests by the terms of the run */
    struct tiers tiers;         /* all requests by the terms of each tier */
    struct misses misses;
    struct fluid_summary fluid;
    struct cost cost;
    const struct curve *curve;     /* borrowed; NULL: not wanted */
    struct class_summary *classes; /* owned */
    size_t n_classes;
    struct target_rows targets;
    struct shard_rows shards;
    enum verdict answer; /* by the terms of the run and of all classes, before
                            trust checks and load are considered */
    struct trust trust;
    struct integrity integrity;
    struct tgr_damage damage;

    int64_t stopped_by;        /* signal; 0: not interrupted */
    bool was_enough;           /* a study ended it early */
    char decided[DECIDE_TEXT]; /* why the run was decided early; "": it was not
                                */
    const char *aborted; /* why load.abort_on ended it; NULL: it did not */
    enum verdict verdict;
    bool is_shown;      /* PASS or FAIL, with 95 % confidence */
    double decide_in_s; /* struct judgement, over the run and its classes */
    struct next next;   /* advice */
};

/* One whole histogram, in addition to the summary. */
struct kept_hist {
    enum measure measure;
    enum view view;
    struct hist hist; /* owned by the caller */
};

/* Read the recording and compute everything.  `slo` replaces the SLO of the
 * recording; NULL keeps it.  Call summary_fini() in any case. */
int summary_make(struct summary *s, struct recording *rec,
                 const struct strlist *slo, struct err *err);

/* The same with other prices, which are stored in the settings of the
 * recording; `cost` may be NULL. */
int summary_make_priced(struct summary *s, struct recording *rec,
                        const struct strlist *slo, const struct cost_ask *cost,
                        struct err *err);

/* What is collected in the same pass if it is wanted; each may be NULL. */
struct summary_extras {
    struct kept_hist *keep; /* the histogram that it names */
    struct curve *curve;    /* the curve of its measure */
    struct run_bins *bins;  /* zeroed; call run_bins_fini() in any case */
};

int summary_make_keeping(struct summary *s, struct recording *rec,
                         const struct strlist *slo,
                         const struct summary_extras *extras, struct err *err);

void summary_fini(struct summary *s);

/* The window in nanoseconds of the run. */
struct window summary_window(const struct summary *s);

/* What energy is divided by. */
struct metered_share summary_energy_share(const struct summary *s);

/* The offered load exceeds the capacity of the server. */
bool summary_is_overloaded(const struct summary *s);

/* Open if invalid, undecided or killed, or if slo.require is not satisfied.  No
 * if the verdict is FAIL, nothing succeeded, the run was aborted, or answers
 * come from a cache.  Else yes. */
enum conclusion summary_conclusion(const struct summary *s);

#endif
