#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lanes.h"
#include "cli/study_make.h"
#include "cli/study_report.h"
#include "common/buf.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/recording/studydir.h"
#include "common/stop.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "study/points.h"
#include "study/search.h"

struct drive {
    struct study_args *own;
    struct study_make make;
    struct settings_args base; /* at the start, as used */
    struct point_set set;
    struct search_drive search;
    char *dir;
    const char *lane; /* whose turn it is, of several variants; NULL: of none */
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

/* The settings may not stand without a load, which the search gives them. */
static int read_base(struct drive *d, struct err *err)
{
    struct settings_args a;
    struct strlist over = {0};
    double start = 0;
    int rc = study_read_first(&d->make, d->own, &a, err);

    d->set.kind = STUDY_SEARCH;
    if (rc == 0) {
        char *text;

        start = start_of(&a.settings);
        snprintf(d->set.key, sizeof(d->set.key), "%s",
                 a.settings.search.by == VARY_RATE ? "load.rate"
                                                   : "load.clients");
        text = points_assignment(&d->set, start > 0 ? start : 1);
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
static void hash_settings(struct drive *d)
{
    int64_t budget_ns = d->base.settings.search.budget_ns;

    d->base.settings.search.budget_ns = 0;
    study_hash(&d->base.settings, d->set.settings_hash);
    d->base.settings.search.budget_ns = budget_ns;
}

/* ---- progress ---- */

static void put_load(const struct drive *d, double value, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "%s%s", units_show_number(value, text),
             d->search.config.by == SEARCH_RATE ? "/s" : " clients");
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
    if (a->set_aside > 0)
        buf_addf(out, "; %zu set aside", a->set_aside);
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

static void say(void *arg, const struct search_ask *ask,
                const struct search_answer *so_far)
{
    struct drive *d = arg;
    struct buf line;

    buf_init(&line, sizeof(d->make.title) - 1);
    if (d->lane)
        buf_addf(&line, "%s; ", d->lane);
    buf_addf(&line,
             "%-10s %zu: ", ask->step == SEARCH_CONFIRM ? "confirm" : "probe",
             so_far->probes + 1);
    put_load(d, ask->value, &line);
    buf_adds(&line, " for ");
    put_time(ask->window_ns, &line);
    buf_addf(&line, " (%s)", search_why_name(ask->why));
    put_known(d, so_far, &line);
    buf_adds(&line, "; ");
    put_left(d, so_far, &line);
    snprintf(d->make.title, sizeof(d->make.title), "%s", buf_text(&line));
    log_note("%s", d->make.title);
    buf_fini(&line);
}

/* ---- doing it ---- */

static int conclude(struct drive *d, struct err *err)
{
    int rc = search_report(d->dir, NULL, d->own->json, true, err);

    if (rc >= 0)
        log_note("search     %s", d->dir);
    return rc;
}

static int prepare(struct drive *d, struct err *err)
{
    struct settings *s = &d->base.settings;
    int rc = read_base(d, err);

    if (rc == 0 && search_terms_of(s, &d->search.terms, err))
        rc = settings_args_blame(&d->base, err);
    if (rc)
        return rc;
    hash_settings(d);
    d->set.launched_by = points_launched_by(s);
    d->search.config = search_config_of(s, &d->search.terms);
    d->search.settings = s;
    d->search.no_confirm = s->search.no_confirm;
    d->search.say = say;
    d->search.arg = d;
    return 0;
}

static int open_at(struct drive *d, const char *dir, bool force, bool resumes,
                   struct err *err)
{
    d->dir = xstrdup(dir);
    d->search.points = (struct points){
        .dir = d->dir,
        .study = &d->base.settings.study,
        .set = &d->set,
        .maker = {.make = study_make_point, .arg = &d->make},
    };
    return points_open(&d->set, dir, force, resumes, err) ||
                   search_drive_init(&d->search, err)
               ? -1
               : 0;
}

static int make_all(struct drive *d, struct err *err)
{
    int rc = 1;

    stop_catch_signals();
    while (rc > 0)
        rc = search_step(&d->search, err);
    if (point_set_recorded(&d->set) == 0) {
        if (!d->own->resume)
            study_remove(d->dir, &(struct err){0});
        return rc ? rc
                  : err_set(err, ERR_STOPPED,
                            "interrupted before a probe came to its end");
    }
    if (rc) {
        conclude(d, &(struct err){0}); /* the error is what it comes to */
        return -1;
    }
    return conclude(d, err);
}

static int drive(struct drive *d, struct err *err)
{
    char *dir;
    int rc = prepare(d, err);

    if (rc)
        return -1;
    dir = d->own->out ? xstrdup(d->own->out)
                      : record_default_dir(d->base.settings.name);
    rc = open_at(d, dir, d->own->force, d->own->resume, err);
    if (rc == 0)
        rc = make_all(d, err);
    free(dir);
    return rc < 0 ? settings_args_blame(&d->base, err) : rc;
}

static void drive_fini(struct drive *d)
{
    search_drive_fini(&d->search);
    settings_args_fini(&d->base);
    point_set_fini(&d->set);
    free(d->dir);
}

/* ---- with variants ---- */

static int prepare_lane(void *arg, void *with, size_t i, struct err *err)
{
    struct drive *d = arg;
    const struct drive *from = with;

    *d = (struct drive){.own = from->own, .make = from->make};
    d->make.variant = i + 1;
    if (prepare(d, err))
        return -1;
    d->make.how.is_again = i > 0;
    return 0;
}

static int open_lane(void *arg, const char *dir, bool resumes, struct err *err)
{
    return open_at(arg, dir, false, resumes, err);
}

static size_t made(void *arg)
{
    const struct drive *d = arg;

    return point_set_recorded(&d->set);
}

static int64_t left_ns(void *arg, int64_t each_ns)
{
    const struct drive *d = arg;
    struct search_answer so_far;

    (void)each_ns; /* they are of many lengths, and the machine knows them */
    search_answer(&d->search.machine, &so_far);
    return so_far.left_ns;
}

static int step(void *arg, const char *title, struct err *err)
{
    struct drive *d = arg;

    d->lane = title;
    return search_step(&d->search, err);
}

static int sum_up(void *arg, struct err *err)
{
    const struct drive *d = arg;

    return search_sum_up(d->dir, err);
}

static void fini_lane(void *arg)
{
    drive_fini(arg);
}

static const struct lane_ops lane_ops = {
    .kind = STUDY_SEARCH,
    .size = sizeof(struct drive),
    .prepare = prepare_lane,
    .open = open_lane,
    .made = made,
    .left_ns = left_ns,
    .step = step,
    .sum_up = sum_up,
    .fini = fini_lane,
};

static int run(const char *const *argv, struct err *err)
{
    struct study_args own;
    struct opt_set set = {&study_args_block, &own};
    struct drive d = {.own = &own};
    int rc;

    opt_init(&set);
    d.make = (struct study_make){.argv = argv, .block = BLOCK_SEARCH};
    rc = study_lanes(&d.make, &own, &lane_ops, &d, err);
    if (rc == STUDY_NO_LANES)
        rc = drive(&d, err);
    drive_fini(&d);
    opt_fini(&set);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &study_args_block, &block_search, &settings_args_block, &block_top,
    &block_target,     &block_load,   &block_trace,         &block_data,
    &block_client,     &block_study,  &block_cost,          NULL,
};

const struct command cmd_search = {
    .name = "search",
    .usage = "SETTINGS|URL --slo TERM [FLAGS]",
    .help = "the largest load that meets the SLO, with an interval, confirmed",
    .run = run,
    .blocks = blocks,
};
