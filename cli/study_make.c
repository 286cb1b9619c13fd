#include "cli/study_make.h"

#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "study/study_point.h"
#include "study/study_points.h"
#include "study/trials_study.h"

/* For the server to work off what a probe has left. */
#define CALM_NS (120 * NS_PER_S)

int study_read_first(struct study_make *m, struct record_args *own,
                     struct settings_args *a, struct err *err)
{
    const struct settings_more more = {.block = m->block};
    const struct opt_set sets[] = {{&record_args_block, own}, {0}};

    if (settings_args_parse_study(a, sets, &more, m->argv, err))
        return -1;
    if (own->quiet)
        log_set_level(LOG_QUIET);
    if (record_args_check_resume(own, err))
        return -1;
    m->how = (struct record_how){.argv = m->argv,
                                 .quiet = own->quiet,
                                 .no_colour = own->no_colour,
                                 .wait_ready_ns = own->wait_ready_ns};
    return 0;
}

int study_read(const struct study_make *m, const struct strlist *over,
               struct settings_args *a, struct err *err)
{
    const struct settings_more more = {
        .block = m->block, .over = over, .variant = m->variant};
    struct record_args ignored; /* the command's own flags were read before */
    const struct opt_set sets[] = {{&record_args_block, &ignored}, {0}};
    int rc;

    opt_init(&sets[0]);
    rc = settings_args_read_study(a, sets, &more, m->argv, err);
    opt_fini(&sets[0]);
    return rc;
}

static int note_result(void *arg, const struct summary *s, struct err *err)
{
    (void)arg;
    (void)err;
    log_note("           %s%s, %.6g/s done, attainment %.6g%%",
             verdict_name(s->verdict),
             summary_is_overloaded(s) ? ", overloaded" : "", s->throughput_rps,
             100 * s->attainment);
    return 0;
}

/* A server that is started anew has nothing to work off. */
static int wait_calm(const struct study_make *m, const struct point *point,
                     struct err *err)
{
    struct settings_args a;
    int rc = study_read(m, point->set, &a, err);

    if (rc == 0 && points_launched_by(&a.settings) == LAUNCHED_ONCE)
        rc = point_wait_calm(a.settings.classes.len > 0
                                 ? a.settings.classes.items[0].settings
                                 : &a.settings,
                             CALM_NS, err);
    settings_args_fini(&a);
    return rc;
}

int study_make_point(void *arg, const struct point *point, struct err *err)
{
    struct study_make *m = arg;
    struct settings_args a;
    int rc = point->is_after_backlog ? wait_calm(m, point, err) : 0;

    if (rc)
        return -1;
    rc = study_read(m, point->set, &a, err);

    m->how.judge = point->judge;
    m->how.title = m->title[0] ? m->title : NULL;
    if (rc == 0) {
        trial_reseed(&a.settings, point->number);
        rc = record(&a, &m->how, point->dir, err);
        m->how.is_again = true;
    }
    if (rc == 0)
        rc = point_sum_up(point->dir, m->is_silent ? NULL : note_result, NULL,
                          err);
    settings_args_fini(&a);
    return rc;
}
