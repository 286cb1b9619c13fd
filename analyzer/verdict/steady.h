/* steady.h - was the run in a steady state?  Where the warm-up ends, whether
 * the server was overloaded, what drifted, how much the requests of the warm-up
 * would have changed the numbers, and how precise the quantiles of one run are.
 *
 * Collected together with the tally in one pass over a recording; judged by
 * pure functions of the series.
 */
#ifndef ANALYZER_VERDICT_STEADY_H
#define ANALYZER_VERDICT_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/steady_tests.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/series.h"
#include "analyzer/verdict/slices.h"
#include "common/stats/stats.h"

#define STEADY_DRIFT      0.1  /* smallest drift that matters, of the mean */
#define STEADY_CONFIDENCE 0.99 /* that there is a drift */
#define STEADY_SHIFT      0.05 /* of the mean, for a longer warm-up to matter */
#define STEADY_ERRORS     6 /* standard errors that the dropped part is off */
#define STEADY_FLIGHT     1 /* smallest drift of the number in flight */

/* ---- overload ----
 *
 * If the offered load exceeds the capacity, requests pile up: the number in
 * flight grows through the window and would go on growing.  So blocks of the
 * window must rise (Mann and Kendall's test at a strict level), and by an
 * amount that matters: more than what would be in flight if every request took
 * as long as the first ones of the run, more than a small share of the
 * arrivals, and more than chance piles up in a server exactly at its limit. The
 * last condition distinguishes a queue that fills by chance from one that fills
 * for good: the net flow of such a queue is a random walk, and its steps show
 * how far it gets. */

#define OVERLOAD_LEVEL  0.001
#define OVERLOAD_MIN    5    /* minimum growth in requests ... */
#define OVERLOAD_SHARE  0.01 /* ... as a share of arrivals ... */
#define OVERLOAD_CHANCE 2.0  /* ... and as a multiple of chance */
#define OVERLOAD_MARGIN 1.5  /* on the explained part, a rough estimate */
#define OVERLOAD_BLOCKS 30   /* maximum; the minimum is TREND_MIN_N */
#define OVERLOAD_MIN_N  50   /* fewer requests are not judged */

struct flight {
    const double *in_flight; /* mean in each bin, from the start of the run */
    const double *arrivals;  /* requests due in each bin */
    size_t n;                /* bins, at most SERIES_MAX */
    size_t first;       /* bin of the window, followed by OVERLOAD_BLOCKS */
    double answer_bins; /* time in flight of the first requests of the run */
};

struct overload {
    size_t blocks;
    double p;             /* of the trend, two-sided */
    bool is_rising;       /* at OVERLOAD_LEVEL */
    double growth;        /* through the window, by Theil and Sen's slope */
    double rise;          /* last block minus first block */
    struct interval ci95; /* of the growth */
    bool has_ci95;
    double explained; /* growth due to arrivals, at the first requests' time */
    double arrivals;  /* in the window */
    double chance;    /* how far the steps of the series get by chance */
    bool is_over;
};

struct overload overload_judge(const struct flight *f);

/* ---- results ---- */

/* The warm-up that the measure itself shows, from the start of the run. */
struct warmup_found {
    bool is_found;
    double found_s;     /* if it is */
    double shift;       /* of the window's mean due to what is before it */
    double suggested_s; /* a longer warm-up; 0: not needed */
    const char *why;    /* it was not found; else NULL */
};

enum load_state { LOAD_UNKNOWN, LOAD_WITHIN, LOAD_OVER };

struct load_judgement {
    enum load_state state;
    const char *why; /* it is unknown; else NULL */
    bool has_flight; /* the following is set */
    struct overload overload;
    double in_flight;     /* mean in the window, ... */
    double first;         /* ... in its first tenth, ... */
    double last;          /* ... and in its last */
    struct little little; /* if something ended */
    bool has_little;
};

struct halves {
    const char *why; /* the drift is unknown; else NULL */
    size_t blocks;
    struct drift drift; /* in ns, or in requests */
    bool is_drifting;   /* significant and large enough */
};

/* Requests due before the window; times as in struct spread. */
struct cold {
    int64_t requests;
    int64_t ok; /* the following is of these */
    double mean_ns;
    int64_t p99_ns;
    int64_t max_ns;
    double mean_with_ns; /* of the window with them */
    int64_t p99_with_ns;
    bool has_shift;    /* both they and the window have values */
    double mean_shift; /* 0.2: 20 % more with them */
    bool has_p99_shift;
    double p99_shift;
};

/* One of the measures by which the run is judged. */
struct steady_measure {
    enum measure measure;
    struct warmup_found warmup;
    struct halves halves;
};

/* Measures are those of the SLO, then ttft if answers stream, and e2e, as far
 * as there is room: at most SERIES_VALUES.  The first one is the main one. */
struct steady {
    struct steady_measure measures[SERIES_VALUES];
    size_t n_measures;
    struct warmup_found warmup; /* by the measure that suggests the longest
                                   one; otherwise by the main one */
    enum measure warmup_by;
    struct load_judgement load;
    struct halves in_flight; /* of the number in flight */
    struct cold cold;        /* by the main measure */
    struct within within[WITHIN_MAX];
    size_t n_within;
};

/* What is known of the run in addition to its rows. */
struct steady_ask {
    bool is_open;    /* arrivals do not wait for answers */
    bool is_offline; /* all requests are due at once */
    bool is_whole;   /* no request is missing */
};

struct steady_work {
    const struct tally *tally; /* borrowed */
    enum measure measures[SERIES_VALUES];
    size_t n_measures;
    struct series series;
    struct slices slices;
    struct hist cold; /* ok, due before the window; by the main measure */
};

/* *w must be zeroed; the tally has its window and its SLO. */
void steady_init(struct steady_work *w, struct tally *t, bool asks_stream);
void steady_fini(struct steady_work *w);
void steady_add(struct steady_work *w, const struct facts *f);

/* After slices_end(), and after lost requests were added to the tally. */
void steady_make(const struct steady_work *w, const struct steady_ask *ask,
                 struct steady *out);

/* The parts that depend on the series alone. */
struct warmup_found steady_warmup(const struct series *s, size_t measure);
struct load_judgement steady_load(const struct series *s,
                                  const struct steady_ask *ask);
struct halves steady_halves(const struct series *s, size_t measure);
struct halves steady_flight_halves(const struct series *s);

#endif
