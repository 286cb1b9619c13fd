/* failures.h - the messages of failed requests.
 *
 * Every failure is a row in the recording.  This keeps the messages and a few
 * bodies, so that people can see why without a packet capture.
 */
#ifndef COMMON_RECORDING_FAILURES_H
#define COMMON_RECORDING_FAILURES_H

#include <stddef.h>
#include <stdint.h>

struct json_t;

#define FAILURES_KINDS 32
#define FAILURES_TEXT  120
#define FAILURES_BODY  512

/* Texts that differ only in numbers ("try again in 3 s") are one kind, which
 * has the first text. */
struct failure_kind {
    int64_t outcome;
    int64_t detail;
    int64_t count;
    char text[FAILURES_TEXT];
    char body[FAILURES_BODY]; /* the first one */
    size_t body_len;
};

/* The counts of the kinds + overflow = all failures noted. */
struct failures {
    struct failure_kind kinds[FAILURES_KINDS];
    size_t len;
    int64_t overflow; /* failures of kinds for which there was no room */
};

/* `body` may be NULL. */
void failures_note(struct failures *f, int64_t outcome, int64_t detail,
                   const char *text, const char *body, size_t body_len);

/* Add the failures of another. */
void failures_merge(struct failures *into, const struct failures *from);

/* Sort by frequency, the most frequent first. */
void failures_sort(struct failures *f);

/* Returns a new array, owned by the caller. */
struct json_t *failures_to_json(const struct failures *f);

/* Read it back, without the bodies; malformed items are ignored. */
void failures_from_json(struct failures *f, const struct json_t *array);

#endif
