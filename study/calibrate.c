#include "study/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "study/ceiling.h"
#include "study/child.h"

#define MAX_LINE  256
#define MAX_STUBS 8

/* A client at its limit spends this share of its time on a CPU. */
#define BUSY 0.5

#define FLOOR_RPS 200.0
#define LAG_RPS   1000.0
#define SPIN_NS   (80 * NS_PER_US)

/* An answer as late as this is a failure: without it a probe at twice what the
 * client can do would take twice its time. */
#define TIMEOUT_NS (250 * NS_PER_MS)

/* An idle stub has a handful in flight.  More would only use up ports. */
#define MAX_IN_FLIGHT 2048

/* Often enough for several observations in a window of under a second. */
#define OBSERVE_NS (100 * NS_PER_MS)

/* Share of the requests that may fail. */
#define MAX_FAILED 0.001

/* A probe takes this in addition to its window: its start, and what is late. */
#define PROBE_EXTRA_NS (500 * NS_PER_MS)

/* How much time there is. */
struct effort {
    struct ceiling_plan plan;
    int64_t warmup_ns;
    int64_t still_ns;  /* window of what is measured at a low rate */
    int64_t window_ns; /* of a probe for the ceiling */
    int64_t budget_ns; /* for one transport in total: no probe is started that
                          may not end within it */
};

/* The window of a probe holds more than half a second between two observations
 * of the client, which are needed to know how busy it was; 300 requests bound a
 * p99. */
static const struct effort quick = {
    .plan = {.min_rps = 1000,
             .start_rps = 8000,
             .max_rps = 1e6,
             .bisections = 2},
    .warmup_ns = 100 * NS_PER_MS,
    .still_ns = 450 * NS_PER_MS,
    .window_ns = 700 * NS_PER_MS,
    .budget_ns = 8500 * NS_PER_MS,
};

static const struct effort thorough = {
    .plan = {.min_rps = 1000,
             .start_rps = 4000,
             .max_rps = 1e6,
             .bisections = 4},
    .warmup_ns = 300 * NS_PER_MS,
    .still_ns = 1500 * NS_PER_MS,
    .window_ns = 1500 * NS_PER_MS,
    .budget_ns = 35 * NS_PER_S,
};

struct work {
    const struct calibrate_options *options;
    const struct effort *effort;
    struct child stubs[MAX_STUBS]; /* requests take turns among them */
    size_t n_stubs;
    enum calibrated which; /* the transport that is measured */
    int64_t deadline_ns;
    int stopped_by;
};

static void say(const struct work *w, struct buf *line)
{
    if (w->options->say)
        w->options->say(buf_text(line));
    buf_fini(line);
}

/* ---- one probe: a short run that is judged and forgotten ---- */

struct probe {
    double rate_rps;
    int64_t window_ns;
    int64_t spin_ns;
};

static int make_settings(const struct work *w, const struct probe *p,
                         struct settings *s, struct err *err)
{
    for (size_t i = 0; i < w->n_stubs; i++)
        strlist_add(&s->target.urls, w->stubs[i].url);
    s->target.transport =
        w->which == CALIBRATED_CURL ? TRANSPORT_CURL : TRANSPORT_NATIVE;
    s->target.http2 = w->which == CALIBRATED_HTTP2;
    s->target.insecure = calibrated_has_tls(calibrated_names[w->which]);
    s->target.timeout_ns = TIMEOUT_NS;
    s->load.rate_rps = p->rate_rps;
    s->load.warmup_ns = w->effort->warmup_ns;
    s->load.duration_ns = p->window_ns;
    s->client.max_in_flight = MAX_IN_FLIGHT;
    s->client.spin_ns = p->spin_ns;
    return settings_assign(s, "target.metrics=off", err) ||
                   settings_resolve(s, err)
               ? -1
               : 0;
}

static void read_cpu(const struct work *w, int64_t cpu_ns[static MAX_STUBS])
{
    for (size_t i = 0; i < w->n_stubs; i++)
        cpu_ns[i] = clk_process_cpu_ns(w->stubs[i].pid);
}

static int judge_recording(const char *dir, struct probe_result *r,
                           struct err *err)
{
    const struct spread *lag;
    const struct spread *e2e;
    const struct check *busy;
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0) {
        e2e = s.spread[MEASURE_E2E];
        lag = &s.spread[MEASURE_LAG][VIEW_DUE];
        busy = trust_find(&s.trust, "busy");
        r->e2e_p50_ns = e2e[VIEW_DUE].quantile_ns[0];
        r->sent_p50_ns = e2e[VIEW_SENT].quantile_ns[0];
        r->lag_p50_ns = lag->quantile_ns[0];
        r->lag_p99_ns = lag->quantile_ns[3];
        r->client_share = busy ? busy->value / 100 : 0;
        for (size_t i = 0; i < s.trust.len && !r->reason[0]; i++) {
            if (s.trust.checks[i].is_fatal && !s.trust.checks[i].ok)
                r->reason = s.trust.checks[i].name;
        }
        if (!r->reason[0] &&
            (s.ok == 0 || (double)s.failed > MAX_FAILED * (double)s.issued))
            r->reason = "failures";
        r->is_trusted = !r->reason[0];
    }
    summary_fini(&s);
    recording_close(&rec);
    return rc;
}

static int record_probe(const struct work *w, const struct settings *s,
                        const char *dir, struct probe_result *r,
                        struct err *err)
{
    struct run_options options = {.dir = dir, .observe_ns = OBSERVE_NS};
    int64_t begun_ns = clk_now(&clk_monotonic);
    int64_t before[MAX_STUBS];
    int64_t after[MAX_STUBS];
    struct run_end end = {0};
    struct run_plan plan;
    double span_ns;
    int rc;

    read_cpu(w, before);
    run_plan_init(&plan, s);
    rc = run_load(&plan, &options, &end, err);
    run_plan_fini(&plan);
    read_cpu(w, after);
    span_ns = (double)(clk_now(&clk_monotonic) - begun_ns);
    for (size_t i = 0; i < w->n_stubs; i++) {
        double share = (double)(after[i] - before[i]) / span_ns;

        if (before[i] != TIME_ABSENT && after[i] != TIME_ABSENT &&
            share > r->stub_share)
            r->stub_share = share;
    }
    r->stopped_by = (int)end.stopped_by;
    return rc || r->stopped_by ? rc : judge_recording(dir, r, err);
}

/* The recording is in a directory of its own below $TMPDIR or /tmp, and is
 * removed.  1: measured; 0: a signal came; -1. */
static int run_probe(struct work *w, const struct probe *p,
                     struct probe_result *r, struct err *err)
{
    const char *where = getenv("TMPDIR");
    struct err ignored = {0};
    struct settings s;
    char *dir;
    int rc;

    *r = (struct probe_result){.reason = ""};
    w->stopped_by = atomic_load(&stop_signal);
    if (w->stopped_by)
        return 0;
    dir = xasprintf("%s/tailgate-probe-XXXXXX",
                    where && where[0] ? where : "/tmp");
    if (!mkdtemp(dir)) {
        err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
        free(dir);
        return -1;
    }
    settings_init(&s);
    rc = make_settings(w, p, &s, err);
    if (rc == 0)
        rc = record_probe(w, &s, dir, r, err);
    settings_fini(&s);
    if (recording_remove(dir, rc ? &ignored : err))
        rc = -1;
    free(dir);
    w->stopped_by = r->stopped_by;
    return rc ? -1 : !w->stopped_by;
}

/* ---- one transport ---- */

static void say_still(const struct work *w, const char *what, int64_t ns)
{
    char text[UNITS_TEXT];
    struct buf line;

    buf_init(&line, MAX_LINE);
    buf_addf(&line, "%-6s %s %s", calibrated_names[w->which], what,
             ns >= 0 ? units_show_duration((double)ns, text) : "not known");
    say(w, &line);
}

/* At rates that every client manages. */
static int measure_still(struct work *w, struct calibrated_transport *out,
                         struct err *err)
{
    struct probe p = {.window_ns = w->effort->still_ns, .rate_rps = FLOOR_RPS};
    struct probe_result r;
    int rc = run_probe(w, &p, &r, err);

    if (rc <= 0)
        return rc;
    out->floor_ns = r.e2e_p50_ns;
    out->floor_sent_ns = r.sent_p50_ns;
    say_still(w, "latency floor", r.e2e_p50_ns);

    p.rate_rps = LAG_RPS;
    rc = run_probe(w, &p, &r, err);
    if (rc <= 0)
        return rc;
    out->lag_p50_ns = r.lag_p50_ns;
    out->lag_p99_ns = r.lag_p99_ns;
    say_still(w, "lag", r.lag_p50_ns);

    p.spin_ns = SPIN_NS;
    rc = run_probe(w, &p, &r, err);
    if (rc <= 0)
        return rc;
    out->spin_lag_p50_ns = r.lag_p50_ns;
    out->spin_lag_p99_ns = r.lag_p99_ns;
    say_still(w, "lag with --spin 80us", r.lag_p50_ns);
    return 0;
}

static void say_probe(const struct work *w, double rps,
                      const struct probe_result *r)
{
    char text[UNITS_TEXT];
    struct buf line;

    buf_init(&line, MAX_LINE);
    buf_addf(&line, "%-6s %8s ", calibrated_names[w->which],
             units_show_rate(rps, text));
    if (r->is_trusted)
        buf_adds(&line, "trusted");
    else
        buf_addf(&line, "NOT trusted: %s%s", r->reason,
                 probe_is_stub_limited(r) ? "; the stub was the limit" : "");
    buf_addf(&line, " (client %.0f%%, stub %.0f%% of a CPU)",
             100 * r->client_share, 100 * r->stub_share);
    say(w, &line);
}

static bool has_time(const struct work *w)
{
    const struct effort *e = w->effort;

    return clk_now(&clk_monotonic) + e->warmup_ns + e->window_ns +
               PROBE_EXTRA_NS <=
           w->deadline_ns;
}

static int find_ceiling(struct work *w, struct calibrated_transport *out,
                        struct err *err)
{
    struct probe p = {.window_ns = w->effort->window_ns};
    double share = 1; /* of the client, when it failed last */
    struct ceiling c;
    struct buf line;

    ceiling_init(&c, &w->effort->plan);
    while (ceiling_next(&c, &p.rate_rps) && has_time(w)) {
        struct probe_result r;
        int rc = run_probe(w, &p, &r, err);

        if (rc <= 0)
            return rc;
        say_probe(w, p.rate_rps, &r);
        if (!r.is_trusted)
            share = r.client_share;
        ceiling_note(&c, r.is_trusted                ? FOUND_PASSED
                         : probe_is_stub_limited(&r) ? FOUND_STUB
                                                     : FOUND_CLIENT);
    }
    out->max_rate_rps = c.low_rps;
    out->limit = c.low_rps > 0    ? c.limit
                 : c.is_min_tried ? LIMIT_CLIENT
                                  : LIMIT_SEARCH;
    /* Late although idle: something else had the CPU. */
    out->is_disturbed =
        (out->limit == LIMIT_CLIENT || c.low_rps <= 0) && share < BUSY;
    if (out->is_disturbed) {
        buf_init(&line, MAX_LINE);
        buf_addf(&line,
                 "%-6s the client was late although only %.0f%% busy: other "
                 "processes use this machine, so the measured limit is too low",
                 calibrated_names[w->which], 100 * share);
        say(w, &line);
    }
    return 0;
}

static int measure(struct work *w, struct calibrated_transport *out,
                   struct err *err)
{
    *out = (struct calibrated_transport){.is_quick = w->options->is_quick};
    clk_format_utc(clk_realtime_ns(), CLK_TEXT_FORMAT, out->date,
                   sizeof(out->date));
    w->deadline_ns = clk_now(&clk_monotonic) + w->effort->budget_ns;
    if (measure_still(w, out, err))
        return -1;
    return w->stopped_by ? 0 : find_ceiling(w, out, err);
}

/* ---- the stubs ---- */

/* A stub costs about as much per request as the native client does, so the
 * stubs get half of the cores. */
static int start_stubs(struct work *w, struct err *err)
{
    long half = sysconf(_SC_NPROCESSORS_ONLN) / 2;
    size_t n = half < 1 ? 1 : half > MAX_STUBS ? MAX_STUBS : (size_t)half;
    struct settings s;
    int rc = 0;

    settings_init(&s);
    if (calibrated_has_tls(calibrated_names[w->which]))
        rc = settings_assign(&s, "stub.tls=self-signed", err);
    while (rc == 0 && w->n_stubs < n) {
        rc = child_start_stub(&w->stubs[w->n_stubs], &s, NULL, err);
        if (rc == 0)
            w->n_stubs++;
    }
    settings_fini(&s);
    return rc;
}

static int stop_stubs(struct work *w, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < w->n_stubs; i++) {
        if (child_stop(&w->stubs[i], err))
            rc = -1;
    }
    w->n_stubs = 0;
    return rc;
}

int calibrate(const struct calibrate_options *options, struct calibration *out,
              int *measured, int *stopped_by, struct err *err)
{
    struct work w = {.options = options,
                     .effort = options->is_quick ? &quick : &thorough};
    struct err ignored = {0};
    int rc = 0;

    out->place = calibration_here();
    *measured = 0;
    for (int i = 0; rc == 0 && !w.stopped_by && i < CALIBRATED_COUNT; i++) {
        struct calibrated_transport found;

        if (!options->wants[i])
            continue;
        w.which = (enum calibrated)i;
        rc = start_stubs(&w, err);
        if (rc == 0)
            rc = measure(&w, &found, err);
        if (rc == 0 && !w.stopped_by) {
            out->transports[i] = found;
            ++*measured;
        }
        if (stop_stubs(&w, rc ? &ignored : err))
            rc = -1;
    }
    *stopped_by = atomic_load(&stop_signal);
    return *stopped_by ? 0 : rc;
}
