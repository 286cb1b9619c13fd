/* url_path.h - paths with places left open.  Pure. */
#ifndef SERVER_STUB_FRONT_URL_PATH_H
#define SERVER_STUB_FRONT_URL_PATH_H

#include <stdbool.h>

/* A star in the pattern stands for one or more characters other than '/'. */
bool path_matches(const char *pattern, const char *path);

#endif
