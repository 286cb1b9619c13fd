/* The document of a scaling study: the verdict first, then the tables, the
 * laws, what bends the curve, and what is missing or too good. */
#include <math.h>
#include <stdio.h>

#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"
#include "common/base/buf.h"
#include "common/stats/stats.h"

#define SCALING_SCHEMA 1
#define MAX_CLAIM      ((size_t)64 << 10)

static bool is_capacity(const struct scaling *s)
{
    return s->ask.regime == SCALE_CAPACITY;
}

/* ---- the verdict ---- */

static bool has_slo(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].keeps_slo != SCALE_UNKNOWN)
            return true;
    }
    return false;
}

static struct doc_node *add_k(struct doc_node *in, const char *key,
                              const char *label, int64_t k)
{
    return doc_unit(doc_missing_if(doc_count(in, key, label, k), k <= 0, NULL),
                    k == 1 ? " worker" : " workers");
}

/* Unknown energy does not pass, so the verdict would be hard to understand. */
static void add_unknown_energy(struct doc_node *in, const struct scaling *s)
{
    size_t unknown = 0;

    for (size_t i = 0; i < s->n; i++)
        unknown += s->points[i].keeps_energy == SCALE_UNKNOWN;
    if (s->ask.energy_tolerance > 0 && s->refusals.len == 0 && unknown > 0)
        doc_line(in, DOC_PLAIN,
                 "the energy per unit of work is unknown in %zu of %zu rows, "
                 "which do not pass: it requires joules and work",
                 unknown, s->n);
}

static void add_verdict(struct doc_node *root, const struct scaling *s)
{
    const struct scale_verdict *v = &s->verdict;
    bool is_refused = s->refusals.len > 0;
    struct doc_node *both = doc_section(root, NULL, "verdict");
    struct doc_node *n;

    doc_text(both, "answer", NULL,
             is_refused             ? "refused"
             : v->recommended_k > 1 ? "scales"
                                    : "does not scale");
    if (is_refused)
        doc_line(both, DOC_PLAIN, "REFUSED: no speedup is printed");
    else if (v->recommended_k == 0)
        doc_line(both, DOC_PLAIN, "NO K keeps quality, efficiency%s and SLO",
                 s->ask.energy_tolerance > 0 ? ", energy" : "");
    doc_lines(both, "refusals", "", &s->refusals);
    n = doc_section(both, "verdict",
                    is_refused || v->recommended_k == 0 ? NULL : "");
    add_k(n, "recommended_k", "recommendation:", v->recommended_k);
    doc_text(n, NULL, "",
             s->ask.energy_tolerance > 0
                 ? "the largest K that keeps quality, efficiency, energy and "
                   "SLO"
                 : "the largest K that keeps quality, efficiency and SLO");
    doc_sep(add_k(n, "cheapest_k", "cheapest", v->cheapest_k), "; ");
    doc_sep(add_k(n, "least_energy_k", "least energy", v->thriftiest_k), "; ");
    doc_bool(n, "efficiency_shown", NULL, v->is_shown);
    add_unknown_energy(v->recommended_k == 0 ? both : n, s);
    if (!has_slo(s))
        doc_line(n, DOC_PLAIN, "no SLO was judged");
    if (!v->is_shown && !is_refused)
        doc_line(n, DOC_PLAIN, "not shown with 95%% confidence: %s",
                 isnan(scale_point_error(&s->points[0]))
                     ? "repeat each K to get an interval of the efficiency"
                     : "the interval of the efficiency reaches below the "
                       "threshold");
    /* The same object goes on in a line of its own. */
    n = doc_section(n, NULL, NULL);
    add_k(n, "efficient_k", NULL, v->efficient_k);
    add_k(n, "first_below_k", NULL, v->first_below);
}

static void add_claim(struct doc_node *root, const struct scaling *s)
{
    struct buf text;

    if (s->refusals.len > 0) {
        doc_null(root, "claim", NULL);
        return;
    }
    buf_init(&text, MAX_CLAIM);
    scaling_claim(s, &text);
    doc_text(doc_section(root, NULL, "claim"), "claim", "", buf_text(&text));
    buf_fini(&text);
}

static void add_deadline(struct doc_node *root, const struct scaling *s)
{
    const char *on = scale_deadline_names[s->ask.deadline_on];
    const struct scale_deadline *d = &s->verdict.deadline;
    const struct scale_point *at =
        scaling_at(s, d->k > 0 ? d->k : d->fastest_k);
    struct doc_node *n;
    double delay_s;

    if (!(s->ask.deadline_s > 0)) {
        doc_null(root, "deadline", NULL);
        return;
    }
    delay_s = at ? scale_point_delay(at, s->ask.deadline_on) : NAN;
    n = doc_section(root, "deadline", s->refusals.len > 0 ? NULL : "deadline");
    doc_seconds(n, "deadline_s", "", s->ask.deadline_s);
    doc_sep(doc_text(n, "on", "for", on), " ");
    doc_sep(doc_count(n, "within", "K within it:", d->fits), "; ");
    doc_brief(add_k(n, "cheapest_k", "the cheapest:", d->k), "none");
    doc_unless(n, DOC_SECONDS, "takes_s", "takes", delay_s, d->k == 0, NULL);
    doc_unless(n, DOC_USD, "usd_per_run", "costs", at ? at->usd : NAN,
               d->k == 0, NULL);
    doc_bool(n, "shown", NULL, d->is_shown);
    if (d->fits > 0 && d->k == 0)
        doc_line(n, DOC_PLAIN,
                 "the cheapest is unknown: not every K within it has a price "
                 "(--usd-per-hour, or a column usd_per_hour)");
    else if (d->fits == 0 && at)
        doc_line(n, DOC_PLAIN, "none: the fastest, K = %lld, takes %.4g s",
                 (long long)d->fastest_k, delay_s);
    else if (d->fits == 0)
        doc_line(n, DOC_PLAIN, "none: no K that may be chosen has a known %s",
                 on);
}

static void add_efficiency(struct doc_node *root, const struct scaling *s)
{
    const struct scale_verdict *v = &s->verdict;
    bool is_shown = s->refusals.len == 0;
    struct doc_node *n = doc_section(root, NULL, is_shown ? "scaling" : NULL);

    doc_text(n, "regime", "", scale_regime_name(s->ask.regime));
    doc_count(n, NULL, "points", (int64_t)s->n);
    doc_number(n, "efficiency_threshold", "threshold", s->ask.threshold);
    doc_text(n, "unit", NULL, s->unit);
    n = doc_section(root, NULL, is_shown ? "efficiency" : NULL);
    doc_number(n, NULL, "at least", s->ask.threshold);
    doc_sep(doc_brief(add_k(n, NULL, "up to", v->efficient_k), "no K"), " ");
    doc_sep(doc_brief(doc_missing_if(
                          doc_count(n, NULL, "first K below:", v->first_below),
                          v->first_below == 0, NULL),
                      "none"),
            "; ");
}

static void add_quality(struct doc_node *root, const struct scaling *s)
{
    bool is_shown = s->refusals.len == 0;
    struct doc_node *n = doc_section(root, NULL, is_shown ? "quality" : NULL);
    size_t excluded = 0;

    for (size_t i = 0; i < s->n; i++)
        excluded += !quality_allows(&s->points[i].quality_check);
    doc_show(doc_bool(n, "quality_measured", "", s->has_quality), "%s",
             !s->has_quality ? "not measured: a speedup that costs quality "
                               "would not show"
             : excluded      ? "held: no"
                             : "held: yes");
    doc_unless(n, DOC_NUMBER, "largest_drift", "largest drift",
               s->largest_drift, !s->has_quality, NULL);
    doc_number(n, "quality_tolerance", excluded ? "tolerance" : NULL,
               s->ask.tolerance);
    n = doc_list(root, NULL, is_shown ? "EXCLUDED" : NULL);
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        const struct quality_check *g = &p->quality_check;
        struct doc_node *row;

        if (quality_allows(g))
            continue;
        row = doc_row(n);
        doc_count(row, NULL, "K =", p->k);
        doc_sep(doc_text(row, NULL, "", "from every ranking"), " ");
        doc_sep(doc_number(row, NULL, "quality", p->quality), ": ");
        doc_text(row, NULL, "",
                 g->verdict == QUALITY_DRIFTED ? "which drifts"
                                               : "which is not shown to hold");
        doc_signed(doc_number(row, NULL, "drift", g->drift.value));
        doc_signed(doc_range_of(row, NULL, "interval", DOC_NUMBER, &g->drift));
        doc_unless(row, DOC_NUMBER, NULL,
                   "answers at each K that could show it: about",
                   ceil(g->needed), isnan(g->needed), NULL);
    }
}

/* ---- the points ---- */

static void add_speed(struct doc_node *row, const struct scaling *s,
                      const struct scale_point *p)
{
    bool of_capacity = is_capacity(s);
    bool has_times = !of_capacity;

    doc_missing_if(
        doc_unit(doc_digits(doc_number(row, "seconds", "T(K)", p->mean_s), 6),
                 "s"),
        !has_times, NULL);
    doc_unit(doc_number(row, "std_seconds", "std", p->std_s), "s");
    doc_missing_if(
        doc_unit(doc_digits(doc_range_of(row, "seconds_ci95", "95% of T",
                                         DOC_NUMBER, &p->time_s),
                            5),
                 "s"),
        !has_times, NULL);
    doc_number(row, "runs", NULL, p->runs);
    doc_unless(row, DOC_RATE, "capacity_rps", "capacity", 1 / p->mean_s,
               has_times, NULL);
    doc_number(row, "speedup", "S(K)", p->speedup.value);
    doc_range_of(row, "speedup_ci95", "95% of S", DOC_NUMBER, &p->speedup);
    doc_number(row, of_capacity ? "capacity_efficiency" : "efficiency", "E(K)",
               p->efficiency.value);
    doc_range_of(row,
                 of_capacity ? "capacity_efficiency_ci95" : "efficiency_ci95",
                 "95% of E", DOC_NUMBER, &p->efficiency);
    doc_show(doc_bool(row, "below_threshold", "verdict", p->is_below), "%s",
             p->is_below ? "below" : "ok");
    doc_number(row, "law_speedup", "S by law", p->law_speedup);
    doc_number(row, "usl_speedup", "S by USL", p->usl_speedup);
    doc_number(row, "communication_seconds", NULL, p->communication_s);
    doc_number(row, "computation_seconds", NULL, p->computation_s);
    doc_number(row, "communication_ratio", "comm/comp",
               p->communication_s / p->computation_s);
}

static void add_gate(struct doc_node *row, const struct quality_check *g)
{
    static const char *const names[] = {
        [QUALITY_UNKNOWN] = "unknown",
        [QUALITY_HELD] = "held",
        [QUALITY_DRIFTED] = "drifted",
        [QUALITY_NOT_SHOWN] = "not shown",
    };
    struct doc_node *n = doc_section(row, "quality_gate", "");

    doc_text(n, "verdict", NULL, names[g->verdict]);
    doc_signed(doc_unless(n, DOC_NUMBER, "drift", "drift", g->drift.value,
                          g->verdict == QUALITY_UNKNOWN, NULL));
    doc_signed(
        doc_range_of(n, "drift_ci95", "95% of drift", DOC_NUMBER, &g->drift));
    doc_number(n, "answers_needed", NULL, g->needed);
}

static void add_energy_gate(struct doc_node *row, const struct scaling *s,
                            const struct scale_point *p)
{
    bool is_asked = s->ask.energy_tolerance > 0;
    struct doc_node *n;

    if (!is_asked) {
        doc_null(row, "energy_gate", NULL);
        return;
    }
    n = doc_section(row, "energy_gate", "");
    doc_number(n, "ratio", "J/unit to K = 1", p->energy_ratio);
    doc_text(n, "verdict", "energy",
             p->keeps_energy == SCALE_YES  ? "held"
             : p->keeps_energy == SCALE_NO ? "exceeded"
                                           : "unknown");
}

static void add_costs(struct doc_node *row, const struct scaling *s,
                      const struct scale_point *p)
{
    doc_number(row, "quality", "quality", p->quality);
    add_gate(row, &p->quality_check);
    doc_bool(row, "excluded", NULL, !quality_allows(&p->quality_check));
    doc_number(row, "work", NULL, p->work);
    doc_number(row, "units_per_s", "units/s", p->units_per_s);
    doc_number(row, "p50_ms", "p50 ms", p->p50_ms);
    doc_number(row, "p99_ms", "p99 ms", p->p99_ms);
    doc_missing_if(
        doc_show(doc_bool(row, "slo_met", "SLO", p->keeps_slo == SCALE_YES),
                 "%s", p->keeps_slo == SCALE_YES ? "met" : "missed"),
        p->keeps_slo == SCALE_UNKNOWN, NULL);
    doc_usd(row, "usd_per_run", "per run", p->usd);
    doc_usd(row, "usd_storage", "storage", p->usd_storage);
    doc_usd(row, "usd_egress", "egress", p->usd_egress);
    doc_number(row, "usd_per_unit", "USD/unit", p->usd_per_unit);
    doc_number(row, "units_per_usd", "units/USD", p->units_per_usd);
    doc_number(row, "joules_per_unit", "J/unit", p->joules_per_unit);
    add_energy_gate(row, s, p);
    doc_number(row, "prompt_tokens", NULL, p->prompt_tokens);
    doc_number(row, "output_tokens", NULL, p->output_tokens);
    doc_number(row, "tokens", NULL, p->tokens);
    doc_number(row, "mfu", "MFU", p->mfu);
}

static bool has_costs(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        if (isfinite(p->quality) || isfinite(p->units_per_s) ||
            isfinite(p->p50_ms) || isfinite(p->usd) || isfinite(p->mfu) ||
            isfinite(p->usd_per_unit) || isfinite(p->joules_per_unit) ||
            p->keeps_slo != SCALE_UNKNOWN)
            return true;
    }
    return false;
}

static bool has_targets(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].n_targets > 0)
            return true;
    }
    return false;
}

static void add_target(struct doc_node *row, const struct scale_target *t)
{
    doc_text(row, "name", "target", t->name);
    doc_count(row, "runs", "runs", t->runs);
    doc_count(row, "n", "sent", t->n);
    doc_count(row, "ok", "ok", t->ok);
    doc_number(row, "p50_ms", "p50 ms", t->p50_ms);
    doc_number(row, "p99_ms", "p99 ms", t->p99_ms);
    doc_share(row, "misses_share", "not good",
              (double)(t->n - t->good) / (double)t->n);
    doc_number(row, "times_others", "times the others", t->slower);
    doc_count(row, "straggler_in", NULL, t->straggler_in);
    doc_show(doc_bool(row, "straggler", "", scale_target_is_straggler(t)), "%s",
             scale_target_is_straggler(t) ? "STRAGGLER" : "");
}

/* People see speed, cost and targets in tables of their own. */
static void add_points(struct doc_node *root, const struct scaling *s)
{
    struct doc_node *list = doc_list(root, "points", NULL);
    struct doc_node *speed = doc_text_only(doc_table(
        root, NULL,
        s->ask.regime == SCALE_WEAK
            ? "ideal: T(K) = T(1), E(K) = 1; S(K) is K T(1) / T(K)"
        : is_capacity(s) ? "ideal: S(K) = capacity(K) / capacity(1) = K; E(K) "
                           "is the capacity efficiency"
                         : "ideal: S(K) = K, E(K) = 1"));
    char title[256];
    struct doc_node *costs;
    struct doc_node *targets;

    snprintf(title, sizeof(title), "a unit is one %s", s->unit ? s->unit : "");
    costs = doc_text_only(doc_table(root, NULL, has_costs(s) ? title : NULL));
    targets =
        doc_text_only(doc_table(root, NULL, has_targets(s) ? "targets" : NULL));
    for (size_t i = 0; s->refusals.len == 0 && i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        struct doc_node *row = doc_row(list);

        doc_count(row, "k", NULL, p->k);
        doc_text(row, "config", NULL, p->config);
        doc_text(row, "where", NULL, p->where);
        add_speed(row, s, p);
        add_costs(row, s, p);
        row = doc_list(row, "targets", NULL);
        for (size_t k = 0; k < p->n_targets; k++) {
            struct doc_node *shown = doc_row(targets);

            add_target(doc_row(row), &p->targets[k]);
            doc_count(shown, NULL, "K", p->k);
            add_target(shown, &p->targets[k]);
        }
        row = doc_row(speed);
        doc_count(row, NULL, "K", p->k);
        add_speed(row, s, p);
        row = doc_row(costs);
        doc_count(row, NULL, "K", p->k);
        add_costs(row, s, p);
    }
}

/* ---- laws ---- */

static void add_law(struct doc_node *root, const struct scaling *s,
                    const char *key, const char *heading, bool is_gustafson)
{
    const struct serial_law *l = &s->law;
    const struct scale_point *last;
    struct doc_node *n;

    if (!l->is_fitted || is_gustafson != (s->ask.regime == SCALE_WEAK)) {
        doc_null(root, key, NULL);
        return;
    }
    last = &s->points[s->n - 1];
    n = doc_section(root, key, heading);
    doc_number(n, "serial_fraction", "serial fraction", l->serial.value);
    doc_range_of(n, "serial_fraction_ci95", "95% interval", DOC_NUMBER,
                 &l->serial);
    if (!is_gustafson) {
        doc_brief(
            doc_unit(doc_number(n, "ceiling", "ceiling", l->ceiling), "x"),
            "none");
        doc_number(n, "half_efficiency_k",
                   "efficiency falls to 0.5 at K =", l->half_k);
    }
    doc_unit(doc_count(n, NULL, "at", last->k), " workers");
    doc_sep(doc_unit(doc_number(n, NULL, "measured", last->speedup.value), "x"),
            ": ");
    doc_unit(doc_number(n, NULL, "model", last->law_speedup), "x");
    doc_share(n, "residual", "residual", l->residual);
}

static void add_usl(struct doc_node *root, const struct usl *u, bool is_shown)
{
    struct doc_node *n;

    if (!u->is_fitted) {
        doc_null(root, "usl", NULL);
        if (is_shown)
            doc_line(doc_section(root, NULL, "USL"), DOC_PLAIN,
                     "not fitted: it requires %d points", USL_MIN);
        return;
    }
    n = doc_section(root, "usl", "USL");
    doc_number(n, "scale", NULL, u->scale);
    doc_number(n, "contention", "contention", u->alpha.value);
    doc_range_of(n, "contention_ci95", "95% interval", DOC_NUMBER, &u->alpha);
    doc_number(n, "coherency", "coherency", u->beta.value);
    doc_range_of(n, "coherency_ci95", "95% interval", DOC_NUMBER, &u->beta);
    doc_brief(doc_number(n, "peak_k", "peak at K =", u->peak_k.value), "none");
    doc_show_if(
        doc_range_of(n, "peak_k_ci95", "95% interval", DOC_NUMBER, &u->peak_k),
        isfinite(u->peak_k.value));
    doc_share(n, "residual", "residual", u->residual);
    doc_bool(n, "hint", NULL, u->is_hint);
    if (u->is_hint)
        doc_line(n, DOC_PLAIN, "from fewer than 6 points: a hint");
}

static struct doc_node *add_predicted(struct doc_node *n, const char *key,
                                      const char *label, double k)
{
    return doc_brief(doc_number(n, key, label, k), "never");
}

/* A term of the model, and its interval under `key`_ci95. */
static void add_term(struct doc_node *n, const char *key, const char *label,
                     const char *unit, const struct uncertain *term)
{
    char ci[64];

    snprintf(ci, sizeof(ci), "%s_ci95", key);
    doc_unit(doc_number(n, key, label, term->value), unit);
    doc_range_of(n, ci, label ? "95% interval" : NULL, DOC_NUMBER, term);
}

/* Where more workers stop helping: the text of each number is that of
 * docs/scaling.md. */
static void add_communication(struct doc_node *root, const struct scaling *s)
{
    const struct comm_fit *f = &s->comm;
    const struct uncertain *alpha = &f->term_s[COMM_ALPHA];
    const struct uncertain *beta = &f->term_s[COMM_BETA];
    bool is_weak = s->ask.regime == SCALE_WEAK;
    bool is_any = alpha->value + beta->value > 0;
    char label[64];
    struct doc_node *n;

    if (s->refusals.len > 0 || is_capacity(s)) {
        doc_null(root, "communication",
                 is_capacity(s) ? "capacities are not times of one job" : NULL);
        return;
    }
    n = doc_section(root, f->is_fitted ? "communication" : NULL, "alpha-beta");
    if (!f->is_fitted) {
        doc_null(n, "communication", "too few points");
        doc_line(n, DOC_PLAIN,
                 "not fitted: it requires %d points, or %d above K = 1 with "
                 "comm_seconds",
                 is_weak ? COMM_MIN_WEAK : COMM_MIN_STRONG, COMM_MIN_MEASURED);
        return;
    }
    add_term(n, "alpha_seconds", "latency alpha", "s per doubling of K", alpha);
    add_term(n, "beta_seconds", "beta", "s per further worker", beta);
    doc_unless(n, DOC_BYTES, "bandwidth_bytes_per_s", "bandwidth per second",
               s->ask.comm_bytes / beta->value,
               !(s->ask.comm_bytes > 0) || !(beta->value > 0), NULL);
    add_term(n, "serial_seconds", "serial", "s", &f->term_s[COMM_SERIAL]);
    add_term(n, "parallel_seconds", is_weak ? NULL : "parallel", "s",
             &f->term_s[COMM_PARALLEL]);
    snprintf(label, sizeof(label),
             "efficiency falls below %.4g at K =", BEND_VISIBLE);
    doc_sep(add_predicted(n, "bend_k", label, f->bend_k), "; ");
    snprintf(label, sizeof(label), "below %.4g at K =", s->ask.threshold);
    add_predicted(n, "threshold_k", label, f->threshold_k);
    doc_sep(add_predicted(n, "peak_k",
                          "more workers stop helping at K =", f->peak_k.value),
            "; ");
    doc_show_if(
        doc_range_of(n, "peak_k_ci95", "95% interval", DOC_NUMBER, &f->peak_k),
        isfinite(f->peak_k.value));
    doc_share(n, "residual", "residual", f->residual);
    doc_bool(n, "measured", NULL, f->is_measured);
    if (f->is_measured)
        doc_line(n, DOC_PLAIN, "fitted to the column comm_seconds");
    if (f->residual > COMM_MAX_RESIDUAL)
        doc_line(n, DOC_PLAIN,
                 "the times do not follow the model: do not use the ratios");
    if (is_any && alpha->has_range && alpha->range.low <= 0 &&
        beta->range.low <= 0)
        doc_line(n, DOC_PLAIN,
                 "these points cannot tell alpha and beta apart, since both "
                 "intervals contain 0: measure at more K, or repeat");
    if (!is_any)
        doc_line(n, DOC_PLAIN,
                 "no communication that grows with K is visible; one that "
                 "hardly depends on K looks like a serial part");
}

/* ---- the rest ---- */

static void add_bend(struct doc_node *root, const struct scaling *s)
{
    struct doc_node *n;

    if (s->refusals.len > 0) {
        doc_null(root, "bend", NULL);
        return;
    }
    n = doc_section(root, "bend", "bend");
    doc_brief(doc_missing_if(doc_count(n, "k", "from K =", s->bend.k),
                             s->bend.k <= 0, NULL),
              "none");
    doc_show_if(
        doc_text(n, "guess", "probable cause:", bend_cause_name(s->bend.cause)),
        s->bend.k > 0);
    doc_sep(doc_text(n, "evidence", "", s->bend.evidence), ": ");
}

/* Readers of papers expect 1.96. */
static void add_method(struct doc_node *root, const struct scaling *s)
{
    struct doc_node *n = doc_section(root, NULL, "intervals");
    double runs = s->points[0].runs;

    if (!isnan(s->points[0].known_error))
        doc_line(n, DOC_PLAIN, "95%%, from those of the searches");
    else if (runs >= 2)
        doc_line(n, DOC_PLAIN,
                 "95%%, Student's t: %.3f standard errors for %.0f runs, where "
                 "the normal value, 1.96, would be too narrow; for ratios "
                 "Welch's, on logarithms",
                 student_reach(SCALE_CONFIDENCE, runs - 1), runs);
    else
        doc_line(n, DOC_PLAIN, "none: no repeats");
}

static void add_lists(struct doc_node *root, const struct scaling *s)
{
    struct doc_node *list = doc_list(root, "red_flags", "RED FLAG");

    for (size_t i = 0; i < s->n_flags; i++) {
        struct doc_node *row = doc_row(list);

        doc_text(row, "name", "", s->flags[i].name);
        doc_sep(doc_text(row, "says", "", s->flags[i].says), ": ");
    }
    doc_lines(root, "notes", "note", &s->notes);
    list = doc_table(root, "checklist", "checklist");
    for (size_t i = 0; s->refusals.len == 0 && i < SCALE_ITEMS; i++) {
        struct doc_node *row = doc_row(list);

        doc_show(doc_bool(row, "present", "", s->items[i].is_present), "%s",
                 s->items[i].is_present ? "present" : "MISSING");
        doc_text(row, "name", "item", s->items[i].name);
        doc_text(row, "says", "value, or what is missing", s->items[i].says);
    }
}

struct doc *scaling_doc(const struct scaling *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    bool is_shown = s->refusals.len == 0;

    doc_count(root, "schema", NULL, SCALING_SCHEMA);
    add_verdict(root, s);
    add_deadline(root, s);
    add_efficiency(root, s);
    add_quality(root, s);
    add_points(root, s);
    add_law(root, s, "amdahl", "Amdahl", false);
    add_law(root, s, "gustafson", "Gustafson", true);
    add_usl(root, &s->usl, is_shown);
    add_communication(root, s);
    add_bend(root, s);
    if (is_shown)
        add_method(root, s);
    add_claim(root, s);
    add_lists(root, s);
    doc_conclude(d, scaling_conclusion(s));
    doc_set_brief(d, scaling_brief);
    return d;
}
