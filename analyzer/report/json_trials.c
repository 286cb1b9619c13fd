/* summary.json of a trial set.  Keys are those of a run's summary; a number of
 * a run is here an object: median, least, greatest, interval. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/trials_report.h"
#include "analyzer/studies/trials.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#define TRIALS_SCHEMA 1

/* Nanoseconds become milliseconds; what lies beyond is null. */
static json_t *number(double value, bool is_ns)
{
    if (!isfinite(value))
        return json_null();
    return json_real(is_ns ? value / 1e6 : value);
}

static json_t *pair_of(struct interval i, bool is_ns)
{
    return json_pack("[oo]", number(i.low, is_ns), number(i.high, is_ns));
}

static const char *why_missing(double code)
{
    return code == HIST_TOO_FEW ? "n too small" : "no samples";
}

static json_t *over(const struct over_trials *o, bool is_ns)
{
    json_t *out = json_object();

    if (!o->is_known) {
        json_put_nothing(out, "median", why_missing(o->missing));
        json_object_set_new(out, "trials_without",
                            json_integer((json_int_t)o->n_missing));
        return out;
    }
    json_object_set_new(out, "median", number(o->median.median.value, is_ns));
    json_object_set_new(out, "min", number(o->least, is_ns));
    json_object_set_new(out, "max", number(o->greatest, is_ns));
    if (!isfinite(o->greatest))
        json_object_set_new(out, "max_note", json_string("beyond failures"));
    if (o->median.median.has_range)
        json_object_set_new(out, "median_ci",
                            pair_of(o->median.median.range, is_ns));
    else
        json_put_nothing(out, "median_ci", "one trial");
    return out;
}

static json_t *student(const struct trials_summary *s,
                       const struct over_trials *o)
{
    json_t *out = json_pack("{so, so}", "mean", number(o->mean.value, true),
                            "ci95", pair_of(o->mean.range, true));

    if (s->least_scheduled < TRIALS_HONEST_N)
        json_object_set_new(
            out, "note",
            json_sprintf("trials of %lld requests; honest from about %d",
                         (long long)s->least_scheduled, TRIALS_HONEST_N));
    return out;
}

static json_t *measure(const struct trials_summary *s, int m)
{
    json_t *out = json_object();

    for (int q = 0; q < SUMMARY_QUANTILES; q++) {
        const struct over_trials *o = &s->quantile[m][q];
        json_t *values = over(o, true);
        char key[16];

        if (o->is_known && o->mean.has_range && q == SUMMARY_P99)
            json_object_set_new(values, "student", student(s, o));
        snprintf(key, sizeof(key), "%s_ms", summary_quantile_name[q]);
        json_object_set_new(out, key, values);
    }
    return out;
}

/* Measures that no trial has are left out. */
static json_t *measures(const struct trials_summary *s)
{
    json_t *all = json_object();

    for (int m = 0; m < MEASURE_COUNT; m++) {
        const struct over_trials *o = &s->quantile[m][0];

        if (o->is_known || o->missing != HIST_EMPTY)
            json_object_set_new(all, measure_name((enum measure)m),
                                measure(s, m));
    }
    return all;
}

static json_t *term(const struct set_term *t)
{
    bool is_ns = t->term.kind == SLO_QUANTILE;
    json_t *o = json_pack("{ss, ss, sI, sI}", "term", t->term.text, "verdict",
                          verdict_name(t->verdict), "kept", (json_int_t)t->kept,
                          "missed", (json_int_t)t->missed);

    if (t->class)
        json_object_set_new(o, "class", json_string(t->class));
    json_object_set_new(o, is_ns ? "measured_ms" : "measured",
                        over(&t->measured, is_ns));
    return o;
}

static json_t *terms(const struct trials_summary *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->n_terms; i++)
        json_array_append_new(array, term(&s->terms[i]));
    return array;
}

/* Those that the text has of each. */
static void put_quantiles(const struct trial *t, json_t *o)
{
    const double *e2e = t->quantile_ns[MEASURE_E2E];

    json_put_ns(o, "e2e_p50", e2e[SUMMARY_P50]);
    json_put_ns(o, "e2e_p99", e2e[SUMMARY_P99]);
    if (t->is_streamed)
        json_put_ns(o, "ttft_p99", t->quantile_ns[MEASURE_TTFT][SUMMARY_P99]);
}

static json_t *trial(const struct trial *t)
{
    json_t *o = json_pack(
        "{sI, so, ss, sb, sb, sI, sI}", "trial", (json_int_t)t->number, "seed",
        json_sprintf("%llu", (unsigned long long)t->seed), "verdict",
        verdict_name(t->verdict), "counted", trial_is_whole(t), "interrupted",
        t->stopped_by != 0, "scheduled", (json_int_t)t->scheduled, "failed",
        (json_int_t)t->failed);

    for (int r = 0; r < TRIAL_RATES; r++)
        json_object_set_new(o, trial_rate_name((enum trial_rate)r),
                            number(t->rate[r], false));
    put_quantiles(t, o);
    if (t->lost)
        json_object_set_new(o, "manifest_lost", json_string(t->lost));
    if (t->distrust[0])
        json_object_set_new(o, "not_trusted", json_string(t->distrust));
    if (t->was_aborted)
        json_object_set_new(o, "aborted", json_true());
    json_object_set_new(o, "lost_requests", json_integer(t->lost_requests));
    json_object_set_new(o, "lost_events", json_integer(t->lost_events));
    return o;
}

static json_t *each(const struct trials_summary *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(array, trial(&s->trials[i]));
    return array;
}

static json_t *odd(const struct trials_summary *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->n_odd; i++) {
        const struct odd_trial *x = &s->odd[i];

        json_array_append_new(
            array, json_pack("{sI, ss, so, so}", "trial", (json_int_t)x->number,
                             "what", x->what, x->is_ns ? "value_ms" : "value",
                             number(x->value, x->is_ns),
                             x->is_ns ? "median_ms" : "median",
                             number(x->median, x->is_ns)));
    }
    return array;
}

static void put_ending(const struct trials_summary *s, json_t *o)
{
    if (s->withdrawn_by > 0)
        json_object_set_new(o, "verdict_note",
                            json_sprintf("trial %lld is not to be trusted",
                                         (long long)s->withdrawn_by));
    if (s->set.failed[0])
        json_object_set_new(o, "ended_by", json_string(s->set.failed));
    if (s->set.against[0])
        json_object_set_new(o, "against", json_string(s->set.against));
}

static void put_rates(const struct trials_summary *s, json_t *o)
{
    static const struct trial none;
    const struct trial *first = trials_first(s) ? trials_first(s) : &none;

    for (int r = 0; r < TRIAL_RATES; r++) {
        const char *name = trial_rate_name((enum trial_rate)r);

        if (trials_have_rate(s, (enum trial_rate)r))
            json_object_set_new(o, name, over(&s->rate[r], false));
        else
            json_put_nothing(o, name,
                             trial_why_without(first, (enum trial_rate)r));
    }
}

struct json_t *trials_to_json(const struct trials_summary *s)
{
    json_t *o = json_pack(
        "{si, ss, ss, sb, s{sI, sI, sI}, sI, sf, sb, sI}", "schema",
        TRIALS_SCHEMA, "kind", "trials", "verdict", verdict_name(s->verdict),
        "interrupted", s->stopped_by != 0, "trials", "asked",
        (json_int_t)s->set.asked, "recorded", (json_int_t)s->n, "counted",
        (json_int_t)s->counted, "launches",
        (json_int_t)study_set_launches(&s->set), "confidence", s->confidence,
        "confidence_reached", s->confidence >= TRIALS_CONFIDENCE, "needed",
        (json_int_t)s->needed);

    put_ending(s, o);
    put_rates(s, o);
    json_object_set_new(o, "measures", measures(s));
    json_object_set_new(o, "slo", terms(s));
    json_object_set_new(o, "each", each(s));
    json_object_set_new(o, "odd", odd(s));
    return o;
}

void trials_json(const struct trials_summary *s, struct buf *out)
{
    json_t *json = trials_to_json(s);

    json_print(json, out);
    json_decref(json);
}
