/* search_read.h - what a search has recorded: each probe as the machine takes
 * it, and everything that is said of the search in one struct. */
#ifndef ANALYZER_SEARCH_SEARCH_READ_H
#define ANALYZER_SEARCH_SEARCH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "analyzer/studies/trials.h"
#include "common/recording/study_set.h"
#include "common/spec/calibration.h"

struct err;
struct recording;
struct settings;
struct strlist;
struct summary;

/* What is searched for: the terms of the run, then those of its classes. */
struct search_terms {
    struct slo slo;
    int class[SLO_MAX_TERMS]; /* whose it is; -1: the run's */
};

/* ERR_CONFIG if there is none, or one that cannot be searched. */
int search_terms_of(const struct settings *s, struct search_terms *terms,
                    struct err *err);

/* How the settings ask for it; the terms are borrowed. */
struct search_config search_config_of(const struct settings *s,
                                      const struct search_terms *terms);

/* A summary, made with the same objective, as the result of a probe; the
 * recording is read once more, if there is a truth log beside it. */
void search_take(const struct summary *s, struct recording *rec,
                 const struct study_point *at, const struct search_terms *terms,
                 struct search_result *r);

struct search_probe {
    const struct study_point *at; /* borrowed from the set */
    struct trial run;
    struct search_result result;
};

struct search_summary {
    const char *dir; /* borrowed */
    char *title;     /* owned */
    bool has_rate;   /* else clients of a closed loop */
    bool is_streamed;
    bool is_of_others; /* by another objective than it searched for */
    struct search_terms terms;
    double tolerance;
    struct study_set set;
    struct search_probe *probes; /* owned; as they were made */
    size_t n;
    struct search_answer answer;
    struct calibration_stamp calibration; /* of the first */
};

/* One recorded probe, by the objective that it was made for.  ERR_IO,
 * ERR_FORMAT. */
int search_read_one(const char *dir, const struct study_point *at,
                    const struct search_terms *terms, struct search_result *r,
                    struct err *err);

/* Read it all; `slo` replaces what it searched for, NULL keeps that.
 * search_summary_fini() in any case. */
int search_read(struct search_summary *s, const char *dir,
                const struct strlist *slo, struct err *err);
void search_summary_fini(struct search_summary *s);

/* 0 found, 1 the objective cannot be met, 4 the client is the limit, undecided
 * or not enough, 130/143 interrupted. */
int search_exit_code(const struct search_summary *s);

#endif
