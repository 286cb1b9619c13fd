/* manifest.h - manifest.json: what was asked, and what happened.
 *
 * Written when the run starts and completed when it ends.  A manifest without
 * its end belongs to a run that was killed.
 */
#ifndef COMMON_RECORDING_MANIFEST_H
#define COMMON_RECORDING_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings/settings.h"
#include "common/spec/abort_rule.h"

struct calibration_stamp;
struct err;
struct failures;
struct json_t;

/* What is known when the clock starts. */
struct run_start {
    int64_t monotonic_ns; /* times in the recording count from here */
    int64_t realtime_ns;
    const char *const *argv;     /* as asked; NULL-terminated */
    const char *settings_file;   /* NULL: none */
    const char *settings_sha256; /* of that file; NULL: not known */
    const char
        *settings_git; /* its state, common/base/git_state.h; NULL: none */
    const struct strmap *environment; /* NULL: nothing is known */
    bool has_stub;                    /* one is beside the run */
    int server_port; /* that was found for {port}; 0: none was */
    const struct strlist *endpoints;             /* addresses, as used */
    const char *transport;                       /* its name; NULL: none */
    const struct calibration_stamp *calibration; /* NULL: none */
};

/* What is known at the end.  scheduled = issued + unsent. */
struct run_end {
    int64_t stopped_by; /* signal number; 0: the run came to its end */
    int64_t due_end_ns; /* every request due before this is in the recording */

    /* Of the window, by due time; 0: it never began, unless that is when it
     * was to, or nothing but due_end_ns ended it. */
    int64_t window_start_ns;
    int64_t window_end_ns;
    int64_t scheduled;
    int64_t issued;
    int64_t unsent;

    /* The network path, from TCP_INFO of every connection; noted. */
    int64_t rtt_floor_ns; /* smallest round trip; 0: not known */
    int64_t segments;     /* sent */
    int64_t retransmits;  /* of those, sent again */

    bool was_enough; /* a study ended it, which knew what it wanted to */

    /* By load.abort_on, or because a trace could not be read on, and why; "":
     * it was not. */
    char aborted[ABORT_TEXT];
};

/* Whose metrics were read beside the run. */
struct server_source {
    const char *dialect; /* vllm, ...; NULL: not known */
    const char *url;     /* of the metrics, without secrets */
    bool is_partial;     /* requests went to others as well */
};

/* What a trace that was replayed came to, read before the run. */
struct trace_seen {
    const char *format;
    int64_t rows;    /* that were to be sent */
    int64_t damaged; /* lines */
    int64_t failed;  /* rows of requests that failed back then, left out */
    int64_t tied;    /* rows of the same time as the row before */
    bool has_blocks; /* prompts begin alike where it says so */
    uint64_t hash;   /* of all that the rows say */
    const struct strlist *damage; /* the first damaged lines; not read back */
};

/* What prompts were made of. */
struct data_seen {
    const char *source;  /* synthetic, trace or data */
    const char *format;  /* of a data set; else NULL, and so are the others */
    const char *sha256;  /* of its file */
    int64_t samples;     /* of it that were used */
    int64_t left_out;    /* conversations that nobody answers */
    bool has_lengths;    /* each sample says how long its answer is */
    double cached_share; /* of prompt tokens that a cache can have; below 0: not
                            known */
};

struct manifest {
    struct json_t *json; /* owned */
};

void manifest_init(struct manifest *m, const struct settings *s,
                   const struct run_start *start);
void manifest_complete(struct manifest *m, const struct run_end *end,
                       const struct failures *failures);

/* As soon as it is known, and again when more is. */
void manifest_set_server(struct manifest *m,
                         const struct server_source *source);

void manifest_set_trace(struct manifest *m, const struct trace_seen *trace);

void manifest_set_data(struct manifest *m, const struct data_seen *data);

/* The same of one class of a mix, one after the other. */
void manifest_add_class_data(struct manifest *m, const char *class,
                             const struct data_seen *data);

int manifest_save(const struct manifest *m, const char *dir, struct err *err);

/* ERR_IO; ERR_FORMAT if it is none, of another version, or its counts do not
 * add up. */
int manifest_load(struct manifest *m, const char *dir, struct err *err);

/* Is DIR/manifest.json gone, or what a crash may leave of it?  "is missing",
 * "is empty" or "is damaged" (no JSON object), static; NULL: it can be read. */
const char *manifest_loss(const char *dir);

/* The settings as used, over what `s` holds. */
int manifest_settings(const struct manifest *m, struct settings *s,
                      struct err *err);

/* The same, with {port} in place of the port that was found for it. */
int manifest_settings_asked(const struct manifest *m, struct settings *s,
                            struct err *err);

/* False if the run never came to its end, and then *end is not touched. */
bool manifest_end(const struct manifest *m, struct run_end *end);

/* The moment from which the recording's times count, of CLOCK_MONOTONIC. */
int64_t manifest_start_monotonic_ns(const struct manifest *m);

/* The same since 1970, as far as the host knew; 0: nobody wrote it down. */
int64_t manifest_start_realtime_ns(const struct manifest *m);

/* What failing requests said, of the whole run; empty if it was killed. */
void manifest_failures(const struct manifest *m, struct failures *failures);

/* A text of a part of it, such as "environment" and "kernel", borrowed; with
 * NULL of no part.  NULL: nobody wrote it down. */
const char *manifest_text(const struct manifest *m, const char *part,
                          const char *key);

/* The transport that was used, borrowed; NULL: nobody wrote it down. */
const char *manifest_transport(const struct manifest *m);

/* What the client was known to be good for; none if nobody wrote it down. */
void manifest_calibration(const struct manifest *m,
                          struct calibration_stamp *calibration);

/* False if there was no look at the server.  The texts are borrowed. */
bool manifest_server(const struct manifest *m, struct server_source *source);

/* False if no trace was replayed.  The format is borrowed. */
bool manifest_trace(const struct manifest *m, struct trace_seen *trace);

/* False if this side made no bodies.  The texts are borrowed. */
bool manifest_data(const struct manifest *m, struct data_seen *data);

void manifest_fini(struct manifest *m);

#endif
