/* file.h - small files as a whole, and directories. */
#ifndef COMMON_BASE_FILE_H
#define COMMON_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

struct err;
struct strlist;

/* Append the file to `out`; a file larger than its maximum is an error.
 * ERR_CONFIG: the user named the wrong file. */
int file_read(const char *path, struct buf *out, struct err *err);

/* Read a text file without its byte order mark.  The caller owns *text.
 * ERR_CONFIG if it holds a NUL. */
int file_read_text(const char *path, size_t max, char **text, struct err *err);

/* Write to a unique temporary file PATH.new-* in the same directory, sync it,
 * rename it and sync the directory: a reader sees the old file or the new one,
 * never a part, even after the machine crashed.  On failure ERR_IO, and the
 * temporary file is removed.  A device or a pipe is written into instead. */
int file_replace(const char *path, const void *data, size_t len,
                 struct err *err);

/* file_replace() for DIR/name. */
int file_replace_in(const char *dir, const char *name, const struct buf *text,
                    struct err *err);

/* Is `name` a temporary name that file_replace() uses for the file `of`?  A
 * crash may leave such a file behind. */
bool file_is_temporary(const char *name, const char *of);

/* Append the names in a directory that `is_wanted` accepts, in no particular
 * order.  ERR_IO. */
int file_list_dir(const char *dir, bool (*is_wanted)(const char *name),
                  struct strlist *names, struct err *err);

/* Create a directory and its parents; it may exist already.  ERR_IO. */
int file_make_dir(const char *path, struct err *err);

/* Do both exist, and are they the same file or directory? */
bool file_is_same(const char *a, const char *b);

/* Write everything to fd; -1 with errno set on failure. */
int file_write_all(int fd, const void *data, size_t len);

/* The state of a file under version control: the commit that is checked out,
 * then ", unchanged", ", changed since" or ", not tracked".  NULL if git or a
 * repository is missing.  Runs git and waits for it.  The caller owns it. */
char *git_state(const char *path);

/* Raise the limit on open files as far as the system allows.  Returns the limit
 * in force, at most INT32_MAX. */
int64_t files_raise_limit(void);

#endif
