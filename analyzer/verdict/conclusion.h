/* conclusion.h - the answer of a run, a study or a comparison as far as a
 * script cares.  cli/exit_status.h turns it into an exit status. */
#ifndef ANALYZER_VERDICT_CONCLUSION_H
#define ANALYZER_VERDICT_CONCLUSION_H

/* In ascending order of severity: of several the largest counts. */
enum conclusion {
    CONCLUSION_YES,
    CONCLUSION_UNDECIDED,
    CONCLUSION_NO,
    CONCLUSION_INVALID, /* invalid measurement, or refused comparison */
    CONCLUSION_FAILED,  /* a part of the study could not be run */
};

#endif
