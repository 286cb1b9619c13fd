/* file.h - whole small files: read within a bound, replace in one step; and
 * directories. */
#ifndef COMMON_BASE_FILE_H
#define COMMON_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

struct err;
struct strlist;

/* Append the file to `out`, whose maximum bounds it.  ERR_CONFIG on failure:
 * whoever named it named the wrong one. */
int file_read(const char *path, struct buf *out, struct err *err);

/* The same of a text, without the byte order mark that it may begin with; the
 * caller owns it.  ERR_CONFIG if it is none. */
int file_read_text(const char *path, size_t max, char **text, struct err *err);

/* Write to a temporary name of its own in the same directory, PATH.new-*, then
 * rename.  The file is on the disk before the rename, and the rename when this
 * returns: a reader sees the old file or the new one, never a part, also after
 * a crash of the machine.  On failure ERR_IO, and the temporary file is
 * removed.  A device or a pipe is not replaced but written into. */
int file_replace(const char *path, const void *data, size_t len,
                 struct err *err);

/* The same of DIR/name. */
int file_replace_in(const char *dir, const char *name, const struct buf *text,
                    struct err *err);

/* Is `name` one that file_replace() gives to `of` while it writes?  A crash may
 * leave such a file behind. */
bool file_is_temporary(const char *name, const char *of);

/* The names in a directory for which `is_wanted` says so, in no order; the
 * caller frees the list.  ERR_IO. */
int file_list_dir(const char *dir, bool (*is_wanted)(const char *name),
                  struct strlist *names, struct err *err);

/* Make a directory and its parents; one that is there is fine.  ERR_IO. */
int file_make_dir(const char *path, struct err *err);

/* Are both there, and the same file or directory? */
bool file_is_same(const char *a, const char *b);

/* write(2) until all is out; -1 with errno set if it cannot be. */
int file_write_all(int fd, const void *data, size_t len);

#endif
