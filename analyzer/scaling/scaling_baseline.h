/* scaling_baseline.h - a sealed baseline (docs/baseline.md) beside a scaling
 * study. */
#ifndef ANALYZER_SCALING_SCALING_BASELINE_H
#define ANALYZER_SCALING_SCALING_BASELINE_H

struct err;
struct scaling;

/* Before the points are in order: K = 1 where the study has none of its own,
 * else a line that cites it and says how the study's stands to it.  One that
 * was altered, or is of another job, is refused.  ERR_IO, ERR_FORMAT. */
int scale_sealed_use(struct scaling *s, const char *path, struct err *err);

#endif
