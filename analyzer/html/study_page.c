#include "analyzer/html/study_page.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/doc_html.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/report/doc.h"
#include "common/base/err.h"

#define MAX_HEADLINE 512

/* ---- values ---- */

double study_number(const struct json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

double study_end(const struct json_t *json, const char *key, unsigned i)
{
    const json_t *value = json_array_get(json_object_get(json, key), i);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *study_text(const struct json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

/* ---- kinds ---- */

struct verdict_of {
    enum tone tone;
    enum icon icon;
    char badge[64];
    char headline[MAX_HEADLINE];
    char sub[MAX_HEADLINE];
};

struct kind {
    const char *name;
    const char *title; /* above the page */
    const char *charts;
    bool (*is_it)(const json_t *json);
    void (*judge)(const json_t *json, struct verdict_of *v);
    bool (*put)(struct page *p, const json_t *json, struct svg *alone);
    const char *picture; /* name of its chart as SVG */
};

static void set(struct verdict_of *v, enum tone tone, enum icon icon,
                const char *badge)
{
    v->tone = tone;
    v->icon = icon;
    snprintf(v->badge, sizeof(v->badge), "%s", badge);
}

/* By the word that the verdict of a run or of trials is. */
static void set_by_word(struct verdict_of *v, const char *word)
{
    static const struct {
        const char *word;
        enum tone tone;
        enum icon icon;
    } words[] = {{"pass", TONE_PASS, ICON_PASS},
                 {"better", TONE_PASS, ICON_PASS},
                 {"fail", TONE_FAIL, ICON_FAIL},
                 {"worse", TONE_FAIL, ICON_FAIL},
                 {"refused", TONE_INVALID, ICON_INVALID},
                 {"invalid", TONE_INVALID, ICON_INVALID},
                 {"undecided", TONE_UNDECIDED, ICON_UNDECIDED},
                 {"cannot tell", TONE_UNDECIDED, ICON_UNDECIDED},
                 {"no difference shown", TONE_NONE, ICON_SAME}};

    set(v, TONE_NONE, ICON_NOTE, word);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].word, word) == 0)
            set(v, words[i].tone, words[i].icon, word);
    }
    for (char *c = v->badge; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static bool is_kind(const json_t *json, const char *kind)
{
    return strcmp(study_text(json, "kind"), kind) == 0;
}

/* ---- searches ---- */

static bool is_search(const json_t *json)
{
    return is_kind(json, "search");
}

static void judge_search(const json_t *json, struct verdict_of *v)
{
    const char *outcome = study_text(json, "outcome");
    double capacity = study_number(json, "capacity_rps");
    double at_least = study_number(json, "at_least_rps");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    if (isfinite(capacity)) {
        bool is_found = strcmp(outcome, "found") == 0;

        set(v, is_found ? TONE_PASS : TONE_UNDECIDED,
            is_found ? ICON_FOUND : ICON_UNDECIDED,
            is_found ? "FOUND" : "ESTIMATE");
        snprintf(v->headline, sizeof(v->headline),
                 "The server takes %s%s requests per second within its "
                 "objective.",
                 is_found ? "" : "about ", show_number(capacity, a));
    } else if (isfinite(at_least)) {
        set(v, TONE_UNDECIDED, ICON_UNDECIDED, "AT LEAST");
        snprintf(v->headline, sizeof(v->headline),
                 "The server takes at least %s requests per second within its "
                 "objective.",
                 show_number(at_least, a));
    } else {
        bool is_never = strcmp(outcome, "never") == 0;

        set(v, is_never ? TONE_FAIL : TONE_UNDECIDED,
            is_never ? ICON_FAIL : ICON_UNDECIDED,
            is_never ? "NEVER MET" : "UNDECIDED");
        snprintf(v->headline, sizeof(v->headline), "%s",
                 is_never ? "The server met its objective at no load that was "
                            "tried."
                          : "The search ended before it found the capacity.");
    }
    if (isfinite(study_end(json, "capacity_ci90", 0)))
        snprintf(v->sub, sizeof(v->sub),
                 "The 90%% interval is %s to %s/s (%s).",
                 show_number(study_end(json, "capacity_ci90", 0), a),
                 show_number(study_end(json, "capacity_ci90", 1), b),
                 study_text(json, "why"));
    else
        snprintf(v->sub, sizeof(v->sub), "%s", study_text(json, "why"));
}

/* ---- sweeps, trials and variants ---- */

static bool is_sweep(const json_t *json)
{
    return is_kind(json, "sweep");
}

static void judge_sweep(const json_t *json, struct verdict_of *v)
{
    double within = study_number(json, "within_slo");
    double knee = study_number(json, "knee");
    char a[SHOW_TEXT];

    set(v, TONE_NONE, ICON_NOTE, "SWEEP");
    if (isfinite(within)) {
        set(v, TONE_PASS, ICON_PASS, "SWEEP");
        snprintf(v->headline, sizeof(v->headline),
                 "The objective is met up to %s.", show_number(within, a));
    } else if (json_array_size(json_object_get(json, "slo")) > 0) {
        set(v, TONE_FAIL, ICON_FAIL, "SWEEP");
        snprintf(v->headline, sizeof(v->headline),
                 "The objective is met at no load that was measured.");
    } else {
        snprintf(v->headline, sizeof(v->headline),
                 "The best throughput was %s requests per second.",
                 show_number(study_number(json, "most_throughput_rps"), a));
    }
    if (isfinite(knee))
        snprintf(v->sub, sizeof(v->sub),
                 "Latency starts to rise at %s. %lld of %lld runs were "
                 "recorded.",
                 show_number(knee, a),
                 (long long)study_number(json, "recorded"),
                 (long long)study_number(json, "planned"));
}

static bool is_trials(const json_t *json)
{
    return is_kind(json, "trials");
}

static void judge_trials(const json_t *json, struct verdict_of *v)
{
    const json_t *n = json_object_get(json, "trials");
    const char *verdict = study_text(json, "verdict");

    set_by_word(v, verdict);
    if (v->tone == TONE_NONE) {
        set(v, TONE_NONE, ICON_NOTE, "TRIALS");
        snprintf(v->headline, sizeof(v->headline),
                 "%.0f trials, without an objective.",
                 study_number(n, "recorded"));
    } else {
        snprintf(v->headline, sizeof(v->headline),
                 v->tone == TONE_PASS   ? "The server met its objective in "
                                          "repeated trials."
                 : v->tone == TONE_FAIL ? "The server missed its objective in "
                                          "repeated trials."
                                        : "The trials do not decide whether "
                                          "the server meets its objective.");
    }
    snprintf(v->sub, sizeof(v->sub),
             "%.0f of %.0f trials were recorded, %.0f count.",
             study_number(n, "recorded"), study_number(n, "asked"),
             study_number(n, "counted"));
}

static bool is_variants(const json_t *json)
{
    return is_kind(json, "variants");
}

static void judge_variants(const json_t *json, struct verdict_of *v)
{
    size_t n = json_array_size(json_object_get(json, "variants"));
    size_t crossovers = json_array_size(json_object_get(json, "crossovers"));

    set(v, TONE_NONE, ICON_NOTE, "VARIANTS");
    snprintf(v->headline, sizeof(v->headline),
             "%zu variants under the same load.", n);
    if (crossovers > 0)
        snprintf(v->sub, sizeof(v->sub),
                 crossovers == 1 ? "Two of them change places as the load "
                                   "grows."
                                 : "Some of them change places as the load "
                                   "grows.");
}

/* ---- comparisons, scaling, a baseline ---- */

static bool is_compare(const json_t *json)
{
    return json_is_array(json_object_get(json, "findings"));
}

static void judge_compare(const json_t *json, struct verdict_of *v)
{
    const json_t *first = json_array_get(json_object_get(json, "findings"), 0);
    double ratio = study_number(first, "ratio");
    const char *verdict = study_text(json, "verdict");

    set_by_word(v, verdict);
    if (strcmp(verdict, "refused") == 0)
        snprintf(v->headline, sizeof(v->headline),
                 "These recordings cannot be compared.");
    else if (first && isfinite(ratio))
        snprintf(v->headline, sizeof(v->headline), "%s: B is %.3g%% %s than A.",
                 study_text(first, "quantity"), 100 * fabs(ratio - 1),
                 ratio < 1 ? "lower" : "higher");
    else
        snprintf(v->headline, sizeof(v->headline),
                 strcmp(verdict, "ranked") == 0
                     ? "The recordings, ranked by each quantity."
                     : "These recordings do not tell which is better.");
    snprintf(v->sub, sizeof(v->sub), "%s", study_text(json, "claim"));
}

static bool is_scaling(const json_t *json)
{
    return json_is_string(json_object_get(json, "regime"));
}

static void judge_scaling(const json_t *json, struct verdict_of *v)
{
    const json_t *verdict = json_object_get(json, "verdict");
    const char *answer = study_text(json, "answer");
    double k = study_number(verdict, "recommended_k");
    double below = study_number(verdict, "first_below_k");

    set_by_word(v, answer);
    if (strcmp(answer, "scales") == 0) {
        v->tone = TONE_PASS;
        v->icon = ICON_PASS;
    } else if (v->tone == TONE_NONE) {
        v->tone = TONE_FAIL;
        v->icon = ICON_FAIL;
    }
    if (isfinite(k))
        snprintf(v->headline, sizeof(v->headline),
                 "More workers pay off up to %.6g.", k);
    else
        snprintf(v->headline, sizeof(v->headline),
                 "No number of workers can be recommended.");
    if (isfinite(below))
        snprintf(v->sub, sizeof(v->sub),
                 "From %.6g workers on, efficiency is below %.3g%%.", below,
                 100 * study_number(json, "efficiency_threshold"));
}

static bool is_against(const json_t *json)
{
    return json_is_object(json_object_get(json, "ratios"));
}

static void judge_against(const json_t *json, struct verdict_of *v)
{
    const json_t *time =
        json_object_get(json_object_get(json, "ratios"), "time");
    double ratio = study_number(time, "ratio");

    set(v, TONE_NONE, ICON_NOTE, "BASELINE");
    if (isfinite(ratio))
        snprintf(v->headline, sizeof(v->headline),
                 "%.3g times as fast as the baseline.", ratio);
    else
        snprintf(v->headline, sizeof(v->headline), "Against the baseline.");
    snprintf(v->sub, sizeof(v->sub), "Baseline: %s.",
             study_text(json, "baseline"));
}

static const struct kind kinds[] = {
    {"search", "Capacity", "What becomes of it as the load grows", is_search,
     judge_search, study_put_search, "curve"},
    {"sweep", "Sweep", "What becomes of it as the load grows", is_sweep,
     judge_sweep, study_put_sweep, "curve"},
    {"trials", "Trials", "Every trial", is_trials, judge_trials,
     study_put_trials, "trials"},
    {"variants", "Variants", "Variants against load", is_variants,
     judge_variants, study_put_variants, "curve"},
    {"comparison", "Comparison", "What differs", is_compare, judge_compare,
     study_put_compare, "compare"},
    {"scaling study", "Scaling", "What more workers are worth", is_scaling,
     judge_scaling, study_put_scaling, "scaling"},
    {"comparison with a baseline", "Baseline", "Against the baseline",
     is_against, judge_against, study_put_against, "compare"},
};

static const struct kind *kind_of(const json_t *json)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].is_it(json))
            return &kinds[i];
    }
    return NULL;
}

/* ---- the page ---- */

static void put_remarks(struct page *p, const json_t *json)
{
    const json_t *list = json_object_get(json, "refusals");
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text)
            continue;
        page_put(p, "<p class=\"warn\">");
        page_text(p, text);
        page_put(p, "</p>\n");
    }
}

void study_page_render(const struct doc *d, const char *origin,
                       const char *repeat, struct buf *out)
{
    static const struct nav_entry nav[] = {
        {"charts", "Charts"}, {"repeat", "Repeat"}, {"all", "Numbers"}};
    json_t *json = doc_to_json(d);
    const struct kind *kind = kind_of(json);
    struct verdict_of v = {.tone = TONE_NONE, .icon = ICON_NOTE};
    char end[MAX_HEADLINE];
    struct page_head head;
    struct page p;

    if (kind)
        kind->judge(json, &v);
    else
        snprintf(v.headline, sizeof(v.headline), "A report of tailgate");
    head = (struct page_head){
        .kind = kind ? kind->title : "Report",
        .title = origin,
        .badge = v.badge[0] ? v.badge : "REPORT",
        .tone = v.tone,
        .icon = v.icon,
        .nav = nav,
        .n_nav = sizeof(nav) / sizeof(nav[0]),
    };
    page_begin(&p, out, &head);
    page_hero_begin(&p, &head, origin, NULL, 0, v.headline);
    if (v.sub[0]) {
        page_put(&p, "<p class=\"sub\">");
        page_text(&p, v.sub);
        page_put(&p, "</p>\n");
    }
    put_remarks(&p, json);
    page_hero_end(&p);
    if (kind) {
        page_section_begin(&p, "charts", kind->charts, NULL, false);
        page_section_body(&p);
        if (!kind->put(&p, json, NULL))
            page_put(&p, "<p class=\"cap\">There is nothing to draw: the "
                         "numbers are below.</p>\n");
        page_section_end(&p);
    }
    page_section_begin(&p, "repeat", "Repeat it",
                       "Everything is computed from the recordings.", false);
    page_section_body(&p);
    page_command(&p, "The same report", repeat, false);
    page_section_end(&p);
    doc_html_put_all(&p, d);
    snprintf(end, sizeof(end), "Made from %s.", origin);
    page_end(&p, end);
    json_decref(json);
}

int study_picture_render(const struct doc *d, const char *name, struct buf *out,
                         struct err *err)
{
    struct svg alone = {.out = out, .is_alone = true, .width = 900};
    json_t *json = doc_to_json(d);
    const struct kind *kind = kind_of(json);
    int rc = 0;

    if (!kind)
        rc = err_set(err, ERR_USAGE, "--svg: this report has no picture");
    else if (strcmp(name, kind->picture) != 0)
        rc = err_set(err, ERR_USAGE,
                     "--svg: a %s has no picture '%s'; it has %s", kind->name,
                     name, kind->picture);
    else if (!kind->put(NULL, json, &alone))
        rc = err_set(err, ERR_CONFIG, "--svg: too little to draw '%s'", name);
    json_decref(json);
    return rc;
}
