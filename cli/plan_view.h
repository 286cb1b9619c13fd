/* plan_view.h - what a run would do, as text, and what speaks against it.
 * Pure. */
#ifndef CLI_PLAN_VIEW_H
#define CLI_PLAN_VIEW_H

#include <stddef.h>

#include "common/base/buf.h"

struct run_plan;
struct settings;
struct slo;
struct slo_term;

/* Requests that the window will hold, or at least; 0 if nobody can know.  Of a
 * trace it takes what was found in its file. */
double plan_requests(const struct settings *s, const struct run_plan *known);

/* Lines for people; the settings are resolved and `known` is of them. */
void plan_view(const struct settings *s, const struct run_plan *known,
               const struct slo *slo, struct buf *out);

/* Why this term cannot be answered by a run of so many requests (0: nobody
 * knows): "needs at least 2995 independent requests; ...".  "" if it can. */
void plan_doubt(const struct settings *s, const struct slo_term *term,
                double requests, struct buf *out);

#endif
