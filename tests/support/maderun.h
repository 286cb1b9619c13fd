/* maderun.h - small runs written down by hand, and what they come to. */
#ifndef TESTS_SUPPORT_MADERUN_H
#define TESTS_SUPPORT_MADERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/measure/measure.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "tests/support/ondisk.h"

#define MADE_RUN_ROWS   1000
#define MADE_RUN_SHARDS 3
#define MADE_RUN_LOOKS  6

/* A run to be written down. */
struct made_run {
    int64_t warmup_ms;
    int64_t duration_ms; /* 0: by count */
    const char *slo;
    const char *classes; /* text of a settings file; NULL: none */
    struct facts rows[MADE_RUN_ROWS];
    size_t n;
    bool was_killed;                          /* its manifest has no end */
    struct observation seen[MADE_RUN_SHARDS]; /* last ones; at 0: none */
    int64_t threads;
    int64_t max_in_flight; /* 0: not known */
    bool is_closed;
    bool stops_decided;     /* load.stop: decided */
    enum scenario scenario; /* SCENARIO_AUTO: server, or closed */
    int64_t requests;       /* that were asked for; 0: not by count */
    int64_t min_requests;
    int64_t max_duration_ms;
    int64_t warmup_requests; /* 0: the warm-up goes by time */
    int64_t cooldown_ms;
    int64_t query_size; /* of the multi-stream */
    struct run_end end;
    struct server_scrape looks[MADE_RUN_LOOKS]; /* of a "tgi"; at 0: none */
};

/* Of an open loop at 100/s that ran to its end. */
struct made_run *made_run_new(int64_t warmup_ms, int64_t duration_ms,
                              const char *slo);

/* One more request, counted in `end`. */
void made_run_add(struct made_run *m, struct facts row);

/* n requests of 5 ms, one every 10 ms from due_ms on. */
void made_run_add_fast(struct made_run *m, int64_t due_ms, int64_t n);

/* n of them that were reset half a second after the start, and n that were
 * never sent. */
void made_run_add_reset(struct made_run *m, int64_t n);
void made_run_add_unsent(struct made_run *m, int64_t n);

/* Write it below the scratch directory and read it, as read_run_new() does;
 * frees what was made. */
struct read_run *made_run_sum_up(struct made_run *m, const struct strlist *slo);

#endif
