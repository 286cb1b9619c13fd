#include "analyzer/search/search_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

_Static_assert(SEARCH_SLICES == TALLY_SLICES, "the slices of a window");

/* ---- the SLO terms ---- */

static int add_terms(struct search_terms *to, const struct strlist *texts,
                     int class, const char *name, struct err *err)
{
    struct slo slo;

    if (slo_parse(texts, &slo, err))
        return -1;
    for (size_t i = 0; i < slo.len; i++) {
        struct slo_term *t;

        if (to->slo.len == SLO_MAX_TERMS)
            return err_set(err, ERR_CONFIG,
                           "slo: a search takes at most %d terms, including "
                           "those of classes",
                           SLO_MAX_TERMS);
        to->class[to->slo.len] = class;
        t = &to->slo.terms[to->slo.len++];
        *t = slo.terms[i];
        if (name)
            snprintf(t->text, sizeof(t->text), "%.32s/%.*s", name,
                     (int)sizeof(t->text) - 34, slo.terms[i].text);
    }
    return 0;
}

int search_terms_of(const struct settings *s, struct search_terms *terms,
                    struct err *err)
{
    *terms = (struct search_terms){0};
    if (add_terms(terms, &s->slo, -1, NULL, err))
        return -1;
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];

        if (add_terms(terms, &c->settings->slo, (int)i, c->name, err))
            return -1;
    }
    return search_check_slo(&terms->slo, err);
}

struct search_config search_config_of(const struct settings *s,
                                      const struct search_terms *terms)
{
    return (struct search_config){
        .by =
            s->search.by == VARY_CONCURRENCY ? SEARCH_CONCURRENCY : SEARCH_RATE,
        .slo = &terms->slo,
        .start = s->search.start,
        .min = s->search.least,
        .max = s->search.most,
        .tolerance = s->search.tolerance,
        .probe_ns = s->search.probe_ns,
        .confirm_ns = s->search.confirm_ns,
        .budget_ns = s->search.budget_ns,
        .no_confirm = s->search.no_confirm,
    };
}

/* ---- one probe ---- */

static void take_counts(const struct summary *s,
                        const struct search_terms *terms,
                        struct search_result *r)
{
    size_t next[1 + CLASSES_MAX] = {
        0}; /* next term of the run and each class */

    for (size_t i = 0; i < terms->slo.len; i++) {
        int class = terms->class[i];
        const struct judgement *j =
            class < 0 ? &s->judgement : &s->classes[class].judgement;
        size_t k = next[1 + class]++;

        if (k >= j->len)
            continue;
        r->terms[i].n = j->terms[k].counts.n;
        r->terms[i].misses = j->terms[k].counts.misses;
        /* As misses: whether they were good is unknown. */
        if (j->terms[k].term->kind == SLO_GOOD) {
            r->terms[i].n += j->terms[k].counts.open;
            r->terms[i].misses += j->terms[k].counts.open;
        }
        r->terms[i].is_unjudgeable = j->terms[k].is_unjudgeable;
        r->terms[i].client_late = j->terms[k].counts.client_late;
        r->terms[i].measured_ns = j->terms[k].measured_ns;
        r->terms[i].low_ns = j->terms[k].low_ns;
        r->terms[i].high_ns = j->terms[k].high_ns;
        r->terms[i].missed_ci90 = j->terms[k].missed_ci90;
        memcpy(r->terms[i].slices, j->terms[k].counts.slices,
               sizeof(r->terms[i].slices));
        r->terms[i].n_slices = SEARCH_SLICES;
    }
    r->n_terms = terms->slo.len;
}

static int64_t if_known(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static enum search_step step_of(const struct study_point *at)
{
    return at->role == POINT_CONFIRM ? SEARCH_CONFIRM
           : at->role == POINT_LOOK  ? SEARCH_LOOK
                                     : SEARCH_PROBE;
}

void search_take(const struct summary *s, struct recording *rec,
                 const struct study_point *at, const struct search_terms *terms,
                 struct search_result *r)
{
    *r = (struct search_result){
        .step = step_of(at),
        .value = at->value,
        .offered_rps = s->offered_rps,
        .completed_rps = s->completed_rps,
        .throughput_rps = s->throughput_rps,
        .warmup_ns = (int64_t)(1e9 * s->warmup_s),
        .asked_ns = s->settings->load.duration_ns,
        .window_ns = (int64_t)(1e9 * s->window_length_s),
        .took_ns = (int64_t)(1e9 * at->took_s),
        .requests = s->scheduled + s->warmup_requests + s->cooldown_requests,
        .answer_ns =
            if_known(s->spread[MEASURE_SERVICE][VIEW_DUE].quantile_ns[0]),
        .is_overloaded = summary_is_overloaded(s),
        .ended_early = s->was_enough,
    };
    take_counts(s, terms, r);
    disturbed_find(s, rec, terms, r);
}

void search_take_lost(const struct study_point *at,
                      const struct search_terms *terms, struct search_result *r)
{
    *r = (struct search_result){.step = step_of(at),
                                .value = at->value,
                                .took_ns = (int64_t)(1e9 * at->took_s),
                                .discarded = SEARCH_LOST,
                                .n_terms = terms->slo.len};
}

/* ---- all probes ---- */

static void keep_common(struct search_summary *s, const struct summary *of)
{
    s->title = study_title(of->settings, "search");
    s->name = xstrdup(of->settings->name ? of->settings->name : "");
    s->is_streamed = of->is_streamed;
    s->calibration = of->calibration;
    s->tolerance = of->settings->search.tolerance;
    s->has_rate = of->settings->search.by == VARY_RATE;
}

static int read_probe(struct search_summary *s, struct search_config *config,
                      const struct study_point *at, const struct strlist *slo,
                      struct err *err)
{
    struct search_probe *probe = &s->probes[s->n];
    char *dir = study_point_path(s->dir, at);
    const struct settings *settings;
    struct study_run run;
    int rc = study_run_open(&run, dir, slo, NULL, err);

    free(dir);
    if (rc)
        return -1;
    settings = &run.rec.settings;
    if (!s->title) {
        rc = search_terms_of(settings, &s->terms, err);
        *config = search_config_of(settings, &s->terms);
        keep_common(s, run.summary);
    }
    if (rc == 0) {
        /* The budget of the last attempt: --resume may change it. */
        config->budget_ns = s->set.budget_ns >= 0 ? s->set.budget_ns
                                                  : settings->search.budget_ns;
        probe->at = at;
        trial_take(&probe->run, run.summary);
        search_take(run.summary, &run.rec, at, &s->terms, &probe->result);
        if (at->role == POINT_LOOK)
            s->look = probe->result;
        else
            s->n++;
    }
    study_run_close(&run);
    return rc;
}

int search_read_one(const char *dir, const struct study_point *at,
                    const struct search_terms *terms, struct search_result *r,
                    struct err *err)
{
    struct study_run run;

    if (study_run_open(&run, dir, NULL, NULL, err))
        return -1;
    search_take(run.summary, &run.rec, at, terms, r);
    study_run_close(&run);
    return 0;
}

int search_read(struct search_summary *s, const char *dir,
                const struct strlist *slo, struct err *err)
{
    struct search_config config;
    struct search search;
    int rc;

    *s = (struct search_summary){.dir = dir, .is_of_others = slo != NULL};
    rc = study_set_load_recorded(&s->set, dir, STUDY_SEARCH, err);
    if (rc)
        return -1;
    s->probes = xcalloc(s->set.len, sizeof(*s->probes));
    for (size_t i = 0; rc == 0 && i < s->set.len; i++) {
        const struct study_point *at = &s->set.points[i];

        if (at->is_recorded)
            rc = read_probe(s, &config, at, slo, err);
        else if (at->discarded[0] && at->role != POINT_LOOK)
            s->probes[s->n++] =
                (struct search_probe){.at = at, .is_lost = true};
    }
    if (rc)
        return -1;
    for (size_t i = 0; i < s->n; i++) { /* the terms are known by now */
        struct search_probe *p = &s->probes[i];

        if (p->is_lost)
            search_take_lost(p->at, &s->terms, &p->result);
    }
    search_init(&search, &config);
    if (s->look.value > 0)
        search_feed(&search, &s->look);
    for (size_t i = 0; i < s->n; i++)
        search_feed(&search, &s->probes[i].result);
    if (slo)
        search_from_probes(&config, search.results, search.n, &s->answer);
    else
        search_answer(&search, &s->answer);
    search_fini(&search);
    return 0;
}

void search_summary_fini(struct search_summary *s)
{
    study_set_fini(&s->set);
    free(s->title);
    free(s->name);
    free(s->probes);
    *s = (struct search_summary){0};
}

enum conclusion search_conclusion(const struct search_summary *s)
{
    switch (s->answer.outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
    case SEARCH_AT_LEAST:
        return CONCLUSION_YES;
    case SEARCH_NEVER:
        return CONCLUSION_NO;
    case SEARCH_GOES_ON:
    case SEARCH_CLIENT:
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
    case SEARCH_NOT_PROBED:
        break;
    }
    return CONCLUSION_UNDECIDED;
}
