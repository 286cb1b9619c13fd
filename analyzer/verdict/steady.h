/* steady.h - was there a steady state, and what was before it: where the
 * warm-up ends, whether the server was overloaded, what drifted, what the
 * requests of the warm-up would have done to the numbers, and how sure one run
 * can be of its quantiles.
 *
 * Gathered beside the tally in the one pass over a recording; judged by pure
 * functions of the series.
 */
#ifndef ANALYZER_VERDICT_STEADY_H
#define ANALYZER_VERDICT_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/series.h"
#include "analyzer/stats/steady_tests.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/overload.h"
#include "analyzer/verdict/sections.h"

#define STEADY_DRIFT      0.1  /* that matters, of the mean of both halves */
#define STEADY_CONFIDENCE 0.99 /* that a drift is there at all */
#define STEADY_SHIFT      0.05 /* of the mean, for a longer warm-up to matter */
#define STEADY_ERRORS     6    /* that what it would drop is off the rest */

/* The warm-up that the measure itself shows, from the start of the run. */
struct warmup_found {
    bool is_found;
    double found_s;     /* if it is */
    double shift;       /* of the window's mean, without what lies before */
    double suggested_s; /* a longer one than was asked for; 0: none is needed */
    const char *why;    /* it was not found; else NULL */
};

enum load_state { LOAD_UNKNOWN, LOAD_WITHIN, LOAD_OVER };

struct load_judgement {
    enum load_state state;
    const char *why; /* unknown; else NULL */
    bool has_flight; /* the rest of it is there */
    struct overload overload;
    double in_flight; /* mean in the window ... */
    double first;     /* ... in its first tenth, and its last */
    double last;
    struct little little; /* if something ended */
    bool has_little;
};

struct halves {
    const char *why; /* not known; else NULL */
    size_t blocks;
    struct drift drift; /* in ns */
    bool is_drifting;   /* it is there, and it matters */
};

/* Of the requests due before the window; times as in struct spread. */
struct cold {
    int64_t requests;
    int64_t ok; /* of those: */
    double mean_ns;
    int64_t p99_ns;
    int64_t max_ns;
    double mean_with_ns; /* of the window's, had they been among them */
    int64_t p99_with_ns;
    bool has_shift;    /* they and the window have numbers: */
    double mean_shift; /* 0.2: 20 % more with them */
    bool has_p99_shift;
    double p99_shift;
};

struct steady {
    enum measure measure; /* ttft where answers stream, else e2e */
    struct warmup_found warmup;
    struct load_judgement load;
    struct halves halves;
    struct cold cold;
    struct within within[WITHIN_MAX];
    size_t n_within;
};

/* What is known of the run beside its rows. */
struct steady_ask {
    bool is_open;    /* what arrives does not wait for answers */
    bool is_offline; /* all is due at once: there is no course of time */
    bool is_whole;   /* no request is missing */
};

struct steady_work {
    const struct tally *tally; /* borrowed */
    enum measure measure;
    struct series series;
    struct sections sections;
    struct hist cold; /* ok, due before the window */
};

/* All zero to begin with; the tally has its window and its SLO. */
void steady_init(struct steady_work *w, struct tally *t, bool asks_stream);
void steady_fini(struct steady_work *w);
void steady_add(struct steady_work *w, const struct facts *f);

/* After the last row, once: until then the tally lacks what is gathered here
 * (sections.h). */
void steady_end(const struct steady_work *w);

/* After that, and after the tally knows what is lost. */
void steady_make(const struct steady_work *w, const struct steady_ask *ask,
                 struct steady *out);

/* The parts that are made of the series alone. */
struct warmup_found steady_warmup(const struct series *s);
struct load_judgement steady_load(const struct series *s,
                                  const struct steady_ask *ask);
struct halves steady_halves(const struct series *s);

#endif
