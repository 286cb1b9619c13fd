/* prometheus.h - what a server says of itself, in Prometheus' text format.
 *
 * A pure reader of version 0.0.4, as https://prometheus.io has it: a page in,
 * samples out by hooks; nothing is copied or allocated.  A line that is damaged
 * is counted and passed over, so that one bad series does not cost the others.
 * Quoted names and exemplars, which nobody sends unasked, are such damage.
 */
#ifndef COMMON_WIRE_PROMETHEUS_H
#define COMMON_WIRE_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer lines, and samples with more labels, are damage. */
#define PROM_MAX_LINE   ((size_t)64 << 10)
#define PROM_MAX_LABELS 64

enum prom_type {
    PROM_UNTYPED, /* nobody said, or a type that we do not know */
    PROM_COUNTER,
    PROM_GAUGE,
    PROM_HISTOGRAM,
    PROM_SUMMARY,
};

/* What of its family a sample is. */
enum prom_part {
    PROM_VALUE,  /* the value; of a summary, at the quantile in its labels */
    PROM_BUCKET, /* of a histogram: those up to the label `le` */
    PROM_SUM,    /* of a histogram or summary */
    PROM_COUNT,  /* likewise */
};

/* A piece of the page; not NUL-terminated. */
struct prom_text {
    const char *at;
    size_t len;
};

struct prom_sample {
    struct prom_text name;   /* vllm:request_queue_time_seconds_sum */
    struct prom_text family; /* vllm:request_queue_time_seconds */
    struct prom_text labels; /* between the braces; see prom_label() */
    enum prom_type type;     /* of the family, if its TYPE stands before it */
    enum prom_part part;
    double value;  /* may be NaN or infinite */
    int64_t at_ms; /* after 1970; TIME_ABSENT: not said */
};

/* All optional; what they are given is borrowed for the call. */
struct prom_hooks {
    void (*sample)(void *arg, const struct prom_sample *sample);
    void (*type)(void *arg, struct prom_text family, enum prom_type type);
    void (*help)(void *arg, struct prom_text family, struct prom_text help);
};

struct prom_counts {
    int64_t samples;
    int64_t damaged; /* lines */
};

/* Read a page.  The bytes after the last line end are a line too. */
struct prom_counts prom_read(const char *page, size_t len,
                             const struct prom_hooks *hooks, void *arg);

/* The value of a label with its escapes taken out, as a string in `out`.  False
 * if there is no such label, or no room for its value: then `out` is "". */
bool prom_label(const struct prom_sample *sample, const char *name, char *out,
                size_t size);

/* Is it this string? */
bool prom_is(struct prom_text text, const char *wanted);

#endif
