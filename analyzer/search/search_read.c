#include "analyzer/search/search_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/search/probe_disturbed.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/redact.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

_Static_assert(SEARCH_BLOCKS == TALLY_BATCHES, "a window is cut but once");

/* ---- what is searched for ---- */

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
                           "slo: a search takes at most %d terms, those of "
                           "classes among them",
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
        .least = s->search.least,
        .most = s->search.most,
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
    size_t next[1 + CLASSES_MAX] = {0}; /* term of the run, and of each class */

    for (size_t i = 0; i < terms->slo.len; i++) {
        int class = terms->class[i];
        const struct judgement *j =
            class < 0 ? &s->judgement : &s->classes[class].judgement;
        size_t k = next[1 + class]++;

        if (k >= j->len)
            continue;
        r->terms[i].n = j->terms[k].counts.n;
        r->terms[i].misses = j->terms[k].counts.misses;
        r->terms[i].spoilt = j->terms[k].counts.spoilt;
        r->terms[i].measured_ns = j->terms[k].measured_ns;
        memcpy(r->terms[i].blocks, j->terms[k].counts.blocks,
               sizeof(r->terms[i].blocks));
        r->terms[i].n_blocks = SEARCH_BLOCKS;
    }
    r->n_terms = terms->slo.len;
}

static int64_t if_known(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

void search_take(const struct summary *s, struct recording *rec,
                 const struct study_point *at, const struct search_terms *terms,
                 struct search_result *r)
{
    *r = (struct search_result){
        .step = at->role == POINT_CONFIRM ? SEARCH_CONFIRM : SEARCH_PROBE,
        .value = at->value,
        .offered_rps = s->offered_rps,
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

/* ---- all of them ---- */

static void keep_common(struct search_summary *s, const struct summary *of)
{
    char *url = redact_url(settings_url(of->settings));

    s->title = xasprintf(
        "%s: %s", of->settings->name ? of->settings->name : "search", url);
    free(url);
    s->is_streamed = of->is_streamed;
    s->calibration = of->calibration;
    s->tolerance = of->settings->search.tolerance;
    s->has_rate = of->settings->search.by == VARY_RATE;
}

static void replace_slo(struct settings *s, const struct strlist *slo)
{
    strlist_fini(&s->slo);
    for (size_t i = 0; i < slo->len; i++)
        strlist_add(&s->slo, slo->items[i]);
}

/* How the reader of a search looks at one recording. */
struct reading {
    struct search_summary *s;
    const struct strlist *slo;   /* NULL: the recording's */
    struct search_config config; /* the first one's, with the budget of the
                                    last attempt: --resume may bring another */
};

/* Of the first what all have in common. */
static int take_first(struct reading *r, const struct recording *rec,
                      const struct summary *of, struct err *err)
{
    if (search_terms_of(&rec->settings, &r->s->terms, err))
        return -1;
    r->config = search_config_of(&rec->settings, &r->s->terms);
    keep_common(r->s, of);
    return 0;
}

static int read_probe(struct reading *r, const struct study_point *at,
                      struct err *err)
{
    struct search_probe *probe = &r->s->probes[r->s->n];
    char *dir = study_point_path(r->s->dir, at);
    struct recording rec;
    struct summary of;
    int rc = recording_open(&rec, dir, err);

    free(dir);
    if (rc)
        return -1;
    if (r->slo)
        replace_slo(&rec.settings, r->slo);
    rc = summary_make(&of, &rec, NULL, err);
    if (rc == 0 && r->s->n == 0)
        rc = take_first(r, &rec, &of, err);
    if (rc == 0) {
        r->config.budget_ns = r->s->set.budget_ns >= 0
                                  ? r->s->set.budget_ns
                                  : rec.settings.search.budget_ns;
        r->s->n++;
        probe->at = at;
        trial_take(&probe->run, &of);
        search_take(&of, &rec, at, &r->s->terms, &probe->result);
    }
    recording_close(&rec);
    return rc;
}

int search_read_one(const char *dir, const struct study_point *at,
                    const struct search_terms *terms, struct search_result *r,
                    struct err *err)
{
    struct recording rec;
    struct summary of;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&of, &rec, NULL, err);
    if (rc == 0)
        search_take(&of, &rec, at, terms, r);
    recording_close(&rec);
    return rc;
}

/* What the machine said in the end, fed once more with what it was fed. */
static void replay(const struct reading *r)
{
    struct search_summary *s = r->s;
    struct search machine;

    search_init(&machine, &r->config);
    for (size_t i = 0; i < s->n; i++)
        search_feed(&machine, &s->probes[i].result);
    search_answer(&machine, &s->answer);
    search_fini(&machine);
}

static void answer_anew(const struct reading *r)
{
    struct search_summary *s = r->s;
    struct search_result *results = xcalloc(s->n, sizeof(*results));

    for (size_t i = 0; i < s->n; i++)
        results[i] = s->probes[i].result;
    search_from_probes(&r->config, results, s->n, &s->answer);
    free(results);
    s->is_of_others = true;
}

int search_read(struct search_summary *s, const char *dir,
                const struct strlist *slo, struct err *err)
{
    struct reading r = {.s = s, .slo = slo};
    int rc;

    *s = (struct search_summary){.dir = dir};
    rc = study_set_load_recorded(&s->set, dir, STUDY_SEARCH, err);
    if (rc)
        return -1;
    s->probes = xcalloc(s->set.len, sizeof(*s->probes));
    for (size_t i = 0; rc == 0 && i < s->set.len; i++) {
        if (s->set.points[i].is_recorded)
            rc = read_probe(&r, &s->set.points[i], err);
    }
    if (rc == 0 && slo)
        answer_anew(&r);
    else if (rc == 0)
        replay(&r);
    return rc;
}

void search_summary_fini(struct search_summary *s)
{
    study_set_fini(&s->set);
    free(s->title);
    free(s->probes);
    *s = (struct search_summary){0};
}

int search_exit_code(const struct search_summary *s)
{
    if (s->set.stopped_by && !s->is_of_others)
        return 128 + (int)s->set.stopped_by;
    switch (s->answer.outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
    case SEARCH_AT_LEAST:
        return 0;
    case SEARCH_NEVER:
        return 1;
    case SEARCH_GOES_ON:
    case SEARCH_CLIENT:
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
    case SEARCH_NOT_PROBED:
        break;
    }
    return 4;
}
