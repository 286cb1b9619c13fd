/* trustof.h - what the checks make of a tally made by hand. */
#ifndef TESTS_SUPPORT_TRUSTOF_H
#define TESTS_SUPPORT_TRUSTOF_H

#include <stdbool.h>

#include "analyzer/verdict/trust.h"

/* NULL: a client of which nothing is known, a recording that is whole. */
struct trust trust_of(const struct tally *t, const struct client *client,
                      const struct integrity *integrity, bool is_closed);

#endif
