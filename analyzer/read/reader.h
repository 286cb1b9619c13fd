/* reader.h - reads a recording: settings, manifest, and a stream of requests
 * and events.  Memory does not grow with the recording. */
#ifndef ANALYZER_READ_READER_H
#define ANALYZER_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/recording/manifest.h"
#include "common/recording/tgr.h"
#include "common/settings/settings.h"

struct err;

/* A recording with more requests is refused. */
#define READER_MAX_REQUESTS (INT64_C(1) << 53)

/* Minimum bytes of a sent request in a block of many, since the times in its
 * row vary.  Up to READER_MAX_DENSE_SENT made-up rows may be smaller. */
#define READER_SENT_BYTES     4
#define READER_MAX_DENSE_SENT (1 << 20)

struct recording {
    char *dir;
    struct settings settings; /* of the run */
    struct manifest manifest;
    bool has_end;       /* false: the run was killed */
    struct run_end end; /* without has_end: stopped_by alone */
    struct tgr_reader *requests;
    struct tgr_reader *events; /* NULL: the run has none */
    int64_t in_ranges;  /* requests read so far without a row of their own */
    int64_t dense_sent; /* rows read so far that are too small */
};

/* Content events of one worker, in its order. */
struct event_rows {
    const struct content_event *rows; /* valid until the next call */
    size_t n;
    unsigned shard;
    bool is_after_damage; /* rows before these could not be read */
};

/* ERR_CONFIG if there is no recording at `dir`, ERR_IO or ERR_FORMAT if it
 * cannot be read. */
int recording_open(struct recording *rec, const char *dir, struct err *err);

/* Open only the table of requests; settings and manifest are empty. */
int recording_open_bare(struct recording *rec, const char *dir,
                        struct err *err);
void recording_close(struct recording *rec);

/* The next rows, valid until the next call.  Returns 1, 0 at the end, or -1.  A
 * row may represent several unsent requests: facts_n(). */
int recording_next(struct recording *rec, const struct facts **rows, size_t *n,
                   struct err *err);

/* The same for content events; 0 if there are none. */
int recording_next_events(struct recording *rec, struct event_rows *out,
                          struct err *err);

/* What could not be read so far of both tables. */
struct tgr_damage recording_damage(const struct recording *rec);

/* Start again at the first row of both tables. */
int recording_rewind(struct recording *rec, struct err *err);

#endif
