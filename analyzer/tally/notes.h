/* notes.h - remarks about the answers that a reader of the numbers should know:
 * lengths that differ from those requested, answers that do not stream, counts
 * that disagree.
 *
 * Each named rule counts the odd requests among those it applies to and adds a
 * note above a given share.  Notes change no number and no verdict.
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
    NOTE_DRAIN,
    NOTE_COUNT,
};

struct odd {
    int64_t count;
    int64_t of;
};

struct oddities {
    struct odd odd[NOTE_COUNT];
    bool says_finish;    /* a request reports why its answer stopped */
    bool says_cached;    /* a request reports cached prompt tokens */
    int64_t load_end_ns; /* no request was due from then on; set before the
                            first request; 0: unknown */
};

/* An ok request that was due in the window. */
void oddities_add(struct oddities *o, const struct facts *f);

/* What else the rules depend on. */
struct note_inputs {
    bool is_offline;        /* all requests were due at once */
    bool is_length_forced;  /* the model must not stop earlier */
    bool limits_ttft;       /* the SLO limits ttft */
    double cached_share;    /* of prompt tokens, those sent before; below 0:
                               unknown */
    int64_t e2e_p99_ns;     /* of ok requests; below 0: unknown */
    int64_t tail_p99_ns;    /* of ok requests; below 0: unknown */
    bool keeps_connections; /* keep-alive is on */
    double in_flight_mean;  /* requests in flight, mean over the window */
};

struct note {
    const char *name;
    int64_t count;
    int64_t of;
    double share;
    const char *text;
};

/* One per rule, one about the server, one about output lengths. */
#define NOTES_MAX (NOTE_COUNT + 2)

struct notes {
    struct note list[NOTES_MAX];
    size_t len;
};

void notes_make(const struct oddities *o, const struct note_inputs *in,
                struct notes *out);

#endif
