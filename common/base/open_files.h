/* open_files.h - how many files the process may have open. */
#ifndef COMMON_BASE_OPEN_FILES_H
#define COMMON_BASE_OPEN_FILES_H

#include <stdint.h>

/* Raise the limit as far as it goes.  Returns the one in force, at most
 * INT32_MAX. */
int64_t files_raise_limit(void);

#endif
