#include "analyzer/compare/compare_numbers.h"

#include <math.h>
#include <stdio.h>

#include "common/base/units.h"

const char *show_value(const struct quantity *q, double value,
                       char out[static SHOW_TEXT])
{
    char text[UNITS_TEXT];

    if (!isfinite(value))
        return "failed";
    if (q->kind == QUANTITY_QUANTILE)
        snprintf(out, SHOW_TEXT, "%s", units_show_duration(value, text));
    else if (quantity_is_share(q))
        snprintf(out, SHOW_TEXT, "%.4g%%", value * 100);
    else if (q->kind == QUANTITY_COST)
        snprintf(out, SHOW_TEXT, "%.4g USD", value);
    else
        snprintf(out, SHOW_TEXT, "%.4g/s", value);
    return out;
}

const char *show_difference(const struct quantity *q, double value,
                            char out[static SHOW_TEXT])
{
    char text[SHOW_TEXT];

    snprintf(out, SHOW_TEXT, "%s%.60s", value < 0 ? "-" : "+",
             show_value(q, fabs(value), text));
    return out;
}

const char *show_side(size_t side, char out[static SHOW_TEXT])
{
    size_t round = side / 26;

    if (round == 0)
        snprintf(out, SHOW_TEXT, "%c", (char)('A' + side % 26));
    else
        snprintf(out, SHOW_TEXT, "%c%zu", (char)('A' + side % 26), round);
    return out;
}
