/* jtree.h - the tree of a JSON text, made by our scanner, to compare it with
 * the one that jansson makes.
 */
#ifndef TESTS_SUPPORT_JTREE_H
#define TESTS_SUPPORT_JTREE_H

#include <stddef.h>

#include <jansson.h>

#include "common/text/jscan.h"

/* The caller owns it; NULL if the text is no JSON, or holds what no tree can:
 * a number that does not fit, half of a surrogate pair. */
json_t *jtree_read(const char *text, size_t len);

/* The same by jansson, with any value at the top and any character in it. */
json_t *jtree_of_jansson(const char *text, size_t len, json_error_t *error);

#endif
