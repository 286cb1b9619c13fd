/* scaled.h - studies of scaling from tables of timings. */
#ifndef TESTS_SUPPORT_SCALED_H
#define TESTS_SUPPORT_SCALED_H

#include "analyzer/scaling/scaling.h"

/* Strong scaling of items, as the command asks by default. */
extern const struct scale_ask scaled_usual;

/* A study of this table, which must be read; to be freed below. */
struct scaling *scaled_study(const char *csv, struct scale_ask ask);
void scaled_free(struct scaling *s);

/* Its text (see keep.h); and that it must have this in it. */
char *scaled_text(const struct scaling *s);
void scaled_says(const struct scaling *s, const char *what);

#endif
