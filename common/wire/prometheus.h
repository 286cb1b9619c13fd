/* prometheus.h - a reader for server metrics in Prometheus' text format.
 *
 * Reads version 0.0.4 as specified at https://prometheus.io: a page in, samples
 * out through a callback; nothing is copied or allocated.  Comments are
 * skipped, TYPE and HELP too.  A damaged line is counted and skipped, so that
 * one bad series does not cost the others.  Quoted names and exemplars, which
 * servers send only on request, count as damage.  Pure.
 */
#ifndef COMMON_WIRE_PROMETHEUS_H
#define COMMON_WIRE_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer lines, and samples with more labels, count as damaged. */
#define PROM_MAX_LINE   ((size_t)64 << 10)
#define PROM_MAX_LABELS 64

/* Part of the page; not NUL-terminated. */
struct prom_text {
    const char *at;
    size_t len;
};

struct prom_sample {
    struct prom_text name;   /* vllm:request_queue_time_seconds_sum */
    struct prom_text labels; /* between the braces; see prom_label() */
    double value;            /* may be NaN or infinite */
};

/* The sample is borrowed for the call. */
typedef void prom_sample_fn(void *arg, const struct prom_sample *sample);

struct prom_counts {
    int64_t samples;
    int64_t damaged; /* lines */
};

/* Read a page.  The last line need not have a line end. */
struct prom_counts prom_read(const char *page, size_t len, prom_sample_fn *take,
                             void *arg);

/* Write the value of a label, with its escapes decoded, to `out`.  If the label
 * is missing, or its value does not fit, `out` is "" and the result false. */
bool prom_label(const struct prom_sample *sample, const char *name, char *out,
                size_t size);

/* Is the text equal to this string? */
bool prom_is(struct prom_text text, const char *wanted);

#endif
