/* slo_strip.h - the strip of objectives: each term's value and interval as a
 * share of its limit, so that all rows have one scale.  Left is always better.
 */
#ifndef ANALYZER_HTML_SLO_STRIP_H
#define ANALYZER_HTML_SLO_STRIP_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/html/page.h"
#include "common/spec/slo.h"

struct slo_row {
    const char *class; /* of requests; NULL: all */
    const struct slo_term *term;
    enum tone tone;
    const char *verdict; /* "pass, shown" */
    double measured;     /* in the unit of the term: ns, a share, per second;
                            NAN: not measured; INFINITY: failed */
    double low;          /* of its interval, in the same unit; NAN: none */
    double high;         /* INFINITY: no upper end */
    const double *dots;  /* single values, such as those of trials */
    size_t n_dots;
    const char *interval; /* in words; escaped */
};

void slo_strip_begin(struct page *p);
void slo_strip_row(struct page *p, const struct slo_row *r);
void slo_strip_end(struct page *p);

/* A value in the unit of the term. */
const char *slo_show(const struct slo_term *t, double value,
                     char out[static SHOW_TEXT]);

/* Is the limit inside the interval? */
bool slo_is_across(const struct slo_row *r);

#endif
