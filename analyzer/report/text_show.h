/* text_show.h - single values in words: durations, numbers and shares. */
#ifndef ANALYZER_REPORT_TEXT_SHOW_H
#define ANALYZER_REPORT_TEXT_SHOW_H

#include "common/text/units.h"

struct slo_term;

/* A duration, or in a word why it is missing; `ns` may be HIST_BEYOND or
 * another of those codes. */
const char *text_show_ns(double ns, char out[static UNITS_TEXT]);

/* What is reported over trials: a duration, a number or a share. */
enum text_kind { TEXT_NS, TEXT_RATE, TEXT_SHARE };

/* The kind of value that a term of an SLO limits. */
enum text_kind text_kind_of(const struct slo_term *term);

/* A value of that kind; "failed" where it lies among the failures. */
const char *text_show_kind(double value, enum text_kind kind,
                           char out[static UNITS_TEXT]);

/* `digits` significant digits, all digits of a larger whole number, and never
 * an exponent before the point. */
const char *text_show_number(double value, int digits,
                             char out[static UNITS_TEXT]);

#endif
