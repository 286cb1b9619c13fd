/* trialset.h - the directory of a trial set: trial-1, trial-2, ..., each an
 * ordinary recording. */
#ifndef COMMON_RECORDING_TRIALSET_H
#define COMMON_RECORDING_TRIALSET_H

#include <stddef.h>
#include <stdint.h>

#include "common/recording/studydir.h"

struct err;

struct trial_set {
    int64_t asked;
    int64_t recorded; /* of those, the first so many have a recording */
    uint64_t *seeds;  /* owned; as many as were asked for */
    enum launched_by launched_by;
    char settings_hash[STUDY_HASH]; /* of the settings, seeds apart */
    char against[STUDY_TEXT];       /* the set it took turns with, as seen from
                                           this one; "": none */
    int64_t stopped_by;             /* signal; 0: none */
    char failed[STUDY_TEXT];        /* why no more were made; "": all were */
};

/* How many processes of the server were seen. */
int64_t trial_set_launches(const struct trial_set *set);

/* DIR/trial-N, owned by the caller. */
char *trial_set_path(const char *dir, int64_t number);

/* Is there a directory of that trial? */
bool trial_set_has(const char *dir, int64_t number);

int trial_set_save(const struct trial_set *set, const char *dir,
                   struct err *err);

/* The two sets of a pair are in DIR/a and DIR/b; `order` is "ABBA...". */
int trial_set_save_pair(const char *dir, const char *order, struct err *err);

/* ERR_CONFIG if it is a pair, ERR_IO, ERR_FORMAT. */
int trial_set_load(struct trial_set *set, const char *dir, struct err *err);
void trial_set_fini(struct trial_set *set);

#endif
