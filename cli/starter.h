/* starter.h - a settings file to begin with, for a target of which the API is
 * known and perhaps more.  Pure. */
#ifndef CLI_STARTER_H
#define CLI_STARTER_H

struct buf;
struct settings;

/* The text of the file, comments included.  `unknown` is why the server did
 * not say what it has; NULL if it did, or need not. */
void starter_view(const struct settings *s, const char *unknown,
                  struct buf *out);

#endif
