/* tmpdir.h - one scratch directory for a test program, removed at its end with
 * all that is in it.
 */
#ifndef TESTS_SUPPORT_TMPDIR_H
#define TESTS_SUPPORT_TMPDIR_H

#include <stddef.h>

/* Group fixtures of cmocka. */
int tmpdir_setup(void **state);
int tmpdir_teardown(void **state);

/* The directory itself, and the path of a file in it (see keep.h). */
const char *tmpdir_root(void);
char *tmpdir_path(const char *name);

/* Make a file of these bytes; returns its path. */
char *tmpdir_write(const char *name, const void *data, size_t len);

#endif
