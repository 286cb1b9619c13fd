/* study_report.h - the report of a recorded study. */
#ifndef CLI_STUDY_REPORT_H
#define CLI_STUDY_REPORT_H

#include <stdbool.h>

#include "analyzer/report/study_doc.h"
#include "cli/report_out.h"

struct buf;
struct err;

/* How the report of a study is asked for. */
struct study_ask {
    struct study_doc_ask judge;
    enum doc_format format;
    const struct output_args *output;
    bool saves;                  /* leave DIR/summary.json */
    const char *again;           /* see struct report_to */
    struct buf *page;            /* append a page here, too; NULL: nowhere */
    enum conclusion *conclusion; /* receives what the report comes to; NULL:
                                    nothing does */
};

/* Print the report of the study at `dir`, and save it if asked to.  Returns the
 * exit status, or -1. */
int study_report(const char *dir, enum study_kind kind,
                 const struct study_ask *ask, struct err *err);

#endif
