#include "listen/listen_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/config.h"
#include "common/text/json.h"
#include "common/text/units.h"
#include "listen/listen_state.h"

/* ---- text ---- */

/* Four labels; escaped, a byte takes at most three. */
#define MAX_LABELS (4 * (size_t)(3 * LISTEN_LABEL + 16))

struct writer {
    struct buf *out;
    bool is_open;
    const struct listen_view *view;
    const struct listen_variant *labelled; /* whose labels these are */
    struct buf labels;                     /* of all of its samples */
};

/* A label's value, with its quotes. */
static void put_value(struct buf *out, const char *text)
{
    const char *end = text + strlen(text);

    buf_adds(out, "\"");
    for (const char *p = text; p < end;) {
        size_t len = (signed char)*p >= 0 ? 1 : utf8_len(p, end);

        if (*p == '\\' || *p == '"')
            buf_addf(out, "\\%c", *p);
        else if (*p == '\n')
            buf_adds(out, "\\n");
        else if (len == 0)
            buf_adds(out, "\xef\xbf\xbd"); /* U+FFFD */
        else
            buf_add(out, p, len);
        p += len > 0 ? len : 1;
    }
    buf_adds(out, "\"");
}

static void put_label_to(struct buf *out, const char *name, const char *value)
{
    buf_adds(out, ",");
    buf_adds(out, name);
    buf_adds(out, "=");
    put_value(out, value);
}

static void put_label(struct writer *w, const char *name, const char *value)
{
    put_label_to(w->out, name, value);
}

static void put_number(struct writer *w, double value)
{
    char text[UNITS_TEXT];

    if (isnan(value))
        buf_adds(w->out, " NaN\n");
    else if (isinf(value))
        buf_adds(w->out, value > 0 ? " +Inf\n" : " -Inf\n");
    else if (value == rint(value) && fabs(value) < 1e15)
        buf_addf(w->out, " %.0f\n", value);
    else if (value < 0)
        buf_addf(w->out, " %.9g\n", value);
    else
        buf_addf(w->out, " %s\n", units_print_number(value, text));
}

enum kind { COUNTER, GAUGE, HISTOGRAM };

static void put_family(struct writer *w, enum kind kind, const char *name,
                       const char *help)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *end = kind == COUNTER && !w->is_open ? "_total" : "";

    buf_addf(w->out, "# TYPE %s%s %s\n# HELP %s%s %s\n", name, end, kinds[kind],
             name, end, help);
}

/* Name and labels, without the closing brace. */
static void put_sample(struct writer *w, const char *name, const char *suffix,
                       const struct listen_variant *v)
{
    if (v != w->labelled) {
        buf_reset(&w->labels);
        buf_adds(&w->labels, "{run=");
        put_value(&w->labels, w->view->run);
        put_label_to(&w->labels, "name", v->run_name);
        put_label_to(&w->labels, "scenario", v->scenario);
        put_label_to(&w->labels, "variant", v->name);
        w->labelled = v;
    }
    buf_adds(w->out, name);
    buf_adds(w->out, suffix);
    buf_add(w->out, w->labels.data, w->labels.len);
}

static void end_sample(struct writer *w, double value)
{
    buf_adds(w->out, "}");
    put_number(w, value);
}

/* ---- counters ---- */

struct counter {
    const char *name;
    const char *help;
    double (*of)(const struct listen_variant *v);
};

static double scheduled_of(const struct listen_variant *v)
{
    return (double)(v->sum.issued + v->sum.unsent);
}

static double issued_of(const struct listen_variant *v)
{
    return (double)v->sum.issued;
}

static double unsent_of(const struct listen_variant *v)
{
    return (double)v->sum.unsent;
}

static double cpu_of(const struct listen_variant *v)
{
    return v->cpu_s;
}

static double cpu_wait_of(const struct listen_variant *v)
{
    return v->cpu_wait_s;
}

static double record_wait_of(const struct listen_variant *v)
{
    return v->record_wait_s;
}

static double recordings_of(const struct listen_variant *v)
{
    return (double)v->recordings;
}

static const struct counter counters[] = {
    {"tailgate_recordings", "Recordings completed.", recordings_of},
    {"tailgate_requests_scheduled",
     "Requests that were due: issued and unsent ones.", scheduled_of},
    {"tailgate_requests_issued",
     "Requests that were sent: ok, failed and in flight.", issued_of},
    {"tailgate_requests_unsent",
     "Requests that the client gave up before sending them.", unsent_of},
    {"tailgate_client_cpu_seconds",
     "CPU time of the client's workers, without polling.", cpu_of},
    {"tailgate_client_cpu_wait_seconds",
     "Time that the client's workers waited for a CPU.", cpu_wait_of},
    {"tailgate_client_record_wait_seconds",
     "Time that the client's workers waited for the disk.", record_wait_of},
};

static void put_counters(struct writer *w)
{
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        put_family(w, COUNTER, counters[i].name, counters[i].help);
        for (size_t k = 0; k < w->view->n_variants; k++) {
            put_sample(w, counters[i].name, "_total", &w->view->variants[k]);
            end_sample(w, counters[i].of(&w->view->variants[k]));
        }
    }
}

/* ---- counters by class ---- */

static double ok_of(const struct listen_class *c)
{
    return (double)c->outcome[OUTCOME_OK];
}

static double due_of(const struct listen_class *c)
{
    return (double)c->due;
}

static double good_of(const struct listen_class *c)
{
    return (double)c->good;
}

static const struct {
    const char *name;
    const char *help;
    double (*of)(const struct listen_class *c);
} class_counters[] = {
    {"tailgate_requests_ok", "Requests that were answered without an error.",
     ok_of},
    {"tailgate_window_requests",
     "Requests due in the window that have ended or are unsent.", due_of},
    {"tailgate_window_requests_good",
     "Those of the window that kept every limit.", good_of},
};

static void put_class(struct writer *w, const char *name, const char *suffix,
                      const struct listen_variant *v, size_t class)
{
    put_sample(w, name, suffix, v);
    put_label(w, "class", v->classes[class].name);
}

static void put_class_counters(struct writer *w)
{
    const struct listen_view *view = w->view;

    for (size_t i = 0; i < sizeof(class_counters) / sizeof(class_counters[0]);
         i++) {
        put_family(w, COUNTER, class_counters[i].name, class_counters[i].help);
        for (size_t k = 0; k < view->n_variants; k++) {
            const struct listen_variant *v = &view->variants[k];

            for (size_t c = 0; c < v->n_classes; c++) {
                put_class(w, class_counters[i].name, "_total", v, c);
                end_sample(w, class_counters[i].of(&v->classes[c]));
            }
        }
    }
}

/* Every outcome has a series from the start, so that its rate is known. */
static void put_failed(struct writer *w)
{
    const struct listen_view *view = w->view;

    put_family(w, COUNTER, "tailgate_requests_failed",
               "Requests that were sent and failed, by outcome.");
    for (size_t k = 0; k < view->n_variants; k++) {
        const struct listen_variant *v = &view->variants[k];

        for (size_t c = 0; c < v->n_classes; c++) {
            for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++) {
                if (o == OUTCOME_UNSENT)
                    continue;
                put_class(w, "tailgate_requests_failed", "_total", v, c);
                put_label(w, "outcome", outcome_name((enum outcome)o));
                end_sample(w, (double)v->classes[c].outcome[o]);
            }
        }
    }
}

/* ---- histograms ---- */

static void put_hist(struct writer *w, const char *name,
                     const struct listen_variant *v, int class,
                     const struct listen_hist *h)
{
    int64_t sum = 0;

    for (size_t i = 0; i <= h->n; i++) {
        char le[UNITS_TEXT];

        sum += h->count[i];
        put_sample(w, name, "_bucket", v);
        if (class >= 0)
            put_label(w, "class", v->classes[class].name);
        snprintf(le, sizeof(le), "%.9g", i < h->n ? h->le_s[i] : 0);
        if (w->is_open && !strpbrk(le, ".e")) /* a float, by its rules */
            snprintf(le + strlen(le), 3, ".0");
        put_label(w, "le", i < h->n ? le : "+Inf");
        end_sample(w, (double)sum);
    }
    for (int k = 0; k < 2; k++) {
        put_sample(w, name, k == 0 ? "_sum" : "_count", v);
        if (class >= 0)
            put_label(w, "class", v->classes[class].name);
        end_sample(w, k == 0 ? h->sum_s : (double)sum);
    }
}

static void put_hists(struct writer *w)
{
    static const struct {
        const char *name;
        const char *help;
    } hists[LISTEN_MEASURES] = {
        [LISTEN_E2E] = {"tailgate_request_duration_seconds",
                        "Time from due to the end of the answer, in the "
                        "window; failed and unsent requests are beyond every "
                        "bucket."},
        [LISTEN_TTFT] = {"tailgate_time_to_first_token_seconds",
                         "Time from due to the first token, in the window; "
                         "failed and unsent requests are beyond every "
                         "bucket."},
        [LISTEN_TPOT] = {"tailgate_time_per_output_token_seconds",
                         "Time per token after the first, in the window; "
                         "failed and unsent requests are beyond every "
                         "bucket."},
    };
    const struct listen_view *view = w->view;

    for (int m = 0; m < LISTEN_MEASURES; m++) {
        put_family(w, HISTOGRAM, hists[m].name, hists[m].help);
        for (size_t k = 0; k < view->n_variants; k++) {
            const struct listen_variant *v = &view->variants[k];

            for (size_t c = 0; c < v->n_classes; c++)
                put_hist(w, hists[m].name, v, (int)c, &v->classes[c].hist[m]);
        }
    }
    put_family(w, HISTOGRAM, "tailgate_lag_seconds",
               "How late the client sent requests, in the window.");
    for (size_t k = 0; k < view->n_variants; k++)
        put_hist(w, "tailgate_lag_seconds", &view->variants[k], -1,
                 &view->variants[k].lag);
}

/* ---- gauges ---- */

/* Of the recording that is being made; nothing if the value is unknown. */
static void put_gauge(struct writer *w, const char *name, const char *help,
                      double value)
{
    put_family(w, GAUGE, name, help);
    if (isnan(value) || w->view->n_variants == 0)
        return;
    put_sample(w, name, "", &w->view->variants[w->view->variant]);
    end_sample(w, value);
}

static void put_phase(struct writer *w)
{
    static const char *const names[] = {"preparing", "warmup", "window",
                                        "cooldown",  "drain",  "between",
                                        "over"};
    const struct listen_view *v = w->view;
    size_t now = v->phase == LISTEN_PREPARING ? 0
                 : v->phase == LISTEN_BETWEEN ? 5
                 : v->phase == LISTEN_OVER    ? 6
                                              : 1 + (size_t)v->progress.phase;

    put_family(w, GAUGE, "tailgate_phase", "1 for the present phase, else 0.");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (v->n_variants == 0)
            return;
        put_sample(w, "tailgate_phase", "", &v->variants[v->variant]);
        put_label(w, "phase", names[i]);
        end_sample(w, i == now);
    }
}

static void put_gauges(struct writer *w)
{
    const struct listen_view *v = w->view;
    const struct run_progress *p = &v->progress;
    bool runs = v->phase == LISTEN_RUNNING && v->has_progress;

    put_gauge(w, "tailgate_info", "1; the labels say which run this is.", 1);
    put_gauge(w, "tailgate_requests_in_flight",
              "Requests that were sent and have not ended.",
              (double)v->in_flight);
    put_gauge(w, "tailgate_target_requests_per_second",
              "Requests due in the last second, by the schedule.",
              runs && p->is_open_loop ? p->asked_rps : NAN);
    put_gauge(w, "tailgate_elapsed_seconds",
              "Time since the start of the recording.",
              v->has_progress ? p->elapsed_s : NAN);
    put_gauge(w, "tailgate_planned_seconds",
              "Planned length of the recording, warm-up included.",
              p->planned_s > 0 ? p->planned_s : NAN);
    put_gauge(w, "tailgate_lag_max_seconds",
              "The latest request of the last second.", v->lag_max_s);
    put_gauge(w, "tailgate_client_busiest_thread_ratio",
              "Share of the last second that the busiest worker used a CPU or "
              "waited for one.",
              v->busiest);
    put_gauge(w, "tailgate_host_steal_ratio",
              "Share of the CPU time that the hypervisor took in the last "
              "second.",
              v->steal);
    put_gauge(w, "tailgate_client_connections", "Open connections.",
              (double)v->connections);
    put_phase(w);
}

/* ---- the SLO and the study ---- */

static void put_terms(struct writer *w, const char *name, const char *help,
                      bool is_allowed)
{
    const struct listen_view *v = w->view;

    put_family(w, GAUGE, name, help);
    for (size_t i = 0; i < v->n_terms; i++) {
        const struct listen_term *t = &v->terms[i];
        const struct listen_variant *of = &v->variants[v->variant];

        if (!is_allowed && t->n == 0)
            continue;
        put_sample(w, name, "", of);
        put_label(w, "class", t->class >= 0 ? of->classes[t->class].name : "");
        put_label(w, "term", t->term.text);
        end_sample(w, is_allowed ? listen_allowed(&t->term)
                                 : (double)t->missed / (double)t->n);
    }
}

static void put_slo(struct writer *w)
{
    static const double states[] = {
        [DECISION_NONE] = 0, [DECISION_PASS] = 1, [DECISION_FAIL] = -1};
    const struct listen_view *v = w->view;
    bool is_known = v->has_test || v->decision;

    put_gauge(w, "tailgate_slo_state",
              "Sequential test of the SLO, valid at every moment of the run: 1 "
              "passed, -1 failed, 0 not decided yet.",
              is_known ? states[v->decision] : (double)NAN);
    put_terms(w, "tailgate_slo_missed_ratio",
              "Share of requests of the window that missed the term so far.",
              false);
    put_terms(w, "tailgate_slo_allowed_ratio",
              "Share of requests that may miss the term.", true);
}

static void put_study(struct writer *w)
{
    const struct listen_view *v = w->view;

    put_gauge(w, "tailgate_study_value",
              "Value of the varied setting in the current recording, such as "
              "the rate.",
              v->value);
    put_gauge(w, "tailgate_search_met",
              "The highest load that met the SLO so far.", v->met);
    put_gauge(w, "tailgate_search_missed",
              "The lowest load that missed the SLO so far.", v->missed);
}

void listen_metrics(const struct listen_view *view, bool is_open,
                    struct buf *out)
{
    struct writer w = {.out = out, .is_open = is_open, .view = view};

    buf_init(&w.labels, MAX_LABELS);
    put_gauges(&w);
    put_counters(&w);
    put_class_counters(&w);
    put_failed(&w);
    put_hists(&w);
    put_slo(&w);
    put_study(&w);
    if (is_open)
        buf_adds(out, "# EOF\n");
    buf_fini(&w.labels);
}

/* Weights are compared, nothing else: scrapers that can read both put theirs
 * first or give it a weight. */
static double weight_of(const char *accept, const char *type)
{
    const char *at = strstr(accept, type);
    const char *q;

    if (!at)
        return 0;
    q = strstr(at, "q=");
    return q && q < at + strcspn(at, ",") ? strtod(q + 2, NULL) : 1;
}

bool listen_wants_open(const char *accept)
{
    double open = weight_of(accept, "application/openmetrics-text");

    return open > 0 && open >= weight_of(accept, "text/plain");
}

/* ---- the summary ---- */

static void put_json_number(struct buf *out, const char *key, double value)
{
    char text[UNITS_TEXT];

    if (isnan(value) || isinf(value) || value < 0)
        buf_addf(out, ", \"%s\": null", key);
    else
        buf_addf(out, ", \"%s\": %s", key, units_print_number(value, text));
}

/* Of all classes. */
static struct listen_class add_up(const struct listen_variant *v)
{
    struct listen_class all = {0};

    for (size_t c = 0; c < v->n_classes; c++) {
        for (int o = 0; o < OUTCOME_COUNT; o++)
            all.outcome[o] += v->classes[c].outcome[o];
        all.due += v->classes[c].due;
        all.good += v->classes[c].good;
    }
    return all;
}

static void put_requests(const struct listen_view *view,
                         const struct listen_variant *v, struct buf *out)
{
    struct listen_class all = add_up(v);
    bool is_now = v == &view->variants[view->variant];
    long long issued = v->sum.issued;
    long long unsent = v->sum.unsent;
    long long ok = all.outcome[OUTCOME_OK];
    const char *before = "";

    buf_addf(out,
             ", \"requests\": {\"scheduled\": %lld, \"issued\": %lld, "
             "\"unsent\": %lld, \"ok\": %lld, \"failed\": %lld",
             issued + unsent, issued, unsent, ok, (long long)v->sum.ended - ok);
    buf_addf(out,
             ", \"in_flight\": %lld, \"due_in_window\": %lld, \"good\": "
             "%lld, \"by_outcome\": {",
             is_now ? (long long)view->in_flight : 0, (long long)all.due,
             (long long)all.good);
    for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++) {
        if (all.outcome[o] == 0 || o == OUTCOME_UNSENT)
            continue;
        buf_addf(out, "%s\"%s\": %lld", before, outcome_name((enum outcome)o),
                 (long long)all.outcome[o]);
        before = ", ";
    }
    buf_adds(out, "}}");
}

static void put_json_slo(const struct listen_view *v, struct buf *out)
{
    static const char *const decisions[] = {
        [DECISION_NONE] = "undecided",
        [DECISION_PASS] = "pass",
        [DECISION_FAIL] = "fail",
    };

    buf_addf(out, ", \"so_far\": \"%s\", \"why\": ",
             v->has_test || v->decision ? decisions[v->decision]
                                        : "not tested");
    json_print_text(v->why, out);
    buf_adds(out, ", \"slo\": [");
    for (size_t i = 0; i < v->n_terms; i++) {
        const struct listen_term *t = &v->terms[i];

        buf_adds(out, i > 0 ? ", {\"term\": " : "{\"term\": ");
        json_print_text(t->term.text, out);
        if (t->class >= 0) {
            buf_adds(out, ", \"class\": ");
            json_print_text(v->variants[v->variant].classes[t->class].name,
                            out);
        }
        buf_addf(out, ", \"requests\": %lld", (long long)t->n);
        put_json_number(out, "missed",
                        t->n > 0 ? (double)t->missed / (double)t->n : NAN);
        put_json_number(out, "allowed", listen_allowed(&t->term));
        buf_adds(out, "}");
    }
    buf_adds(out, "]");
}

/* Of the window of this recording, as far as it has settled. */
static void put_measures(const struct listen_view *v, struct buf *out)
{
    static const char *const names[BINS_LAG] = {
        [BINS_TTFT] = "ttft", [BINS_TPOT] = "tpot", [BINS_E2E] = "e2e"};
    const char *before = "";

    if (!v->has_bins)
        return;
    buf_adds(out, ", \"measures\": {");
    for (int m = 0; m < BINS_LAG; m++) {
        const struct spectrum *s = &v->bins.spectra[m];
        char key[UNITS_TEXT];

        if (s->n == 0)
            continue;
        buf_addf(out, "%s\"%s\": {\"n\": %lld", before, names[m],
                 (long long)s->n);
        for (size_t i = 0; i < s->len; i++) {
            snprintf(key, sizeof(key), "p%g_ms", 100 * s->p[i]);
            put_json_number(out, key, (double)s->due_ns[i] / 1e6);
        }
        buf_adds(out, "}");
        before = ", ";
    }
    buf_adds(out, "}");
}

static const char *phase_name(const struct listen_view *v)
{
    static const char *const names[] = {
        [LISTEN_PREPARING] = "preparing",
        [LISTEN_RUNNING] = "running",
        [LISTEN_BETWEEN] = "between recordings",
        [LISTEN_OVER] = "over",
    };

    return names[v->phase];
}

void listen_summary(const struct listen_view *v, struct buf *out)
{
    const struct listen_variant *now =
        v->n_variants > 0 ? &v->variants[v->variant] : NULL;

    buf_addf(out, "{\"schema\": 1, \"complete\": false, \"state\": \"%s\"",
             phase_name(v));
    buf_adds(out, ", \"run\": ");
    json_print_text(v->run, out);
    buf_adds(out, ", \"recording\": ");
    json_print_text(v->dir, out);
    if (v->title[0]) {
        buf_adds(out, ", \"point\": ");
        json_print_text(v->title, out);
    }
    buf_addf(out, ", \"recordings\": %lld", (long long)v->recordings);
    if (now) {
        buf_adds(out, ", \"name\": ");
        json_print_text(now->run_name, out);
        buf_adds(out, ", \"scenario\": ");
        json_print_text(now->scenario, out);
        if (now->name[0]) {
            buf_adds(out, ", \"variant\": ");
            json_print_text(now->name, out);
        }
        put_json_number(out, "elapsed_s", v->progress.elapsed_s);
        put_json_number(out, "planned_s",
                        v->progress.planned_s > 0 ? v->progress.planned_s
                                                  : NAN);
        put_requests(v, now, out);
        put_json_slo(v, out);
        put_measures(v, out);
        put_json_number(out, "lag_max_s", v->lag_max_s);
        put_json_number(out, "value", v->value);
        put_json_number(out, "met_to", v->met);
        put_json_number(out, "missed_from", v->missed);
    }
    buf_adds(out, "}\n");
}
