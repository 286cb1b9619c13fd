#include "study/search_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "study/child.h"

/* What is as late as this is lost for the probe: without it one at twice of
 * what the client can do would take twice its time. */
#define TIMEOUT_NS (250 * NS_PER_MS)

/* An idle stub has a handful in flight.  More would only use up ports. */
#define MAX_IN_FLIGHT 2048

/* Often enough for several looks in a window of under a second. */
#define OBSERVE_NS (100 * NS_PER_MS)

/* A stub that was on a CPU for so much of the time had no more to give; the
 * rest is the run's beginning and end. */
#define SATURATED 0.8

/* Of the requests, that may fail. */
#define MAX_FAILED 0.001

static int make_settings(struct settings *s, const struct probe *p,
                         struct err *err)
{
    for (size_t i = 0; i < p->n_stubs; i++)
        strlist_add(&s->target.urls, p->stubs[i].url);
    s->target.transport = p->transport;
    s->target.timeout_ns = TIMEOUT_NS;
    s->load.rate_rps = p->rate_rps;
    s->load.warmup_ns = p->warmup_ns;
    s->load.duration_ns = p->window_ns;
    s->client.max_in_flight = MAX_IN_FLIGHT;
    s->client.spin_ns = p->spin_ns;
    return settings_assign(s, "target.metrics=off", err) ||
                   settings_resolve(s, err)
               ? -1
               : 0;
}

/* ---- how busy the stubs were ---- */

static void read_cpu(const struct probe *p, int64_t *cpu_ns)
{
    for (size_t i = 0; i < p->n_stubs; i++)
        cpu_ns[i] = clk_process_cpu_ns(p->stubs[i].pid);
}

static double busiest(const struct probe *p, const int64_t *before,
                      const int64_t *after, int64_t span_ns)
{
    double most = 0;

    for (size_t i = 0; i < p->n_stubs; i++) {
        double share = (double)(after[i] - before[i]) / (double)span_ns;

        if (before[i] != TIME_ABSENT && after[i] != TIME_ABSENT && share > most)
            most = share;
    }
    return most;
}

/* ---- what it says ---- */

static double client_share(const struct trust *t)
{
    const struct check *busy = trust_find(t, "busy");

    return busy ? busy->value / 100 : 0;
}

static const char *first_failed(const struct trust *t)
{
    for (size_t i = 0; i < t->len; i++) {
        if (t->checks[i].is_fatal && !t->checks[i].ok)
            return t->checks[i].name;
    }
    return "";
}

static void take(struct probe_result *r, const struct summary *s)
{
    const struct spread *e2e = s->spread[MEASURE_E2E];
    const struct spread *lag = &s->spread[MEASURE_LAG][VIEW_DUE];

    r->e2e_p50_ns = e2e[VIEW_DUE].quantile_ns[0];
    r->sent_p50_ns = e2e[VIEW_SENT].quantile_ns[0];
    r->lag_p50_ns = lag->quantile_ns[0];
    r->lag_p99_ns = lag->quantile_ns[3];
    r->reason = first_failed(&s->trust);
    if (!r->reason[0] &&
        (s->ok == 0 || (double)s->failed > MAX_FAILED * (double)s->issued))
        r->reason = "failures";
    r->is_trusted = !r->reason[0];
    r->client_share = client_share(&s->trust);
}

bool probe_is_stub_limited(const struct probe_result *r)
{
    return !r->is_trusted && r->stub_share >= SATURATED &&
           r->stub_share > r->client_share;
}

static int judge_recording(const char *dir, struct probe_result *r,
                           struct err *err)
{
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0)
        take(r, &s);
    recording_close(&rec);
    return rc;
}

/* ---- the run ---- */

static int drive(const struct probe *p, const struct settings *s,
                 const char *dir, struct probe_result *r, struct err *err)
{
    struct run_options options = {.dir = dir, .observe_ns = OBSERVE_NS};
    int64_t *cpu_ns = xcalloc(2 * p->n_stubs, sizeof(*cpu_ns));
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct run_end end = {0};
    struct run_plan plan;
    int rc;

    read_cpu(p, cpu_ns);
    run_plan_init(&plan, s);
    rc = run_load(&plan, &options, &end, err);
    run_plan_fini(&plan);
    read_cpu(p, cpu_ns + p->n_stubs);
    r->stub_share = busiest(p, cpu_ns, cpu_ns + p->n_stubs,
                            clk_now(&clk_monotonic) - begun_ns);
    free(cpu_ns);
    r->stopped_by = (int)end.stopped_by;
    if (rc || r->stopped_by)
        return rc;
    return judge_recording(dir, r, err);
}

static char *make_temporary(struct err *err)
{
    const char *where = getenv("TMPDIR");
    char *dir = xasprintf("%s/tailgate-probe-XXXXXX",
                          where && where[0] ? where : "/tmp");

    if (mkdtemp(dir))
        return dir;
    err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    free(dir);
    return NULL;
}

int probe_run(const struct probe *p, struct probe_result *r, struct err *err)
{
    struct err ignored = {0};
    struct settings s;
    char *dir;
    int rc;

    *r = (struct probe_result){.reason = ""};
    r->stopped_by = atomic_load(&stop_signal);
    if (r->stopped_by)
        return 0;
    dir = make_temporary(err);
    if (!dir)
        return -1;
    settings_init(&s);
    rc = make_settings(&s, p, err);
    if (rc == 0)
        rc = drive(p, &s, dir, r, err);
    settings_fini(&s);
    if (recording_remove(dir, rc ? &ignored : err))
        rc = -1;
    free(dir);
    return rc;
}
