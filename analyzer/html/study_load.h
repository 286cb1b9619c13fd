/* study_load.h - what the pages of searches and sweeps share: the SLO term that
 * is drawn against load, and cost. */
#ifndef ANALYZER_HTML_STUDY_LOAD_H
#define ANALYZER_HTML_STUDY_LOAD_H

#include "analyzer/html/page.h"

struct json_t;
struct slo_term;
struct xy_chart;

#define NAMES 96

/* Whether a search varies a rate; else a number of clients. */
bool study_has_rate(const struct json_t *json);

/* The number at "capacity_rps", or at "capacity_clients", for "capacity". */
double study_load_number(const struct json_t *json, const char *name,
                         bool has_rate);

/* "11.0" or "8", and "11.0/s" or "8 clients": SHOW_TEXT bytes, which are
 * returned. */
const char *study_load_value(const struct json_t *json, double load, char *out);
const char *study_show_load(const struct json_t *json, double load, char *out);

/* The capacity; NAN if the estimate lies beyond the loads that were reached. */
double study_capacity(const struct json_t *json);

/* The rate that a probe really offered, or its number of clients. */
double study_probe_load(const struct json_t *json, const struct json_t *probe);

enum probe_kind {
    PROBE_MET,
    PROBE_MISSED,
    PROBE_EARLY,
    PROBE_CONFIRMS,
    PROBE_DISCARDED,
    PROBE_KINDS
};

enum probe_kind study_probe_kind(const struct json_t *probe);

/* Terms of a class begin with its name and '/'.  false: it is no term. */
bool study_parse_term(const char *text, struct slo_term *term);

/* A quantile of the SLO, or p99 of what there is. */
struct shown_term {
    char text[NAMES]; /* "ttft p95 < 300ms"; "": none */
    const char *measure;
    char quantile[NAMES]; /* "p99_ms" */
    char title[NAMES];    /* "Time to first token, p95" */
    double limit_ns;      /* NAN: none */
    double allowed;       /* share of misses */
};

/* The term that binds, or the first; `example` is a probe or a value. */
struct shown_term study_term(const struct json_t *json,
                             const struct json_t *example);

/* In ns; INFINITY: among the failures. */
double study_latency(const struct json_t *point, const struct shown_term *s);

void study_set_limit(struct xy_chart *c, const struct shown_term *s);

/* The key of a price: of tokens if there are any, else of requests; NULL: there
 * is no price. */
const char *study_cost_key(const struct json_t *points);
const char *study_cost_title(const char *key);

#define COST_CAPTION                                                           \
    "The machine costs the same whatever it does: cheapest is the highest "    \
    "load that is still good."

/* A key figure without a bar. */
struct key_figure study_figure(const char *name);

#endif
