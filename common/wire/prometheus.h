/* prometheus.h - a reader for server metrics in Prometheus' text format.
 *
 * Reads version 0.0.4 as specified at https://prometheus.io: a page in, samples
 * out through hooks; nothing is copied or allocated.  A damaged line is counted
 * and skipped, so that one bad series does not cost the others.  Quoted names
 * and exemplars, which servers send only on request, count as damage.  Pure.
 */
#ifndef COMMON_WIRE_PROMETHEUS_H
#define COMMON_WIRE_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer lines, and samples with more labels, count as damaged. */
#define PROM_MAX_LINE   ((size_t)64 << 10)
#define PROM_MAX_LABELS 64

enum prom_type {
    PROM_UNTYPED, /* not given, or unknown */
    PROM_COUNTER,
    PROM_GAUGE,
    PROM_HISTOGRAM,
    PROM_SUMMARY,
};

/* The role of a sample in its family. */
enum prom_part {
    PROM_VALUE,  /* the value; for a summary, at the quantile in its labels */
    PROM_BUCKET, /* histogram: the count up to the label `le` */
    PROM_SUM,    /* histogram or summary */
    PROM_COUNT,  /* histogram or summary */
};

/* Part of the page; not NUL-terminated. */
struct prom_text {
    const char *at;
    size_t len;
};

struct prom_sample {
    struct prom_text name;   /* vllm:request_queue_time_seconds_sum */
    struct prom_text family; /* vllm:request_queue_time_seconds */
    struct prom_text labels; /* between the braces; see prom_label() */
    enum prom_type type;     /* of the family, if its TYPE precedes it */
    enum prom_part part;
    double value;  /* may be NaN or infinite */
    int64_t at_ms; /* since 1970, or TIME_ABSENT */
};

/* All optional; the arguments are borrowed for the call. */
struct prom_hooks {
    void (*sample)(void *arg, const struct prom_sample *sample);
    void (*type)(void *arg, struct prom_text family, enum prom_type type);
    void (*help)(void *arg, struct prom_text family, struct prom_text help);
};

struct prom_counts {
    int64_t samples;
    int64_t damaged; /* lines */
};

/* Read a page.  The last line need not have a line end. */
struct prom_counts prom_read(const char *page, size_t len,
                             const struct prom_hooks *hooks, void *arg);

/* Write the value of a label, with its escapes decoded, to `out`.  If the label
 * is missing, or its value does not fit, `out` is "" and the result false. */
bool prom_label(const struct prom_sample *sample, const char *name, char *out,
                size_t size);

/* Is the text equal to this string? */
bool prom_is(struct prom_text text, const char *wanted);

#endif
