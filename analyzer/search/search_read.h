/* search_read.h - the recordings of a search: each probe as a result for
 * search.h, and the summary of the search. */
#ifndef ANALYZER_SEARCH_SEARCH_READ_H
#define ANALYZER_SEARCH_SEARCH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "analyzer/studies/trials.h"
#include "analyzer/verdict/conclusion.h"
#include "common/recording/study_set.h"
#include "common/spec/calibration.h"

struct err;
struct recording;
struct settings;
struct strlist;
struct summary;

/* The SLO terms of the run, then those of its classes. */
struct search_terms {
    struct slo slo;
    int class[SLO_MAX_TERMS]; /* index of the class; -1: the run */
};

/* ERR_CONFIG if there are none, or they cannot be searched. */
int search_terms_of(const struct settings *s, struct search_terms *terms,
                    struct err *err);

/* The configuration by the settings; the terms are borrowed. */
struct search_config search_config_of(const struct settings *s,
                                      const struct search_terms *terms);

/* The summary of a probe, made with the same SLO, as a result.  If there is a
 * truth log, the recording is read again. */
void search_take(const struct summary *s, struct recording *rec,
                 const struct study_point *at, const struct search_terms *terms,
                 struct search_result *r);

/* A probe without a recording, because the launcher failed. */
void search_take_lost(const struct study_point *at,
                      const struct search_terms *terms,
                      struct search_result *r);

struct search_probe {
    const struct study_point *at; /* borrowed from the set */
    bool is_lost;                 /* it has no recording, and no `run` */
    struct trial run;
    struct search_result result;
};

struct search_summary {
    const char *dir; /* borrowed */
    char *name;      /* owned: "": none */
    char *title;     /* owned */
    bool has_rate;   /* the rate is searched; else the number of clients */
    bool is_streamed;
    bool is_of_others; /* judged by another SLO than it searched for */
    struct search_terms terms;
    double tolerance;
    struct study_set set;
    struct search_result look;   /* value 0: none */
    struct search_probe *probes; /* owned; in order of time; without the look */
    size_t n;
    struct search_answer answer;
    struct calibration_stamp calibration; /* of the first probe */
};

/* One recorded probe, by its own SLO.  ERR_IO, ERR_FORMAT. */
int search_read_one(const char *dir, const struct study_point *at,
                    const struct search_terms *terms, struct search_result *r,
                    struct err *err);

/* `slo` replaces the SLO of the search; NULL keeps it.
 * search_summary_fini() in any case. */
int search_read(struct search_summary *s, const char *dir,
                const struct strlist *slo, struct err *err);
void search_summary_fini(struct search_summary *s);

/* Yes if a capacity was found, no if the objective cannot be met, open if the
 * client is the limit or the probes do not decide. */
enum conclusion search_conclusion(const struct search_summary *s);

#endif
