/* The policy of a search: the pure machine in analyzer/search says what to
 * probe; each probe is recorded and fed back to it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/search/search.h"
#include "analyzer/search/search_read.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"
#include "loadgen/engine/run.h"
#include "study/probe_watch.h"
#include "study/study.h"

/* Where no miss is allowed, every miss is too many. */
#define TINY 1e-9

#define MAX_LINE 511

struct state {
    struct search_config config;
    struct search_terms terms;
    struct search machine;
    bool has_machine;
    struct search_result last;
    struct probe_watch eye; /* watches the probe that is being made */
    bool has_eye;
    struct run_judge judge;
};

/* ---- what to do ---- */

static double start_of(const struct settings *s)
{
    if (s->search.start > 0)
        return s->search.start;
    return s->search.by == VARY_RATE ? s->load.rate_rps
                                     : (double)s->load.clients;
}

/* The settings may be invalid without a load, which the search gives them: any
 * will do.  A fraction of a client is refused by the search, not here. */
static int resolve(struct study_arm *arm, double start, struct err *err)
{
    bool by_rate = arm->source.asked->search.by == VARY_RATE;
    double load = start > 0 ? start : 1;
    struct strlist over = {0};
    char *text;
    int rc;

    snprintf(arm->set.key, sizeof(arm->set.key), "%s",
             by_rate ? "load.rate" : "load.clients");
    text = study_assignment(&arm->set, by_rate ? load : ceil(load));
    strlist_add(&over, text);
    strlist_add(&over, "load.stop=end");
    rc = study_resolve(arm, &over, err);
    if (rc == 0)
        rc = study_check_varied(arm, err);
    arm->settings.search.start = start;
    strlist_fini(&over);
    free(text);
    return rc;
}

static int plan(struct study_arm *arm, struct err *err)
{
    struct state *state = arm->state;
    struct settings *s = &arm->settings;

    if (resolve(arm, start_of(arm->source.asked), err))
        return -1;
    if (search_terms_of(s, &state->terms, err))
        return study_blame(&arm->source, err);
    state->config = search_config_of(s, &state->terms);
    if (search_check_budget(&state->config, err))
        return study_blame(&arm->source, err);
    /* A search may be resumed with another budget. */
    arm->set.budget_ns = s->search.budget_ns;
    s->search.budget_ns = 0;
    study_hash(s, arm->set.settings_hash);
    s->search.budget_ns = arm->set.budget_ns;
    return 0;
}

/* Of a point without a recording. */
static void feed_lost(struct study_arm *arm, size_t i)
{
    struct state *state = arm->state;

    search_take_lost(&arm->set.points[i], &state->terms, &state->last);
    search_feed(&state->machine, &state->last);
}

static int read_back(struct study_arm *arm, size_t i, struct err *err)
{
    struct state *state = arm->state;
    const struct study_point *at = &arm->set.points[i];
    char *dir = study_point_path(arm->dir, at);
    int rc = search_read_one(dir, at, &state->terms, &state->last, err);

    if (rc == 0)
        search_feed(&state->machine, &state->last);
    free(dir);
    return rc;
}

/* Feed what is recorded.  The last points, if not recorded, may be asked for
 * again. */
static int take_recorded(struct study_arm *arm, struct err *err)
{
    struct state *state = arm->state;
    struct study_set *set = &arm->set;

    search_init(&state->machine, &state->config);
    state->has_machine = true;
    while (set->len > 0 && !set->points[set->len - 1].is_recorded)
        set->len--;
    for (size_t i = 0; i < set->len; i++) {
        if (!set->points[i].is_recorded)
            feed_lost(arm, i);
        else if (read_back(arm, i, err))
            return -1;
    }
    return 0;
}

/* ---- progress ---- */

static void put_load(const struct state *s, double value, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "%s%s", units_show_number(value, text),
             s->config.by == SEARCH_RATE ? "/s"
             : value > 1                 ? " clients"
                                         : " client");
}

static void put_known(const struct state *s, const struct search_answer *a,
                      struct buf *out)
{
    char text[SEARCH_TEXT];

    if (search_bracket(s->config.by, a, text)[0])
        buf_addf(out, "; so far %s", text);
    if (isfinite(a->capacity)) {
        buf_adds(out, ", about ");
        put_load(s, a->capacity, out);
    }
    if (a->discarded > 0)
        buf_addf(out, "; %zu discarded", a->discarded);
}

static void put_title(const struct study_arm *arm, const struct search_ask *ask,
                      const struct search_answer *so_far,
                      struct study_shot *shot)
{
    const struct state *s = arm->state;
    int64_t budget_ns = s->config.budget_ns;
    int64_t left_ns = so_far->left_ns;
    char text[UNITS_TEXT];
    struct buf line;

    if (budget_ns > 0 &&
        (left_ns == 0 || left_ns > budget_ns - so_far->took_ns))
        left_ns = budget_ns > so_far->took_ns ? budget_ns - so_far->took_ns : 0;
    buf_init(&line, MAX_LINE);
    if (ask->step == SEARCH_LOOK) {
        buf_addf(&line,
                 "look-1: %.0f clients, %lld requests (to find a first load)",
                 ask->value, (long long)ask->requests);
    } else {
        buf_addf(&line,
                 "%s-%lld: ", ask->step == SEARCH_CONFIRM ? "confirm" : "probe",
                 (long long)arm->set.points[shot->i].number);
        put_load(s, ask->value, &line);
        buf_addf(&line, " for %s (%s)", units_show_span(ask->window_ns, text),
                 search_why_name(ask->why));
    }
    put_known(s, so_far, &line);
    buf_addf(&line, "; %s elapsed", units_show_span(so_far->took_ns, text));
    if (left_ns > 0)
        buf_addf(&line, ", about %s left", units_show_span(left_ns, text));
    snprintf(shot->title, sizeof(shot->title), "%s", buf_text(&line));
    buf_fini(&line);
}

/* The term with the most misses relative to what it allows; -1: nothing is
 * known of any. */
static int worst_term(const struct slo *slo, const struct search_result *r)
{
    double worst_part = -1;
    int worst = -1;

    for (size_t i = 0; i < r->n_terms; i++) {
        double allowed = slo_allowed(&slo->terms[i]);
        const struct search_counts *c = &r->terms[i];
        double part;

        if (allowed < 0 || c->n == 0)
            continue;
        part = (double)c->misses / fmax(allowed, TINY) / (double)c->n;
        if (part > worst_part) {
            worst_part = part;
            worst = (int)i;
        }
    }
    return worst;
}

/* The verdict of the run may be INVALID although the probe counts: the note
 * says what the search takes it for. */
static void note_result(const struct slo *slo, const struct search_result *r)
{
    int term = worst_term(slo, r);
    struct buf line;

    if (r->step == SEARCH_LOOK) {
        log_note("           %.6g/s in a closed loop", r->throughput_rps);
        return;
    }
    buf_init(&line, MAX_LINE);
    if (r->discarded)
        buf_addf(&line, "discarded: %s", r->discarded);
    else
        buf_adds(&line, search_is_met(slo, r) ? "met" : "missed");
    buf_addf(&line, "%s, %.6g/s completed",
             r->is_overloaded ? ", overloaded" : "", r->completed_rps);
    if (term >= 0)
        buf_addf(&line, ", %.3g%% missed '%s'",
                 100 * (double)r->terms[term].misses / (double)r->terms[term].n,
                 slo->terms[term].text);
    log_note("           %s", buf_text(&line));
    buf_fini(&line);
}

/* ---- one probe ---- */

static bool is_enough(void *arg, const struct run_look *look)
{
    struct probe_progress sight = {.start_ns = look->start_ns,
                                   .rows = look->rows,
                                   .n = look->n,
                                   .issued = look->issued,
                                   .issued_ns = look->issued_ns,
                                   .followed_ns = look->followed_ns};

    return probe_watch_see(arg, &sight);
}

static void add_time(struct strlist *over, const char *key, int64_t ns)
{
    char text[UNITS_TEXT];
    char *assignment = xasprintf("%s=%s", key, units_print_duration(ns, text));

    strlist_add(over, assignment);
    free(assignment);
}

static void end_eye(struct state *state)
{
    if (state->has_eye)
        probe_watch_fini(&state->eye);
    state->has_eye = false;
}

/* The overrides of a closed loop.  False: the settings do not allow one. */
static bool can_look(const struct study_arm *arm, const struct search_ask *ask,
                     struct strlist *over)
{
    struct settings tried = {0};
    struct err ignored = {0};
    char *clients = xasprintf("load.clients=%.0f", ask->value);
    char *requests = xasprintf("load.requests=%lld", (long long)ask->requests);
    bool can;

    strlist_add(over, "load.scenario=closed");
    strlist_add(over, clients);
    strlist_add(over, requests);
    add_time(over, "load.duration", ask->window_ns);
    add_time(over, "load.warmup", 0);
    free(clients);
    free(requests);
    can = arm->settings.load.scenario == SCENARIO_SERVER &&
          study_settings(&arm->source, over, &tried, &ignored) == 0;
    settings_fini(&tried);
    return can;
}

static void add_load(const struct study_arm *arm, const struct search_ask *ask,
                     struct strlist *over)
{
    char *value = study_assignment(&arm->set, ask->value);

    strlist_add(over, value);
    strlist_add(over, "load.stop=end");
    add_time(over, "load.duration", ask->window_ns);
    add_time(over, "load.warmup", ask->warmup_ns);
    free(value);
}

static int next(struct study_arm *arm, struct study_shot *shot, struct err *err)
{
    static const enum point_role roles[] = {[SEARCH_PROBE] = POINT_PROBE,
                                            [SEARCH_CONFIRM] = POINT_CONFIRM,
                                            [SEARCH_LOOK] = POINT_LOOK};
    struct state *state = arm->state;
    struct search_answer so_far;
    struct search_ask ask;

    search_next(&state->machine, &ask);
    if (ask.step == SEARCH_LOOK && !can_look(arm, &ask, &shot->overrides)) {
        strlist_fini(&shot->overrides);
        state->machine.config.no_look = true;
        search_next(&state->machine, &ask);
    }
    if (ask.step == SEARCH_DONE)
        return 0;
    search_answer(&state->machine, &so_far);
    shot->i = arm->set.len;
    study_set_add(&arm->set, roles[ask.step], ask.value);
    shot->met = so_far.met_to;
    shot->missed = so_far.missed_from;
    put_title(arm, &ask, &so_far, shot);
    if (ask.step == SEARCH_LOOK)
        return 1;
    add_load(arm, &ask, &shot->overrides);
    shot->is_after_backlog =
        state->last.ended_early || state->last.is_overloaded;
    end_eye(state);
    state->has_eye = true;
    state->judge =
        (struct run_judge){.is_enough = is_enough, .arg = &state->eye};
    shot->judge = ask.may_end_early ? &state->judge : NULL;
    return probe_watch_init(&state->eye, &state->machine, &ask, &state->terms,
                            &arm->settings.classes, err)
               ? -1
               : 1;
}

static int note(struct study_arm *arm, const struct study_shot *shot,
                struct err *err)
{
    struct state *state = arm->state;

    if (read_back(arm, shot->i, err))
        return -1;
    note_result(&state->terms.slo, &state->last);
    return 0;
}

static void lost(struct study_arm *arm, const struct study_shot *shot)
{
    feed_lost(arm, shot->i);
}

/* Probes differ in length, and the machine knows them. */
static int64_t left_ns(const struct study_arm *arm)
{
    const struct state *state = arm->state;
    struct search_answer so_far;

    search_answer(&state->machine, &so_far);
    return so_far.left_ns;
}

static int sum_up(const char *dir, struct buf *out, struct err *err)
{
    struct search_summary s;
    int rc = search_read(&s, dir, NULL, err);

    if (rc == 0)
        doc_put(search_doc(&s), DOC_AS_JSON, out);
    search_summary_fini(&s);
    return rc;
}

static void fini(struct study_arm *arm)
{
    struct state *state = arm->state;

    end_eye(state);
    if (state->has_machine)
        search_fini(&state->machine);
}

const struct study_policy study_search = {
    .name = "search",
    .one = "a probe",
    .kind = STUDY_SEARCH,
    .state_size = sizeof(struct state),
    .plan = plan,
    .resume = take_recorded,
    .next = next,
    .note = note,
    .lost = lost,
    .left_ns = left_ns,
    .sum_up = sum_up,
    .fini = fini,
};
