/* notes.h - what a reader of the numbers should know of the answers: lengths
 * that are not those asked for, streams that are none, counts that disagree.
 *
 * Named rules; each counts the requests that are odd, of those that it can be
 * said of, and speaks up above a share.  They change no number and no verdict.
 */
#ifndef ANALYZER_TALLY_NOTES_H
#define ANALYZER_TALLY_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"

enum note_kind {
    NOTE_FINISH,
    NOTE_EARLY_STOP,
    NOTE_OUTPUT_LENGTH,
    NOTE_PROMPT_LENGTH,
    NOTE_CACHED,
    NOTE_BURST,
    NOTE_TAIL,
    NOTE_TOKEN_COUNTS,
    NOTE_NOT_CACHED,
    NOTE_NO_STREAM,
    NOTE_CLOSED,
    NOTE_COUNT,
};

struct odd {
    int64_t count;
    int64_t of;
};

struct oddities {
    struct odd odd[NOTE_COUNT];
    bool says_finish; /* some request says why it stopped */
    bool says_cached; /* ... or what of its prompt was cached */
};

/* An ok request that was due in the window. */
void oddities_add(struct oddities *o, const struct facts *f);

/* What else the rules go by. */
struct note_inputs {
    bool is_length_forced;  /* the model may not stop before */
    bool limits_ttft;       /* the SLO does */
    double cached_share;    /* of prompt tokens that were sent before; below 0:
                               not known */
    int64_t e2e_p99_ns;     /* of the ok requests; below 0: not known */
    int64_t tail_p99_ns;    /* likewise */
    bool keeps_connections; /* unless the server closes them */
    double in_flight_mean;  /* requests in flight in the window */
};

struct note {
    const char *name;
    int64_t count;
    int64_t of;
    double share;
    const char *text;
};

/* Those of the rules, one of the server, and one of lengths. */
#define NOTES_MAX (NOTE_COUNT + 2)

struct notes {
    struct note list[NOTES_MAX];
    size_t len;
};

void notes_make(const struct oddities *o, const struct note_inputs *in,
                struct notes *out);

#endif
