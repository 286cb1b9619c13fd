/* Single values of a report in words: durations, numbers and shares. */
#include <math.h>
#include <stdio.h>

#include "analyzer/report/text_show.h"
#include "common/spec/slo.h"
#include "common/stats/hist.h"

const char *text_show_ns(double ns, char out[static UNITS_TEXT])
{
    if (ns >= 0)
        return units_show_duration(ns, out);
    return ns == HIST_TOO_FEW        ? "n too small"
           : ns == HIST_BEYOND       ? "failed"
           : ns == HIST_OUT_OF_RANGE ? "> 1h"
                                     : "-";
}

enum text_kind text_kind_of(const struct slo_term *term)
{
    return term->kind == SLO_QUANTILE  ? TEXT_NS
           : term->kind == SLO_GOODPUT ? TEXT_RATE
                                       : TEXT_SHARE;
}

const char *text_show_kind(double value, enum text_kind kind,
                           char out[static UNITS_TEXT])
{
    if (!isfinite(value))
        return "failed";
    if (kind == TEXT_NS)
        return text_show_ns(value, out);
    snprintf(out, UNITS_TEXT, kind == TEXT_SHARE ? "%.6g%%" : "%.6g",
             kind == TEXT_SHARE ? 100 * value : value);
    return out;
}

const char *text_show_number(double value, int digits,
                             char out[static UNITS_TEXT])
{
    if (fabs(value) < pow(10, digits) - 0.5)
        snprintf(out, UNITS_TEXT, "%.*g", digits, value);
    else
        snprintf(out, UNITS_TEXT, "%.0f", value);
    return out;
}
