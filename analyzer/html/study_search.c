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

/* An estimate beyond the loads that were reached is not shown. */
static double capacity_of(const json_t *json)
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

/* The rate that was really offered. */
static double load_of(const json_t *json, const json_t *probe)
{
    double offered = study_number(probe, "offered_rps");

    return study_has_rate(json) && offered > 0 ? offered
                                               : study_number(probe, "value");
}

static void set_load(struct xy_chart *c, const json_t *json)
{
    double capacity = capacity_of(json);
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

/* Terms of a class begin with its name and '/'. */
static bool parse(const char *text, struct slo_term *term)
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

        if (!parse(text, &term) || term.kind != SLO_QUANTILE ||
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
enum probe_kind {
    PROBE_MET,
    PROBE_MISSED,
    PROBE_EARLY,
    PROBE_CONFIRMS,
    PROBE_DISCARDED,
    PROBE_KINDS
};

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
    [PROBE_DISCARDED] = {"discarded", "discarded: client disturbed", "unsent",
                         MARK_RING},
};

static enum probe_kind kind_of(const json_t *probe)
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
             study_text(probe, "dir"), probe_looks[kind_of(probe)].name,
             study_show_load(json, load_of(json, probe), a),
             show_number(study_number(probe, "goodput_rps"), b),
             study_text(probe, "set_aside")[0] ? "|discarded by " : "",
             study_text(probe, "set_aside"));
}

/* A value of a probe, and its interval if there is one. */
typedef void reading_fn(struct xy_point *q, const json_t *probe,
                        const struct shown_term *s);

static void add_probes(struct xy_chart *c, const json_t *json,
                       const struct shown_term *s, reading_fn *read)
{
    const json_t *probes = json_object_get(json, "probes");

    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        xy_add_series(c, probe_looks[kind].key, probe_looks[kind].name,
                      probe_looks[kind].colour, NULL)
            ->mark = probe_looks[kind].mark;
        for (size_t i = 0; i < json_array_size(probes); i++) {
            const json_t *probe = json_array_get(probes, i);
            struct xy_point *q;

            if ((int)kind_of(probe) != kind)
                continue;
            q = xy_add(c, load_of(json, probe), NAN);
            q->mark = probe_looks[kind].mark;
            read(q, probe, s);
            put_tip(q, json, probe);
        }
    }
}

static void read_latency(struct xy_point *q, const json_t *probe,
                         const struct shown_term *s)
{
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
    add_probes(c, json, &s, read_latency);
    return xy_finish(p, c, alone);
}

/* ---- the share that missed, and the line through it ---- */

static void read_missed(struct xy_point *q, const json_t *probe,
                        const struct shown_term *s)
{
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
        last = fmax(last, load_of(json, json_array_get(probes, i)));
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
        free(c);
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
    add_probes(c, json, &s, read_missed);
    return xy_finish(p, c, NULL);
}

/* ---- goodput and cost ---- */

static void read_goodput(struct xy_point *q, const json_t *probe,
                         const struct shown_term *s)
{
    (void)s;
    q->y = study_number(probe, "goodput_rps");
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
    add_probes(c, json, NULL, read_goodput);
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

static void read_token_cost(struct xy_point *q, const json_t *probe,
                            const struct shown_term *s)
{
    double usd = study_number(probe, "usd_per_million_good_tokens");

    (void)s;
    q->y = usd > 0 ? usd : NAN;
}

static void read_request_cost(struct xy_point *q, const json_t *probe,
                              const struct shown_term *s)
{
    double usd = study_number(probe, "usd_per_1000_good_requests");

    (void)s;
    q->y = usd > 0 ? usd : NAN;
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
    add_probes(c, json, NULL,
               strstr(key, "tokens") ? read_token_cost : read_request_cost);
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
    c->limit = capacity_of(json);
    if (isfinite(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "capacity");
    xy_add_series(c, "way", "order", "line2", "ln thin s-line2")->has_marks =
        false;
    for (size_t i = 0; i < n; i++)
        xy_add(c, (double)i + 1, load_of(json, json_array_get(probes, i)));
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        xy_add_series(c, probe_looks[kind].key, probe_looks[kind].name,
                      probe_looks[kind].colour, NULL)
            ->mark = probe_looks[kind].mark;
        for (size_t i = 0; i < n; i++) {
            const json_t *probe = json_array_get(probes, i);
            struct xy_point *q;

            if ((int)kind_of(probe) != kind)
                continue;
            q = xy_add(c, (double)i + 1, load_of(json, probe));
            q->mark = probe_looks[kind].mark;
            put_tip(q, json, probe);
        }
    }
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

/* ---- what each term alone would allow ---- */

/* The highest load that counts: a term that no probe missed holds up to it. */
static double reached(const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    double most = 0;

    for (size_t i = 0; i < json_array_size(probes); i++) {
        const json_t *probe = json_array_get(probes, i);

        if (kind_of(probe) != PROBE_DISCARDED)
            most = fmax(most, load_of(json, probe));
    }
    return most;
}

static double strip_end(const json_t *json, const json_t *terms)
{
    double end = reached(json);

    for (size_t i = 0; i < json_array_size(terms); i++) {
        const json_t *term = json_array_get(terms, i);
        double capacity =
            study_load_number(term, "capacity", study_has_rate(json));
        double high = study_end(term, "capacity_ci90", 1);

        end = fmax(end, isfinite(capacity) ? fmin(high, 2 * capacity) : 0);
    }
    return end > 0 ? 1.15 * end : 1;
}

static void put_term_plot(struct page *p, const json_t *json,
                          const json_t *term, double end)
{
    double capacity = study_load_number(term, "capacity", study_has_rate(json));
    double low = study_end(term, "capacity_ci90", 0);
    double high = study_end(term, "capacity_ci90", 1);
    double all_low =
        isfinite(capacity_of(json)) ? study_end(json, "capacity_ci90", 0) : NAN;
    double all_high = study_end(json, "capacity_ci90", 1);

    page_put(p, "<svg role=\"img\" aria-label=\"Capacity by this term alone\">"
                "<line class=\"bl\" x1=\"0\" x2=\"100%\" y1=\"31\" "
                "y2=\"31\"/>");
    if (isfinite(all_low) && isfinite(all_high))
        page_putf(p,
                  "<rect class=\"band\" x=\"%.1f%%\" width=\"%.1f%%\" "
                  "height=\"62\"/>",
                  100 * fmin(1, all_low / end),
                  100 * (fmin(1, all_high / end) - fmin(1, all_low / end)));
    if (!isfinite(capacity)) {
        double to = 100 * reached(json) / end;

        page_putf(p,
                  "<line class=\"s-good w2\" x1=\"0\" x2=\"%.1f%%\" y1=\"31\" "
                  "y2=\"31\"/><svg x=\"%.1f%%\" overflow=\"visible\"><path "
                  "class=\"f-good\" d=\"M-2 25l10 6-10 6z\"/></svg></svg>",
                  to, to);
        return;
    }
    if (isfinite(low) && isfinite(high))
        page_putf(p,
                  "<rect class=\"f-good soft2\" x=\"%.1f%%\" width=\"%.1f%%\" "
                  "y=\"26\" height=\"10\" rx=\"5\"/>",
                  100 * fmin(1, low / end),
                  100 * (fmin(1, high / end) - fmin(1, low / end)));
    page_putf(p,
              "<circle class=\"f-good rim\" cx=\"%.1f%%\" cy=\"31\" "
              "r=\"7\"/></svg>",
              100 * fmin(1, capacity / end));
}

static void put_term_row(struct page *p, const json_t *json, const json_t *term,
                         double end)
{
    const char *text = study_text(term, "term");
    bool binds = json_is_true(json_object_get(term, "binds"));
    double capacity = study_load_number(term, "capacity", study_has_rate(json));
    struct slo_term t;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_putf(p,
              "<div class=\"row v-none\" role=\"row\"><div class=\"term\" "
              "role=\"cell\"><span class=\"i-%s\">",
              binds ? "late" : "pass");
    page_icon(p, binds ? ICON_LIMIT : ICON_OK, "");
    page_put(p, "</span><span>");
    if (parse(text, &t) && t.kind == SLO_QUANTILE)
        page_textf(p, "%s, p%.6g", measure_title(t.measure), 100 * t.quantile);
    else
        page_text(p, strncmp(text, "errors", 6) == 0 ? "Errors" : text);
    page_put(p, "<small><span class=\"mono\">");
    page_text(p, text);
    page_put(p, "</span></small></span></div>\n<div class=\"plot\" "
                "role=\"cell\">");
    put_term_plot(p, json, term, end);
    page_put(p, "</div><div class=\"val\" role=\"cell\"><b class=\"v\">");
    if (isfinite(capacity)) {
        page_text(p, study_show_load(json, capacity, a));
        page_put(p, "</b><small>");
        page_textf(
            p, "90%% interval %s to %s",
            study_load_value(json, study_end(term, "capacity_ci90", 0), a),
            study_show_load(json, study_end(term, "capacity_ci90", 1), b));
    } else {
        page_textf(p, "≥ %s", study_show_load(json, reached(json), a));
        page_put(p, "</b><small>no probe missed it");
    }
    page_putf(p, "<br>%s</small></div></div>\n",
              binds ? "<span class=\"i-late\">limits the capacity</span>"
                    : "does not limit it");
}

static void put_strip(struct page *p, const json_t *json)
{
    const json_t *terms = json_object_get(json, "terms");
    double end = strip_end(json, terms);
    const struct axis axis = {
        .high = end, .kind = study_has_rate(json) ? TICK_RATE : TICK_COUNT};
    double ticks[AXIS_TICKS];
    size_t n = axis_ticks(&axis, 6, ticks);
    char text[SHOW_TEXT];

    if (json_array_size(terms) == 0 || !(reached(json) > 0))
        return; /* no probe counts */
    page_put(p, "<div class=\"slo\" role=\"table\" aria-label=\"Capacity by "
                "each objective\"><div class=\"row head\" role=\"row\"><div "
                "role=\"columnheader\">If this were the only objective</div>"
                "<div class=\"plot\" role=\"columnheader\"><span class=\"vh\">"
                "Load</span><svg aria-hidden=\"true\">");
    for (size_t i = 0; i < n; i++)
        page_putf(p,
                  "<text class=\"ax%s\" x=\"%.1f%%\" y=\"22\" "
                  "text-anchor=\"%s\">%s</text>",
                  i % 2 ? " spare" : "", 100 * ticks[i] / end,
                  i == 0 ? "start" : "middle",
                  axis_show(&axis, ticks[i], text));
    page_put(p,
             "</svg></div><div role=\"columnheader\">Capacity</div></div>\n");
    for (size_t i = 0; i < json_array_size(terms); i++)
        put_term_row(p, json, json_array_get(terms, i), end);
    page_put(p, "</div>\n");
}

/* ---- key figures ---- */

struct key_figure study_figure(const char *name)
{
    return (struct key_figure){
        .name = name, .unit = "", .share = NAN, .low = NAN, .colour = "good"};
}

/* The confirmation, or the highest load that met its objective. */
static const json_t *best_probe(const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    const json_t *best = NULL;

    for (size_t i = 0; i < json_array_size(probes); i++) {
        const json_t *probe = json_array_get(probes, i);
        enum probe_kind kind = kind_of(probe);

        if (kind == PROBE_CONFIRMS &&
            strcmp(study_text(probe, "verdict"), "fail") != 0)
            return probe;
        if (kind == PROBE_MET &&
            (!best || load_of(json, probe) > load_of(json, best)))
            best = probe;
    }
    return best;
}

static void put_capacity(struct page *p, const json_t *json)
{
    double capacity = capacity_of(json);
    double at_least = study_load_number(json, "at_least", study_has_rate(json));
    struct key_figure f = study_figure("Capacity");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    f.unit = study_has_rate(json) ? "/s" : " clients";
    if (isfinite(capacity)) {
        snprintf(f.value, sizeof(f.value), "%s%s",
                 strcmp(study_text(json, "outcome"), "found") == 0 ? "" : "≈ ",
                 study_load_value(json, capacity, a));
        snprintf(f.words, sizeof(f.words), "90%% interval %s to %s",
                 study_load_value(json, study_end(json, "capacity_ci90", 0), a),
                 study_show_load(json, study_end(json, "capacity_ci90", 1), b));
    } else if (isfinite(at_least)) {
        snprintf(f.value, sizeof(f.value), "≥ %s",
                 study_load_value(json, at_least, a));
        snprintf(f.words, sizeof(f.words), "the highest load that was met");
    } else {
        snprintf(f.value, sizeof(f.value), "–");
        f.unit = "";
        snprintf(f.words, sizeof(f.words), "not known");
    }
    page_fig(p, &f);
    f = study_figure("Confirmed");
    snprintf(f.value, sizeof(f.value), "–");
    snprintf(f.words, sizeof(f.words), "no run has confirmed the estimate");
    if (isfinite(study_load_number(json, "confirmed", study_has_rate(json)))) {
        study_load_value(
            json, study_load_number(json, "confirmed", study_has_rate(json)),
            f.value);
        f.unit = study_has_rate(json) ? "/s" : " clients";
        snprintf(f.words, sizeof(f.words), "%s",
                 json_is_true(json_object_get(json, "confirmed_met"))
                     ? "a fresh run met every limit there"
                     : "a fresh run missed, but not significantly");
    }
    page_fig(p, &f);
}

static void put_at_best(struct page *p, const json_t *json)
{
    const json_t *best = best_probe(json);
    const char *cost = study_cost_key(json_object_get(json, "probes"));
    double tokens = study_number(best, "goodput_tokens_per_s");
    struct key_figure f = study_figure("Good output there");
    char text[SHOW_TEXT];

    if (!best)
        return;
    if (tokens > 0) {
        show_number(tokens, f.value);
        f.unit = " tokens/s";
    } else {
        f.name = "Goodput there";
        show_number(study_number(best, "goodput_rps"), f.value);
        f.unit = "/s";
    }
    snprintf(f.words, sizeof(f.words), "of %.32s, at %s",
             study_text(best, "dir"),
             study_show_load(json, load_of(json, best), text));
    page_fig(p, &f);
    if (!cost || !(study_number(best, cost) > 0))
        return;
    f = study_figure("Cost there");
    snprintf(f.value, sizeof(f.value), "$%s",
             show_number(study_number(best, cost), text));
    snprintf(f.words, sizeof(f.words), "%s",
             strstr(cost, "tokens") ? "per million good tokens"
                                    : "per thousand good requests");
    page_fig(p, &f);
}

void study_search_top(struct page *p, const struct json_t *json)
{
    struct key_figure f = study_figure("Spent");
    double discarded = study_number(json, "set_aside");
    char text[SHOW_TEXT];

    put_strip(p, json);
    page_figs_begin(p);
    put_capacity(p, json);
    put_at_best(p, json);
    if (isfinite(study_number(json, "requests"))) {
        show_count((int64_t)study_number(json, "requests"), f.value);
        snprintf(f.words, sizeof(f.words),
                 "requests, in %zu probes and %s; %.0f discarded",
                 json_array_size(json_object_get(json, "probes")),
                 show_time(round(study_number(json, "took_s")), text),
                 isfinite(discarded) ? discarded : 0);
        page_fig(p, &f);
    }
    page_figs_end(p);
}
