/* stage.h - a stretch of load, as people write it: "50/s 30s", or "10/s..100/s
 * 1m" for a rate that rises or falls in a straight line. */
#ifndef COMMON_STAGE_H
#define COMMON_STAGE_H

#include <stdint.h>

struct err;

struct stage {
    double from_rps;
    double to_rps; /* the same for a constant rate */
    int64_t length_ns;
};

int stage_parse(const char *text, struct stage *stage, struct err *err);

/* For an option table. */
int stage_check(const char *text, struct err *err);

#endif
