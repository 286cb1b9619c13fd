#include "analyzer/verdict/trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

/* Lag may be this share of what is measured ... */
#define LAG_SHARE 0.1
/* ... and below this it is harmless, whatever is measured (but see floor_ns).
 */
#define LAG_FLOOR_P50_NS (200 * NS_PER_US)
#define LAG_FLOOR_P99_NS (2 * NS_PER_MS)

enum finding {
    UNKNOWN,  /* no evidence: the check is left out */
    BY_LIMIT, /* the value is compared with the limit */
    FINE,
    WRONG,
};

/* One check.  `share` or `find` sets the value, `share` in percent.  `find` may
 * also set the limit, the unit or the advice if they depend on the run.  Either
 * may be NULL. */
struct rule {
    const char *name;
    const char *unit;
    int flags;
    double limit;
    bool (*share)(const struct client *c, double *share);
    enum finding (*find)(const struct evidence *e, struct check *c);
    const char *advice;
};

/* Flags: is_fatal, is_minimum, is_lateness and is_damage of the check. */
enum { FATAL = 1, MINIMUM = 2, LATE = 4, DAMAGE = 8 };

/* ---- a late client ---- */

/* Of ok requests. */
static int64_t quantile_of(const struct tally *t, enum measure m, double q)
{
    struct hist h = tally_view(t, m, VIEW_OK);

    return hist_rank_quantile(&h, q);
}

/* The measure in the SLO whose quantile is smallest, or e2e.  Measures of
 * streams are differences between arrivals, which lag does not change. */
static enum measure tightest(const struct tally *t, double q)
{
    enum measure best = MEASURE_E2E;
    int64_t best_ns = INT64_MAX;

    for (int m = 0; m < MEASURE_COUNT; m++) {
        int64_t ns = quantile_of(t, (enum measure)m, q);

        if (t->limit_ns[m] > 0 && measure_is_of_answer((enum measure)m) &&
            !measure_is_of_stream((enum measure)m) && ns >= 0 && ns < best_ns) {
            best = (enum measure)m;
            best_ns = ns;
        }
    }
    return best;
}

/* The floor must not exceed that share of a limit in the SLO. */
static double floor_ns(const struct tally *t, enum measure m, int64_t floor)
{
    double of_limit = LAG_SHARE * (double)t->limit_ns[m];

    return t->limit_ns[m] > 0 && of_limit < (double)floor ? of_limit
                                                          : (double)floor;
}

/* Compare a delay in the client with what is measured. */
static enum finding find_delay(const struct tally *t, const struct hist *delay,
                               double q, int64_t floor, struct check *c)
{
    enum measure m = tightest(t, q);
    int64_t delay_ns = hist_rank_quantile(delay, q);
    int64_t measured_ns = quantile_of(t, m, q);
    double limit_ns = floor_ns(t, m, floor);

    /* Too few to bound the quantile, or there is no latency to distort. */
    if (delay->n < stats_min_n(q) || t->outcome[OUTCOME_OK] == 0)
        return UNKNOWN;
    if (delay_ns == HIST_OUT_OF_RANGE)
        delay_ns = HIST_HIGHEST_NS;
    if (measured_ns > 0 && LAG_SHARE * (double)measured_ns > limit_ns)
        limit_ns = LAG_SHARE * (double)measured_ns;
    c->value = (double)delay_ns / 1e6;
    c->limit = limit_ns / 1e6;
    return BY_LIMIT;
}

static enum finding find_lag(const struct evidence *e, double q, int64_t floor,
                             struct check *c)
{
    const struct hist *lag = &e->tally->hist[MEASURE_LAG][VIEW_DUE];

    return e->is_offline ? UNKNOWN : find_delay(e->tally, lag, q, floor, c);
}

static enum finding find_lag_p50(const struct evidence *e, struct check *c)
{
    return find_lag(e, 0.5, LAG_FLOOR_P50_NS, c);
}

static enum finding find_lag_p99(const struct evidence *e, struct check *c)
{
    return find_lag(e, 0.99, LAG_FLOOR_P99_NS, c);
}

static enum finding find_buffer_wait(const struct evidence *e, struct check *c)
{
    return find_delay(e->tally, &e->tally->buffered, 0.99, LAG_FLOOR_P99_NS, c);
}

/* ---- deviations from the schedule ---- */

static enum finding find_unsent(const struct evidence *e, struct check *c)
{
    c->value = (double)e->tally->outcome[OUTCOME_UNSENT];
    if (e->is_offline) {
        c->is_fatal = false;
        c->advice = "the run ended before they were sent";
    }
    return BY_LIMIT;
}

static enum finding find_pace(const struct evidence *e, struct check *c)
{
    c->value = pace_worst_percent(&e->tally->pace);
    return e->is_open_loop && e->tally->pace.due > 0 ? BY_LIMIT : UNKNOWN;
}

static enum finding find_rate(const struct evidence *e, struct check *c)
{
    c->value = pace_sent_percent(&e->tally->pace);
    return e->is_open_loop && e->tally->pace.due > 0 ? BY_LIMIT : UNKNOWN;
}

/* A server that keeps closing connections may also break them. */
static enum finding find_sent_again(const struct evidence *e, struct check *c)
{
    const struct tally *t = e->tally;
    int64_t issued = t->due - t->outcome[OUTCOME_UNSENT];

    if (issued == 0)
        return UNKNOWN;
    c->value = 100 * (double)t->retried / (double)issued;
    return BY_LIMIT;
}

/* ---- the client and its host ---- */

static enum finding find_cap(const struct evidence *e, struct check *c)
{
    (void)c;
    return e->is_open_loop ? BY_LIMIT : UNKNOWN;
}

static enum finding find_resources(const struct evidence *e, struct check *c)
{
    c->value = (double)e->tally->exhausted;
    return BY_LIMIT;
}

static enum finding find_client_memory(const struct evidence *e,
                                       struct check *c)
{
    c->value = (double)e->tally->starved;
    return e->tally->starved > 0 ? BY_LIMIT : UNKNOWN;
}

/* The starved client: waits for a CPU add to every latency, and slow down a
 * closed loop.  Waits that are short compared with the answers are harmless; in
 * an open loop so are those that the lag checks allow. */
static enum finding find_cpu_wait(const struct evidence *e, struct check *c)
{
    const struct tally *t = e->tally;
    enum measure m = tightest(t, 0.5);
    double turn_ns =
        LAG_SHARE * (double)quantile_of(t, m, 0.5); /* may be < 0 */
    double floor = e->is_open_loop ? floor_ns(t, m, LAG_FLOOR_P50_NS) : 0;
    double turns_hz;
    double share;

    if (!client_cpu_wait(e->client, &share, &turns_hz))
        return UNKNOWN;
    if (turn_ns < floor)
        turn_ns = floor;
    c->value = 100 * share;
    if (100 * turns_hz * turn_ns / 1e9 > c->limit)
        c->limit = 100 * turns_hz * turn_ns / 1e9;
    return BY_LIMIT;
}

/* The client, or the whole system.  In the second case its clock stood still,
 * so that times across the suspension are too short. */
static enum finding find_suspended(const struct evidence *e, struct check *c)
{
    int64_t suspended_ns = client_suspended_max_ns(e->client);
    double asleep_ms = (double)client_asleep_ns(e->client) / 1e6;

    if (asleep_ms > c->limit) {
        c->value = asleep_ms;
        c->is_lateness = false;
        c->unit = "ms with the whole system";
        c->advice = "the system was suspended during the run, so times across "
                    "that are too short: keep it awake (systemd-inhibit) and "
                    "run again";
        return BY_LIMIT;
    }
    c->value = (double)suspended_ns / 1e6;
    /* Short compared with what is measured, it is harmless. */
    c->limit =
        fmax(c->limit,
             LAG_SHARE / 1e6 *
                 (double)quantile_of(e->tally, tightest(e->tally, 0.5), 0.5));
    return suspended_ns == TIME_ABSENT ? UNKNOWN : BY_LIMIT;
}

static enum finding find_pressure(const struct evidence *e, struct check *c)
{
    if (!e->is_open_loop)
        c->advice = "tasks waited for a CPU; a closed loop has no lag to show "
                    "the effect, see cpu wait";
    return BY_LIMIT;
}

/* ---- the evidence itself ---- */

/* The largest count of any measure, since a request has several. */
static enum finding find_range(const struct evidence *e, struct check *c)
{
    for (int m = 0; m < MEASURE_COUNT; m++) {
        double n = (double)e->tally->hist[m][VIEW_DUE].out_of_range;

        if (!measure_is_pooled((enum measure)m) && n > c->value)
            c->value = n;
    }
    return BY_LIMIT;
}

/* The term that lacks most requests. */
static enum finding find_samples(const struct evidence *e, struct check *c)
{
    const struct judgement *j = e->judgement;
    const struct term_judgement *worst = NULL;

    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *term = &j->terms[i];

        if (term->verdict == VERDICT_NONE || term->term->kind == SLO_GOODPUT ||
            term->why)
            continue; /* more requests would not help */
        if (!worst || term->more_needed > worst->more_needed ||
            (term->more_needed == worst->more_needed &&
             term->requests < worst->requests))
            worst = term;
    }
    if (!worst)
        return UNKNOWN;
    c->value = (double)worst->requests;
    c->limit = (double)judge_min_requests(worst->allowed);
    /* Few samples may suffice to show a miss. */
    return worst->more_needed == 0 ? FINE : WRONG;
}

static enum finding find_recording(const struct evidence *e, struct check *c)
{
    c->value = (double)e->integrity->lost_requests;
    if (e->integrity->lost_shards > 0)
        c->advice = "a shard is missing or was killed: its missing requests "
                    "count as unfinished";
    if (!e->integrity->was_killed)
        return BY_LIMIT;
    c->unit = "requests known to be lost";
    c->advice = "the run was killed: requests in flight count as unfinished; "
                "what happened after the last write (up to one second, or "
                "five at a low rate) is unknown";
    return WRONG;
}

static enum finding find_events(const struct evidence *e, struct check *c)
{
    c->value = (double)e->integrity->lost_events;
    return e->tally->events > 0 ? BY_LIMIT : UNKNOWN;
}

static enum finding find_observed(const struct evidence *e, struct check *c)
{
    (void)c;
    /* The window of a killed run ends with the last observation. */
    return e->integrity->was_killed ? UNKNOWN : BY_LIMIT;
}

/* ---- several machines ---- */

/* Load that is shifted by this share of the window is as wrong as a rate that
 * is off by it: see the check `rate`. */
#define SHIFT_SHARE 0.01

static bool has_shards(const struct evidence *e)
{
    return e->shards && e->shards->n > 0;
}

static double shift_limit_ms(const struct evidence *e)
{
    const struct window *w = &e->tally->window;

    return SHIFT_SHARE * (double)(w->end_ns - w->start_ns) / 1e6;
}

static enum finding find_shards(const struct evidence *e, struct check *c)
{
    if (!has_shards(e))
        return UNKNOWN;
    for (size_t i = e->shards->n; i-- > 0;) {
        const struct shard_row *s = &e->shards->items[i];

        if (s->is_missing || s->info.was_killed || s->info.damaged > 0) {
            c->value++;
            c->worst_shard = (int64_t)i;
        }
    }
    return BY_LIMIT;
}

static enum finding find_start_skew(const struct evidence *e, struct check *c)
{
    if (!has_shards(e))
        return UNKNOWN;
    c->value = (double)e->shards->skew_ns / 1e6;
    c->limit = shift_limit_ms(e);
    c->worst_shard = e->shards->skew_ns > 0 ? e->shards->latest : -1;
    return BY_LIMIT;
}

/* Measured by the launcher; else only the kernels' own bounds are known. */
static enum finding find_clock_error(const struct evidence *e, struct check *c)
{
    if (has_shards(e) && e->shards->has_offsets) {
        c->value = (double)e->shards->apart_ns / 1e6;
        c->limit = shift_limit_ms(e);
        c->unit = e->shards->are_corrected
                      ? "ms apart at most, measured and corrected"
                      : "ms apart at most, measured";
        c->worst_shard = e->shards->furthest;
        c->advice = "the clocks of the machines differ, so that their shards "
                    "did not start together: run chrony or another NTP client";
        return BY_LIMIT;
    }
    if (!has_shards(e) || e->shards->is_one_host)
        return UNKNOWN;
    c->value = (double)e->shards->clock_error_ns / 1e6;
    c->limit = shift_limit_ms(e);
    c->worst_shard = e->shards->worst_clock;
    if (e->shards->unsynchronised > 0) {
        c->advice = "a clock is not synchronised, so that its shard may have "
                    "started at another time, which recordings cannot show: "
                    "run chrony or another NTP client";
        return WRONG;
    }
    return c->value > 0 ? BY_LIMIT : UNKNOWN;
}

/* Differences that are harmless or may be chance do not count. */
static enum finding find_probe_shard(const struct evidence *e, struct check *c)
{
    const struct probe_shard *p = has_shards(e) ? &e->shards->probe : NULL;

    if (!p || !e->shards->has_probe || !p->is_known)
        return UNKNOWN;
    c->value = 100 * p->excess;
    if (p->is_probe_slower) {
        c->worst_shard = (int64_t)e->shards->n - 1;
        c->advice = "the probe shard measured longer latencies than the "
                    "others: its machine or its network path is slower; use "
                    "another machine for it";
    }
    return BY_LIMIT;
}

/* ---- the table ---- */

static const char late[] =
    "the client was late: use --spin, free the client's CPU, lower the rate, "
    "or allow more connections (-c, ulimit -n)";

/* docs/metrics-trust.md explains the limits. */
static const struct rule rules[] = {
    {"lag p50", "ms", FATAL | LATE, 0, NULL, find_lag_p50, late},
    {"lag p99", "ms", FATAL | LATE, 0, NULL, find_lag_p99, late},
    {"unsent", "requests", FATAL, 0, NULL, find_unsent,
     "the client could not send these requests in time: lower the rate or "
     "allow more connections (-c, ulimit -n)"},
    {"pace", "% off in the worst second", FATAL, 10, NULL, find_pace,
     "requests were not sent as scheduled: free the client's CPU or "
     "lower the rate"},
    {"rate", "% sent in the window", FATAL | MINIMUM, 99, NULL, find_rate,
     "the client fell behind its schedule: lower the rate, or give "
     "it more threads (-t) and CPU"},
    {"connection cap", "% of the requests", FATAL, 1, client_held_back,
     find_cap,
     "requests waited for a connection, so the loop was no longer open: "
     "raise -c, --max-in-flight or ulimit -n"},
    {"client resources", "requests", FATAL, 0, NULL, find_resources,
     "the client ran out of local ports, open files or memory: keep "
     "connections alive, use more target addresses, raise "
     "ulimit -n or net.ipv4.ip_local_port_range, or lower the rate"},
    {"buffer wait", "ms at p99", FATAL | LATE, 0, NULL, find_buffer_wait,
     "answers waited in the kernel while the client was busy: give "
     "it more threads (-t) and CPU, or lower the rate"},
    {"busy", "% of a thread's time", FATAL, 90, client_busy, NULL,
     "the client was at its own limit: give it more threads (-t) or lower the "
     "rate"},
    {"cpu wait", "% of a thread's time", FATAL | LATE, 5, NULL, find_cpu_wait,
     "the client was ready to run but had no CPU: stop other "
     "processes, or give it CPUs of its own (--cpus)"},
    {"client memory", "requests", FATAL, 0, NULL, find_client_memory,
     "the responses exceeded the client's memory limit: raise "
     "--memory, or lower -c, --max-in-flight or --max-response"},
    {"disk", "% of a thread's time", FATAL, 1, client_record_wait, NULL,
     "the client waited for its own recording: put it (-o) on a "
     "faster disk"},
    {"suspended", "ms at a time", FATAL | LATE, 250, NULL, find_suspended,
     "the client was not scheduled when it should have run: stop "
     "other processes on its CPUs and keep the host awake"},
    {"steal", "% of the ticks", FATAL | LATE, 5, client_stolen, NULL,
     "the hypervisor gave the client's CPUs to other guests: use a "
     "dedicated host"},
    {"throttled", "% of the time", FATAL | LATE, 1, client_throttled, NULL,
     "the client's cgroup used up its CPU quota: raise the quota"},
    {"pressure", "% of the time", 0, 50, client_pressed, find_pressure,
     "tasks waited for a CPU; harmless if requests were sent on time (lag)"},
    {"sent again", "% of the requests", 0, 1, NULL, find_sent_again,
     "the server had closed the connection or refused the HTTP/2 stream, which "
     "other clients may count as an error: check its keep-alive timeout, its "
     "limits and its log, or use a new connection per request "
     "(--no-keepalive)"},
    {"range", "requests above 1h", 0, 0, NULL, find_range,
     "times above 1h are only counted: percentiles among them are not "
     "available"},
    {"samples", "requests", MINIMUM, 0, NULL, find_samples,
     "too few requests for an SLO term: run longer"},
    {"recording", "requests lost", DAMAGE, 0, NULL, find_recording,
     "the recording is damaged: missing requests count as unfinished"},
    {"events", "content events lost", DAMAGE, 0, NULL, find_events,
     "events.tgr is damaged: gap and itl use only the remaining events"},
    {"observed", "% of the window's seconds", MINIMUM, 90, client_observed,
     find_observed,
     "client.tgr does not cover the other seconds: the effect of the client on "
     "them is unknown"},
    {"shards", "shards missing, killed or damaged", 0, 0, NULL, find_shards,
     "the requests that are not in the recording count as unfinished: make the "
     "run again, or merge all of its shards"},
    {"start skew", "ms", 0, 0, NULL, find_start_skew,
     "the shards did not start together: use one --start-at for all"},
    {"clock error", "ms at most, by the kernel", 0, 0, NULL, find_clock_error,
     "the clocks of the machines may differ by this: synchronise them better, "
     "or run longer"},
    {"probe shard", "% longer latencies than those of the probe shard", FATAL,
     10, NULL, find_probe_shard,
     "the clients queue: the loading shards measured longer latencies than the "
     "probe shard did at the same time; use more shards or faster machines"},
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) <= TRUST_MAX_CHECKS,
               "a check would not fit");

static enum finding evaluate(const struct rule *r, const struct evidence *e,
                             struct check *c)
{
    if (r->share && !r->share(e->client, &c->value))
        return UNKNOWN;
    c->value *= 100;
    return r->find ? r->find(e, c) : BY_LIMIT;
}

/* What a check says of one machine; false: nothing, or nothing else than of
 * all. */
static bool value_of_shard(const struct rule *r, const struct evidence *one,
                           size_t i, struct check *c)
{
    const struct shard_row *s = &one->shards->items[i];

    if (r->find == find_lag_p50 || r->find == find_lag_p99) {
        c->value =
            (double)(r->find == find_lag_p50 ? s->lag_p50_ns : s->lag_p99_ns) /
            1e6;
        return c->value >= 0;
    }
    if (r->find == find_unsent) {
        c->value = (double)s->unsent;
        return s->unsent > 0;
    }
    return (r->share || r->find == find_cpu_wait ||
            r->find == find_suspended) &&
           evaluate(r, one, c) != UNKNOWN;
}

/* Name the worst machine.  `only` is a copy of the client, to be asked about
 * one machine at a time. */
static void find_worst(const struct rule *r, const struct evidence *e,
                       struct client *only, struct check *c)
{
    struct evidence one = *e;

    one.client = only;
    for (size_t i = 0; i < e->shards->n; i++) {
        struct check x = *c;

        x.value = 0;
        only->only = (int)i;
        if (e->shards->items[i].is_missing || !value_of_shard(r, &one, i, &x))
            continue;
        if (c->worst_shard < 0 || (c->is_minimum ? x.value < c->worst_value
                                                 : x.value > c->worst_value)) {
            c->worst_shard = (int64_t)i;
            c->worst_value = x.value;
        }
    }
}

static void apply(const struct rule *r, const struct evidence *e,
                  struct client *only, struct trust *out)
{
    struct check c = {
        .name = r->name,
        .unit = r->unit,
        .is_fatal = (r->flags & FATAL) != 0,
        .is_damage = (r->flags & DAMAGE) != 0,
        .is_minimum = (r->flags & MINIMUM) != 0,
        .is_lateness = (r->flags & LATE) != 0 && e->is_open_loop,
        .limit = r->limit,
        .advice = r->advice,
        .worst_shard = -1,
    };
    enum finding found = evaluate(r, e, &c);

    if (found == UNKNOWN)
        return;
    c.ok = found == FINE ||
           (found == BY_LIMIT &&
            (c.is_minimum ? c.value >= c.limit : c.value <= c.limit));
    if (c.ok) {
        c.advice = "";
    } else if (c.is_fatal) {
        out->is_only_late = c.is_lateness && (out->valid || out->is_only_late);
        out->valid = false;
        if (c.is_lateness && !out->late)
            out->late = c.name;
    }
    c.worst_value = c.value;
    if (only && c.worst_shard < 0)
        find_worst(r, e, only, &c);
    out->checks[out->len++] = c;
}

void trust_check(const struct evidence *e, struct trust *out)
{
    struct client *only = NULL;

    *out = (struct trust){.valid = true};
    if (has_shards(e)) {
        only = xcalloc(1, sizeof(*only));
        *only = *e->client;
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        apply(&rules[i], e, only, out);
    free(only);
}

const struct check *trust_find(const struct trust *t, const char *name)
{
    for (size_t i = 0; i < t->len; i++) {
        if (strcmp(t->checks[i].name, name) == 0)
            return &t->checks[i];
    }
    return NULL;
}
