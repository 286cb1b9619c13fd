/* The recordings of a trial set, one after the other: only what is said of a
 * trial is kept of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/read/reader.h"
#include "analyzer/studies/trials.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/redact.h"
#include "common/base/xalloc.h"

#define MAX_TITLE ((size_t)64 << 10)

static void note_distrust(struct trial *t, const struct trust *trust)
{
    for (size_t i = 0; i < trust->len && !t->distrust[0]; i++) {
        const struct check *c = &trust->checks[i];

        if (!c->ok && c->is_fatal)
            snprintf(t->distrust, sizeof(t->distrust), "%s", c->name);
    }
}

/* What an overloaded server kept it would not have kept for longer. */
static struct trial_term term_of(const struct term_judgement *j, bool is_over)
{
    struct trial_term t = {.verdict = j->verdict, .measured = j->measured};

    if (is_over && j->verdict != VERDICT_NONE)
        t.verdict = VERDICT_FAIL;
    if (j->term->kind == SLO_QUANTILE)
        t.measured = (double)j->measured_ns;
    else if (j->is_unmeasured)
        t.measured = NAN;
    return t;
}

static size_t keep_terms(struct trial_term *to, const struct judgement *j,
                         bool is_over)
{
    for (size_t i = 0; i < j->len; i++)
        to[i] = term_of(&j->terms[i], is_over);
    return j->len;
}

static void keep_all_terms(struct trial *t, const struct summary *s)
{
    bool is_over = summary_is_overloaded(s);
    size_t n = keep_terms(t->terms, &s->judgement, is_over);

    for (size_t i = 0; i < s->n_classes; i++)
        n += keep_terms(t->terms + n, &s->classes[i].judgement, is_over);
}

/* NAN: there is none, or nothing to divide it by. */
static double price(const struct summary *s, double usd)
{
    return s->cost.is_there && usd >= 0 ? usd : NAN;
}

void trial_take(struct trial *t, const struct summary *s)
{
    t->verdict = s->verdict;
    t->exit_code = summary_exit_code(s);
    t->stopped_by = s->stopped_by;
    t->was_killed = s->integrity.was_killed;
    t->was_aborted = s->aborted != NULL;
    t->was_overloaded = summary_is_overloaded(s);
    t->scheduled = s->scheduled;
    t->ok = s->ok;
    t->failed = s->failed;
    t->checked = s->quality.checked;
    t->lost_requests = s->integrity.lost_requests;
    t->lost_events = s->integrity.lost_events;
    t->has_tokens = s->has_tokens;
    t->has_cost = s->cost.is_there;
    t->is_streamed = s->is_streamed;
    t->rate[TRIAL_OFFERED] = s->offered_rps;
    t->rate[TRIAL_THROUGHPUT] = s->throughput_rps;
    t->rate[TRIAL_GOODPUT] = s->goodput_rps;
    t->rate[TRIAL_ATTAINMENT] = s->attainment;
    t->rate[TRIAL_TOKENS] = s->output_tokens_per_s;
    t->rate[TRIAL_GOOD_TOKENS] = s->goodput_tokens_per_s;
    t->rate[TRIAL_QUALITY] = s->quality.checked > 0 ? s->quality.share : NAN;
    t->rate[TRIAL_USD] = price(s, s->cost.usd_per_1000_good);
    t->rate[TRIAL_USD_TOKENS] = price(s, s->cost.usd_per_million_good_tokens);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            t->quantile_ns[m][q] =
                (double)s->spread[m][VIEW_DUE].quantile_ns[q];
    }
    keep_all_terms(t, s);
    note_distrust(t, &s->trust);
}

void trial_take_lost(struct trial *t, const char *why)
{
    t->lost = why;
    for (int r = 0; r < TRIAL_RATES; r++)
        t->rate[r] = NAN;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            t->quantile_ns[m][q] = HIST_EMPTY;
    }
}

static void add_terms(struct trials_summary *set, const struct judgement *j,
                      const char *class)
{
    for (size_t i = 0; i < j->len; i++) {
        struct set_term *t = &set->terms[set->n_terms++];

        t->term = *j->terms[i].term;
        t->class = class ? xstrdup(class) : NULL;
    }
}

static size_t count_terms(const struct summary *s)
{
    size_t n = s->judgement.len;

    for (size_t i = 0; i < s->n_classes; i++)
        n += s->classes[i].judgement.len;
    return n;
}

/* What all trials have in common, of the first. */
static void keep_common(struct trials_summary *set, const struct summary *s)
{
    char *url = redact_url(settings_url(s->settings));
    struct buf text;

    buf_init(&text, MAX_TITLE);
    buf_adds(&text, s->settings->name ? s->settings->name : "run");
    buf_addf(&text, ": %s\nload       ", url);
    settings_describe_load(&s->settings->load, &text);
    set->title = xstrdup(buf_text(&text));
    buf_fini(&text);
    free(url);
    add_terms(set, &s->judgement, NULL);
    for (size_t i = 0; i < s->n_classes; i++)
        add_terms(set, &s->classes[i].judgement, s->classes[i].name);
}

static int read_trial(struct trials_summary *set, struct trial *t,
                      const struct strlist *slo, const struct cost_ask *cost,
                      struct err *err)
{
    char *dir = study_trial_path(set->dir, t->number);
    const char *lost = manifest_loss(dir);
    struct recording rec;
    struct summary s;
    int rc = lost ? 0 : recording_open(&rec, dir, err);

    free(dir);
    if (lost)
        trial_take_lost(t, lost);
    if (rc || lost)
        return rc;
    rc = summary_make_priced(&s, &rec, slo, cost, err);
    if (rc == 0)
        trial_take(t, &s);
    if (rc == 0 && !set->title)
        keep_common(set, &s);
    if (rc == 0 && count_terms(&s) != set->n_terms)
        rc = err_set(err, ERR_FORMAT, "%s: trial %lld has another SLO",
                     set->dir, (long long)t->number);
    recording_close(&rec);
    return rc;
}

int trials_read(struct trials_summary *s, const char *dir,
                const struct strlist *slo, const struct cost_ask *cost,
                struct err *err)
{
    int rc;

    *s = (struct trials_summary){.dir = dir};
    rc = study_set_load_kind(&s->set, dir, STUDY_TRIALS, err);
    if (rc == 0 && s->set.recorded == 0)
        rc = study_refuse_empty(dir, "trial", err);
    if (rc)
        return -1;
    s->n = (size_t)s->set.recorded;
    s->trials = xcalloc(s->n, sizeof(*s->trials));
    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        s->trials[i].number = (int64_t)i + 1;
        s->trials[i].seed = s->set.points[i].seed;
        rc = read_trial(s, &s->trials[i], slo, cost, err);
    }
    if (rc == 0 && !trials_first(s))
        rc = err_set(err, ERR_FORMAT,
                     "%s: the manifest.json of every trial is lost; what the "
                     "first one recorded: tailgate report %s/trial-1",
                     dir, dir);
    if (rc == 0)
        trials_work_out(s);
    return rc;
}

void trials_summary_fini(struct trials_summary *s)
{
    study_set_fini(&s->set);
    for (size_t i = 0; i < s->n_terms; i++)
        free(s->terms[i].class);
    free(s->title);
    free(s->trials);
    *s = (struct trials_summary){0};
}
