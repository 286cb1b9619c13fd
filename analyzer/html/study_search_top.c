/* The top of the page of a search: what each term alone would allow, and key
 * figures. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"
#include "common/spec/slo.h"

/* ---- what each term alone would allow ---- */

/* The highest load that counts: a term that no probe missed holds up to it. */
static double reached(const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    double most = 0;

    for (size_t i = 0; i < json_array_size(probes); i++) {
        const json_t *probe = json_array_get(probes, i);

        if (study_probe_kind(probe) != PROBE_DISCARDED)
            most = fmax(most, study_probe_load(json, probe));
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
    double all_low = isfinite(study_capacity(json))
                         ? study_end(json, "capacity_ci90", 0)
                         : NAN;
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
    if (study_parse_term(text, &t) && t.kind == SLO_QUANTILE)
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
              binds ? "limits the capacity" : "does not limit it");
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
        enum probe_kind kind = study_probe_kind(probe);

        if (kind == PROBE_CONFIRMS &&
            strcmp(study_text(probe, "verdict"), "fail") != 0)
            return probe;
        if (kind == PROBE_MET && (!best || study_probe_load(json, probe) >
                                               study_probe_load(json, best)))
            best = probe;
    }
    return best;
}

static void put_capacity(struct page *p, const json_t *json)
{
    double capacity = study_capacity(json);
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
             study_show_load(json, study_probe_load(json, best), text));
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
