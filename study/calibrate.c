#include "study/calibrate.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/units.h"
#include "common/settings/settings.h"
#include "study/ceiling.h"
#include "study/child.h"
#include "study/search_probe.h"

#define MAX_LINE  256
#define MAX_STUBS 8

/* Of its time, that a client at its limit spends on a CPU. */
#define BUSY 0.5

#define FLOOR_RPS 200.0
#define LAG_RPS   1000.0
#define SPIN_NS   (80 * NS_PER_US)

/* How much time there is. */
struct effort {
    struct ceiling_plan plan;
    int64_t warmup_ns;
    int64_t still_ns;  /* window of what is measured at a low rate */
    int64_t window_ns; /* of a probe for the ceiling */
    int64_t budget_ns; /* for a transport in all: no probe begins that may not
                          end within it */
};

/* A window of a probe holds more than half a second between two looks of the
 * client at itself, or it would not know how busy it was; 300 requests bound a
 * p99. */
static const struct effort quick = {
    .plan = {.lowest_rps = 1000,
             .start_rps = 8000,
             .most_rps = 1e6,
             .bisections = 2},
    .warmup_ns = 100 * NS_PER_MS,
    .still_ns = 450 * NS_PER_MS,
    .window_ns = 700 * NS_PER_MS,
    .budget_ns = 8500 * NS_PER_MS,
};

static const struct effort thorough = {
    .plan = {.lowest_rps = 1000,
             .start_rps = 4000,
             .most_rps = 1e6,
             .bisections = 4},
    .warmup_ns = 300 * NS_PER_MS,
    .still_ns = 1500 * NS_PER_MS,
    .window_ns = 1500 * NS_PER_MS,
    .budget_ns = 35 * NS_PER_S,
};

/* Beside its window a probe takes this: its start, and what is late. */
#define PROBE_EXTRA_NS (500 * NS_PER_MS)

struct work {
    const struct calibrate_options *options;
    const struct effort *effort;
    struct child stubs[MAX_STUBS];
    size_t n_stubs;
    int64_t deadline_ns; /* of the transport that is measured */
    int stopped_by;
};

static const int transport_of[CALIBRATED_COUNT] = {
    [CALIBRATED_NATIVE] = TRANSPORT_NATIVE,
    [CALIBRATED_CURL] = TRANSPORT_CURL,
};

/* ---- progress ---- */

static void say(const struct work *w, struct buf *line)
{
    if (w->options->say)
        w->options->say(buf_text(line));
    buf_fini(line);
}

static void say_still(const struct work *w, enum calibrated which,
                      const char *what, int64_t ns)
{
    char text[UNITS_TEXT];
    struct buf line;

    buf_init(&line, MAX_LINE);
    buf_addf(&line, "%-6s %s %s", calibrated_names[which], what,
             ns >= 0 ? units_show_duration((double)ns, text) : "not known");
    say(w, &line);
}

static void say_probe(const struct work *w, enum calibrated which, double rps,
                      const struct probe_result *r)
{
    char text[UNITS_TEXT];
    struct buf line;

    buf_init(&line, MAX_LINE);
    buf_addf(&line, "%-6s %8s ", calibrated_names[which],
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

/* Late, and yet idle: somebody else had the CPU. */
static void say_unquiet(const struct work *w, enum calibrated which,
                        double client_share)
{
    struct buf line;

    buf_init(&line, MAX_LINE);
    buf_addf(&line,
             "%-6s the client was late though only %.0f%% busy: others use "
             "this machine, and its limit seems lower than it is",
             calibrated_names[which], 100 * client_share);
    say(w, &line);
}

/* ---- measuring ---- */

static int run(struct work *w, enum calibrated which, struct probe p,
               struct probe_result *r, struct err *err)
{
    p.stubs = w->stubs;
    p.n_stubs = w->n_stubs;
    p.transport = transport_of[which];
    p.warmup_ns = w->effort->warmup_ns;
    if (probe_run(&p, r, err))
        return -1;
    w->stopped_by = r->stopped_by;
    return 0;
}

/* One that anybody manages.  1: it was measured, 0: interrupted, -1. */
static int run_still(struct work *w, enum calibrated which, double rate_rps,
                     int64_t spin_ns, struct probe_result *r, struct err *err)
{
    struct probe p = {.window_ns = w->effort->still_ns,
                      .rate_rps = rate_rps,
                      .spin_ns = spin_ns};

    if (run(w, which, p, r, err))
        return -1;
    return !w->stopped_by;
}

static int measure_still(struct work *w, enum calibrated which,
                         struct calibrated_transport *out, struct err *err)
{
    struct probe_result r;
    int rc = run_still(w, which, FLOOR_RPS, 0, &r, err);

    if (rc <= 0)
        return rc;
    out->floor_ns = r.e2e_p50_ns;
    out->floor_sent_ns = r.sent_p50_ns;
    say_still(w, which, "latency floor", r.e2e_p50_ns);

    rc = run_still(w, which, LAG_RPS, 0, &r, err);
    if (rc <= 0)
        return rc;
    out->lag_p50_ns = r.lag_p50_ns;
    out->lag_p99_ns = r.lag_p99_ns;
    say_still(w, which, "lag", r.lag_p50_ns);

    rc = run_still(w, which, LAG_RPS, SPIN_NS, &r, err);
    if (rc <= 0)
        return rc;
    out->spin_lag_p50_ns = r.lag_p50_ns;
    out->spin_lag_p99_ns = r.lag_p99_ns;
    say_still(w, which, "lag with --spin 80us", r.lag_p50_ns);
    return 0;
}

static bool has_time(const struct work *w)
{
    const struct effort *e = w->effort;

    return clk_now(&clk_monotonic) + e->warmup_ns + e->window_ns +
               PROBE_EXTRA_NS <=
           w->deadline_ns;
}

static enum ceiling_found found(const struct probe_result *r)
{
    if (r->is_trusted)
        return FOUND_PASSED;
    return probe_is_stub_limited(r) ? FOUND_STUB : FOUND_CLIENT;
}

static int find_ceiling(struct work *w, enum calibrated which,
                        struct calibrated_transport *out, struct err *err)
{
    struct probe p = {.window_ns = w->effort->window_ns};
    double share = 1; /* of the client, when it failed last */
    struct ceiling c;

    ceiling_init(&c, &w->effort->plan);
    while (ceiling_next(&c, &p.rate_rps) && has_time(w)) {
        struct probe_result r;

        if (run(w, which, p, &r, err))
            return -1;
        if (w->stopped_by)
            return 0;
        say_probe(w, which, p.rate_rps, &r);
        if (!r.is_trusted)
            share = r.client_share;
        ceiling_note(&c, found(&r));
    }
    out->max_rate_rps = c.low_rps;
    out->limit = c.low_rps > 0       ? c.limit
                 : c.is_lowest_tried ? LIMIT_CLIENT
                                     : LIMIT_SEARCH;
    out->is_disturbed =
        (out->limit == LIMIT_CLIENT || c.low_rps <= 0) && share < BUSY;
    if (out->is_disturbed)
        say_unquiet(w, which, share);
    return 0;
}

static int measure(struct work *w, enum calibrated which,
                   struct calibrated_transport *out, struct err *err)
{
    *out = (struct calibrated_transport){.is_quick = w->options->is_quick};
    clk_format_utc(clk_realtime_ns(), CLK_TEXT_FORMAT, out->date,
                   sizeof(out->date));
    w->deadline_ns = clk_now(&clk_monotonic) + w->effort->budget_ns;
    if (measure_still(w, which, out, err))
        return -1;
    return w->stopped_by ? 0 : find_ceiling(w, which, out, err);
}

/* ---- the stubs ---- */

/* A stub costs about as much a request as the native client does: half of the
 * cores are theirs. */
static size_t choose_stubs(void)
{
    long half = sysconf(_SC_NPROCESSORS_ONLN) / 2;

    return half < 1 ? 1 : half > MAX_STUBS ? MAX_STUBS : (size_t)half;
}

static int start_stubs(struct work *w, struct err *err)
{
    size_t n = choose_stubs();
    struct settings s;
    int rc = 0;

    settings_init(&s);
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
        struct err late = {0};

        if (child_stop(&w->stubs[i], &late) && rc == 0) {
            *err = late;
            rc = -1;
        }
    }
    return rc;
}

int calibrate(const struct calibrate_options *options, struct calibration *out,
              int *stopped_by, struct err *err)
{
    struct work w = {.options = options,
                     .effort = options->is_quick ? &quick : &thorough};
    struct err ignored = {0};
    int rc = start_stubs(&w, err);

    out->place = calibration_here();
    for (int i = 0; rc == 0 && !w.stopped_by && i < CALIBRATED_COUNT; i++) {
        if (options->wants[i])
            rc = measure(&w, (enum calibrated)i, &out->transports[i], err);
    }
    if (stop_stubs(&w, rc ? &ignored : err))
        rc = -1;
    *stopped_by = atomic_load(&stop_signal);
    return *stopped_by ? 0 : rc;
}
