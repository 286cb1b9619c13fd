#include "listen/listen_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/html/study_page.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/text/jscan.h"
#include "common/text/units.h"
#include "listen/listen_state.h"

/* ---- the head ---- */

static const char *badge_of(const struct listen_view *v)
{
    static const char *const badges[] = {
        [LISTEN_PREPARING] = "PREPARING",
        [LISTEN_RUNNING] = "RUNNING",
        [LISTEN_BETWEEN] = "BETWEEN RECORDINGS",
        [LISTEN_OVER] = "ENDED",
    };

    return badges[v->phase];
}

static const struct listen_variant *variant_of(const struct listen_view *v)
{
    static const struct listen_variant none;

    return v->n_variants > 0 ? &v->variants[v->variant] : &none;
}

static const char *name_of(const struct listen_view *v)
{
    const char *name = variant_of(v)->run_name;

    return name[0] ? name : "run";
}

static struct page_head head_of(const struct listen_view *v)
{
    return (struct page_head){
        .kind = "Load test, live",
        .title = name_of(v),
        .badge = badge_of(v),
        .tone = v->decision == DECISION_PASS   ? TONE_PASS
                : v->decision == DECISION_FAIL ? TONE_FAIL
                                               : TONE_NONE,
        .icon = ICON_NOTE,
        .is_live = true,
    };
}

/* ---- how far it is ---- */

static void put_progress(struct page *p, const struct listen_view *v)
{
    static const char *const phases[] = {
        [PHASE_WARMUP] = "warm-up",
        [PHASE_WINDOW] = "window",
        [PHASE_COOLDOWN] = "cool-down",
        [PHASE_DRAIN] = "waiting for the last answers",
    };
    const struct run_progress *r = &v->progress;
    char a[UNITS_TEXT];
    char b[UNITS_TEXT];

    if (!v->has_progress)
        return;
    if (r->planned_s > 0)
        page_putf(p,
                  "<div class=\"prog\"><svg aria-hidden=\"true\"><rect "
                  "class=\"f-good\" width=\"%.1f%%\" height=\"6\"/></svg>"
                  "</div>",
                  100 * fmin(1, r->elapsed_s / r->planned_s));
    page_putf(p, "<p class=\"sub\" id=\"progress\">%s",
              units_show_span((int64_t)r->elapsed_s * NS_PER_S, a));
    if (r->planned_s > 0)
        page_putf(p, " of %s",
                  units_show_span((int64_t)(r->planned_s * 1e9), b));
    page_putf(p, ", %s. ", phases[r->phase]);
    if (r->is_open_loop)
        page_putf(p, "Asked for <b>%s/s</b>; ", show_number(r->asked_rps, a));
    page_putf(p, "sent <b>%s/s</b>, ", show_number(r->sent_rps, a));
    page_putf(p, "ended <b>%s/s</b> in the last second.</p>\n",
              show_number(r->done_rps, a));
}

/* The test stays valid at any number of looks; a running value does not. */
static void headline(const struct listen_view *v, char *out, size_t size)
{
    if (v->phase == LISTEN_PREPARING)
        snprintf(out, size, "The first request has not been sent yet.");
    else if (v->title[0])
        snprintf(out, size, "The study goes on: recording %lld.",
                 (long long)v->recordings + (v->phase == LISTEN_RUNNING));
    else if (v->decision == DECISION_PASS)
        snprintf(out, size, "The server meets its objective so far.");
    else if (v->decision == DECISION_FAIL)
        snprintf(out, size, "The server misses its objective.");
    else if (v->has_test)
        snprintf(out, size, "Not decided yet.");
    else if (v->n_terms > 0)
        snprintf(out, size, "The verdict comes with the report.");
    else
        snprintf(out, size, "The run has no objective.");
}

static void put_study_state(struct page *p, const struct listen_view *v)
{
    char a[SHOW_TEXT];

    if (v->title[0]) {
        page_put(p, "<p class=\"sub\" id=\"point\"><b>");
        page_text(p, v->title);
        page_put(p, "</b></p>\n");
    }
    if (variant_of(v)->name[0]) {
        page_put(p, "<p class=\"sub\">Variant <b>");
        page_text(p, variant_of(v)->name);
        page_put(p, "</b></p>\n");
    }
    if (isfinite(v->met) || isfinite(v->missed)) {
        page_put(p, "<p class=\"sub\" id=\"bracket\">");
        if (isfinite(v->met))
            page_putf(p, "Met up to <b>%s</b>. ", show_number(v->met, a));
        if (isfinite(v->missed))
            page_putf(p, "Missed from <b>%s</b>.", show_number(v->missed, a));
        page_put(p, "</p>\n");
    }
}

static void put_hero(struct page *p, const struct listen_view *v,
                     const struct page_head *head)
{
    const char *lines[] = {v->load, v->dir};
    char title[128];

    headline(v, title, sizeof(title));
    page_hero_begin(p, head, name_of(v), lines, v->load[0] ? 2 : 0, title);
    put_study_state(p, v);
    put_progress(p, v);
    if (v->why[0]) {
        page_put(p, "<p class=\"sub\" id=\"decided\">");
        page_text(p, v->why);
        page_put(p, ".</p>\n");
    }
    page_hero_end(p);
}

/* ---- the objectives ---- */

/* One row per term: the share that missed it, against what it allows. */
static void put_term(struct page *p, const struct listen_view *v,
                     const struct listen_term *t)
{
    double allowed = listen_allowed(&t->term);
    double share = t->n > 0 ? (double)t->missed / (double)t->n : NAN;
    double ratio = allowed > 0 ? share / allowed : share > 0 ? 2 : 0;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_put(p, "<div class=\"row v-none\" role=\"row\"><div class=\"term\" "
                "role=\"cell\"><span class=\"i-none\">");
    page_icon(p, ICON_NOTE, "");
    page_put(p, "</span><span>");
    if (t->class >= 0) {
        page_text(p, variant_of(v)->classes[t->class].name);
        page_put(p, ": ");
    }
    page_put(p, "<span class=\"mono\">");
    page_text(p, t->term.text);
    page_put(p, "</span><small>");
    page_textf(p, "%s may miss it", show_share(allowed, a));
    page_put(p, "</small></span></div>\n");
    page_put(p, "<div class=\"plot\" role=\"cell\"><svg "
                "aria-hidden=\"true\"><rect class=\"beyond\" x=\"50%\" "
                "width=\"50%\" height=\"62\"/><line class=\"bl\" x1=\"0\" "
                "x2=\"100%\" y1=\"31\" y2=\"31\"/><line class=\"s-ink\" "
                "x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"62\" "
                "stroke-width=\"1.5\"/>");
    if (t->n > 0)
        page_putf(p,
                  "<circle class=\"f-ink3 rim\" cx=\"%.1f%%\" cy=\"31\" "
                  "r=\"7\"/>",
                  50 * fmin(2, ratio));
    page_put(p, "</svg></div><div class=\"val\" role=\"cell\"><b "
                "class=\"v\">");
    page_text(p, t->n > 0 ? show_share(share, a) : "–");
    page_putf(p, "</b><small>%s of %s missed it so far</small></div></div>\n",
              show_count(t->missed, a), show_count(t->n, b));
}

static void put_slo(struct page *p, const struct listen_view *v)
{
    if (v->n_terms == 0)
        return;
    page_put(p,
             "<div class=\"slo\" role=\"table\" aria-label=\"Objectives so "
             "far\"><div class=\"row head\" role=\"row\"><div "
             "role=\"columnheader\">Objective</div><div class=\"plot\" "
             "role=\"columnheader\"><span class=\"vh\">Share that missed it, "
             "against the share that may</span><svg aria-hidden=\"true\"><text "
             "class=\"ax\" x=\"0\" y=\"22\">0</text><text class=\"limt\" "
             "x=\"50%\" y=\"22\" text-anchor=\"middle\">allowed</text><text "
             "class=\"ax\" x=\"100%\" y=\"22\" text-anchor=\"end\">2 × "
             "allowed</text></svg></div><div role=\"columnheader\">Missed"
             "</div></div>\n");
    for (size_t i = 0; i < v->n_terms; i++)
        put_term(p, v, &v->terms[i]);
    page_put(p, "</div>\n");
    if (v->has_test && !v->decision)
        page_put(p, "<p class=\"cap\">Shares change until the end. The verdict "
                    "comes from a sequential test of the SLO, valid at every "
                    "moment of the run. It is wrong in at most 5% of "
                    "runs.</p>\n");
}

/* ---- figures ---- */

static void put_figure(struct page *p, const char *id, const char *name,
                       const char *value, const char *words)
{
    page_putf(p,
              "<div class=\"fig\" id=\"n-%s\"><div class=\"l\">%s</div><div "
              "class=\"n\">%s</div><div class=\"s\">",
              id, name, value);
    page_text(p, words);
    page_put(p, "</div></div>\n");
}

static void put_figures(struct page *p, const struct listen_view *v)
{
    const struct listen_variant *now = variant_of(v);
    int64_t ok = 0;
    int64_t due = 0;
    int64_t good = 0;
    char a[SHOW_TEXT];
    char words[128];

    for (size_t i = 0; i < now->n_classes; i++) {
        ok += now->classes[i].outcome[OUTCOME_OK];
        due += now->classes[i].due;
        good += now->classes[i].good;
    }
    page_put(p, "<div class=\"figs\">");
    put_figure(p, "issued", "Sent", show_count(now->sum.issued, a),
               v->title[0] ? "requests, in all recordings" : "requests so far");
    put_figure(p, "flight", "In flight", show_count(v->in_flight, a),
               "sent and not ended");
    put_figure(p, "ok", "Answered", show_count(ok, a), "without an error");
    show_count(due, a);
    snprintf(words, sizeof(words), "of %s of the window", a);
    put_figure(p, "good", "Good", show_count(good, a), words);
    show_count(now->sum.unsent, a);
    snprintf(words, sizeof(words), "and %s unsent", a);
    put_figure(p, "failed", "Failed", show_count(now->sum.ended - ok, a),
               words);
    page_put(p, "</div>\n");
}

/* ---- charts ---- */

/* As much of a summary as the charts need. */
static void fill_summary(const struct listen_view *v, struct summary *s)
{
    struct judgement *j = &s->judgement;

    s->is_streamed = v->is_streamed;
    s->offered_rps = s->completed_rps = s->goodput_rps =
        NAN; /* not known yet */
    for (size_t i = 0; i < v->n_terms; i++) {
        if (v->terms[i].class >=
            0) /* the charts ask only whether there are any */
            s->n_classes = variant_of(v)->n_classes;
        else if (j->len < SLO_MAX_TERMS)
            j->terms[j->len++] =
                (struct term_judgement){.term = &v->terms[i].term};
    }
}

static void put_charts(struct page *p, const struct listen_view *v)
{
    struct summary *s = xcalloc(1, sizeof(*s));
    const struct run_page r = {.s = s, .bins = &v->bins};
    char a[SHOW_TEXT];

    fill_summary(v, s);
    if (v->has_bins && v->bins.n > 0) {
        page_putf(p,
                  "<p class=\"cap\" id=\"until\">The charts reach to %s: "
                  "requests sent later are still in flight.</p>\n",
                  show_time(rint(v->settled_s), a));
        run_charts_put(p, &r);
        page_section_begin(p, "trust", "The client", NULL, true);
        page_section_body(p);
        run_health_put(p, &r);
        page_section_end(p);
    }
    free(s);
}

void listen_study_section(const struct doc *doc, struct buf *out)
{
    struct page p;
    struct buf data;

    buf_init(&data, PAGE_MAX);
    page_part_begin(&p, out);
    page_section_begin(&p, "study", "The study so far", NULL, false);
    page_section_body(&p);
    study_charts_put(&p, doc);
    page_section_end(&p);
    page_part_end(&p, &data);
    buf_fini(&data);
}

/* ---- all of it ---- */

static void put_body(struct page *p, const struct listen_view *v,
                     const struct buf *study, const struct page_head *head)
{
    page_data(p, "end");
    put_number(&p->data, fmax(v->settled_s, 0.1), 3);
    page_data(p, "step");
    put_number(&p->data, (double)v->bins.step_ns / 1e9, 3);
    put_hero(p, v, head);
    put_slo(p, v);
    put_figures(p, v);
    page_put(p, buf_text(study));
    put_charts(p, v);
}

void listen_page(const struct listen_view *v, const struct buf *study,
                 struct buf *out)
{
    const struct page_head head = head_of(v);
    struct page p;

    page_begin(&p, out, &head);
    put_body(&p, v, study, &head);
    page_end(&p, "A run that goes on.");
}

/* An event is one line, so that a JSON string can hold what has several. */
static void put_member(struct buf *out, const char *before,
                       const struct buf *text)
{
    buf_adds(out, before);
    buf_adds(out, "\"");
    jtext_encode(buf_text(text), text->len, out);
    buf_adds(out, "\"");
}

void listen_page_event(const struct listen_view *v, const struct buf *study,
                       struct buf *out)
{
    const struct page_head head = head_of(v);
    struct buf main;
    struct buf data;
    struct buf title;
    struct page p;

    buf_init(&main, PAGE_MAX);
    buf_init(&data, PAGE_MAX);
    buf_init(&title, 1024);
    buf_addf(&title, "%s · %s · tailgate", head.badge, head.title);
    page_part_begin(&p, &main);
    put_body(&p, v, study, &head);
    page_part_end(&p, &data);
    put_member(out, "event: page\ndata: {\"main\":", &main);
    put_member(out, ",\"data\":", &data);
    put_member(out, ",\"title\":", &title);
    buf_addf(out, ",\"body\":\"v-%s\"}\n\n",
             head.tone == TONE_PASS   ? "pass"
             : head.tone == TONE_FAIL ? "fail"
                                      : "none");
    buf_fini(&main);
    buf_fini(&data);
    buf_fini(&title);
}

void listen_end_event(const struct buf *page, struct buf *out)
{
    put_member(out, "event: end\ndata: {\"html\":", page);
    buf_adds(out, "}\n\n");
}
