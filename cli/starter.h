/* starter.h - a settings file to start from, for a target whose API is known.
 * Pure. */
#ifndef CLI_STARTER_H
#define CLI_STARTER_H

struct buf;
struct settings;

/* The text of the file, comments included.  `unknown` is why the server
 * did not tell its model or tensors; NULL: it did, or was not asked. */
void starter_view(const struct settings *s, const char *unknown,
                  struct buf *out);

#endif
