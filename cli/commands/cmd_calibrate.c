#include <jansson.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/spec/calibration.h"
#include "common/text/json.h"
#include "common/text/units.h"
#include "study/calibrate.h"

#define MAX_TEXT 65536

struct calibrate_args {
    bool quick;
    int transport;
    bool show;
    bool json;
    bool quiet;
};

enum { EVERY_TRANSPORT };

/* "all", then enum calibrated. */
static const char *const choices[] = {"all",   "native", "tls",
                                      "http2", "curl",   NULL};

#define AT(field) offsetof(struct calibrate_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("quick", switch, quick),
     .help = "take about 10 s per transport, with less certainty"},
    {FLAG("transport", choice, transport), .names = choices, .initial = "all",
     .help = "calibrate only this transport and keep the others' results"},
    {FLAG("show", switch, show),
     .help = "print the saved calibration and whether it applies here"},
    {FLAG("json", switch, json),
     .help = "print JSON instead of text"},
    {FLAG("quiet", switch, quiet), .letter = 'q',
     .help = "do not print progress"},
};
/* clang-format on */

static const struct opt_block block = {"calibrate", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* ---- what is known ---- */

static const char *show_ns(int64_t ns, char out[static UNITS_TEXT])
{
    return ns >= 0 ? units_show_duration((double)ns, out) : "not known";
}

static void put_transport(const char *name,
                          const struct calibrated_transport *t, struct buf *out)
{
    static const char *const why[] = {
        [LIMIT_CLIENT] = "",
        [LIMIT_STUB] = " (the stub was the limit)",
        [LIMIT_SEARCH] = " (higher rates were not tried)",
    };
    char a[UNITS_TEXT];
    char b[UNITS_TEXT];

    if (t->max_rate_rps > 0)
        buf_addf(out, "%-10s reliable up to %s%s%s", name,
                 calibration_is_at_least(t) ? "at least " : "",
                 units_show_rate(t->max_rate_rps, a), why[t->limit]);
    else
        buf_addf(out, "%-10s NOT trusted: %s", name, calibration_no_rate(t));
    buf_addf(out, "; %scalibrated %s%s\n", t->is_quick ? "quickly " : "",
             t->date,
             t->is_disturbed ? ", while other processes used the machine" : "");
    buf_addf(out, "           floor %s from due, %s from sent\n",
             show_ns(t->floor_ns, a), show_ns(t->floor_sent_ns, b));
    buf_addf(out, "           lag at 1k/s p50 %s, p99 %s",
             show_ns(t->lag_p50_ns, a), show_ns(t->lag_p99_ns, b));
    buf_addf(out, "; with --spin 80us p50 %s, p99 %s\n",
             show_ns(t->spin_lag_p50_ns, a), show_ns(t->spin_lag_p99_ns, b));
}

/* `stale`: "" if it applies here, NULL if that is not asked. */
static void put_json(const struct calibration *c, const char *stale,
                     struct buf *out)
{
    json_t *json = calibration_to_json(c);

    if (stale) {
        json_object_set_new(json, "applies", json_boolean(!stale[0]));
        json_object_set_new(json, "stale",
                            stale[0] ? json_string(stale) : json_null());
    }
    json_print(json, out);
    json_decref(json);
}

static void put_text(const struct calibration *c, const char *stale,
                     struct buf *out)
{
    buf_addf(out, "host       %s, %lld CPUs, kernel %s, tailgate %s\n",
             c->place.host, (long long)c->place.cpus, c->place.kernel,
             c->place.version);
    for (int i = 0; i < CALIBRATED_COUNT; i++) {
        if (c->transports[i].date[0])
            put_transport(calibrated_names[i], &c->transports[i], out);
    }
    buf_adds(out, "note       client and stub shared the machine, so this is a "
                  "lower bound\n");
    if (stale && stale[0])
        buf_addf(out, "applies    no, it is stale: %s\n", stale);
    else if (stale)
        buf_adds(out, "applies    yes\n");
}

static int print(const struct calibration *c, const char *stale, bool json,
                 int status, struct err *err)
{
    struct buf out;

    buf_init(&out, MAX_TEXT);
    (json ? put_json : put_text)(c, stale, &out);
    status = cli_print_report(&out, status, err);
    buf_fini(&out);
    return status;
}

/* 1: there is one, and `stale` says why it does not apply here (""); 0: there
 * is none; -1. */
static int load(struct calibration *c, char stale[static CALIBRATION_TEXT],
                struct err *err)
{
    const struct calibration_place here = calibration_here();
    int rc = calibration_load(c, err);

    stale[0] = '\0';
    if (rc == 1)
        calibration_differs(&c->place, &here, stale);
    return rc;
}

static int show(bool json, struct err *err)
{
    struct calibration c;
    char stale[CALIBRATION_TEXT];
    int rc = load(&c, stale, err);

    if (rc > 0)
        return print(&c, stale, json, stale[0] ? EXIT_NO : EXIT_YES, err);
    if (rc == 0)
        log_error("there is no calibration; make one with 'tailgate "
                  "calibrate'");
    return rc < 0 ? -1 : EXIT_NO;
}

/* ---- measuring ---- */

static void say(const char *line)
{
    log_note("%s", line);
}

static int measure(const struct calibrate_args *a, struct err *err)
{
    struct calibrate_options options = {.is_quick = a->quick, .say = say};
    char stale[CALIBRATION_TEXT];
    struct err ignored = {0};
    struct calibration c;
    int status = EXIT_YES;
    int stopped_by;
    int measured;
    char *path;
    int rc;

    for (int i = 0; i < CALIBRATED_COUNT; i++)
        options.wants[i] =
            a->transport == EVERY_TRANSPORT || a->transport == i + 1;
    if (calibration_prepare(err))
        return -1;
    /* What is known of a transport that is not measured is kept, if it applies.
     */
    if (load(&c, stale, &(struct err){0}) <= 0 || stale[0])
        c = (struct calibration){0};
    stop_catch_signals();
    rc = calibrate(&options, &c, &measured, &stopped_by, err);
    /* What is finished is kept, whatever ended the rest. */
    if (measured > 0 && calibration_save(&c, rc ? &ignored : err))
        rc = -1;
    for (int i = 0; i < CALIBRATED_COUNT; i++) {
        if (options.wants[i] && !(c.transports[i].max_rate_rps > 0))
            status = EXIT_INVALID;
    }
    if (stopped_by)
        status = EXIT_SIGNAL + stopped_by;
    if (rc || measured == 0)
        return rc ? -1 : status;
    path = calibration_path(err);
    log_note("saved to   %s", path);
    free(path);
    return print(&c, NULL, a->json, status, err);
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    const struct calibrate_args *a = args;

    if (words->len > 0)
        return err_set(err, ERR_USAGE, "calibrate takes only flags, not '%s'",
                       words->items[0]);
    if (a->quiet)
        log_set_level(LOG_QUIET);
    return a->show ? show(a->json, err) : measure(a, err);
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_calibrate = {
    .name = "calibrate",
    .usage = "[FLAGS]",
    .help = "measure what this client can do reliably on this machine",
    .answer = answer,
    .args_size = sizeof(struct calibrate_args),
    .blocks = blocks,
};
