/* load_stage.h - a stretch of load, as people write it: "50/s 30s", or
 * "10/s..100/s 1m" for a rate that rises or falls in a straight line. */
#ifndef COMMON_SPEC_LOAD_STAGE_H
#define COMMON_SPEC_LOAD_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/units.h"

struct err;

struct load_stage {
    double from_rps;
    double to_rps; /* the same for a constant rate */
    int64_t length_ns;
};

/* Enough for stage_print(). */
#define STAGE_TEXT ((size_t)4 * UNITS_TEXT)

/* A rate, which of a stage may be 0. */
int load_stage_parse_rate(const char *text, double *rps, struct err *err);

int load_stage_parse(const char *text, struct load_stage *stage,
                     struct err *err);

/* As text that stage_parse() reads back. */
const char *load_stage_print(const struct load_stage *stage,
                             char out[static STAGE_TEXT]);

/* For an option table. */
int load_stage_check(const char *text, struct err *err);

#endif
