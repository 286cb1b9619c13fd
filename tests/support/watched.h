/* watched.h - asks a run that was started with --listen. */
#ifndef TESTS_SUPPORT_WATCHED_H
#define TESTS_SUPPORT_WATCHED_H

struct proc;

/* Where it listens, from what it says.  An address that others can reach is
 * asked by loopback. */
char *watched_url(struct proc *p);

/* The body of an answer, which must be whole and have this status; `headers` as
 * in struct http_request. */
char *watched_get(const char *url, const char *path, const char *headers,
                  int status);

/* A file, as a text. */
char *watched_text(const char *path);

#endif
