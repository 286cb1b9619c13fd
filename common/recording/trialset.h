/* trialset.h - the directory of a trial set: trial-1, trial-2, ..., each an
 * ordinary recording, and study.json, which says what they are.
 *
 * study.json is written before the first trial and again after each, so that
 * it is right whatever ends the set.
 */
#ifndef COMMON_RECORDING_TRIALSET_H
#define COMMON_RECORDING_TRIALSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Who started the server anew for each trial? */
enum launched_by {
    LAUNCHED_ONCE, /* nobody: all trials are of one process */
    LAUNCHED_STUB, /* the stub beside the run */
    LAUNCHED_RESTART,
};

#define TRIAL_SET_HASH 17
#define TRIAL_SET_TEXT 512

struct trial_set {
    int64_t asked;
    int64_t recorded; /* of those, the first so many have a recording */
    uint64_t *seeds;  /* owned; as many as were asked for */
    enum launched_by launched_by;
    char settings_hash[TRIAL_SET_HASH]; /* of the settings, seeds apart */
    char against[TRIAL_SET_TEXT]; /* the set it took turns with, as seen from
                                     this one; "": none */
    int64_t stopped_by;           /* signal; 0: none */
    char failed[TRIAL_SET_TEXT];  /* why no more were made; "": all were */
};

/* How many processes of the server were seen. */
int64_t trial_set_launches(const struct trial_set *set);

/* Make the directory of a set, or of a pair of them.  One that holds anything
 * is refused (ERR_USAGE), unless `force` and it holds such: that is removed. */
int trial_set_make_dir(const char *dir, bool force, struct err *err);

/* Remove all of it, and the directory, which must hold nothing else. */
int trial_set_remove(const char *dir, struct err *err);

/* DIR/trial-N, owned by the caller. */
char *trial_set_path(const char *dir, int64_t number);

int trial_set_save(const struct trial_set *set, const char *dir,
                   struct err *err);

/* The two sets of a pair are in DIR/a and DIR/b; `order` is "ABBA...". */
int trial_set_save_pair(const char *dir, const char *order, struct err *err);

/* Is there a set, or a pair, rather than a recording? */
bool trial_set_is_at(const char *dir);

/* ERR_CONFIG if it is a pair, ERR_IO, ERR_FORMAT. */
int trial_set_load(struct trial_set *set, const char *dir, struct err *err);
void trial_set_fini(struct trial_set *set);

#endif
