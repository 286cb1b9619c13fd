#include "analyzer/html/study_page.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/doc_html.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/study_verdict.h"
#include "analyzer/report/doc.h"
#include "common/base/err.h"

#define MAX_LINES 4

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

struct kind {
    const char *name;
    const char *title; /* above the page */
    const char *charts;
    bool (*is_it)(const json_t *json);
    void (*judge)(const json_t *json, struct verdict_of *v);
    bool (*put)(struct page *p, const json_t *json, struct svg *alone);
    const char *picture; /* name of its chart as SVG */
    void (*put_top)(struct page *p, const json_t *json); /* NULL: nothing */
};

static bool is_kind(const json_t *json, const char *kind)
{
    return strcmp(study_text(json, "kind"), kind) == 0;
}

static bool is_search(const json_t *json)
{
    return is_kind(json, "search");
}

static bool is_sweep(const json_t *json)
{
    return is_kind(json, "sweep");
}

static bool is_trials(const json_t *json)
{
    return is_kind(json, "trials");
}

static bool is_variants(const json_t *json)
{
    return is_kind(json, "variants");
}

static bool is_compare(const json_t *json)
{
    return json_is_array(json_object_get(json, "findings"));
}

static bool is_capacities(const json_t *json)
{
    return strcmp(study_text(json, "quantity"), "capacity") == 0 &&
           json_is_array(json_object_get(json, "sides"));
}

static bool is_history(const json_t *json)
{
    return json_is_array(json_object_get(json, "segments"));
}

static bool is_scaling(const json_t *json)
{
    return json_is_string(json_object_get(json, "regime"));
}

static bool is_against(const json_t *json)
{
    return json_is_object(json_object_get(json, "ratios"));
}

static const struct kind kinds[] = {
    {"search", "Capacity", "What becomes of it as the load grows", is_search,
     study_judge_search, study_put_search, "curve", study_search_top},
    {"sweep", "Sweep", "What becomes of it as the load grows", is_sweep,
     study_judge_sweep, study_put_sweep, "curve", study_sweep_top},
    {"trials", "Trials", "Every trial", is_trials, study_judge_trials,
     study_put_trials, "trials", study_trials_top},
    {"variants", "Variants", "Variants against load", is_variants,
     study_judge_variants, study_put_variants, "curve", NULL},
    {"comparison", "Comparison", "What differs", is_compare,
     study_judge_compare, study_put_compare, "compare", NULL},
    {"scaling study", "Scaling", "What more workers are worth", is_scaling,
     study_judge_scaling, study_put_scaling, "scaling", study_scaling_top},
    {"comparison of searches", "Capacities", "Capacities", is_capacities,
     study_judge_capacities, study_put_capacities, "compare", NULL},
    {"history", "History", "Over time", is_history, study_judge_history,
     study_put_history, "history", NULL},
    {"comparison with a baseline", "Baseline", "Against the baseline",
     is_against, study_judge_against, study_put_against, "compare", NULL},
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

/* "load       open loop, ..." without its head, as in the page of a run. */
static const char *without_head(const char *line)
{
    return strncmp(line, "load  ", 6) == 0 ? line + 4 + strspn(line + 4, " ")
                                           : line;
}

/* The sentences that the report begins with: name, target and load. */
static size_t first_lines(const struct doc *d,
                          const char *lines[static MAX_LINES])
{
    size_t n = 0;

    for (const struct doc_node *node = doc_root(d)->first;
         node && n < MAX_LINES; node = node->next) {
        if (node->type == DOC_LINE)
            lines[n++] = without_head(node->text);
        else if (doc_is_visible(node))
            break;
    }
    return n;
}

/* What stands below the headline. */
static void put_answer(struct page *p, const struct doc *d, const json_t *json,
                       const struct verdict_of *v)
{
    if (v->sub[0]) {
        page_put(p, "<p class=\"sub\">");
        page_text(p, v->sub);
        page_put(p, "</p>\n");
    }
    put_remarks(p, json);
    doc_html_put_warnings(p, d);
    if (v->next[0]) {
        page_put(p, "<p class=\"next\"><span>");
        page_text(p, v->next);
        page_put(p, "</span></p>\n");
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
    const char *lines[MAX_LINES];
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
        .badge_note = v.note,
        .tone = v.tone,
        .icon = v.icon,
        .nav = nav,
        .n_nav = sizeof(nav) / sizeof(nav[0]),
    };
    page_begin(&p, out, &head);
    page_hero_begin(&p, &head, origin, lines, first_lines(d, lines),
                    v.headline);
    put_answer(&p, d, json, &v);
    page_hero_end(&p);
    if (kind && kind->put_top)
        kind->put_top(&p, json);
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
    if (study_text(json, "claim")[0])
        page_command(&p, "The sentence to quote", study_text(json, "claim"),
                     true);
    page_section_end(&p);
    doc_html_put_all(&p, d);
    page_words(&p);
    snprintf(end, sizeof(end), "Made from %s.", origin);
    page_end(&p, end);
    json_decref(json);
}

bool study_charts_put(struct page *p, const struct doc *d)
{
    json_t *json = doc_to_json(d);
    const struct kind *kind = kind_of(json);
    bool is_drawn = kind && kind->put(p, json, NULL);

    json_decref(json);
    return is_drawn;
}

int study_picture_render(const struct doc *d, const char *name, struct buf *out,
                         struct err *err)
{
    struct svg whole = {.out = out, .is_alone = true, .width = 900};
    struct svg alone = whole;
    struct buf charts;
    json_t *json = doc_to_json(d);
    const struct kind *kind = kind_of(json);
    int rc = 0;

    buf_init(&charts, PAGE_MAX);
    alone.out = &charts;
    if (!kind)
        rc = err_set(err, ERR_USAGE, "--svg: this report has no picture");
    else if (strcmp(name, kind->picture) != 0)
        rc = err_set(err, ERR_USAGE,
                     "--svg: a %s has no picture '%s'; it has %s", kind->name,
                     name, kind->picture);
    else if (!kind->put(NULL, json, &alone))
        rc = err_set(err, ERR_CONFIG, "--svg: too little to draw '%s'", name);
    else
        svg_join(&whole, &alone);
    buf_fini(&charts);
    json_decref(json);
    return rc;
}
