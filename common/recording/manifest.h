/* manifest.h - manifest.json: what was requested, and what happened.
 *
 * Written when the run starts and completed when it ends.  A manifest without
 * its end belongs to a run that was killed.
 */
#ifndef COMMON_RECORDING_MANIFEST_H
#define COMMON_RECORDING_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/hash.h"
#include "common/settings/settings.h"
#include "common/spec/abort_rule.h"
#include "common/spec/shard_id.h"

struct calibration_stamp;
struct err;
struct failures;
struct json_t;

/* One machine's share of a run, in its manifest. */
struct shard_start {
    struct shard_id id;
    const char *settings_sha256; /* of what all shards must have in common;
                                    borrowed */
    int64_t start_at_ns;         /* common start since 1970; 0: none */
};

/* What is known when the clock starts. */
struct run_start {
    int64_t monotonic_ns; /* times in the recording count from here */
    int64_t realtime_ns;
    const char *const *argv;          /* the command line; NULL-terminated */
    const char *settings_file;        /* NULL: none */
    const char *settings_sha256;      /* of that file; NULL: unknown */
    const char *settings_git;         /* its git_state(); NULL: none */
    const struct strmap *environment; /* NULL: unknown */
    bool has_stub;                    /* the run started a stub */
    int server_port;                  /* chosen for {port}; 0: none */
    const struct strlist *endpoints;  /* addresses of the targets */
    const struct strlist *targets;    /* their names, by facts.target; NULL:
                                         unknown */
    const char *transport;            /* its name; NULL: none */
    const struct calibration_stamp *calibration; /* NULL: none */
    const struct shard_start *shard;             /* NULL: the whole run */
};

/* What is known at the end.  scheduled = issued + unsent. */
struct run_end {
    int64_t stopped_by; /* signal number; 0: the run was completed */
    int64_t due_end_ns; /* every request due before this is in the recording */

    /* Of the window, by due time.  A start of 0: it began at 0, or never did.
     * An end of 0: it ended with due_end_ns. */
    int64_t window_start_ns;
    int64_t window_end_ns;
    int64_t scheduled;
    int64_t issued;
    int64_t unsent;

    /* The network path, from TCP_INFO of every connection. */
    int64_t rtt_floor_ns; /* minimum round-trip time; 0: unknown */
    int64_t segments;     /* sent */
    int64_t retransmits;  /* of those, retransmitted */

    /* TLS, where the transport reports it. */
    int64_t tls_handshakes;
    int64_t tls_resumed; /* of those */
    char tls[64];        /* version and cipher of the last; "": not known */

    bool was_enough; /* a study ended it because it had its answer */

    /* Why it was aborted, by load.abort_on or an unreadable trace; "": it was
     * not. */
    char aborted[ABORT_TEXT];
};

/* The server whose metrics were scraped during the run. */
struct server_source {
    const char *dialect; /* vllm, ...; NULL: unknown */
    const char *url;     /* of the metrics, without secrets */
    bool is_partial;     /* there were other targets as well */
};

/* A summary of the replayed trace, read before the run. */
struct trace_seen {
    const char *format;
    int64_t rows;    /* to be sent */
    int64_t damaged; /* lines */
    int64_t failed;  /* rows of requests that had failed, left out */
    int64_t tied;    /* rows with the same time as the row before */
    bool has_blocks; /* it says which prompts share a prefix */
    uint64_t hash;   /* of the contents of all rows */
    const struct strlist *damage; /* the first damaged lines; not read back */
};

/* The source of the prompts. */
struct data_seen {
    const char *source;  /* synthetic, trace or data */
    const char *format;  /* of a data set; else NULL, and the rest is unused */
    const char *sha256;  /* of its file */
    int64_t samples;     /* number of samples used */
    int64_t left_out;    /* conversations without an answer */
    bool has_lengths;    /* each sample has the length of its answer */
    double cached_share; /* share of prompt tokens that a cache can hold; below
                            0: unknown */
};

struct manifest {
    struct json_t *json; /* owned */
};

void manifest_init(struct manifest *m, const struct settings *s,
                   const struct run_start *start);
void manifest_complete(struct manifest *m, const struct run_end *end,
                       const struct failures *failures);

/* As if the process that records had been killed. */
void manifest_reopen(struct manifest *m);

/* The signal that ended it, also if it has no end: what recorded was killed. */
void manifest_set_stopped(struct manifest *m, int signal_number);

/* May be called again when more is known. */
void manifest_set_server(struct manifest *m,
                         const struct server_source *source);

/* When the run really began, by its realtime clock: when the last of its
 * workers was ready, but not before the planned start. */
void manifest_set_started(struct manifest *m, int64_t realtime_ns);

/* What a launcher measured: the clock of this machine minus that of the
 * launcher, and an upper bound of the error. */
struct manifest_clock {
    int64_t offset_ns;
    int64_t error_ns;
    bool
        is_corrected; /* the start is by the launcher's clock, not by its own */
    double drift_ppm; /* if so: how much faster than that it was */
};

void manifest_set_clock(struct manifest *m, const struct manifest_clock *clock);

void manifest_set_trace(struct manifest *m, const struct trace_seen *trace);

void manifest_set_data(struct manifest *m, const struct data_seen *data);

/* The same for each class of a workload, in order. */
void manifest_add_class_data(struct manifest *m, const char *class,
                             const struct data_seen *data);

/* The keys of `client` in the settings that may differ between machines. */
#define MANIFEST_OWN_KEYS 4
extern const char *const manifest_own_keys[MANIFEST_OWN_KEYS];

/* The SHA-256 of the settings that all shards of a run must have in common:
 * asked for, without what may differ between machines. */
void manifest_hash_settings(const struct settings *asked,
                            char out[static SHA256_TEXT]);

/* False if it is not a shard.  The text is borrowed. */
bool manifest_shard(const struct manifest *m, struct shard_start *shard);

int manifest_save(const struct manifest *m, const char *dir, struct err *err);

/* ERR_IO; ERR_FORMAT if it is not a manifest, has another version, or its
 * counts do not add up. */
int manifest_load(struct manifest *m, const char *dir, struct err *err);

/* json_loss() of DIR/manifest.json. */
const char *manifest_loss(const char *dir);

/* Read the settings of the run into `s`, which has defaults. */
int manifest_settings(const struct manifest *m, struct settings *s,
                      struct err *err);

/* The same, with {port} instead of the port that was chosen for it. */
int manifest_settings_asked(const struct manifest *m, struct settings *s,
                            struct err *err);

/* False if the run was not completed: of *end only stopped_by is set. */
bool manifest_end(const struct manifest *m, struct run_end *end);

/* Start of the recording's times, on CLOCK_MONOTONIC. */
int64_t manifest_start_monotonic_ns(const struct manifest *m);

/* The same since 1970, by the clock of the host; 0: not recorded. */
int64_t manifest_start_realtime_ns(const struct manifest *m);

/* The messages of failed requests; empty if the run was killed. */
void manifest_failures(const struct manifest *m, struct failures *failures);

/* A text in a part, such as "kernel" in "environment", or at the top with a
 * part of NULL.  Borrowed.  NULL: not recorded. */
const char *manifest_text(const struct manifest *m, const char *part,
                          const char *key);

/* The same for a count; 0: not recorded. */
int64_t manifest_count(const struct manifest *m, const char *part,
                       const char *key);

/* Append the names of the targets, by facts.target; none if there was only one.
 */
void manifest_targets(const struct manifest *m, struct strlist *names);

/* The transport, borrowed; NULL: not recorded. */
const char *manifest_transport(const struct manifest *m);

/* The calibration of the client; empty if not recorded. */
void manifest_calibration(const struct manifest *m,
                          struct calibration_stamp *calibration);

/* False if the server was not scraped.  The texts are borrowed. */
bool manifest_server(const struct manifest *m, struct server_source *source);

/* False if no trace was replayed.  The format is borrowed. */
bool manifest_trace(const struct manifest *m, struct trace_seen *trace);

/* False if the client made no bodies.  The texts are borrowed. */
bool manifest_data(const struct manifest *m, struct data_seen *data);

void manifest_fini(struct manifest *m);

#endif
