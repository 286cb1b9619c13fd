/* memory_budget.h - a limit on the memory of all responses in this process.
 *
 * Users charge the capacity of their buffers, and only when it has grown.
 * Buffers are reused, so most requests do not touch the counter.
 */
#ifndef COMMON_BASE_MEMORY_BUDGET_H
#define COMMON_BASE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* The limit in bytes, above 0; the default is INT64_MAX, no limit.  Call it
 * before other threads use the budget. */
void budget_set(int64_t bytes);

/* Returns false, and takes nothing, if that would pass the limit.  Any thread.
 */
bool budget_take(int64_t bytes);
void budget_give(int64_t bytes);

/* True if more than half is taken: then free memory that is not in use. */
bool budget_is_tight(void);

#endif
