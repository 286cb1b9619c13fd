/* Sweeps: latency, rates, attainment and cost against what was varied. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"

static void set_key(struct xy_chart *c, const json_t *json)
{
    const char *key = study_text(json, "key");
    bool is_rate = strcmp(key, "load.rate") == 0;

    c->x_title = is_rate ? "requests per second asked for" : key;
    c->x.kind = is_rate ? TICK_RATE : TICK_COUNT;
}

static void look_at_value(struct xy_point *q, const json_t *value)
{
    const char *verdict = study_text(value, "verdict");

    if (strcmp(verdict, "fail") == 0 ||
        json_is_true(json_object_get(value, "overloaded"))) {
        q->mark = MARK_DIAMOND;
        q->colour = "late";
    } else if (strcmp(verdict, "invalid") == 0) {
        q->mark = MARK_RING;
        q->colour = "unsent";
    }
}

static bool put_sweep_latency(struct page *p, const json_t *json,
                              struct svg *alone)
{
    const json_t *values = json_object_get(json, "values");
    struct shown_term s = study_term(json, json_array_get(values, 0));
    struct shown_term median = s;
    struct xy_chart *c =
        xy_new("latency", "Latency",
               "At each value that was set. Above the dashed line the limit "
               "is missed. Diamonds: the objective was missed.");
    char text[SHOW_TEXT];

    snprintf(median.quantile, sizeof(median.quantile), "p50_ms");
    study_set_limit(c, &s);
    set_key(c, json);
    c->y = (struct axis){.is_log = true, .kind = TICK_NS};
    c->height = 220;
    for (int k = 0; k < 2; k++) {
        xy_add_series(c, k ? "p50" : "high", k ? "p50" : s.title,
                      k ? "ink3" : "good", k ? "ln thin s-ink3" : "ln s-good");
        for (size_t i = 0; i < json_array_size(values); i++) {
            const json_t *value = json_array_get(values, i);
            double ns = study_latency(value, k ? &median : &s);
            struct xy_point *q = xy_add(c, study_number(value, "value"), ns);

            if (k == 0)
                look_at_value(q, value);
            snprintf(q->tip, sizeof(q->tip), "%s at %.6g|%s",
                     xy_show(&c->y, ns, text), q->x,
                     study_text(value, "verdict"));
        }
    }
    return xy_finish(p, c, alone);
}

static bool put_sweep_rates(struct page *p, const json_t *json)
{
    static const struct {
        const char *key;
        const char *name;
        const char *colour;
        const char *line;
    } of[] = {{"completed_rps", "completed", "ink3", "ln thin s-ink3"},
              {"goodput_rps", "goodput", "good", "ln s-good"}};
    const json_t *values = json_object_get(json, "values");
    struct xy_chart *c =
        xy_new("throughput", "Completed and good",
               "Where the lines part, answers come too late. Where goodput "
               "falls, more load means fewer good answers.");
    char text[SHOW_TEXT];

    set_key(c, json);
    c->y = (struct axis){.kind = TICK_RATE};
    for (size_t k = 0; k < 2; k++) {
        xy_add_series(c, of[k].name, of[k].name, of[k].colour, of[k].line);
        for (size_t i = 0; i < json_array_size(values); i++) {
            const json_t *value = json_array_get(values, i);
            double y = study_number(value, of[k].key);
            struct xy_point *q = xy_add(c, study_number(value, "value"), y);

            if (k == 1)
                look_at_value(q, value);
            snprintf(q->tip, sizeof(q->tip), "%s %s/s at %.6g", of[k].name,
                     show_number(y, text), q->x);
        }
    }
    return xy_finish(p, c, NULL);
}

static bool put_sweep_attainment(struct page *p, const json_t *json)
{
    const json_t *values = json_object_get(json, "values");
    struct xy_chart *c = xy_new("attainment", "Attainment",
                                "The share of all requests due that were "
                                "answered within every limit.");
    char text[SHOW_TEXT];

    set_key(c, json);
    c->y = (struct axis){.kind = TICK_SHARE};
    c->height = 140;
    xy_add_series(c, "attainment", "good, of all due", "good", "ln s-good");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        double y = study_number(value, "attainment");
        struct xy_point *q = xy_add(c, study_number(value, "value"), y);

        look_at_value(q, value);
        snprintf(q->tip, sizeof(q->tip), "%s good at %.6g",
                 isnan(y) ? "–" : show_share(y, text), q->x);
    }
    return xy_finish(p, c, NULL);
}

static bool put_sweep_cost(struct page *p, const json_t *json)
{
    const json_t *values = json_object_get(json, "values");
    const char *key = study_cost_key(values);
    struct xy_chart *c;

    if (!key)
        return false;
    c = xy_new("cost", study_cost_title(key), COST_CAPTION);
    set_key(c, json);
    c->y = (struct axis){.is_log = true, .kind = TICK_USD};
    c->height = 140;
    xy_add_series(c, "cost", "cost", "good", "ln s-good");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        double usd = study_number(value, key);
        struct xy_point *q =
            xy_add(c, study_number(value, "value"), usd > 0 ? usd : NAN);
        char text[SHOW_TEXT];

        look_at_value(q, value);
        snprintf(q->tip, sizeof(q->tip), "%s at %.6g",
                 xy_show(&c->y, q->y, text), q->x);
    }
    return xy_finish(p, c, NULL);
}

bool study_put_sweep(struct page *p, const struct json_t *json,
                     struct svg *alone)
{
    bool is_drawn = put_sweep_latency(p, json, alone);

    if (alone)
        return is_drawn;
    is_drawn |= put_sweep_rates(p, json);
    if (json_array_size(json_object_get(json, "slo")) > 0)
        is_drawn |= put_sweep_attainment(p, json);
    is_drawn |= put_sweep_cost(p, json);
    return is_drawn;
}

/* One of the loads that a sweep found; "–" if there is none. */
static void put_found(struct page *p, const json_t *json, const char *name,
                      const char *key, const char *words)
{
    struct key_figure f = study_figure(name);
    double value = study_number(json, key);

    snprintf(f.value, sizeof(f.value), "–");
    if (isfinite(value)) {
        show_number(value, f.value);
        f.unit = strcmp(study_text(json, "key"), "load.rate") == 0 ? "/s" : "";
    }
    snprintf(f.words, sizeof(f.words), "%s",
             isfinite(value) ? words : "not found among these values");
    page_fig(p, &f);
}

void study_sweep_top(struct page *p, const struct json_t *json)
{
    struct key_figure f = study_figure("Recorded");
    char text[SHOW_TEXT];

    page_figs_begin(p);
    if (json_array_size(json_object_get(json, "slo")) > 0)
        put_found(p, json, "Within the objective", "within_slo",
                  "the highest value that met it");
    put_found(p, json, "Knee", "knee",
              "highest ratio of completed requests to e2e p50");
    put_found(p, json, "Saturation", "saturation",
              "from here the server does not keep up");
    put_found(p, json, "Best goodput at", "best_goodput",
              "more good answers per second than at any other value");
    show_count((int64_t)study_number(json, "recorded"), f.value);
    f.unit = " runs";
    snprintf(f.words, sizeof(f.words), "of %s planned",
             show_count((int64_t)study_number(json, "planned"), text));
    page_fig(p, &f);
    page_figs_end(p);
}
