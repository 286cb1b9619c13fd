/* study_doc.h - the documents of studies: sets of trials, sweeps, searches and
 * variants.  The caller owns them. */
#ifndef ANALYZER_REPORT_STUDY_DOC_H
#define ANALYZER_REPORT_STUDY_DOC_H

#include <stdint.h>

#include "analyzer/report/doc.h"
#include "analyzer/studies/trials.h"
#include "common/recording/studydir.h"

struct brief;
struct cost_ask;
struct err;
struct search_summary;
struct strlist;
struct sweep_summary;
struct variants_summary;

/* What each rate of a trial is called, its kind, and what trackers make of it.
 */
struct trial_rate_label {
    const char *label;
    enum doc_kind kind;
    enum doc_better better;
};
extern const struct trial_rate_label trial_rate_labels[TRIAL_RATES];

/* The quantiles of a measure, of which people see p99, and p50 if asked. */
void study_doc_quantiles(struct doc_node *in, int measure,
                         const double ns[static SUMMARY_QUANTILES],
                         bool shows_p50);

/* Their short forms, for doc_set_brief(). */
void trials_brief(struct brief *b, const struct doc_node *root);
void sweep_brief(struct brief *b, const struct doc_node *root);
void search_brief(struct brief *b, const struct doc_node *root);
void variants_brief(struct brief *b, const struct doc_node *root);

struct doc *trials_doc(const struct trials_summary *s);
struct doc *sweep_doc(const struct sweep_summary *s);
struct doc *search_doc(const struct search_summary *s);
struct doc *variants_doc(const struct variants_summary *s);

/* By what a recorded study is judged.  Nothing given: as recorded. */
struct study_doc_ask {
    const struct strlist *slo;
    const struct cost_ask *cost; /* not for searches */
    int require;          /* of trials: enum slo_require + 1; 0: as recorded */
    const char *smallest; /* difference between variants worth mentioning */
};

/* The document of the study at `dir`, with its conclusion (doc_conclusion()).
 * `*stopped_by` is the signal that interrupted it, 0 if none.  A pair is
 * refused as a set of trials.  NULL: ERR_IO, ERR_FORMAT, ERR_USAGE. */
struct doc *study_doc_of(const char *dir, enum study_kind kind,
                         const struct study_doc_ask *ask, int64_t *stopped_by,
                         struct err *err);

#endif
