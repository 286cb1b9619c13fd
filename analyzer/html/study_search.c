/* Searches: what becomes of latency, misses, goodput and cost as the load
 * grows, and what sweeps share with them. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"
#include "common/base/err.h"
#include "common/measure/measure.h"
#include "common/spec/slo.h"

/* The axis of loads ends here, as a multiple of the capacity. */
#define LOAD_END 1.5

/* ---- the load ---- */

double study_load_number(const struct json_t *json, const char *name,
                         bool has_rate)
{
    char key[NAMES];

    snprintf(key, sizeof(key), "%s_%s", name, has_rate ? "rps" : "clients");
    return study_number(json, key);
}

bool study_has_rate(const struct json_t *json)
{
    return strcmp(study_text(json, "by"), "concurrency") != 0;
}

double study_capacity(const struct json_t *json)
{
    static const char *const without[] = {"at least", "client limit",
                                          "not probed"};

    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        if (strcmp(study_text(json, "outcome"), without[i]) == 0)
            return NAN;
    }
    return study_load_number(json, "capacity", study_has_rate(json));
}

const char *study_load_value(const struct json_t *json, double load, char *out)
{
    if (study_has_rate(json) || !isfinite(load))
        return show_number(load, out);
    return show_count((int64_t)load, out);
}

const char *study_show_load(const struct json_t *json, double load, char *out)
{
    char text[SHOW_TEXT];

    snprintf(out, SHOW_TEXT, "%s%s", study_load_value(json, load, text),
             study_has_rate(json) ? "/s" : " clients");
    return out;
}

double study_probe_load(const struct json_t *json, const struct json_t *probe)
{
    double offered = study_number(probe, "offered_rps");

    return study_has_rate(json) && offered > 0 ? offered
                                               : study_number(probe, "value");
}

static void set_load(struct xy_chart *c, const json_t *json)
{
    double capacity = study_capacity(json);
    char text[SHOW_TEXT];

    c->x.kind = study_has_rate(json) ? TICK_RATE : TICK_COUNT;
    c->x_title =
        study_has_rate(json) ? "requests per second offered" : "clients";
    c->at = capacity;
    c->band_low = study_end(json, "capacity_ci90", 0);
    c->band_high = study_end(json, "capacity_ci90", 1);
    if (!isfinite(capacity)) { /* what single probes bracket */
        c->band_low = study_load_number(json, "at_least", study_has_rate(json));
        c->band_high = study_load_number(json, "at_most", study_has_rate(json));
        return;
    }
    c->max_x = fmax(LOAD_END * capacity,
                    isfinite(c->band_high) ? 1.05 * c->band_high : 0);
    snprintf(c->at_text, sizeof(c->at_text), "capacity %s",
             study_show_load(json, capacity, text));
}

/* ---- the term that is shown ---- */

bool study_parse_term(const char *text, struct slo_term *term)
{
    const char *slash = text ? strchr(text, '/') : NULL;

    return text && slo_parse_term(slash ? slash + 1 : text, term,
                                  &(struct err){0}) == 0;
}

struct shown_term study_term(const json_t *json, const json_t *example)
{
    const json_t *terms = json_object_get(json, "slo");
    const char *binding = study_text(json, "binding");
    struct shown_term s = {.limit_ns = NAN};

    for (size_t i = 0; i < json_array_size(terms); i++) {
        const char *text = json_string_value(json_array_get(terms, i));
        struct slo_term term;

        if (!study_parse_term(text, &term) || term.kind != SLO_QUANTILE ||
            (s.text[0] && strcmp(binding, text) != 0))
            continue;
        snprintf(s.text, sizeof(s.text), "%s", text);
        s.measure = measure_name(term.measure);
        snprintf(s.quantile, sizeof(s.quantile), "p%.6g_ms",
                 100 * term.quantile);
        snprintf(s.title, sizeof(s.title), "%s, p%.6g",
                 measure_title(term.measure), 100 * term.quantile);
        s.limit_ns = (double)term.limit_ns;
        s.allowed = 1 - term.quantile;
    }
    if (s.text[0])
        return s;
    s.measure = json_object_get(json_object_get(example, "measures"), "ttft")
                    ? "ttft"
                    : "e2e";
    snprintf(s.quantile, sizeof(s.quantile), "p99_ms");
    snprintf(s.title, sizeof(s.title), "%s, p99",
             strcmp(s.measure, "ttft") == 0 ? "Time to first token"
                                            : "Whole answer");
    return s;
}

/* In ns; INFINITY: among the failures. */
double study_latency(const json_t *point, const struct shown_term *s)
{
    const json_t *m =
        json_object_get(json_object_get(point, "measures"), s->measure);
    double ms = study_number(m, s->quantile);
    char note[NAMES];

    snprintf(note, sizeof(note), "%.*s_note", (int)strcspn(s->quantile, "_"),
             s->quantile);
    if (strstr(study_text(m, note), "failures"))
        return INFINITY;
    return ms > 0 ? 1e6 * ms : NAN;
}

void study_set_limit(struct xy_chart *c, const struct shown_term *s)
{
    char text[SHOW_TEXT];

    c->limit = s->limit_ns;
    c->shades_above = true;
    if (!isnan(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "limit %s",
                 show_tick_ns(c->limit, text));
}

/* Counts and intervals of a term in a probe or in a value of a sweep. */
static const json_t *term_in(const json_t *point, const char *text)
{
    const json_t *terms = json_object_get(point, "terms");

    for (size_t i = 0; i < json_array_size(terms); i++) {
        const json_t *term = json_array_get(terms, i);

        if (strcmp(study_text(term, "term"), text) == 0)
            return term;
    }
    return NULL;
}

/* ---- probes ---- */

/* Each kind is a series with a mark of its own. */
static const struct {
    const char *key;
    const char *name;
    const char *colour;
    enum mark mark;
} probe_looks[] = {
    [PROBE_MET] = {"met", "met", "good", MARK_DOT},
    [PROBE_MISSED] = {"missed", "missed", "late", MARK_DIAMOND},
    [PROBE_EARLY] = {"early", "missed, ended early", "late", MARK_DIAMOND_OPEN},
    [PROBE_CONFIRMS] = {"confirms", "confirmation", "good", MARK_TARGET},
    [PROBE_DISCARDED] = {"discarded", "discarded", "unsent", MARK_RING},
};

enum probe_kind study_probe_kind(const struct json_t *probe)
{
    bool is_missed = strcmp(study_text(probe, "verdict"), "fail") == 0 ||
                     json_is_true(json_object_get(probe, "overloaded"));

    if (study_text(probe, "set_aside")[0])
        return PROBE_DISCARDED;
    if (json_is_true(json_object_get(probe, "ended_early")))
        return PROBE_EARLY;
    if (strcmp(study_text(probe, "role"), "confirmation") == 0)
        return PROBE_CONFIRMS;
    return is_missed ? PROBE_MISSED : PROBE_MET;
}

static void put_tip(struct xy_point *q, const json_t *json, const json_t *probe)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    snprintf(q->tip, sizeof(q->tip), "%s: %s|offered %s, good %s/s%s%s",
             study_text(probe, "dir"),
             probe_looks[study_probe_kind(probe)].name,
             study_show_load(json, study_probe_load(json, probe), a),
             show_number(study_number(probe, "goodput_rps"), b),
             study_text(probe, "set_aside")[0] ? "|discarded by " : "",
             study_text(probe, "set_aside"));
}

/* Sets the value of a probe, and its interval if there is one. */
typedef void reading_fn(struct xy_point *q, const json_t *probe,
                        const void *arg);

/* Against the load, or in the order in which they were made: then the value is
 * the load, and read NULL. */
static void add_probes(struct xy_chart *c, const json_t *json, reading_fn *read,
                       const void *arg)
{
    const json_t *probes = json_object_get(json, "probes");

    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        xy_add_series(c, probe_looks[kind].key, probe_looks[kind].name,
                      probe_looks[kind].colour, NULL)
            ->mark = probe_looks[kind].mark;
        for (size_t i = 0; i < json_array_size(probes); i++) {
            const json_t *probe = json_array_get(probes, i);
            double load = study_probe_load(json, probe);
            struct xy_point *q;

            if ((int)study_probe_kind(probe) != kind)
                continue;
            q = xy_add(c, read ? load : (double)i + 1, read ? NAN : load);
            q->mark = probe_looks[kind].mark;
            if (read)
                read(q, probe, arg);
            put_tip(q, json, probe);
        }
    }
}

static void read_latency(struct xy_point *q, const json_t *probe,
                         const void *arg)
{
    const struct shown_term *s = arg;
    const json_t *term = term_in(probe, s->text);

    q->y = study_latency(probe, s);
    if (!isfinite(q->y))
        return;
    q->low = 1e6 * study_end(term, "interval_ms", 0);
    q->high = 1e6 * study_end(term, "interval_ms", 1);
}

static bool put_latency(struct page *p, const json_t *json, struct svg *alone)
{
    const json_t *probes = json_object_get(json, "probes");
    struct shown_term s = study_term(json, json_array_get(probes, 0));
    struct xy_chart *c =
        xy_new("latency", s.title,
               "Each mark is one probe at the rate it really offered, with its "
               "90% interval. Above the dashed line the limit is missed.");

    set_load(c, json);
    study_set_limit(c, &s);
    c->y = (struct axis){.is_log = true, .kind = TICK_NS};
    c->y_title = alone ? s.title : NULL; /* on a page it is above the chart */
    c->height = 220;
    add_probes(c, json, read_latency, &s);
    return xy_finish(p, c, alone);
}

/* ---- the share that missed, and the line through it ---- */

static void read_missed(struct xy_point *q, const json_t *probe,
                        const void *arg)
{
    const struct shown_term *s = arg;
    const json_t *term = term_in(probe, s->text);

    q->y = study_number(term, "miss_share");
    if (!(q->y > 0))
        return;
    q->low = fmax(study_end(term, "miss_share_ci90", 0), 1e-5);
    q->high = study_end(term, "miss_share_ci90", 1);
}

/* Lines end at the last probe, so that all charts have one axis of load. */
static double last_load(const struct xy_chart *c, const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    double last = 0;

    for (size_t i = 0; i < json_array_size(probes); i++)
        last = fmax(last, study_probe_load(json, json_array_get(probes, i)));
    return fmin(last, c->max_x);
}

/* The log odds are a straight line over the load. */
static double line_at(double load, double crossing, double slope,
                      double allowed)
{
    double odds =
        log(allowed / (1 - allowed)) + slope / crossing * (load - crossing);

    return 1 / (1 + exp(-odds));
}

#define LINE_POINTS 33

static void add_line(struct xy_chart *c, const json_t *term, double to)
{
    bool is_rate = json_object_get(term, "capacity_rps") != NULL;
    double at = study_load_number(term, "capacity", is_rate);
    double low = study_end(term, "capacity_ci90", 0);
    double high = study_end(term, "capacity_ci90", 1);
    double slope = study_number(term, "miss_share_slope");
    double allowed = study_number(term, "allowed_share");
    struct xy_series *s;

    if (!(at > 0) || !(slope > 0) || !(allowed > 0) || !(low > 0))
        return;
    s = xy_add_series(c, "band", "its 90% interval", "late", NULL);
    s->area = "f-late soft";
    s->has_marks = false;
    for (int i = 0; i < LINE_POINTS; i++) {
        double x = to * i / (LINE_POINTS - 1);
        struct xy_point *q = xy_add(c, x, NAN);

        q->low = line_at(x, high, slope, allowed);
        q->high = line_at(x, low, slope, allowed);
    }
    s = xy_add_series(c, "line", "the fitted line", "late", "ln s-late");
    s->has_marks = false;
    for (int i = 0; i < LINE_POINTS; i++) {
        double x = to * i / (LINE_POINTS - 1);

        xy_add(c, x, line_at(x, at, slope, allowed));
    }
}

static bool put_missed(struct page *p, const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    struct shown_term s = study_term(json, json_array_get(probes, 0));
    const json_t *terms = json_object_get(json, "terms");
    struct xy_chart *c =
        xy_new("missed", "Share that missed",
               "What the estimate rests on: one curve through all probes. "
               "Where it crosses what the objective allows is the capacity.");
    char text[SHOW_TEXT];

    if (!s.text[0]) {
        xy_free(c);
        return false;
    }
    set_load(c, json);
    c->y = (struct axis){.is_odds = true, .kind = TICK_SHARE};
    c->limit = s.allowed;
    snprintf(c->limit_text, sizeof(c->limit_text), "%s may miss",
             show_share(s.allowed, text));
    for (size_t i = 0; i < json_array_size(terms); i++) {
        const json_t *term = json_array_get(terms, i);

        if (strcmp(study_text(term, "term"), s.text) == 0 && isfinite(c->max_x))
            add_line(c, term, last_load(c, json));
    }
    add_probes(c, json, read_missed, &s);
    return xy_finish(p, c, NULL);
}

/* ---- goodput and cost ---- */

/* The number at a key; a price of nothing is not known. */
static void read_key(struct xy_point *q, const json_t *probe, const void *arg)
{
    const char *key = arg;

    q->y = study_number(probe, key);
    if (strncmp(key, "usd_", 4) == 0 && !(q->y > 0))
        q->y = NAN;
}

static bool put_goodput(struct page *p, const json_t *json, struct svg *alone)
{
    struct xy_chart *c =
        xy_new("throughput", "Goodput",
               "Up to the capacity nearly everything that is offered is good. "
               "Beyond it more load means fewer good answers.");

    set_load(c, json);
    c->y_title = alone ? "Goodput" : NULL;
    c->y = (struct axis){.kind = TICK_RATE};
    if (study_has_rate(json)) {
        xy_add_series(c, "offered", "all that is offered", "ink3",
                      "ln thin s-ink3 dots")
            ->has_marks = false;
        xy_add(c, 0, 0);
        xy_add(c, last_load(c, json), last_load(c, json));
    }
    add_probes(c, json, read_key, "goodput_rps");
    return xy_finish(p, c, alone);
}

/* What a price is of: tokens if there are any, else requests. */
const char *study_cost_key(const json_t *points)
{
    static const char *const keys[] = {"usd_per_million_good_tokens",
                                       "usd_per_1000_good_requests"};

    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < json_array_size(points); i++) {
            if (study_number(json_array_get(points, i), keys[k]) > 0)
                return keys[k];
        }
    }
    return NULL;
}

const char *study_cost_title(const char *key)
{
    return strstr(key, "tokens") ? "Cost of a million good tokens"
                                 : "Cost of a thousand good requests";
}

static bool put_cost(struct page *p, const json_t *json)
{
    const char *key = study_cost_key(json_object_get(json, "probes"));
    struct xy_chart *c;

    if (!key)
        return false;
    c = xy_new("cost", study_cost_title(key), COST_CAPTION);
    set_load(c, json);
    c->y = (struct axis){.is_log = true, .kind = TICK_USD};
    c->height = 140;
    add_probes(c, json, read_key, key);
    return xy_finish(p, c, NULL);
}

/* ---- the way of the search ---- */

static bool put_path(struct page *p, const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    struct xy_chart *c =
        xy_new("path", "How the search went",
               "It doubles the load until a probe misses, closes in on the "
               "boundary, then tests the estimate with a fresh run.");
    size_t n = json_array_size(probes);

    c->x_title = "probes, in the order they were made";
    c->x_is_whole = true;
    c->y = (struct axis){.kind = study_has_rate(json) ? TICK_RATE : TICK_COUNT};
    c->limit = study_capacity(json);
    if (isfinite(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "capacity");
    xy_add_series(c, "way", "order", "line2", "ln thin s-line2")->has_marks =
        false;
    for (size_t i = 0; i < n; i++)
        xy_add(c, (double)i + 1,
               study_probe_load(json, json_array_get(probes, i)));
    add_probes(c, json, NULL, NULL);
    return xy_finish(p, c, NULL);
}

bool study_put_search(struct page *p, const struct json_t *json,
                      struct svg *alone)
{
    bool is_drawn;

    if (json_array_size(json_object_get(json, "probes")) == 0)
        return false;
    is_drawn = put_latency(p, json, alone);
    if (!alone)
        is_drawn |= put_missed(p, json);
    is_drawn |= put_goodput(p, json, alone);
    if (alone)
        return is_drawn;
    is_drawn |= put_cost(p, json);
    is_drawn |= put_path(p, json);
    return is_drawn;
}
