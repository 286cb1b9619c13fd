/* listen_state.h - what is known of a run, or of a study, while it goes on.
 *
 * The recorder's thread adds what it writes, the calling thread says which
 * recording this is, and the server's thread takes a copy.  Memory does not
 * depend on the length of the run, except for the SLO test, which ends after
 * LISTEN_TEST_NS.
 *
 *   scheduled = issued + unsent,  issued = ok + failed + in flight
 *
 * hold at every moment.  Counters grow over all recordings of a study.
 */
#ifndef LISTEN_LISTEN_STATE_H
#define LISTEN_LISTEN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/run_bins.h"
#include "common/base/clk.h"
#include "common/measure/decide.h"
#include "common/measure/measure.h"
#include "common/settings/classes.h"
#include "common/spec/slo.h"
#include "loadgen/engine/progress.h"

struct err;
struct listen_state;
struct run_look;
struct settings;

/* After this much of the window the SLO test gives up: a verdict that is still
 * open then is left to the report. */
#define LISTEN_TEST_NS (3600 * NS_PER_S)

#define LISTEN_VARIANTS 16 /* further ones are counted as "other" */
#define LISTEN_CLASSES  (CLASSES_MAX + 1)
#define LISTEN_TERMS    32
#define LISTEN_LABEL    129
#define LISTEN_BUCKETS  32

enum listen_measure { LISTEN_E2E, LISTEN_TTFT, LISTEN_TPOT, LISTEN_MEASURES };

/* Of requests due in the window.  A request that failed, or was never sent, is
 * beyond every bucket. */
struct listen_hist {
    size_t n;
    double le_s[LISTEN_BUCKETS];       /* ascending */
    int64_t le_ns[LISTEN_BUCKETS];     /* the same */
    uint8_t first[63];                 /* bucket of 2^i ns, by i */
    int64_t count[LISTEN_BUCKETS + 1]; /* in each alone; the last: beyond */
    double sum_s;
};

struct listen_class {
    char name[LISTEN_LABEL]; /* "": the run has no classes */
    int64_t outcome[OUTCOME_COUNT];
    int64_t due;  /* in the window, ended or unsent */
    int64_t good; /* of those */
    struct listen_hist hist[LISTEN_MEASURES];
};

/* issued = ended + in flight */
struct workers_sum {
    int64_t issued;
    int64_t unsent;
    int64_t ended;
};

/* A variant of a study; a run is the only one. */
struct listen_variant {
    char name[LISTEN_LABEL]; /* "": there are no variants */
    char scenario[LISTEN_LABEL];
    char run_name[LISTEN_LABEL];
    struct listen_class classes[LISTEN_CLASSES];
    size_t n_classes;
    struct listen_hist lag;
    int64_t recordings; /* completed */
    struct workers_sum sum;
    double cpu_s; /* of the workers, without polling */
    double cpu_wait_s;
    double record_wait_s;
};

/* An SLO term, and how many requests have missed it. */
struct listen_term {
    struct slo_term term;
    int class; /* -1: of the run */
    int64_t n;
    int64_t missed;
};

enum listen_phase {
    LISTEN_PREPARING, /* nothing is recorded yet */
    LISTEN_RUNNING,
    LISTEN_BETWEEN, /* two recordings of a study */
    LISTEN_OVER,
};

/* The recording of a study that is being made. */
struct listen_point {
    const char *dir;     /* of the recording */
    const char *variant; /* NULL: none */
    const char *title;   /* "probe-3: 80/s ..."; NULL: none */
    double value;        /* of what is varied; NAN: nothing is */
    double met;          /* a search: the highest value that met the SLO, ... */
    double missed;       /* ... and the lowest that missed it; NAN: none */
};

/* A copy for the renderers. */
struct listen_view {
    enum listen_phase phase;
    char run[LISTEN_LABEL]; /* the directory's name: tells runs apart */
    char dir[1024];
    char title[512];
    double value;
    double met;
    double missed;
    int64_t recordings; /* completed, of all variants */
    char load[256];     /* in words; "": nothing is recorded yet */
    bool is_streamed;
    struct run_progress progress; /* of the recording */
    bool has_progress;
    struct listen_variant *variants; /* owned */
    size_t n_variants;
    size_t variant; /* the current one */
    int64_t in_flight;
    struct listen_term terms[LISTEN_TERMS];
    size_t n_terms;
    bool has_test; /* the anytime test can decide these terms */
    enum decision decision;
    char why[DECIDE_TEXT];
    double lag_max_s; /* in the last second; NAN: unknown */
    double busiest;   /* share of a thread; NAN */
    double steal;     /* NAN */
    int64_t connections;
    double settled_s;     /* all but a few requests sent before have ended */
    struct run_bins bins; /* until then; only if asked for */
    bool has_bins;
};

struct listen_state *listen_state_new(const char *run);
void listen_state_free(struct listen_state *state);

/* A recording begins; the settings are resolved.  ERR_CONFIG. */
int listen_state_begin(struct listen_state *state, const struct settings *s,
                       const struct listen_point *point, struct err *err);

/* Rows and observations, in the recorder's thread. */
void listen_state_add(struct listen_state *state, const struct run_look *look);

void listen_state_progress(struct listen_state *state,
                           const struct run_progress *progress);

/* The recording ended; `is_last`: and with it the study. */
void listen_state_end(struct listen_state *state, bool is_last);

/* Any thread; listen_view_fini().  The bins are without the server's series:
 * run_bins_read_server(). */
void listen_state_view(struct listen_state *state, bool with_bins,
                       struct listen_view *view);
void listen_view_fini(struct listen_view *view);

/* The share of requests that may miss the term. */
double listen_allowed(const struct slo_term *term);

#endif
