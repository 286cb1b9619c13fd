#include "common/spec/load_stage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/units.h"

int load_stage_parse_rate(const char *text, double *rps, struct err *err)
{
    if (strcmp(text, "0") == 0 || strcmp(text, "0/s") == 0) {
        *rps = 0;
        return 0;
    }
    return units_parse_rate(text, rps, err);
}

/* "10/s..100/s", or one rate for both ends. */
static int parse_rates(char *text, struct load_stage *stage, struct err *err)
{
    char *dots = strstr(text, "..");

    if (dots)
        *dots = '\0';
    if (load_stage_parse_rate(text, &stage->from_rps, err))
        return -1;
    stage->to_rps = stage->from_rps;
    return dots ? load_stage_parse_rate(dots + 2, &stage->to_rps, err) : 0;
}

int load_stage_parse(const char *text, struct load_stage *stage,
                     struct err *err)
{
    char rates[80];
    char length[32];
    char extra[2];

    *stage = (struct load_stage){0};
    if (sscanf(text, "%79s %31s %1s", rates, length, extra) != 2)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a stage; write '50/s 30s' or "
                       "'10/s..100/s 1m'",
                       text);
    if (parse_rates(rates, stage, err) ||
        units_parse_duration(length, &stage->length_ns, err))
        return -1;
    if (stage->length_ns == 0)
        return err_set(err, ERR_CONFIG, "'%s': a stage of no length", text);
    return 0;
}

static const char *print_rate(double rps, char out[static UNITS_TEXT])
{
    return rps > 0 ? units_print_rate(rps, out) : "0/s";
}

const char *load_stage_print(const struct load_stage *stage,
                             char out[static STAGE_TEXT])
{
    char from[UNITS_TEXT];
    char to[UNITS_TEXT];
    char length[UNITS_TEXT];
    bool is_level = stage->from_rps == stage->to_rps;

    snprintf(out, STAGE_TEXT, "%s%s%s %s", print_rate(stage->from_rps, from),
             is_level ? "" : "..",
             is_level ? "" : print_rate(stage->to_rps, to),
             units_print_duration(stage->length_ns, length));
    return out;
}

int load_stage_check(const char *text, struct err *err)
{
    struct load_stage stage;

    return load_stage_parse(text, &stage, err);
}
