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
#include "analyzer/verdict/claim.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/text/units.h"

#define MAX_TEXT 4096

/* ---- the verdict ---- */

/* PASS or FAIL, but chance may explain it. */
static bool is_only_observed(const struct summary *s)
{
    return (s->verdict == VERDICT_PASS || s->verdict == VERDICT_FAIL) &&
           !s->is_shown;
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

/* What the sentences about the terms have told so far. */
struct told {
    size_t named;    /* terms that have a sentence */
    size_t more;     /* terms that should have one, if there were room */
    size_t hold;     /* terms that hold, ... */
    size_t observed; /* ... of them as observed only */
};

#define MAX_NAMED 3

static void put_missed(struct page *p, const struct term_judgement *t)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    if (t->term->kind != SLO_QUANTILE) {
        page_put(p, "<b>");
        page_text(p, t->term->text);
        page_put(p, "</b> does not hold: ");
        if (t->term->kind == SLO_GOODPUT)
            page_putf(p, "%s/s. ", show_number(t->measured, a));
        else
            page_textf(p, "%s. ", show_share(t->measured, a));
        return;
    }
    page_text(p, measure_title(t->term->measure));
    if (t->measured_ns < 0)
        page_put(p, " is among <b>the failures</b>");
    else
        page_putf(p, " was <b>%s</b>", show_ns((double)t->measured_ns, a));
    page_putf(p, " at p%.6g; the limit is %s. ", 100 * t->term->quantile,
              show_tick_ns((double)t->term->limit_ns, b));
}

static void put_undecided(struct page *p, const struct term_judgement *t)
{
    char text[SHOW_TEXT];

    page_put(p, "<b>");
    page_text(p, t->term->text);
    page_put(p, "</b> is not decided");
    if (t->more_needed > 0)
        page_putf(p, ": about %s more requests are needed",
                  show_count(t->more_needed, text));
    else if (t->why)
        page_textf(p, ": %s", t->why);
    page_put(p, ". ");
}

/* One sentence for each of the first terms that do not hold or are not decided.
 */
static void put_terms(struct page *p, const char *class,
                      const struct judgement *j, struct told *told)
{
    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *t = &j->terms[i];
        bool is_named =
            t->verdict == VERDICT_FAIL || t->verdict == VERDICT_UNDECIDED;

        if (t->verdict == VERDICT_PASS) {
            told->hold++;
            told->observed += !t->is_shown;
        }
        if (!is_named)
            continue;
        if (told->named == MAX_NAMED) {
            told->more++;
            continue;
        }
        told->named++;
        if (class) {
            page_text(p, class);
            page_put(p, ": ");
        }
        if (t->verdict == VERDICT_FAIL)
            put_missed(p, t);
        else
            put_undecided(p, t);
    }
}

/* "2 more terms do not hold or are not decided. 3 other terms hold as
 * observed."
 */
static void put_rest(struct page *p, const struct told *told)
{
    const char *other = told->named > 0 ? "other " : "";
    const char *how = told->observed > 0 ? " as observed" : "";

    if (told->more > 0)
        page_putf(p, "%zu more term%s not hold or %s not decided. ", told->more,
                  told->more == 1 ? " does" : "s do",
                  told->more == 1 ? "is" : "are");
    if (told->hold == 1)
        page_putf(p, "One %sterm holds%s.", other, how);
    else if (told->hold > 1)
        page_putf(p, "%zu %sterms hold%s.", told->hold, other, how);
}

static void put_longer(struct page *p, const struct summary *s)
{
    char span[UNITS_TEXT];

    if (isfinite(s->decide_in_s) && s->decide_in_s >= 1)
        page_putf(
            p, " A run that is about %s longer would decide it.",
            units_show_span(llround(1e9 * fmin(s->decide_in_s, 1e9)), span));
}

static void put_reasons(struct page *p, const struct summary *s)
{
    struct told told = {0};

    page_put(p, "<p class=\"sub\">");
    put_terms(p, NULL, &s->judgement, &told);
    for (size_t i = 0; i < s->n_classes; i++)
        put_terms(p, s->classes[i].name, &s->classes[i].judgement, &told);
    if (s->verdict == VERDICT_PASS)
        page_put(p, s->is_shown ? "Every term holds, shown with 95% "
                                  "confidence."
                                : "Every term holds as observed. That is not "
                                  "shown with 95% confidence: an interval "
                                  "below reaches across its limit.");
    else if (s->verdict != VERDICT_INVALID)
        put_rest(p, &told);
    if (s->verdict == VERDICT_FAIL && !s->is_shown)
        page_putf(p, " That it fails is not shown with 95%% confidence%s.",
                  told.named + told.hold > 1 ? ", for all terms together" : "");
    if (s->verdict == VERDICT_UNDECIDED)
        put_longer(p, s);
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

/* A failed check that matters to the verdict. */
static bool is_in_doubt(const struct summary *s)
{
    return !s->trust.valid && s->verdict != VERDICT_PASS &&
           s->verdict != VERDICT_FAIL;
}

/* Where the time went, as far as client and server tell. */
static void put_limits(struct page *p, const struct summary *s)
{
    const struct server_summary *v = &s->server;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_put(p, "<p class=\"next\"><span class=\"k\">What limited it</span> "
                "<span>");
    if (is_in_doubt(s) && is_late_client(&s->trust))
        page_put(p, "The client: it could not keep its schedule.");
    else if (2 * s->failed > s->issued && s->issued > 0)
        page_putf(p, "Failures: %s of %s requests that were sent failed.",
                  show_count(s->failed, a), show_count(s->issued, b));
    else if (v->is_there && v->cache_max >= 0.98)
        page_textf(p,
                   "The server's KV cache: it was %s full on average and full "
                   "at times.",
                   show_share(v->cache_mean, a));
    else if (v->is_there && v->waiting_mean >= 1)
        page_putf(p,
                  "The server: %s requests waited in its queue on average, "
                  "while it worked on %s.",
                  show_number(v->waiting_mean, a),
                  show_number(v->running_mean, b));
    else if (summary_is_overloaded(s))
        page_put(p, "The server: it did not keep up with the load.");
    else if (v->is_there && v->waiting_mean >= 0)
        page_put(p, "Nothing waited for long: the server's queue was empty "
                    "nearly all the time.");
    else
        page_put(p, "Unknown: the server did not say how many requests it "
                    "held in its queue.");
    page_putf(p,
              "</span></p>\n<p class=\"next\"><span class=\"k\">The "
              "client</span> <span>%s</span></p>\n",
              s->trust.valid ? "No check failed: the numbers can be trusted."
              : is_in_doubt(s)
                  ? "A check failed, so the numbers are withdrawn."
                  : "A check failed: do not quote these latencies. The "
                    "verdict holds all the same.");
}

static void put_value_of(struct page *p, const struct check *c, double value)
{
    char text[SHOW_TEXT];
    const char *unit = c->unit;

    if (strncmp(unit, "ms", 2) == 0)
        page_text(p, show_ns(value * 1e6, text));
    else if (unit[0] == '%')
        page_putf(p, "%s%%", show_number(value, text));
    else if (value == round(value) && fabs(value) < 1e15)
        page_text(p, show_count(llround(value), text));
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
                     const struct page_head *head, const struct doc *doc)
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
    doc_html_put_warnings(p, doc);
    if (!s->trust.valid)
        put_blame(p, &s->trust);
    put_limits(p, s);
    if (s->next.len > 0) {
        page_put(p, "<p class=\"next\"><span class=\"k\">Next</span> ");
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

static struct key_figure rate_figure(const char *name, double rps, double of,
                                     const char *colour)
{
    struct key_figure f = {.name = name,
                           .unit = "/s",
                           .share = of > 0 ? rps / of : 0,
                           .low = NAN,
                           .colour = colour};

    show_number(rps, f.value);
    return f;
}

/* A share without its sign, which is the unit. */
static void set_share(struct key_figure *f, double share)
{
    show_share(share, f->value);
    f->value[strcspn(f->value, "%")] = '\0';
    f->unit = "%";
    f->share = share;
}

static void put_figures(struct page *p, const struct summary *s)
{
    struct key_figure f;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    int64_t lost = s->scheduled - s->ok;

    page_figs_begin(p);
    f = rate_figure("Offered", s->offered_rps, s->offered_rps, "ink3");
    snprintf(f.words, sizeof(f.words), "%s request%s due in %s",
             show_count(s->scheduled, a), s->scheduled == 1 ? "" : "s",
             show_time(s->window_length_s, b));
    page_fig(p, &f);
    f = rate_figure("Completed", s->completed_rps, s->offered_rps, "good");
    snprintf(f.words, sizeof(f.words),
             "of those due; %s/s finished in the window",
             show_number(s->throughput_rps, a));
    page_fig(p, &f);
    f = rate_figure("Goodput", s->goodput_rps, s->offered_rps, "good");
    snprintf(f.words, sizeof(f.words), "answered within every limit");
    page_fig(p, &f);
    f = (struct key_figure){.name = "Attainment",
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
    page_fig(p, &f);
    f = (struct key_figure){.name = "Errors", .low = NAN, .colour = "fail"};
    set_share(&f, s->scheduled > 0 ? (double)lost / (double)s->scheduled : 0);
    snprintf(f.words, sizeof(f.words), "%s of %s failed or unsent",
             show_count(lost, a), show_count(s->scheduled, b));
    page_fig(p, &f);
    page_figs_end(p);
}

static void put_bold(struct page *p, const char *before, const char *text,
                     const char *after)
{
    page_put(p, before);
    page_put(p, "<b>");
    page_text(p, text);
    page_put(p, "</b>");
    page_put(p, after);
}

static void put_more(struct page *p, const struct summary *s)
{
    bool has_tokens = s->has_tokens && s->output_tokens_per_s > 0;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    if (!has_tokens && !s->fluid.is_there && !s->server.is_there)
        return;
    page_put(p, "<div class=\"more\">");
    if (has_tokens)
        page_putf(p,
                  "<span>Output <b>%s</b> tokens/s; of good requests <b>%s</b> "
                  "tokens/s</span>",
                  show_number(s->output_tokens_per_s, a),
                  show_number(s->goodput_tokens_per_s, b));
    if (s->fluid.is_there)
        put_bold(p, "<span>Tokens in time ",
                 show_share(s->fluid.tokens_in_time, a), "</span>");
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
            put_bold(p, ", cache ", show_share(s->server.cache_mean, a), "");
        page_put(p, "</span>");
    }
    page_put(p, "</div>\n");
}

/* ---- trust ---- */

/* What is left of a unit when "ms" or "%" stands at the value. */
static const char *unit_words(const char *unit)
{
    size_t len = strncmp(unit, "ms", 2) == 0 ? 2 : unit[0] == '%' ? 1 : 0;

    return unit + len + strspn(unit + len, " ");
}

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
    page_text(p, c->ok ? unit_words(c->unit) : c->advice);
    page_put(p, "</span></li>\n");
}

static void put_trust(struct page *p, const struct run_page *r)
{
    const struct trust *t = &r->s->trust;
    size_t failed = 0;
    size_t noted = 0;
    char note[128];

    for (size_t i = 0; i < t->len; i++) {
        failed += !t->checks[i].ok && t->checks[i].is_fatal;
        noted += !t->checks[i].ok && !t->checks[i].is_fatal;
    }
    if (failed > 0)
        snprintf(note, sizeof(note), "%s: %zu of %zu checks failed.",
                 t->valid ? "Yes, with remarks" : "No", failed, t->len);
    else if (noted > 0)
        snprintf(note, sizeof(note), "Yes: no check failed, %zu of %zu %s.",
                 noted, t->len, noted == 1 ? "has a note" : "have notes");
    else
        snprintf(note, sizeof(note), "Yes: all %zu checks passed.", t->len);
    page_section_begin(p, "trust", "Can these numbers be trusted?", note, true);
    page_section_body(p);
    run_health_put(p, r);
    page_figure_begin(p, "", "checks", "Checks",
                      "Bars end at what was measured, the mark is the limit. "
                      "One failed check is enough for the tool to withdraw its "
                      "numbers; a note changes nothing.");
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

/* ---- how to repeat the run ---- */

static void put_repeat(struct page *p, const struct run_page *r)
{
    struct buf dir;
    char *text;
    struct buf claim;

    buf_init(&dir, MAX_TEXT);
    str_add_quoted(&dir, r->s->dir);
    page_section_begin(p, "repeat", "Repeat it",
                       "The recording keeps every request, so most questions "
                       "need no new load.",
                       false);
    page_section_body(p);
    page_put(p, "<div class=\"cmds\">");
    text = xasprintf("tailgate rerun %s", buf_text(&dir));
    page_command(p, "The same requests again", text, false);
    free(text);
    text =
        xasprintf("tailgate report %s", r->again ? r->again : buf_text(&dir));
    page_command(p, "The report as text; --html FILE writes this page", text,
                 false);
    free(text);
    text = xasprintf(
        "tailgate report %s --slo '%s' --html other.html", buf_text(&dir),
        r->s->slo.len > 0 ? r->s->slo.terms[0].text : "e2e p99 < 200ms");
    page_command(p, "Another objective, from the same recording", text, false);
    free(text);
    buf_init(&claim, (size_t)1 << 16);
    if (run_claim(r->s, r->manifest, &claim))
        page_command(p, "The sentence to quote", buf_text(&claim), true);
    buf_fini(&claim);
    page_put(p, "</div>\n");
    page_section_end(p);
    buf_fini(&dir);
}

/* ---- all of it ---- */

void run_page_render(const struct run_page *r, struct buf *out)
{
    static const struct nav_entry all[] = {{"requests", "Requests"},
                                           {"latency", "Latency"},
                                           {"load", "Load"},
                                           {"trust", "Trust"},
                                           {"conditions", "Conditions"},
                                           {"repeat", "Repeat"},
                                           {"all", "Numbers"}};
    struct nav_entry nav[sizeof(all) / sizeof(all[0])];
    size_t n_nav = 0;
    const struct summary *s = r->s;
    const struct verdict_look *look = verdict_look(verdict_name(s->verdict));
    char title[256];
    char rate[SHOW_TEXT];
    struct page_head head = {
        .kind = "Load test",
        .title = title,
        .badge = look->badge,
        .badge_note = is_only_observed(s) ? "as observed" : NULL,
        .tone = look->tone,
        .icon = look->icon,
        .is_withdrawn = s->verdict == VERDICT_INVALID,
        .nav = nav,
    };
    struct doc *doc = run_doc(s);
    struct page p;

    /* Some sections need requests. */
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bool is_there = strcmp(all[i].id, "latency") == 0
                            ? r->bins->spectra[BINS_E2E].n > 0
                        : strcmp(all[i].id, "load") == 0 ? r->bins->n > 0
                                                         : true;

        if (is_there)
            nav[n_nav++] = all[i];
    }
    head.n_nav = n_nav;

    snprintf(title, sizeof(title), "%s at %s/s",
             s->settings->name ? s->settings->name : "run",
             show_number(s->offered_rps, rate));
    page_begin(&p, out, &head);
    page_data(&p, "end");
    put_number(&p.data, (double)r->bins->end_ns / 1e9, 3);
    page_data(&p, "step");
    put_number(&p.data, (double)r->bins->step_ns / 1e9, 3);
    put_hero(&p, r, &head, doc);
    run_slo_put(&p, s);
    put_figures(&p, s);
    put_more(&p, s);
    run_flow_put(&p, s);
    run_charts_put(&p, r);
    put_trust(&p, r);
    run_conditions_put(&p, r);
    put_repeat(&p, r);
    doc_html_put_all(&p, doc);
    page_words(&p);
    snprintf(title, sizeof(title), "Recording %s.", s->dir);
    page_end(&p, title);
    doc_free(doc);
}
