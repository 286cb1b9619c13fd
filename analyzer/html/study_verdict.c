/* What a study has found, in a badge, a sentence and what explains it. */
#include "analyzer/html/study_verdict.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"

static void set(struct verdict_of *v, enum tone tone, enum icon icon,
                const char *badge)
{
    v->tone = tone;
    v->icon = icon;
    snprintf(v->badge, sizeof(v->badge), "%s", badge);
}

/* Words that no table knows stand as they are. */
static void set_by_word(struct verdict_of *v, const char *word)
{
    const struct verdict_look *look = verdict_look(word);

    set(v, look ? look->tone : TONE_NONE, look ? look->icon : ICON_NOTE,
        look ? look->badge : word);
    for (char *c = v->badge; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static void capitalize(char *text)
{
    text[0] = (char)toupper((unsigned char)text[0]);
}

static void uncapitalize(char *text)
{
    text[0] = (char)tolower((unsigned char)text[0]);
}

/* ---- searches ---- */

/* The interval, the confirmation, and which term is the limit. */
static void explain_estimate(const json_t *json, struct verdict_of *v)
{
    double confirmed =
        study_load_number(json, "confirmed", study_has_rate(json));
    const char *binding = study_text(json, "binding");
    size_t len;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    snprintf(v->sub, sizeof(v->sub), "The 90%% interval is %s to %s. ",
             study_load_value(json, study_end(json, "capacity_ci90", 0), a),
             study_show_load(json, study_end(json, "capacity_ci90", 1), b));
    len = strlen(v->sub);
    if (isfinite(confirmed))
        snprintf(v->sub + len, sizeof(v->sub) - len,
                 json_is_true(json_object_get(json, "confirmed_met"))
                     ? "A fresh run at %s met every limit. "
                     : "A fresh run at %s missed a limit, but not "
                       "significantly. ",
                 study_show_load(json, confirmed, a));
    else
        snprintf(v->sub + len, sizeof(v->sub) - len,
                 strcmp(study_text(json, "outcome"), "budget") == 0
                     ? "The time was over before a run could confirm it. "
                     : "No run has confirmed it. ");
    len = strlen(v->sub);
    if (binding[0])
        snprintf(v->sub + len, sizeof(v->sub) - len,
                 "Beyond that, %.100s is missed first.", binding);
    if (isfinite(confirmed))
        snprintf(v->next, sizeof(v->next),
                 "Plan with %s, the load that a fresh run has confirmed.",
                 study_show_load(json, confirmed, a));
    else
        snprintf(v->next, sizeof(v->next),
                 "Plan with at most %s, the lower "
                 "end of the interval.",
                 study_show_load(json, study_end(json, "capacity_ci90", 0), a));
}

/* How each outcome is shown.  The headline takes the load, where there is one.
 */
static const struct search_look {
    const char *outcome;
    enum tone tone;
    enum icon icon;
    const char *badge;
    const char *load;     /* its key without unit; NULL: none */
    const char *headline; /* with a rate or a number of clients */
    const char *without;  /* if the load is not known */
} search_looks[] = {
    {"found", TONE_PASS, ICON_FOUND, "FOUND", "capacity",
     "The server takes %s within its objective.", NULL},
    {"at least", TONE_PASS, ICON_AT_LEAST, "AT LEAST", "at_least",
     "The server takes at least %s within its objective; no higher load was "
     "allowed.",
     NULL},
    {"client limit", TONE_UNDECIDED, ICON_INVALID, "CLIENT LIMIT", "at_least",
     "The server takes at least %s within its objective; this client cannot "
     "send more.",
     NULL},
    {"never", TONE_FAIL, ICON_FAIL, "NEVER MET", NULL, NULL,
     "The server met its objective at no load that was tried."},
    {"undecided", TONE_UNDECIDED, ICON_UNDECIDED, "UNDECIDED", "capacity",
     "The probes do not settle the capacity; they point to about %s.",
     "The probes do not settle the capacity."},
    {"not probed", TONE_UNDECIDED, ICON_UNDECIDED, "UNDECIDED", NULL, NULL,
     "The recorded probes do not reach the capacity."},
    {NULL, TONE_UNDECIDED, ICON_UNDECIDED, "ESTIMATE", "capacity",
     "The server takes about %s within its objective.", NULL},
    {NULL, TONE_UNDECIDED, ICON_UNDECIDED, "UNDECIDED", NULL, NULL,
     "The search ended before it found the capacity."},
};

/* The rows without an outcome are for those that have no row. */
static const struct search_look *search_look(const json_t *json, double *load)
{
    const char *outcome = study_text(json, "outcome");
    const struct search_look *look = search_looks;

    for (;; look++) {
        if (look->outcome && strcmp(look->outcome, outcome) != 0)
            continue;
        *load = look->load
                    ? study_load_number(json, look->load, study_has_rate(json))
                    : NAN;
        if (isfinite(*load) || look->without)
            return look;
    }
}

void study_judge_search(const struct json_t *json, struct verdict_of *v)
{
    double load;
    const struct search_look *look = search_look(json, &load);
    bool is_estimate = look->load && strcmp(look->load, "capacity") == 0;
    char at[SHOW_TEXT + 32];
    char a[SHOW_TEXT];

    set(v, look->tone, look->icon, look->badge);
    snprintf(at, sizeof(at), "%s %s", study_load_value(json, load, a),
             study_has_rate(json) ? "requests per second"
                                  : "concurrent clients");
    if (isfinite(load))
        snprintf(v->headline, sizeof(v->headline), look->headline, at);
    else
        snprintf(v->headline, sizeof(v->headline), "%s", look->without);
    if (is_estimate && strcmp(look->badge, "UNDECIDED") != 0 &&
        isfinite(study_end(json, "capacity_ci90", 0))) {
        explain_estimate(json, v);
        return;
    }
    snprintf(v->sub, sizeof(v->sub), "%s", study_text(json, "why"));
    capitalize(v->sub);
}

/* ---- sweeps, trials and variants ---- */

void study_judge_sweep(const struct json_t *json, struct verdict_of *v)
{
    double within = study_number(json, "within_slo");
    double knee = study_number(json, "knee");
    const char *unit = strcmp(study_text(json, "key"), "load.rate") == 0
                           ? " requests per second"
                           : "";
    char a[SHOW_TEXT];

    set(v, TONE_NONE, ICON_NOTE, "SWEEP");
    if (isfinite(within)) {
        set(v, TONE_PASS, ICON_PASS, "SWEEP");
        snprintf(v->headline, sizeof(v->headline),
                 "The objective is met up to %s%s.", show_number(within, a),
                 unit);
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
                 "The best balance of throughput and latency is at %s%s.",
                 show_number(knee, a), unit);
    if (study_number(json, "withdrawn") > 0)
        snprintf(v->sub + strlen(v->sub), sizeof(v->sub) - strlen(v->sub),
                 "%s%.0f of %.0f runs cannot be trusted and were discarded.",
                 v->sub[0] ? " " : "", study_number(json, "withdrawn"),
                 study_number(json, "recorded"));
}

void study_judge_trials(const struct json_t *json, struct verdict_of *v)
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
    if ((v->tone == TONE_PASS || v->tone == TONE_FAIL) &&
        !json_is_true(json_object_get(json, "shown")))
        v->note = "as observed";
    snprintf(
        v->sub, sizeof(v->sub),
        "%.0f of the %.0f trials that were recorded count; %.0f were asked "
        "for.%s",
        study_number(n, "counted"), study_number(n, "recorded"),
        study_number(n, "asked"),
        v->note ? " The verdict is not shown with 95% confidence: more "
                  "trials are needed."
                : "");
}

/* "At 15/s by ttft p90: large-batch, then small-batch (7.2 times as much)." */
static void say_order(const json_t *ranking, const char *unit, char *out,
                      size_t size)
{
    static const struct change_words words = {"better", "worse",
                                              "times as much"};
    const json_t *order = json_object_get(ranking, "order");
    int len = snprintf(out, size,
                       "At %.6g%s by %.60s: ", study_number(ranking, "value"),
                       unit, study_text(ranking, "by"));

    for (size_t i = 0; i < json_array_size(order) && (size_t)len + 160 < size;
         i++) {
        const json_t *place = json_array_get(order, i);
        double worse = study_number(place, "worse_by");
        bool is_shown = study_number(place, "rank") > 1;
        char text[SHOW_TEXT];

        len += snprintf(out + len, size - (size_t)len, "%s%.60s",
                        i > 0 ? ", then " : "", study_text(place, "variant"));
        if (i > 0 && isfinite(worse))
            len += snprintf(out + len, size - (size_t)len, " (%s%s)",
                            show_change(1 + worse, &words, text),
                            is_shown ? "" : ", not shown");
    }
    snprintf(out + len, size - (size_t)len, ". ");
}

static const json_t *variant_named(const json_t *json, const char *name)
{
    const json_t *list = json_object_get(json, "variants");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(study_text(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

/* "fast: 812/s (790 to 834). slow: 403/s (390 to 420)." */
static void say_capacities(const json_t *json, struct verdict_of *v)
{
    const json_t *ranking = json_object_get(json, "capacity_ranking");
    const json_t *first = json_array_get(ranking, 0);
    bool is_ahead = study_number(first, "rank") > 0 &&
                    study_number(json_array_get(ranking, 1), "rank") > 1;

    for (size_t i = 0; i < json_array_size(ranking); i++) {
        const char *name = study_text(json_array_get(ranking, i), "variant");
        const json_t *c =
            json_object_get(variant_named(json, name), "capacity");
        bool is_rate = json_object_get(c, "capacity_rps") != NULL;
        const char *unit = is_rate ? "/s" : " clients";
        double load = study_number(c, is_rate ? "capacity_rps" : "capacity");
        size_t len = strlen(v->sub);
        char a[SHOW_TEXT];
        char b[SHOW_TEXT];
        char d[SHOW_TEXT];

        if (isnan(load))
            snprintf(v->sub + len, sizeof(v->sub) - len, "%.60s: not known. ",
                     name);
        else
            snprintf(
                v->sub + len, sizeof(v->sub) - len,
                "%.60s: %s%s (%s %s to %s). ", name, show_number(load, a), unit,
                json_is_true(json_object_get(c, "is_bracket")) ? "bracket"
                                                               : "90% interval",
                show_number(study_end(c, "range", 0), b),
                show_number(study_end(c, "range", 1), d));
    }
    if (is_ahead)
        snprintf(v->headline, sizeof(v->headline),
                 "%.60s takes the most load within its objective.",
                 study_text(first, "variant"));
    else
        snprintf(v->headline, sizeof(v->headline),
                 "No variant is shown to take the most load.");
}

void study_judge_variants(const struct json_t *json, struct verdict_of *v)
{
    const json_t *rankings = json_object_get(json, "rankings");
    size_t n = json_array_size(rankings);
    const char *unit =
        strcmp(study_text(json, "varied"), "load.rate") == 0 ? "/s" : "";
    const char *ahead = NULL;
    bool is_same = n > 0;
    bool is_shown = n > 0;

    set(v, TONE_NONE, ICON_NOTE, "VARIANTS");
    if (json_array_size(json_object_get(json, "capacity_ranking")) > 0 &&
        strcmp(study_text(json, "of"), "sweep") != 0) {
        say_capacities(json, v);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *ranking = json_array_get(rankings, i);
        const json_t *order = json_object_get(ranking, "order");
        const char *first = study_text(json_array_get(order, 0), "variant");
        size_t len = strlen(v->sub);

        is_same &= !ahead || strcmp(ahead, first) == 0;
        is_shown &= study_number(json_array_get(order, 1), "rank") > 1;
        ahead = first;
        say_order(ranking, unit, v->sub + len, sizeof(v->sub) - len);
    }
    if (is_same && ahead && ahead[0])
        snprintf(v->headline, sizeof(v->headline), "%.60s is ahead%s%s.", ahead,
                 n > 1 ? " at every load" : "",
                 is_shown ? "" : "; at some loads the difference is not shown");
    else if (n > 1)
        snprintf(v->headline, sizeof(v->headline),
                 "Which variant is ahead depends on the load.");
    else
        snprintf(v->headline, sizeof(v->headline),
                 "%zu variants under the same load.",
                 json_array_size(json_object_get(json, "variants")));
    if (n == 1 && !is_shown && ahead)
        snprintf(v->headline, sizeof(v->headline),
                 "%.60s is ahead, but no difference is shown.", ahead);
}

/* ---- comparisons, scaling, a baseline ---- */

static const struct change_words higher_words = {"lower", "higher",
                                                 "times as high"};

/* The finding that the headline is about: of those that were asked for the
 * first whose verdict is the answer ("worse" is also "worse within the
 * threshold"), or the first. */
static const json_t *main_finding(const json_t *json)
{
    const json_t *list = json_object_get(json, "findings");
    const char *answer = study_text(json, "verdict");
    const json_t *first = NULL;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        const char *verdict = study_text(f, "verdict");

        if (!json_is_true(json_object_get(f, "asked")))
            continue;
        if (strncmp(answer, verdict, strlen(verdict)) == 0)
            return f;
        first = first ? first : f;
    }
    return first;
}

/* "small-batch is worse than large-batch: time to first token, p90 is 37%
 * higher." */
static void head_compare(const json_t *json, struct verdict_of *v)
{
    const json_t *first = main_finding(json);
    double ratio = study_number(first, "ratio");
    const char *verdict = study_text(json, "verdict");
    char a[128];
    char b[128];
    char what[128];
    char change[SHOW_TEXT];

    study_side_name(json, 0, a, sizeof(a));
    study_side_name(json, 1, b, sizeof(b));
    if (strcmp(verdict, "no difference shown") == 0) {
        snprintf(v->headline, sizeof(v->headline),
                 "No difference is shown between %s and %s.", b, a);
    } else if (first && isfinite(ratio)) {
        study_quantity_title(study_text(first, "quantity"), what, sizeof(what));
        uncapitalize(what);
        snprintf(v->headline, sizeof(v->headline),
                 "%s is %s than %s: %s is %s.", b,
                 strncmp(verdict, "worse", 5) == 0 ? "worse" : "better", a,
                 what, show_change(ratio, &higher_words, change));
    } else {
        snprintf(v->headline, sizeof(v->headline),
                 strcmp(verdict, "ranked") == 0
                     ? "The recordings, ranked by each quantity."
                     : "These recordings do not tell which is better.");
    }
}

/* The interval of the headline's quantity, and what else was asked for. */
static void explain_compare(const json_t *json, struct verdict_of *v)
{
    const json_t *list = json_object_get(json, "findings");
    const json_t *first = main_finding(json);
    double low = study_end(first, "ratio_interval", 0);
    double high = study_end(first, "ratio_interval", 1);
    char what[128];

    if (isfinite(low) && isfinite(high)) {
        study_quantity_title(study_text(first, "quantity"), what, sizeof(what));
        uncapitalize(what);
        snprintf(v->sub, sizeof(v->sub),
                 "The %.4g%% interval of the ratio of %s is %.3g to %.3g. ",
                 100 * study_number(first, "confidence"), what, low, high);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        size_t len = strlen(v->sub);

        if (f == first || !json_is_true(json_object_get(f, "asked")))
            continue;
        study_quantity_title(study_text(f, "quantity"), what, sizeof(what));
        snprintf(v->sub + len, sizeof(v->sub) - len, "%s: %s. ", what,
                 study_text(f, "verdict"));
    }
}

void study_judge_compare(const struct json_t *json, struct verdict_of *v)
{
    const char *verdict = study_text(json, "verdict");

    set_by_word(v, verdict);
    if (strcmp(verdict, "refused") == 0)
        snprintf(v->headline, sizeof(v->headline),
                 "These recordings cannot be compared: conditions differ that "
                 "must match.");
    else if (strcmp(verdict, "cannot tell") == 0)
        snprintf(v->headline, sizeof(v->headline),
                 "These recordings do not tell which is better.");
    else
        head_compare(json, v);
    explain_compare(json, v);
}

void study_judge_capacities(const struct json_t *json, struct verdict_of *v)
{
    const json_t *sides = json_object_get(json, "sides");
    double ratio = study_number(json_array_get(sides, 1), "ratio");
    const char *answer = study_text(json, "answer");
    bool is_any_known = false;
    char a[128];
    char b[128];

    for (size_t i = 0; i < json_array_size(sides); i++)
        is_any_known |=
            isfinite(study_number(json_array_get(sides, i), "capacity"));
    set_by_word(v, answer);
    study_side_name(json, 0, a, sizeof(a));
    study_side_name(json, 1, b, sizeof(b));
    if (isfinite(ratio))
        snprintf(v->headline, sizeof(v->headline),
                 "%s takes %.3g times the load of %s.", b, ratio, a);
    else
        snprintf(v->headline, sizeof(v->headline),
                 is_any_known ? "The capacities that these searches found."
                              : "These searches found no capacity.");
}

void study_judge_history(const struct json_t *json, struct verdict_of *v)
{
    const json_t *segments = json_object_get(json, "segments");
    size_t n = json_array_size(segments);
    double ratio =
        n > 1 ? study_number(json_array_get(segments, n - 1), "median") /
                    study_number(json_array_get(segments, n - 2), "median")
              : NAN;
    double loss = study_number(json, "loss_share");
    const char *how = loss > 0 ? "worse" : "better";
    char what[128];
    char change[SHOW_TEXT];

    set_by_word(v, study_text(json, "verdict"));
    study_quantity_title(study_text(json, "quantity"), what, sizeof(what));
    if (strcmp(study_text(json, "verdict"), "cannot tell") == 0) {
        uncapitalize(what);
        snprintf(v->headline, sizeof(v->headline),
                 "These recordings do not tell whether %s has changed.", what);
    } else if (isfinite(loss)) {
        if (ratio >= 2)
            show_change(ratio, &higher_words, change);
        else
            show_change(1 - fabs(loss), &(struct change_words){how, how, ""},
                        change);
        snprintf(v->headline, sizeof(v->headline), "%s has become %s.", what,
                 change);
    } else {
        snprintf(v->headline, sizeof(v->headline),
                 "%s shows no change over these recordings.", what);
    }
    snprintf(v->sub, sizeof(v->sub), "%s", study_text(json, "note"));
}

void study_judge_scaling(const struct json_t *json, struct verdict_of *v)
{
    const json_t *verdict = json_object_get(json, "verdict");
    const char *answer = study_text(json, "answer");
    double k = study_number(verdict, "recommended_k");
    double below = study_number(verdict, "first_below_k");

    set_by_word(v, answer);
    if (k > 1)
        snprintf(v->headline, sizeof(v->headline),
                 "More workers pay off up to %.6g.", k);
    else if (isfinite(k))
        snprintf(v->headline, sizeof(v->headline),
                 "More than one worker does not pay off.");
    else
        snprintf(v->headline, sizeof(v->headline),
                 "No number of workers can be recommended.");
    if (isfinite(below))
        snprintf(v->sub, sizeof(v->sub),
                 "From %.6g workers on, efficiency is below %.3g%%.", below,
                 100 * study_number(json, "efficiency_threshold"));
}

void study_judge_against(const struct json_t *json, struct verdict_of *v)
{
    const json_t *ratios = json_object_get(json, "ratios");
    double speed = study_number(json_object_get(ratios, "time_s"), "ratio");
    double throughput =
        study_number(json_object_get(ratios, "throughput_rps"), "ratio");
    const json_t *list = json_object_get(json, "differences");
    size_t len;

    set(v, TONE_NONE, ICON_NOTE, "BASELINE");
    if (fabs(speed - 1) < 0.005)
        snprintf(v->headline, sizeof(v->headline), "As fast as the baseline.");
    else if (isfinite(speed))
        snprintf(v->headline, sizeof(v->headline),
                 "%.3g times as fast as the baseline.", speed);
    else if (fabs(throughput - 1) < 0.005)
        snprintf(v->headline, sizeof(v->headline),
                 "The same throughput as the baseline.");
    else if (isfinite(throughput))
        snprintf(v->headline, sizeof(v->headline),
                 "%.3g times the throughput of the baseline.", throughput);
    else
        snprintf(v->headline, sizeof(v->headline),
                 "There is nothing to compare with the baseline.");
    snprintf(v->sub, sizeof(v->sub), "Baseline: %.200s. ",
             study_text(json, "baseline"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));

        len = strlen(v->sub);
        snprintf(v->sub + len, sizeof(v->sub) - len, "%s%.300s",
                 i == 0 ? "It differs in " : "; ", text ? text : "");
    }
    len = strlen(v->sub);
    if (json_array_size(list) > 0)
        snprintf(v->sub + len, sizeof(v->sub) - len, ".");
}
