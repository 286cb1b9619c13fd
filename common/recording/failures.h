/* failures.h - what failing requests said, within bounds.
 *
 * Every failure is a row of its own in the recording; this keeps the texts and
 * a few bodies, so that a person can see why without a packet capture.
 */
#ifndef COMMON_RECORDING_FAILURES_H
#define COMMON_RECORDING_FAILURES_H

#include <stddef.h>
#include <stdint.h>

struct json_t;

#define FAILURES_KINDS 32
#define FAILURES_TEXT  120
#define FAILURES_BODY  512

/* Texts that differ in numbers alone ("try again in 3 s") are of one kind, and
 * the first of them stands for it. */
struct failure_kind {
    int64_t outcome;
    int64_t detail;
    int64_t count;
    char text[FAILURES_TEXT];
    char body[FAILURES_BODY]; /* of the first one that had any */
    size_t body_len;
};

/* Sum of the kinds' counts + overflow = every failure noted. */
struct failures {
    struct failure_kind kinds[FAILURES_KINDS];
    size_t len;
    int64_t overflow; /* of kinds that found no place */
};

/* `body` may be NULL. */
void failures_note(struct failures *f, int64_t outcome, int64_t detail,
                   const char *text, const char *body, size_t body_len);

/* Add another's; kinds that find no place overflow. */
void failures_merge(struct failures *into, const struct failures *from);

/* The most frequent first. */
void failures_sort(struct failures *f);

/* A new array, the caller owns it. */
struct json_t *failures_to_json(const struct failures *f);

/* Read back, without the bodies; what is not as it should be is passed over. */
void failures_from_json(struct failures *f, const struct json_t *array);

#endif
