/* sided.h - recordings to be compared or scaled, written without a run. */
#ifndef TESTS_SUPPORT_SIDED_H
#define TESTS_SUPPORT_SIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One request every 10 ms after a second of warm-up, answered after e2e_ms and
 * an exponential of spread_ms; zero means the usual. */
struct sided {
    size_t n; /* 6000 */
    double e2e_ms;
    double spread_ms;
    uint64_t seed;
    const char *batching; /* a condition; NULL: none */
    const char *replicas; /* the same */
    const char *slo;      /* one term; NULL: none */
    double rate;          /* in the manifest alone; 100 */
    double gap_ms;        /* between two requests; 10 */
    int64_t at_s;         /* since 1970, when it began */
    size_t failed_every;  /* every n-th fails; 0: none */
    double growth_ms;     /* so much more at the end than at the beginning */
    double cold_ms;       /* so much more of the first sixth */
    int64_t lag_ms;       /* each is issued so late */
    size_t wrong_every;   /* answers are checked: every n-th fails */
    int64_t tokens;       /* of each answer, as the server counts; 0: unknown */
    int is_closed;
    int was_killed;
    double planned; /* load.stop: decided, and only this share of the window was
                       planned; 0: it ends as planned */
};

/* Below the scratch directory; returns its path (see keep.h). */
char *sided_write(const char *name, const struct sided *s);

/* A set of trials, with seeds from s->seed on. */
char *sided_write_trials(const char *name, const struct sided *s,
                         size_t trials);

/* Trials of an offline set: n requests that are all due at once, and servers
 * that take them one at a time. */
struct fixed_set {
    const char *settings; /* text of a settings file */
    size_t trials;
    size_t n;
    double service_ms;
    size_t servers;    /* at most FIXED_SET_SERVERS */
    double slow;       /* factor on the times of the first server; 0: none */
    bool by_chance;    /* which server takes a request; else they take turns */
    bool is_checked;   /* every answer passes its checks */
    bool one_launch;   /* of the server for all trials; else one for each */
    double first_slow; /* factor on the times of the first trial; 0: none */
    bool has_targets;  /* each server is a target of its own */
};

#define FIXED_SET_SERVERS 8

/* Below the scratch directory; returns its path (see keep.h). */
char *fixed_set_write(const char *name, const struct fixed_set *set);

#endif
