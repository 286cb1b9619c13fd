/* rank_rows.h - requests that have ended, packed for a message between ranks:
 * each value is what it differs by from that of the row before, in as few bytes
 * as it takes.  Pure. */
#ifndef STUDY_RANK_ROWS_H
#define STUDY_RANK_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct facts;

/* At least one row fits into this. */
#define RANK_ROW_MAX ((size_t)512)

/* Pack the first rows, as many as fit; *len is what they take.  Returns how
 * many they are. */
size_t rank_rows_pack(const struct facts *rows, size_t n, uint8_t *out,
                      size_t size, size_t *len);

/* Returns how many there are, at most `max`; -1: the bytes are damaged. */
int64_t rank_rows_unpack(const uint8_t *bytes, size_t len, struct facts *rows,
                         size_t max);

#endif
