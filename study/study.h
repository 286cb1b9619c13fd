/* study.h - one study: many recordings that belong together.
 *
 * A study has one or more arms: one for `run --trials`, `sweep` and `search`,
 * two for `--against`, one per variant for settings that have variants.  Each
 * arm is a set of points, and each point becomes one recording: the settings of
 * the arm with a few values replaced (struct study_shot).  A policy says which
 * point is next, given the recordings so far: the n-th trial, the next value of
 * a sweep, or what a search wants to probe.
 *
 * The arms take turns, recording by recording (A B C C B A ...), so that a
 * drift of the server or the machine affects all alike.  A trial or a point of
 * a sweep that cannot be trusted is discarded and made again, up to a maximum
 * (analyzer/studies/valid_runs.h); a search has its own rule for probes.
 * study.json says after each recording how far the study has got
 * (common/recording/study_set.h); an interrupted study continues where it
 * stopped.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/recording/study_set.h"
#include "common/settings/settings.h"

struct err;
struct run_judge;
struct study;
struct study_arm;

/* ---- settings ---- */

/* What the user asked for.  All borrowed, and never changed. */
struct study_source {
    const struct settings *asked;     /* parsed, not resolved */
    const struct settings_file *file; /* for line numbers in messages */
    size_t variant; /* which variant to take, from 1; 0: none */

    /* Refuse settings once they are resolved.  Optional. */
    int (*check)(const struct settings *s, struct err *err);
};

/* Copy what was asked, take the variant, apply overrides such as "load.rate=80"
 * (NULL: none), and resolve the copy.  The file is not read again.
 * settings_fini(out) in any case.  ERR_CONFIG, with file and line. */
int study_settings(const struct study_source *source,
                   const struct strlist *overrides, struct settings *out,
                   struct err *err);

/* Put file and line before an error that begins with a key.  Returns -1. */
int study_blame(const struct study_source *source, struct err *err);

/* The seed of the n-th recording, from 1: the first has `seed` itself, the
 * others are a pure function of it and n, below 2^48. */
uint64_t study_seed(uint64_t seed, int64_t n);

/* Give the n-th recording its own seeds: every seed in the settings except for
 * n = 1, also that of the stub, which would otherwise draw the same service
 * times in each recording. */
void study_reseed(struct settings *s, int64_t n);

/* ---- policies ---- */

/* The next recording of an arm. */
struct study_shot {
    size_t i;                      /* of the point in the arm's set */
    struct strlist overrides;      /* "load.rate=80"; owned by the driver */
    const struct run_judge *judge; /* may end the run early; NULL: none */
    bool is_after_backlog; /* the server may still be busy with the last point:
                              wait until one request is answered */
    char title[512];       /* for those who watch */

    /* For those who watch a search: the highest value that met the SLO so far,
     * and the lowest that missed it; NAN: none. */
    double met;
    double missed;
};

struct study_policy {
    const char *name;     /* "sweep" */
    const char *one;      /* what its recordings are called: "a run" */
    enum study_kind kind; /* of an arm's set */
    size_t state_size;    /* of arm->state, zeroed at first */

    /* Required: fill in arm->settings, resolved, and the set: key, unit, points
     * and the hash of the settings.  Nothing is written yet. */
    int (*plan)(struct study_arm *arm, struct err *err);

    /* Optional: the set is opened; take in what an earlier attempt recorded. */
    int (*resume)(struct study_arm *arm, struct err *err);

    /* Required: which point is next, given the recordings so far.  1: *shot is
     * filled in; 0: the arm is complete; -1. */
    int (*next)(struct study_arm *arm, struct study_shot *shot,
                struct err *err);

    /* Optional: the point is recorded. */
    int (*note)(struct study_arm *arm, const struct study_shot *shot,
                struct err *err);

    /* Optional: the launcher failed, and the point is marked as discarded.
     * Without it the arm fails. */
    void (*lost)(struct study_arm *arm, const struct study_shot *shot);

    /* Optional: about how long the rest will take.  Without it: as long per
     * point as the points so far took. */
    int64_t (*left_ns)(const struct study_arm *arm);

    /* Required: read what the arm at `dir` recorded and put its summary.json
     * into `out`. */
    int (*sum_up)(const char *dir, struct buf *out, struct err *err);

    /* Optional: release the state; accepts a zeroed one. */
    void (*fini)(struct study_arm *arm);
};

extern const struct study_policy study_trials;
extern const struct study_policy study_sweep;
extern const struct study_policy study_search;

/* The points of a sweep, in random order by the seed if that is asked for.
 * Pure.  ERR_CONFIG; ERR_USAGE if nothing is to be varied. */
int sweep_plan(struct study_set *set, const struct sweep_settings *sweep,
               uint64_t seed, struct err *err);

/* "load.rate=80" for a value of the set; owned by the caller. */
char *study_assignment(const struct study_set *set, double value);

/* Fill in arm->settings, for plan(). */
int study_resolve(struct study_arm *arm, const struct strlist *overrides,
                  struct err *err);

/* Refuse to vary a key if that would change nothing: the variant or every class
 * sets it, or it is one of a stub that is not started.  arm->settings are
 * resolved.  ERR_CONFIG, with file and line. */
int study_check_varied(const struct study_arm *arm, struct err *err);

/* The first point that is not recorded; false: all are. */
bool study_first_open(const struct study_set *set, size_t *i);

/* ---- the study ---- */

struct study_arm {
    struct study *study;
    const char *name; /* of the variant or the side; NULL: the only arm */
    struct study_source source;
    char *dir;                /* owned */
    struct settings settings; /* resolved, at the first value */
    bool has_settings;
    struct study_set set;
    void *state;             /* of the policy; owned */
    bool has_begun;          /* the server has had load from us */
    bool is_over;            /* complete, or failed */
    char failed[STUDY_TEXT]; /* why it got no further; "": it has not failed */
};

/* What the caller records. */
struct study_recording {
    const char *dir;
    const char *title;
    bool is_plain;                 /* a trial: its progress has no title */
    const struct run_judge *judge; /* NULL: none */
    const struct study_arm *arm;   /* whose settings they are */
    double value;                  /* of what is varied; NAN: nothing is */
    double met;                    /* see struct study_shot */
    double missed;
    bool meets_server; /* the first since its server was started */
    bool is_first;     /* of this study in this process */
};

enum study_form {
    STUDY_ALONE,       /* one arm, in the directory of the study */
    STUDY_TURNS,       /* two arms, in DIR/a and DIR/b; a failure ends both */
    STUDY_OF_VARIANTS, /* in DIR/NAME; if one fails, the others continue */
};

struct study {
    const struct study_policy *policy;
    enum study_form form;
    const char *dir; /* given before study_run() */
    bool force;      /* replace an existing study */
    bool resume;     /* continue it */

    /* Make one recording.  0 if there is one, also if a signal cut it; 1 if
     * there is none and that says nothing about the server, with err set: the
     * launcher failed. */
    int (*record)(void *arg, const struct settings *s,
                  const struct study_recording *r, struct err *err);
    void *arg;

    /* The rest is filled in. */
    struct study_arm *arms; /* owned */
    size_t n;
    bool is_open;    /* the directory is made, or taken up */
    size_t attempts; /* recordings begun in this process, ... */
    size_t made;     /* ... those that were completed, ... */
    int64_t took_ns; /* ... and the time they took */
};

/* Append an arm; `name` is borrowed.  Before study_plan(). */
void study_add(struct study *study, const char *name,
               const struct study_source *source);

/* Resolve the settings of all arms and plan their points.  Nothing is written.
 * study_fini() in any case. */
int study_plan(struct study *study, struct err *err);

/* Make the recordings into study->dir until all are made, one fails or a signal
 * comes, and what is recorded is on disk.  With variants the summary.json of
 * each is written, too.  0: there is something to report; -1: the error, and
 * study_has_result() says whether there is something to report as well: a
 * recording, or a probe that was lost.  A study without a result is removed,
 * unless it was to be resumed, or a part of it has a recording that is not
 * complete or the log of a server. */
int study_run(struct study *study, struct err *err);

bool study_has_result(const struct study *study);

void study_fini(struct study *study);

/* ---- turns ---- */

struct study_turn {
    size_t made;  /* recordings, also of an earlier attempt, except for those
                     that are made again */
    bool is_over; /* gets no more turns */
};

/* Whose turn it is: in the r-th round, from 0, every arm with r recordings gets
 * one more, in odd rounds in reverse order.  False: all are over.  Pure. */
bool study_next_turn(const struct study_turn *turns, size_t n, size_t *which);

/* The order of n rounds of two arms: "ABBAAB"; owned by the caller. */
char *study_order(int64_t n);

#endif
