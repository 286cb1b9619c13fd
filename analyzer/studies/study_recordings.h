/* study_recordings.h - the recordings of a study, and one recording with its
 * summary, as all readers of studies need it. */
#ifndef ANALYZER_STUDIES_STUDY_RECORDINGS_H
#define ANALYZER_STUDIES_STUDY_RECORDINGS_H

#include <stddef.h>

#include "analyzer/read/reader.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;
struct strlist;
struct summary;

/* A recording, opened and summed up. */
struct study_run {
    struct recording rec;
    struct summary *summary; /* owned; refers to rec */
};

/* `slo` replaces that of the recording (also in rec.settings) and `cost` its
 * prices; NULL keeps them.  On success study_run_close() must follow.  ERR_IO
 * and ERR_FORMAT as recording_open(), ERR_CONFIG for prices. */
int study_run_open(struct study_run *run, const char *dir,
                   const struct strlist *slo, const struct cost_ask *cost,
                   struct err *err);
void study_run_close(struct study_run *run);

/* "NAME: URL" without secrets, and whether certificates were not verified;
 * `fallback` if the run has no name.  Owned by the caller. */
char *study_title(const struct settings *s, const char *fallback);

struct study_recording {
    char *dir;                /* owned */
    struct study_point point; /* of a sweep or a search */
    double value;             /* of the varied setting; NAN: none is varied */
};

struct study_recordings {
    struct study_recording *list; /* owned */
    size_t n;
    char key[64]; /* the varied setting; "": none */
    char unit[16];
};

/* The complete recordings of trials, a sweep or a search, without its look,
 * whose load is another one.
 * study_recordings_fini() in any case.  ERR_IO, ERR_FORMAT. */
int study_recordings_list(struct study_recordings *l, const char *dir,
                          enum study_kind kind, struct err *err);
void study_recordings_fini(struct study_recordings *l);

#endif
