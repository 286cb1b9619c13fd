/* rate_table.h - the rates of a day, or of any other time, from a file:
 *
 *   # time,rate
 *   0:00,12
 *   6:30,40/s
 *   24:00,12
 *
 * Times are of the clock (H:MM, H:MM:SS), durations (90m) or seconds; the first
 * row is the beginning and the last one the end.  The rate goes from row to row
 * in straight lines; two rows of the same time are a step.
 */
#ifndef COMMON_SPEC_RATE_TABLE_H
#define COMMON_SPEC_RATE_TABLE_H

#include <stddef.h>

struct err;
struct strlist;

/* Add the stages that the table comes to, `speed` times as fast; rates stay as
 * they are.  ERR_CONFIG "file:line: ...". */
int ratetable_read(const char *path, double speed, struct strlist *stages,
                   struct err *err);

/* The same from memory, which is changed; `name` stands for the path. */
int ratetable_parse(const char *name, char *text, double speed,
                    struct strlist *stages, struct err *err);

#endif
