#include "analyzer/html/run_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/doc_html.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/run_bins.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/checklist.h"
#include "analyzer/verdict/claim.h"
#include "common/base/redact.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

#define MAX_TEXT 4096

/* ---- the verdict ---- */

static enum tone tone_of(enum verdict v)
{
    static const enum tone tones[] = {[VERDICT_NONE] = TONE_NONE,
                                      [VERDICT_PASS] = TONE_PASS,
                                      [VERDICT_FAIL] = TONE_FAIL,
                                      [VERDICT_UNDECIDED] = TONE_UNDECIDED,
                                      [VERDICT_INVALID] = TONE_INVALID};

    return tones[v];
}

static enum icon icon_of(enum verdict v)
{
    static const enum icon icons[] = {[VERDICT_NONE] = ICON_NOTE,
                                      [VERDICT_PASS] = ICON_PASS,
                                      [VERDICT_FAIL] = ICON_FAIL,
                                      [VERDICT_UNDECIDED] = ICON_UNDECIDED,
                                      [VERDICT_INVALID] = ICON_INVALID};

    return icons[v];
}

static const char *badge_of(enum verdict v)
{
    static const char *const badges[] = {[VERDICT_NONE] = "NO OBJECTIVE",
                                         [VERDICT_PASS] = "PASS",
                                         [VERDICT_FAIL] = "FAIL",
                                         [VERDICT_UNDECIDED] = "UNDECIDED",
                                         [VERDICT_INVALID] = "INVALID"};

    return badges[v];
}

static bool is_late_client(const struct trust *t)
{
    for (size_t i = 0; i < t->len; i++) {
        if (!t->checks[i].ok && t->checks[i].is_fatal &&
            t->checks[i].is_lateness)
            return true;
    }
    return false;
}

static void headline(const struct summary *s, char *out, size_t size)
{
    char rate[SHOW_TEXT];

    show_number(s->offered_rps, rate);
    switch (s->verdict) {
    case VERDICT_PASS:
        snprintf(out, size,
                 "The server met its objective at %s requests per second.",
                 rate);
        break;
    case VERDICT_FAIL:
        snprintf(out, size,
                 "The server missed its objective at %s requests per second.",
                 rate);
        break;
    case VERDICT_UNDECIDED:
        snprintf(out, size,
                 "The run does not decide whether the server meets "
                 "its objective.");
        break;
    case VERDICT_INVALID:
        snprintf(out, size, "Do not use these numbers: %s.",
                 is_late_client(&s->trust)
                     ? "the client could not keep its schedule"
                     : "the measurement was disturbed");
        break;
    default:
        snprintf(out, size,
                 "%s requests per second were answered, of %s offered.",
                 show_number(s->completed_rps, (char[SHOW_TEXT]){0}), rate);
    }
}

/* One sentence for each term that does not hold, then how many do. */
static void put_terms(struct page *p, const char *class,
                      const struct judgement *j, size_t *hold, size_t *shown)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *t = &j->terms[i];

        if (t->verdict == VERDICT_PASS)
            ++*hold;
        if (t->verdict != VERDICT_FAIL || *shown >= 3)
            continue;
        ++*shown;
        if (class) {
            page_text(p, class);
            page_put(p, ": ");
        }
        if (t->term->kind == SLO_QUANTILE) {
            page_textf(p, "%s was ", run_measure_title((int)t->term->measure));
            page_putf(p, "<b>%s</b>",
                      t->measured_ns < 0 ? "beyond every value"
                                         : show_ns((double)t->measured_ns, a));
            page_putf(p, " at p%.6g; the limit is %s. ",
                      100 * t->term->quantile,
                      show_tick_ns((double)t->term->limit_ns, b));
        } else {
            page_put(p, "<b>");
            page_text(p, t->term->text);
            page_put(p, "</b> does not hold: ");
            if (t->term->kind == SLO_GOODPUT)
                page_putf(p, "%s/s. ", show_number(t->measured, a));
            else
                page_putf(p, "%s. ", show_share(t->measured, a));
        }
    }
}

static void put_reasons(struct page *p, const struct summary *s)
{
    size_t hold = 0;
    size_t shown = 0;

    page_put(p, "<p class=\"sub\">");
    put_terms(p, NULL, &s->judgement, &hold, &shown);
    for (size_t i = 0; i < s->n_classes; i++)
        put_terms(p, s->classes[i].name, &s->classes[i].judgement, &hold,
                  &shown);
    if (s->verdict == VERDICT_PASS)
        page_put(p, s->is_shown ? "Every term holds, shown with 95% "
                                  "confidence."
                                : "Every term holds as observed; it is not "
                                  "shown with 95% confidence yet.");
    else if (hold > 0 && s->verdict != VERDICT_INVALID)
        page_putf(p, hold == 1 ? "One term holds." : "%zu other terms hold.",
                  hold);
    if (s->verdict == VERDICT_NONE)
        page_put(p, "No objective was given, so there is no verdict. --slo "
                    "judges this recording.");
    page_put(p, "</p>\n");
    if (summary_is_overloaded(s)) {
        char a[SHOW_TEXT];

        page_putf(p,
                  "<p class=\"warn\"><b>Overloaded.</b> Requests in flight "
                  "grew by %s during the window; there is no steady state, and "
                  "percentiles depend on the length of the run.</p>\n",
                  show_number(s->steady.load.overload.growth, a));
    }
    if (s->aborted) {
        page_put(p, "<p class=\"warn\"><b>Aborted.</b> ");
        page_text(p, s->aborted);
        page_put(p, "</p>\n");
    }
    if (s->integrity.was_killed || s->stopped_by)
        page_put(p,
                 "<p class=\"warn\"><b>Interrupted.</b> The run ended before "
                 "its planned end.</p>\n");
}

static void put_value_of(struct page *p, const struct check *c, double value)
{
    char text[SHOW_TEXT];
    const char *unit = c->unit;

    if (strncmp(unit, "ms", 2) == 0)
        page_text(p, show_ns(value * 1e6, text));
    else if (unit[0] == '%')
        page_putf(p, "%s%%", show_number(value, text));
    else
        page_text(p, show_number(value, text));
}

/* The checks that failed, with advice. */
static void put_blame(struct page *p, const struct trust *t)
{
    page_put(p, "<ul class=\"blame\">");
    for (size_t i = 0; i < t->len; i++) {
        const struct check *c = &t->checks[i];

        if (c->ok || !c->is_fatal)
            continue;
        page_put(p, "<li><span class=\"i-fail\">");
        page_icon(p, ICON_BAD, "");
        page_put(p, "</span><b>");
        page_text(p, c->name);
        page_put(p, "</b><span>");
        put_value_of(p, c, c->value);
        page_putf(p, ", %s ", c->is_minimum ? "at least" : "at most");
        put_value_of(p, c, c->limit);
        page_put(p, "</span><span class=\"d\">");
        page_text(p, c->advice);
        page_put(p, "</span></li>");
    }
    page_put(p, "</ul>\n");
}

static void put_hero(struct page *p, const struct run_page *r,
                     const struct page_head *head)
{
    const struct summary *s = r->s;
    char when[64];
    char window[128];
    char title[256];
    struct buf load;
    const char *lines[3];
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    clk_format_utc(manifest_start_realtime_ns(r->manifest),
                   "%Y-%m-%d %H:%M:%S UTC", when, sizeof(when));
    snprintf(window, sizeof(window), "%s window after %s of warm-up",
             show_time(s->window_length_s, a), show_time(s->warmup_s, b));
    if (!(s->warmup_s > 0))
        snprintf(window, sizeof(window), "%s window, no warm-up",
                 show_time(s->window_length_s, a));
    buf_init(&load, MAX_TEXT);
    settings_describe_load(&s->settings->load, &load);
    if (load.len > 0)
        load.data[strcspn(load.data, "\n")] = '\0';
    lines[0] = when;
    lines[1] = window;
    lines[2] = buf_text(&load);
    headline(s, title, sizeof(title));
    page_hero_begin(p, head, s->settings->name ? s->settings->name : "run",
                    lines, 3, title);
    buf_fini(&load);
    put_reasons(p, s);
    if (!s->trust.valid)
        put_blame(p, &s->trust);
    if (s->next.len > 0) {
        page_put(p, "<p class=\"next\">");
        for (size_t i = 0; i < s->next.len; i++) {
            page_put(p, "<span>");
            page_text(p, s->next.lines[i]);
            page_put(p, "</span>");
        }
        page_put(p, "</p>\n");
    }
    page_hero_end(p);
}

/* ---- five figures ---- */

struct figure {
    const char *name;
    const char *unit;
    char value[SHOW_TEXT];
    double share; /* length of the bar */
    double low;   /* of an interval; NAN: none */
    double high;
    const char *colour;
    char words[128];
};

static void put_figure(struct page *p, const struct figure *f)
{
    page_putf(p,
              "<div class=\"fig\"><div class=\"l\">%s</div><div "
              "class=\"n\">%s<span>%s</span></div><svg "
              "aria-hidden=\"true\"><rect class=\"f-line\" y=\"3\" "
              "width=\"100%%\" height=\"4\" rx=\"2\"/>",
              f->name, f->value, f->unit);
    if (!isnan(f->low))
        page_putf(p,
                  "<rect class=\"f-%s soft2\" x=\"%.1f%%\" width=\"%.1f%%\" "
                  "height=\"10\" rx=\"2\"/>",
                  f->colour, 100 * f->low, 100 * (f->high - f->low));
    if (f->share > 0)
        page_putf(p,
                  "<rect class=\"f-%s\" y=\"3\" width=\"%.1f%%\" height=\"4\" "
                  "rx=\"2\"/>",
                  f->colour, 100 * fmin(1, fmax(f->share, 0.01)));
    page_put(p, "</svg><div class=\"s\">");
    page_text(p, f->words);
    page_put(p, "</div></div>\n");
}

static struct figure rate_figure(const char *name, double rps, double of,
                                 const char *colour)
{
    struct figure f = {.name = name,
                       .unit = "/s",
                       .share = of > 0 ? rps / of : 0,
                       .low = NAN,
                       .colour = colour};

    show_number(rps, f.value);
    return f;
}

/* A share without its sign, which is the unit. */
static void set_share(struct figure *f, double share)
{
    show_share(share, f->value);
    f->value[strcspn(f->value, "%")] = '\0';
    f->unit = "%";
    f->share = share;
}

static void put_figures(struct page *p, const struct summary *s)
{
    struct figure f;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    int64_t lost = s->scheduled - s->ok;

    page_put(p, "<div class=\"figs\">");
    f = rate_figure("Offered", s->offered_rps, s->offered_rps, "ink3");
    snprintf(f.words, sizeof(f.words), "%s requests due in %s",
             show_count(s->scheduled, a), show_time(s->window_length_s, b));
    put_figure(p, &f);
    f = rate_figure("Completed", s->completed_rps, s->offered_rps, "good");
    snprintf(f.words, sizeof(f.words),
             "of those due; %s/s finished in the window",
             show_number(s->throughput_rps, a));
    put_figure(p, &f);
    f = rate_figure("Goodput", s->goodput_rps, s->offered_rps, "good");
    snprintf(f.words, sizeof(f.words), "answered within every limit");
    put_figure(p, &f);
    f = (struct figure){.name = "Attainment",
                        .low = s->attainment_ci95.low,
                        .high = s->attainment_ci95.high,
                        .colour = "good"};
    set_share(&f, s->attainment);
    snprintf(f.words, sizeof(f.words), "95%% interval %s to %s",
             show_share(f.low, a), show_share(f.high, b));
    if (s->scheduled == 0) {
        f.low = NAN;
        snprintf(f.words, sizeof(f.words), "nothing was due");
    }
    put_figure(p, &f);
    f = (struct figure){.name = "Errors", .low = NAN, .colour = "fail"};
    set_share(&f, s->scheduled > 0 ? (double)lost / (double)s->scheduled : 0);
    snprintf(f.words, sizeof(f.words), "%s of %s failed or unsent",
             show_count(lost, a), show_count(s->scheduled, b));
    put_figure(p, &f);
    page_put(p, "</div>\n");
}

static void put_more(struct page *p, const struct summary *s)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_put(p, "<div class=\"more\">");
    if (s->has_tokens && s->output_tokens_per_s > 0)
        page_putf(p,
                  "<span>Output <b>%s</b> tokens/s; of good requests <b>%s</b> "
                  "tokens/s</span>",
                  show_number(s->output_tokens_per_s, a),
                  show_number(s->goodput_tokens_per_s, b));
    if (s->fluid.is_there)
        page_putf(p, "<span>Tokens in time <b>%s</b></span>",
                  show_share(s->fluid.tokens_in_time, a));
    if (s->server.is_there) {
        page_put(p, "<span>Server");
        if (s->server.dialect) {
            page_put(p, " <b>");
            page_text(p, s->server.dialect);
            page_put(p, "</b>");
        }
        if (s->server.running_mean >= 0)
            page_putf(p, " running <b>%s</b>",
                      show_number(s->server.running_mean, a));
        if (s->server.waiting_mean >= 0)
            page_putf(p, ", waiting <b>%s</b>",
                      show_number(s->server.waiting_mean, a));
        if (s->server.cache_mean >= 0)
            page_putf(p, ", cache <b>%s</b>",
                      show_share(s->server.cache_mean, a));
        page_put(p, "</span>");
    }
    page_put(p, "</div>\n");
}

/* ---- trust ---- */

static void put_check(struct page *p, const struct check *c)
{
    double full = fmax(c->value, c->limit) * 1.25;
    double mark = full > 0 ? c->limit / full : 0;
    const char *tone = c->ok ? "pass" : c->is_fatal ? "fail" : "note";

    page_putf(p, "<li><span class=\"i-%s\">", tone);
    page_icon(p, c->ok ? ICON_OK : c->is_fatal ? ICON_BAD : ICON_NOTE, "");
    page_put(p, "</span><span class=\"nm\">");
    page_text(p, c->name);
    page_putf(p,
              "</span><svg class=\"bar2\" aria-hidden=\"true\"><rect "
              "class=\"f-line\" y=\"2\" width=\"100%%\" height=\"4\" rx=\"2\"/>"
              "<rect class=\"f-%s\" y=\"2\" width=\"%.1f%%\" height=\"4\" "
              "rx=\"2\"/><line class=\"s-ink w2\" x1=\"%.1f%%\" x2=\"%.1f%%\" "
              "y1=\"-1\" y2=\"9\"/></svg><span class=\"vl\">",
              c->ok         ? "client"
              : c->is_fatal ? "fail"
                            : "und",
              full > 0 ? 100 * fmax(0, c->value) / full : 0, 100 * mark,
              100 * mark);
    put_value_of(p, c, c->value);
    page_putf(p, "<span class=\"lm\">%s ", c->is_minimum ? "≥" : "≤");
    put_value_of(p, c, c->limit);
    page_put(p, "</span></span><span class=\"un\">");
    page_text(p, c->ok ? c->unit : c->advice);
    page_put(p, "</span></li>\n");
}

static void put_trust(struct page *p, const struct run_page *r)
{
    const struct trust *t = &r->s->trust;
    size_t failed = 0;
    char note[128];

    for (size_t i = 0; i < t->len; i++)
        failed += !t->checks[i].ok;
    if (failed == 0)
        snprintf(note, sizeof(note), "Yes: all %zu checks passed.", t->len);
    else
        snprintf(note, sizeof(note), "%s: %zu of %zu checks did not pass.",
                 t->valid ? "Yes, with remarks" : "No", failed, t->len);
    page_section_begin(p, "trust", "Can these numbers be trusted?", note, true);
    page_section_body(p);
    run_health_put(p, r);
    page_figure_begin(p, "", "checks", "Checks",
                      "Bars end at what was measured, the mark is the limit. "
                      "One failed check is enough for the tool to withdraw its "
                      "numbers.");
    page_put(p, "</figcaption>\n<div class=\"plotcol\"><ul class=\"checks\">");
    for (int is_ok = 0; is_ok < 2; is_ok++) { /* failed ones first */
        for (size_t i = 0; i < t->len; i++) {
            if (t->checks[i].ok == (is_ok != 0))
                put_check(p, &t->checks[i]);
        }
    }
    page_put(p, "</ul></div></figure>\n");
    page_section_end(p);
}

/* ---- conditions, and how to repeat the run ---- */

static void put_conditions(struct page *p, const struct run_page *r)
{
    const struct settings *set = r->s->settings;
    struct checklist *c = xcalloc(1, sizeof(*c));
    char note[96];

    checklist_make(c, r->s, r->manifest);
    page_section_begin(p, "conditions", "Conditions", NULL, false);
    page_section_body(p);
    if (set->conditions.keys.len > 0) {
        page_put(p, "<div class=\"chart\"><div class=\"aside\"><h3>As "
                    "declared</h3><p class=\"cap\">What the person who ran "
                    "this says about it.</p></div><div class=\"kv\"><div "
                    "class=\"g\"><dl>");
        for (size_t i = 0; i < set->conditions.keys.len; i++) {
            page_put(p, "<dt>");
            page_text(p, set->conditions.keys.items[i]);
            page_put(p, "</dt><dd>");
            page_text(p, set->conditions.values.items[i]);
            page_put(p, "</dd>");
        }
        page_put(p, "</dl></div></div></div>\n");
    }
    snprintf(note, sizeof(note), "%zu of %zu things are known.",
             c->len - c->missing, c->len);
    page_put(p, "<div class=\"chart\"><div class=\"aside\"><h3>Could somebody "
                "else repeat it?</h3><p class=\"cap\">What was asked, of whom, "
                "from where. ");
    page_text(p, note);
    page_put(p, "</p></div><ul class=\"list\">");
    for (size_t i = 0; i < c->len; i++) {
        const struct checklist_item *item = &c->items[i];

        page_putf(p, "<li><span class=\"%s\">",
                  item->is_present ? "i-pass" : "i-note");
        page_icon(p, item->is_present ? ICON_OK : ICON_NOTE, "");
        page_put(p, "</span><span>");
        page_text(p, item->name);
        page_put(p, "</span><span class=\"d\">");
        page_text(p, item->text);
        page_put(p, "</span></li>\n");
    }
    page_put(p, "</ul></div>\n");
    page_section_end(p);
    free(c);
}

static void put_repeat(struct page *p, const struct run_page *r)
{
    const char *dir = r->s->dir;
    char *text;
    struct buf claim;

    page_section_begin(p, "repeat", "Repeat it",
                       "The recording keeps every request, so most questions "
                       "need no new load.",
                       false);
    page_section_body(p);
    page_put(p, "<div class=\"cmds\">");
    text = xasprintf("tailgate rerun %s", dir);
    page_command(p, "The same requests again", text, false);
    free(text);
    text = xasprintf("tailgate report %s --slo '%s' --html other.html", dir,
                     r->s->slo.len > 0 ? r->s->slo.terms[0].text
                                       : "e2e p99 < 200ms");
    page_command(p, "Another objective, from the same recording", text, false);
    free(text);
    buf_init(&claim, (size_t)1 << 16);
    if (run_claim(r->s, r->manifest, &claim))
        page_command(p, "The sentence to quote", buf_text(&claim), true);
    buf_fini(&claim);
    page_put(p, "</div>\n");
    page_section_end(p);
}

/* ---- all of it ---- */

void run_page_render(const struct run_page *r, struct buf *out)
{
    static const struct nav_entry nav[] = {{"requests", "Requests"},
                                           {"latency", "Latency"},
                                           {"load", "Load"},
                                           {"trust", "Trust"},
                                           {"conditions", "Conditions"},
                                           {"repeat", "Repeat"},
                                           {"all", "Numbers"}};
    const struct summary *s = r->s;
    char title[256];
    char rate[SHOW_TEXT];
    const struct page_head head = {
        .kind = "Load test",
        .title = title,
        .badge = badge_of(s->verdict),
        .tone = tone_of(s->verdict),
        .icon = icon_of(s->verdict),
        .is_withdrawn = s->verdict == VERDICT_INVALID,
        .nav = nav,
        .n_nav = sizeof(nav) / sizeof(nav[0]),
    };
    struct doc *doc = run_doc(s);
    struct page p;

    snprintf(title, sizeof(title), "%s at %s/s",
             s->settings->name ? s->settings->name : "run",
             show_number(s->offered_rps, rate));
    page_begin(&p, out, &head);
    page_data(&p, "end");
    put_number(&p.data, (double)r->bins->end_ns / 1e9, 3);
    page_data(&p, "step");
    put_number(&p.data, (double)r->bins->step_ns / 1e9, 3);
    put_hero(&p, r, &head);
    run_slo_put(&p, s);
    put_figures(&p, s);
    put_more(&p, s);
    run_flow_put(&p, s);
    run_charts_put(&p, r);
    put_trust(&p, r);
    put_conditions(&p, r);
    put_repeat(&p, r);
    doc_html_put_all(&p, doc);
    snprintf(title, sizeof(title), "Recording %s.", s->dir);
    page_end(&p, title);
    doc_free(doc);
}
