/* Trials one by one: the strip of objectives, key figures and charts. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/chart/slo_strip.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_page.h"
#include "common/base/err.h"

/* A quantity of trials: a rate at the top, or a term of the SLO. */
struct trial_view {
    const char *name;
    char title[128];
    const char *key;      /* of each trial */
    int term;             /* its index; -1: none */
    const json_t *median; /* over all that count */
    struct axis y;
    double scale;
    double limit; /* NAN: none */
    char limit_text[64];
};

static double trial_value(const json_t *trial, const struct trial_view *v)
{
    const json_t *in =
        v->term < 0
            ? trial
            : json_array_get(json_object_get(trial, "terms"), (size_t)v->term);
    char note[64];

    snprintf(note, sizeof(note), "%.*s_note", (int)strcspn(v->key, "_"),
             v->key);
    if (strstr(study_text(in, note), "failures"))
        return INFINITY;
    return study_number(in, v->key) * v->scale;
}

/* A dot per trial, with the median and its interval. */
static bool put_trial_dots(struct page *p, const json_t *json,
                           const struct trial_view *v, struct svg *alone)
{
    const json_t *each = json_object_get(json, "each");
    struct xy_chart *c =
        xy_new(v->name, v->title,
               "Every trial is a dot. The line is the median of those that "
               "count, the bar at its end the interval of the median.");
    double median = study_number(v->median, "median") * v->scale;
    size_t n = json_array_size(each);
    char text[SHOW_TEXT];

    c->x_title = "trial";
    c->x_is_whole = true;
    c->y = v->y;
    c->y_title = alone ? v->title : NULL;
    c->height = 150;
    c->limit = v->limit;
    c->shades_above = true;
    snprintf(c->limit_text, sizeof(c->limit_text), "%s", v->limit_text);
    for (int counts = 1; counts >= 0; counts--) {
        xy_add_series(c, counts ? "trials" : "discarded",
                      counts ? "trial" : "discarded",
                      counts ? "good" : "unsent", NULL)
            ->mark = counts ? MARK_DOT : MARK_RING;
        for (size_t i = 0; i < n; i++) {
            const json_t *trial = json_array_get(each, i);
            double y = trial_value(trial, v);
            struct xy_point *q;

            if (isnan(y) ||
                json_is_true(json_object_get(trial, "counted")) != counts)
                continue;
            q = xy_add(c, study_number(trial, "trial"), y);
            q->mark = counts ? MARK_DOT : MARK_RING;
            if (y > v->limit && counts) {
                q->mark = MARK_DIAMOND;
                q->colour = "late";
            }
            snprintf(q->tip, sizeof(q->tip), "trial %.0f: %s|%s %s", q->x,
                     xy_show(&c->y, y, text), study_text(trial, "verdict"),
                     study_text(trial, "discarded"));
        }
    }
    if (c->n > 0 && isfinite(median)) {
        struct xy_series *s =
            xy_add_series(c, "median", "median", "ink", "ln thin dash s-ink");
        struct xy_point *q;

        xy_add(c, 0.5, median);
        xy_add(c, (double)n + 0.5, median);
        s->has_marks = false;
        xy_add_series(c, "interval", "interval of the median", "ink", NULL);
        q = xy_add(c, (double)n + 0.5, median);
        q->low = study_end(v->median, "median_ci", 0) * v->scale;
        q->high = study_end(v->median, "median_ci", 1) * v->scale;
    }
    return xy_finish(p, c, alone);
}

/* A chart for each percentile that the SLO is about. */
static bool put_trial_terms(struct page *p, const json_t *json,
                            struct svg *alone)
{
    static const char *const names[] = {"term0", "term1", "term2", "term3",
                                        "term4", "term5", "term6", "term7"};
    const json_t *terms = json_object_get(json, "slo");
    bool is_drawn = false;

    for (size_t i = 0; i < json_array_size(terms) && i < 8; i++) {
        const json_t *term = json_array_get(terms, i);
        const char *class = study_text(term, "class");
        struct slo_term t;
        struct trial_view v = {.name = names[i],
                               .key = "measured_ms",
                               .term = (int)i,
                               .median = json_object_get(term, "measured_ms"),
                               .y = {.kind = TICK_NS},
                               .scale = 1e6};
        char text[SHOW_TEXT];

        if (slo_parse_term(study_text(term, "term"), &t, &(struct err){0}) ||
            t.kind != SLO_QUANTILE)
            continue;
        snprintf(v.title, sizeof(v.title), "%.40s%s%s, p%.6g", class,
                 class[0] ? ": " : "", measure_title(t.measure),
                 100 * t.quantile);
        v.limit = (double)t.limit_ns;
        snprintf(v.limit_text, sizeof(v.limit_text), "limit %s",
                 show_tick_ns(v.limit, text));
        is_drawn |= put_trial_dots(p, json, &v, alone);
        if (is_drawn && alone)
            break;
    }
    return is_drawn;
}

bool study_put_trials(struct page *p, const struct json_t *json,
                      struct svg *alone)
{
    static const struct {
        const char *name;
        const char *title;
        const char *key;
        const char *measure; /* of the overall numbers; NULL: at the top */
        const char *quantile;
        enum tick_kind kind;
        double scale;
    } of[] = {
        {"ttft99", "Time to first token, p99", "ttft_p99_ms", "ttft", "p99_ms",
         TICK_NS, 1e6},
        {"e2e99", "Whole answer, p99", "e2e_p99_ms", "e2e", "p99_ms", TICK_NS,
         1e6},
        {"e2e50", "Whole answer, p50", "e2e_p50_ms", "e2e", "p50_ms", TICK_NS,
         1e6},
        {"goodput", "Goodput", "goodput_rps", NULL, "goodput_rps", TICK_RATE,
         1},
        {"completed", "Completed", "completed_rps", NULL, "completed_rps",
         TICK_RATE, 1},
    };
    const json_t *measures = json_object_get(json, "measures");
    bool is_drawn = put_trial_terms(p, json, alone);

    for (size_t i = 0; !(is_drawn && alone) && i < sizeof(of) / sizeof(of[0]);
         i++) {
        const json_t *in =
            of[i].measure ? json_object_get(measures, of[i].measure) : json;
        struct trial_view v = {.name = of[i].name,
                               .key = of[i].key,
                               .term = -1,
                               .median = json_object_get(in, of[i].quantile),
                               .y = {.kind = of[i].kind},
                               .scale = of[i].scale,
                               .limit = NAN};

        snprintf(v.title, sizeof(v.title), "%s", of[i].title);
        is_drawn |= put_trial_dots(p, json, &v, alone);
    }
    return is_drawn;
}

#define MAX_DOTS 256

static enum tone tone_of(const char *verdict)
{
    const struct verdict_look *look = verdict_look(verdict);

    return look ? look->tone : TONE_NONE;
}

/* The values of a term in all trials that count. */
static size_t take_dots(const json_t *json, size_t term, double scale,
                        double dots[static MAX_DOTS])
{
    const json_t *each = json_object_get(json, "each");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(each) && n < MAX_DOTS; i++) {
        const json_t *trial = json_array_get(each, i);
        const json_t *t = json_array_get(json_object_get(trial, "terms"), term);

        if (json_is_true(json_object_get(trial, "counted")))
            dots[n++] =
                scale * study_number(t, scale > 1 ? "measured_ms" : "measured");
    }
    return n;
}

/* "18 of 1,235 missed, at most 3.9% with 95% confidence; 10% may" */
static void say_evidence(const json_t *json, const json_t *term, char *out,
                         size_t size)
{
    double missed = study_number(term, "share_missed");
    double bound = study_number(term, "bound");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    char c[SHOW_TEXT];
    int len =
        snprintf(out, size, "median; kept by %.0f of %.0f trials",
                 study_number(term, "kept"),
                 study_number(json_object_get(json, "trials"), "counted"));

    if (isfinite(missed) && isfinite(bound))
        snprintf(out + len, size - (size_t)len,
                 "; %s missed, %s %s at 95%%, %s may", show_share(missed, a),
                 strcmp(study_text(term, "verdict"), "fail") == 0 ? "at least"
                                                                  : "at most",
                 show_share(bound, b),
                 show_share(study_number(term, "share_allowed"), c));
}

static void put_trial_term(struct page *p, const json_t *json, size_t i)
{
    const json_t *term = json_array_get(json_object_get(json, "slo"), i);
    const char *verdict = study_text(term, "verdict");
    bool is_shown = json_is_true(json_object_get(term, "shown"));
    struct slo_term t;
    double dots[MAX_DOTS];
    char evidence[320];
    char words[64];
    const json_t *over;
    double scale;

    if (slo_parse_term(study_text(term, "term"), &t, &(struct err){0}) ||
        strcmp(verdict, "none") == 0)
        return;
    scale = t.kind == SLO_QUANTILE ? 1e6 : 1;
    over = json_object_get(term, scale > 1 ? "measured_ms" : "measured");
    say_evidence(json, term, evidence, sizeof(evidence));
    snprintf(words, sizeof(words), "%s%s", verdict,
             tone_of(verdict) > TONE_FAIL ? ""
             : is_shown                   ? ", shown"
                                          : " as observed");
    slo_strip_row(p, &(struct slo_row){
                         .class = study_text(term, "class")[0]
                                      ? study_text(term, "class")
                                      : NULL,
                         .term = &t,
                         .tone = tone_of(verdict),
                         .verdict = words,
                         .measured = scale * study_number(over, "median"),
                         .low = scale * study_end(over, "median_ci", 0),
                         .high = scale * study_end(over, "median_ci", 1),
                         .dots = dots,
                         .n_dots = take_dots(json, i, scale, dots),
                         .interval = evidence,
                     });
}

/* A key figure over trials: the median and its interval. */
static void put_median(struct page *p, const json_t *json, const char *name,
                       const char *key, bool is_share)
{
    const json_t *over = json_object_get(json, key);
    double median = study_number(over, "median");
    struct key_figure f = {
        .name = name, .unit = "/s", .share = NAN, .low = NAN};
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    if (isnan(median))
        return;
    if (is_share) {
        show_share(median, f.value);
        f.value[strcspn(f.value, "%")] = '\0';
        f.unit = "%";
        snprintf(f.words, sizeof(f.words), "median; %s to %s over the trials",
                 show_share(study_number(over, "min"), a),
                 show_share(study_number(over, "max"), b));
    } else {
        show_number(median, f.value);
        snprintf(f.words, sizeof(f.words), "median; %s to %s over the trials",
                 show_number(study_number(over, "min"), a),
                 show_number(study_number(over, "max"), b));
    }
    page_fig(p, &f);
}

void study_trials_top(struct page *p, const struct json_t *json)
{
    const json_t *n = json_object_get(json, "trials");
    struct key_figure f = {
        .name = "Trials", .unit = "", .share = NAN, .low = NAN};

    if (json_array_size(json_object_get(json, "slo")) > 0) {
        slo_strip_begin(p);
        for (size_t i = 0; i < json_array_size(json_object_get(json, "slo"));
             i++)
            put_trial_term(p, json, i);
        slo_strip_end(p);
    }
    page_figs_begin(p);
    put_median(p, json, "Offered", "offered_rps", false);
    put_median(p, json, "Completed", "completed_rps", false);
    put_median(p, json, "Goodput", "goodput_rps", false);
    put_median(p, json, "Attainment", "attainment", true);
    show_count((int64_t)study_number(n, "counted"), f.value);
    snprintf(f.words, sizeof(f.words), "count, of %.0f recorded",
             study_number(n, "recorded"));
    page_fig(p, &f);
    page_figs_end(p);
}
