/* study_doc.h - the documents of studies: sets of trials, sweeps, searches and
 * variants.  The caller owns them. */
#ifndef ANALYZER_REPORT_STUDY_DOC_H
#define ANALYZER_REPORT_STUDY_DOC_H

#include "analyzer/report/doc.h"
#include "analyzer/studies/trials.h"

struct search_summary;
struct sweep_summary;
struct variants_summary;

/* What each rate of a trial is called, and its kind. */
struct trial_rate_label {
    const char *label;
    enum doc_kind kind;
};
extern const struct trial_rate_label trial_rate_labels[TRIAL_RATES];

/* The quantiles of a measure, of which people see p99, and p50 if asked. */
void study_doc_quantiles(struct doc_node *in, int measure,
                         const double ns[static SUMMARY_QUANTILES],
                         bool shows_p50);

struct doc *trials_doc(const struct trials_summary *s);
struct doc *sweep_doc(const struct sweep_summary *s);
struct doc *search_doc(const struct search_summary *s);
struct doc *variants_doc(const struct variants_summary *s);

#endif
