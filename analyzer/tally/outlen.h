/* outlen.h - are answers as long as they should be?  In the manner of MLPerf's
 * TEST09: the mean output of a run against a reference, since answers that are
 * cut or padded are other work.  Pure.
 */
#ifndef ANALYZER_TALLY_OUTLEN_H
#define ANALYZER_TALLY_OUTLEN_H

#include <stdbool.h>

#include "analyzer/tally/tokens.h"

struct data_settings;
struct note;

enum outlen_source {
    OUTLEN_NONE,    /* there is no reference */
    OUTLEN_SETTING, /* data.reference_output_tokens */
    OUTLEN_DATA,    /* what the data set's samples say */
};

struct outlen {
    enum outlen_source source;
    double reference; /* tokens of an answer on average */
    double tolerance; /* share of it */
    double mean;      /* of the answers; below 0: nobody counts */
    double ratio;     /* mean to reference, if somebody does */
    bool is_ok;       /* within the tolerance */
};

/* `has_lengths`: samples of the data set say how long their answers are, so
 * that what was asked for is the reference of just these requests. */
struct outlen outlen_check(const struct tokens *t,
                           const struct data_settings *data, bool has_lengths);

/* The warning, if there is one. */
bool outlen_note(const struct outlen *o, const struct tokens *t,
                 struct note *note);

const char *outlen_source_name(enum outlen_source source);

#endif
