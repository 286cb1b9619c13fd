#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/study_drive.h"
#include "cli/study_report.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/units.h"
#include "study/search_study.h"

/* Where nothing may be missed, everything is too much. */
#define TINY 1e-9

struct drive {
    struct study_drive study;
    struct search_drive search;
};

/* ---- what to do ---- */

/* A guess that nobody has given: any will do to read the settings. */
static double start_of(const struct settings *s)
{
    if (s->search.start > 0)
        return s->search.start;
    return s->search.by == VARY_RATE ? s->load.rate_rps
                                     : (double)s->load.clients;
}

/* Half a client is the check's to refuse, not the load's. */
static double first_load(const struct search_settings *s, double start)
{
    double load = start > 0 ? start : 1;

    return s->by == VARY_RATE ? load : ceil(load);
}

/* The settings may not stand without a load, which the search gives them. */
static int read_base(struct study_drive *d, struct err *err)
{
    struct settings_args a;
    struct strlist over = {0};
    double start = 0;
    int rc = study_read_first(&d->make, d->own, &a, err);

    if (rc == 0) {
        char *text;

        start = start_of(&a.settings);
        snprintf(d->set.key, sizeof(d->set.key), "%s",
                 a.settings.search.by == VARY_RATE ? "load.rate"
                                                   : "load.clients");
        text =
            points_assignment(&d->set, first_load(&a.settings.search, start));
        strlist_add(&over, text);
        strlist_add(&over, "load.stop=end");
        free(text);
    }
    settings_args_fini(&a);
    if (rc == 0)
        rc = study_read(&d->make, &over, &d->base, err);
    if (rc == 0)
        d->base.settings.search.start = start;
    strlist_fini(&over);
    return rc;
}

/* Anything but how much time it may take must be as it was. */
static void hash_settings(struct study_drive *d)
{
    int64_t budget_ns = d->base.settings.search.budget_ns;

    d->set.budget_ns = budget_ns;
    d->base.settings.search.budget_ns = 0;
    study_hash(&d->base.settings, d->set.settings_hash);
    d->base.settings.search.budget_ns = budget_ns;
}

/* ---- progress ---- */

static void put_load(const struct drive *d, double value, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "%s%s", units_show_number(value, text),
             d->search.config.by == SEARCH_RATE ? "/s"
             : value > 1                        ? " clients"
                                                : " client");
}

static void put_known(const struct drive *d, const struct search_answer *a,
                      struct buf *out)
{
    if (isfinite(a->at_least) || isfinite(a->at_most))
        buf_adds(out, "; so far ");
    if (isfinite(a->at_least)) {
        buf_adds(out, "met at ");
        put_load(d, a->at_least, out);
    }
    if (isfinite(a->at_most)) {
        buf_adds(out, isfinite(a->at_least) ? ", missed at " : "missed at ");
        put_load(d, a->at_most, out);
    }
    if (isfinite(a->capacity)) {
        buf_adds(out, ", about ");
        put_load(d, a->capacity, out);
    }
    if (a->discarded > 0)
        buf_addf(out, "; %zu discarded", a->discarded);
}

static void put_time(int64_t ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, units_show_span(ns, text));
}

static void put_left(const struct drive *d, const struct search_answer *a,
                     struct buf *out)
{
    int64_t budget_ns = d->search.config.budget_ns;
    int64_t left_ns = a->left_ns;

    if (budget_ns > 0 && (left_ns == 0 || left_ns > budget_ns - a->took_ns))
        left_ns = budget_ns > a->took_ns ? budget_ns - a->took_ns : 0;
    put_time(a->took_ns, out);
    buf_adds(out, " gone");
    if (left_ns > 0) {
        buf_adds(out, ", about ");
        put_time(left_ns, out);
        buf_adds(out, " left");
    }
}

/* As their directories are numbered. */
static size_t count_made(const struct search *s, enum search_step step)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].step == step;
    return n;
}

static void say_before(void *arg, const struct search_ask *ask,
                       const struct search_answer *so_far)
{
    struct drive *d = arg;
    struct buf line;

    buf_init(&line, sizeof(d->study.make.title) - 1);
    if (d->study.lane)
        buf_addf(&line, "%s; ", d->study.lane);
    buf_addf(&line,
             "%s-%zu: ", ask->step == SEARCH_CONFIRM ? "confirm" : "probe",
             1 + count_made(&d->search.machine, ask->step));
    put_load(d, ask->value, &line);
    buf_adds(&line, " for ");
    put_time(ask->window_ns, &line);
    buf_addf(&line, " (%s)", search_why_name(ask->why));
    put_known(d, so_far, &line);
    buf_adds(&line, "; ");
    put_left(d, so_far, &line);
    snprintf(d->study.make.title, sizeof(d->study.make.title), "%s",
             buf_text(&line));
    log_note("%s", d->study.make.title);
    buf_fini(&line);
}

/* The term of which most was missed beside what it allows; -1: of none is
 * anything known. */
static int worst_term(const struct slo *slo, const struct search_result *r)
{
    double most = -1;
    int worst = -1;

    for (size_t i = 0; i < r->n_terms; i++) {
        double allowed = search_allowed(&slo->terms[i]);
        const struct search_counts *c = &r->terms[i];
        double part;

        if (allowed < 0 || c->n == 0)
            continue;
        part = (double)c->misses / fmax(allowed, TINY) / (double)c->n;
        if (part > most) {
            most = part;
            worst = (int)i;
        }
    }
    return worst;
}

/* By the verdict of its run a probe may be invalid, and count all the same: it
 * is said what the search takes it for. */
static void say_after(void *arg, const struct search_result *r)
{
    const struct drive *d = arg;
    const struct slo *slo = &d->search.terms.slo;
    int term = worst_term(slo, r);
    struct buf line;

    buf_init(&line, sizeof(d->study.make.title));
    if (r->discarded)
        buf_addf(&line, "discarded: %s", r->discarded);
    else
        buf_adds(&line, search_is_met(slo, r) ? "met" : "missed");
    buf_addf(&line, "%s, %.6g/s done", r->is_overloaded ? ", overloaded" : "",
             r->throughput_rps);
    if (term >= 0)
        buf_addf(&line, ", %.3g%% missed '%s'",
                 100 * (double)r->terms[term].misses / (double)r->terms[term].n,
                 slo->terms[term].text);
    log_note("           %s", buf_text(&line));
    buf_fini(&line);
}

/* ---- doing it ---- */

static struct drive *of(struct study_drive *study)
{
    return (struct drive *)study; /* it begins with it */
}

static int prepare(struct study_drive *study, struct err *err)
{
    struct search_drive *search = &of(study)->search;
    struct settings *s = &study->base.settings;
    int rc = read_base(study, err);

    if (rc)
        return rc;
    if (search_terms_of(s, &search->terms, err))
        return settings_args_blame(&study->base, err);
    search->config = search_config_of(s, &search->terms);
    if (search_check_budget(&search->config, err))
        return settings_args_blame(&study->base, err);
    hash_settings(study);
    search->settings = s;
    search->before = say_before;
    search->after = say_after;
    search->arg = of(study);
    study->make.is_silent = true;
    return 0;
}

static int feed(struct study_drive *study, struct err *err)
{
    struct search_drive *search = &of(study)->search;

    search->points = study->points;
    return search_drive_init(search, err);
}

static int step(struct study_drive *study, struct err *err)
{
    return search_step(&of(study)->search, err);
}

/* Probes are of many lengths, and the machine knows them. */
static int64_t left_ns(const struct study_drive *study, int64_t each_ns)
{
    const struct drive *d = (const struct drive *)study;
    struct search_answer so_far;

    (void)each_ns;
    search_answer(&d->search.machine, &so_far);
    return so_far.left_ns;
}

static void fini(struct study_drive *study)
{
    search_drive_fini(&of(study)->search);
}

static const struct study_ops ops = {
    .name = "search",
    .one = "a probe",
    .kind = STUDY_SEARCH,
    .block = BLOCK_SEARCH,
    .size = sizeof(struct drive),
    .prepare = prepare,
    .open = feed,
    .step = step,
    .left_ns = left_ns,
    .report = search_report,
    .sum_up = search_sum_up,
    .fini = fini,
};

static int run(const char *const *argv, struct err *err)
{
    return study_drive(&ops, argv, err);
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block_search, &settings_args_block, &block_top,
    &block_target,      &block_load,   &block_trace,         &block_data,
    &block_client,      &block_study,  &block_cost,          NULL,
};

const struct command cmd_search = {
    .name = "search",
    .usage = "SETTINGS|URL --slo TERM [FLAGS]",
    .help = "find the largest load that meets the SLO, with an interval",
    .run = run,
    .blocks = blocks,
};
