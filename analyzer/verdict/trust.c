#include "analyzer/verdict/trust.h"

#include <string.h>

#include "common/base/clk.h"

/* Lag may be this share of what is measured ... */
#define LAG_SHARE 0.1
/* ... and below this it harms nobody, whatever is measured (but see floor_ns).
 */
#define LAG_FLOOR_P50_NS (200 * NS_PER_US)
#define LAG_FLOOR_P99_NS (2 * NS_PER_MS)

/* What a rule makes of the evidence. */
enum finding {
    UNKNOWN,  /* nothing: no check */
    BY_LIMIT, /* the value decides */
    FINE,
    WRONG,
};

/* One check: its line in the table below, and a function that sets the value
 * and, where it is not the same for every run, the limit or the advice. */
struct rule {
    const char *name;
    const char *unit;
    bool is_fatal;
    bool is_minimum;
    double limit;
    enum finding (*find)(const struct evidence *e, struct check *c);
    const char *advice;
};

/* ---- late ---- */

/* Of the ok requests. */
static int64_t quantile_of(const struct tally *t, enum measure m, double q)
{
    struct hist h = tally_view(t, m, VIEW_OK);

    return hist_rank_quantile(&h, q);
}

/* The measure in the SLO whose quantile is smallest, or e2e.  The client's lag
 * has no part in differences of arrivals. */
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

/* No floor may be more than the share of a limit that was asked for. */
static double floor_ns(const struct tally *t, enum measure m, int64_t floor)
{
    double of_limit = LAG_SHARE * (double)t->limit_ns[m];

    return t->limit_ns[m] > 0 && of_limit < (double)floor ? of_limit
                                                          : (double)floor;
}

/* A delay of the client's against what is measured. */
static enum finding find_delay(const struct tally *t, const struct hist *delay,
                               double q, int64_t floor, struct check *c)
{
    enum measure m = tightest(t, q);
    int64_t delay_ns = hist_rank_quantile(delay, q);
    int64_t measured_ns = quantile_of(t, m, q);
    double limit_ns = floor_ns(t, m, floor);

    /* Too few to bound the quantile, or no latency that it could spoil. */
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

static enum finding find_lag_p50(const struct evidence *e, struct check *c)
{
    if (e->is_offline)
        return UNKNOWN;
    return find_delay(e->tally, &e->tally->hist[MEASURE_LAG][VIEW_DUE], 0.5,
                      LAG_FLOOR_P50_NS, c);
}

static enum finding find_lag_p99(const struct evidence *e, struct check *c)
{
    if (e->is_offline)
        return UNKNOWN;
    return find_delay(e->tally, &e->tally->hist[MEASURE_LAG][VIEW_DUE], 0.99,
                      LAG_FLOOR_P99_NS, c);
}

static enum finding find_buffer_wait(const struct evidence *e, struct check *c)
{
    return find_delay(e->tally, &e->tally->buffered, 0.99, LAG_FLOOR_P99_NS, c);
}

/* ---- not what the schedule asked ---- */

static enum finding find_unsent(const struct evidence *e, struct check *c)
{
    c->value = (double)e->tally->outcome[OUTCOME_UNSENT];
    if (e->is_offline) {
        c->is_fatal = false;
        c->advice = "the run was ended before it was their turn";
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

/* A server that closes connections all the time may also break them. */
static enum finding find_sent_again(const struct evidence *e, struct check *c)
{
    const struct tally *t = e->tally;
    int64_t issued = t->due - t->outcome[OUTCOME_UNSENT];

    if (issued == 0)
        return UNKNOWN;
    c->value = 100 * (double)t->retried / (double)issued;
    return BY_LIMIT;
}

/* The check is only made if a request was affected. */
static enum finding find_starved(const struct evidence *e, struct check *c)
{
    c->value = (double)e->tally->starved;
    return e->tally->starved > 0 ? BY_LIMIT : UNKNOWN;
}

/* ---- what the client saw of itself and of its host ---- */

static enum finding find_share(bool (*share_of)(const struct client *c,
                                                double *share),
                               const struct evidence *e, struct check *c)
{
    double share = 0;

    if (!share_of(e->client, &share))
        return UNKNOWN;
    c->value = 100 * share;
    return BY_LIMIT;
}

static enum finding find_cap(const struct evidence *e, struct check *c)
{
    return e->is_open_loop ? find_share(client_held_back, e, c) : UNKNOWN;
}

static enum finding find_resources(const struct evidence *e, struct check *c)
{
    c->value = (double)e->tally->exhausted;
    return BY_LIMIT;
}

static enum finding find_busy(const struct evidence *e, struct check *c)
{
    return find_share(client_busy, e, c);
}

/* Long turns of waiting in every latency, or a closed loop that is as slow as
 * its client.  Where answers take long, short ones harm nobody; nor do those
 * that lag would forgive, in an open loop. */
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

static enum finding find_disk(const struct evidence *e, struct check *c)
{
    return find_share(client_record_wait, e, c);
}

/* The client, or the whole system: its clock stood still, and what others did
 * meanwhile seems to have taken no time. */
static enum finding find_suspended(const struct evidence *e, struct check *c)
{
    double asleep_ms = (double)e->client->asleep_ns / 1e6;

    if (asleep_ms > c->limit) {
        c->value = asleep_ms;
        c->unit = "ms with the whole system";
        c->advice = "the system went to sleep during the run, and times across "
                    "that are too short: keep it awake (systemd-inhibit) and "
                    "run again";
        return BY_LIMIT;
    }
    c->value = (double)e->client->suspended_max_ns / 1e6;
    return e->client->suspended_max_ns == TIME_ABSENT ? UNKNOWN : BY_LIMIT;
}

static enum finding find_steal(const struct evidence *e, struct check *c)
{
    return find_share(client_stolen, e, c);
}

static enum finding find_throttled(const struct evidence *e, struct check *c)
{
    return find_share(client_throttled, e, c);
}

static enum finding find_pressure(const struct evidence *e, struct check *c)
{
    if (!e->is_open_loop)
        c->advice = "tasks waited for a CPU; a closed loop has no lag to show "
                    "what that did, see cpu wait";
    return find_share(client_pressed, e, c);
}

/* ---- the evidence itself ---- */

/* Of the measure that has most of them: a request is in several. */
static enum finding find_range(const struct evidence *e, struct check *c)
{
    for (int m = 0; m < MEASURE_COUNT; m++) {
        double n = (double)e->tally->hist[m][VIEW_DUE].out_of_range;

        if (!measure_is_pooled((enum measure)m) && n > c->value)
            c->value = n;
    }
    return BY_LIMIT;
}

/* The term that lacks most. */
static enum finding find_samples(const struct evidence *e, struct check *c)
{
    const struct judgement *j = e->judgement;
    const struct term_judgement *worst = NULL;

    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *term = &j->terms[i];

        if (term->term->kind != SLO_QUANTILE ||
            (term->why && !(term->n_effective > 0)))
            continue; /* or no number of requests would help */
        if (!worst || term->more_needed > worst->more_needed ||
            (term->more_needed == worst->more_needed &&
             term->n_effective < worst->n_effective))
            worst = term;
    }
    if (!worst)
        return UNKNOWN;
    c->value = worst->n_effective;
    c->limit = (double)stats_min_n(worst->term->quantile);
    /* Few may be enough: a miss that chance does not explain is a miss. */
    return worst->more_needed == 0 ? FINE : WRONG;
}

static enum finding find_recording(const struct evidence *e, struct check *c)
{
    c->value = (double)e->integrity->lost_requests;
    if (!e->integrity->was_killed)
        return BY_LIMIT;
    c->unit = "requests known to be lost";
    c->advice = "the run was killed: requests in flight then count as "
                "unfinished; what came after the last write (up to a second, "
                "of a trickle five) is not known";
    return WRONG;
}

static enum finding find_events(const struct evidence *e, struct check *c)
{
    c->value = (double)e->integrity->lost_events;
    return e->tally->events > 0 ? BY_LIMIT : UNKNOWN;
}

static enum finding find_observed(const struct evidence *e, struct check *c)
{
    /* Of a run that was killed the window ends with what was seen. */
    return e->integrity->was_killed ? UNKNOWN
                                    : find_share(client_observed, e, c);
}

/* ---- the table ---- */

static const char late[] =
    "the client was late: try --spin, free its CPU, lower the rate, or let it "
    "open more connections (-c, the limit of open files)";

/* docs/metrics.md says why the limits are what they are. */
static const struct rule rules[] = {
    {.name = "lag p50",
     .unit = "ms",
     .is_fatal = true,
     .find = find_lag_p50,
     .advice = late},
    {.name = "lag p99",
     .unit = "ms",
     .is_fatal = true,
     .find = find_lag_p99,
     .advice = late},
    {.name = "unsent",
     .unit = "requests",
     .is_fatal = true,
     .find = find_unsent,
     .advice = "the client did not get to them: lower the rate or let it open "
               "more connections (-c, the limit of open files)"},
    {.name = "pace",
     .unit = "% off in the worst second",
     .is_fatal = true,
     .limit = 10,
     .find = find_pace,
     .advice = "what was sent then is not what was due: free the client's CPU "
               "or lower the rate"},
    {.name = "rate",
     .unit = "% sent in the window",
     .is_fatal = true,
     .is_minimum = true,
     .limit = 99,
     .find = find_rate,
     .advice = "the client fell behind its schedule: lower the rate, or give "
               "it more threads (-t) and CPU"},
    {.name = "connection cap",
     .unit = "% of the requests",
     .is_fatal = true,
     .limit = 1,
     .find = find_cap,
     .advice = "they waited for a connection, so the loop was no longer open: "
               "raise -c or --max-in-flight, or the limit of open files"},
    {.name = "client resources",
     .unit = "requests",
     .is_fatal = true,
     .find = find_resources,
     .advice = "the client had no local port, open file or memory left for "
               "them: keep connections alive, use more target addresses, raise "
               "ulimit -n or net.ipv4.ip_local_port_range, or lower the rate"},
    {.name = "buffer wait",
     .unit = "ms at p99",
     .is_fatal = true,
     .find = find_buffer_wait,
     .advice = "answers lay in the kernel while the client was busy: give it "
               "more threads (-t) and CPU, or lower the rate"},
    {.name = "busy",
     .unit = "% of a thread's time",
     .is_fatal = true,
     .limit = 90,
     .find = find_busy,
     .advice = "this is the client's limit, not the server's: give it more "
               "threads (-t) or lower the rate"},
    {.name = "cpu wait",
     .unit = "% of a thread's time",
     .is_fatal = true,
     .limit = 5,
     .find = find_cpu_wait,
     .advice = "the client was ready to run and had no CPU: keep others off "
               "it, or give it a CPU of its own (--cpus)"},
    {.name = "client memory",
     .unit = "requests",
     .is_fatal = true,
     .find = find_starved,
     .advice = "their responses exceeded the client's memory limit: raise "
               "--memory, or lower -c, --max-in-flight or --max-response"},
    {.name = "disk",
     .unit = "% of a thread's time",
     .is_fatal = true,
     .limit = 1,
     .find = find_disk,
     .advice = "the client waited for its own recording: put it (-o) on a "
               "faster disk"},
    {.name = "suspended",
     .unit = "ms at a time",
     .is_fatal = true,
     .limit = 250,
     .find = find_suspended,
     .advice = "the client did not run though it had to: keep others off its "
               "CPU, and the host from sleeping"},
    {.name = "steal",
     .unit = "% of the ticks",
     .is_fatal = true,
     .limit = 5,
     .find = find_steal,
     .advice = "the hypervisor gave the client's CPUs to others: use a host "
               "of its own"},
    {.name = "throttled",
     .unit = "% of the time",
     .is_fatal = true,
     .limit = 1,
     .find = find_throttled,
     .advice = "the client's cgroup has used up its CPU quota: raise it"},
    {.name = "pressure",
     .unit = "% of the time",
     .limit = 50,
     .find = find_pressure,
     .advice = "tasks waited for a CPU; harmless where lag is small"},
    {.name = "sent again",
     .unit = "% of the requests",
     .limit = 1,
     .find = find_sent_again,
     .advice = "the server had closed their connections, and other clients may "
               "count that as errors: look at its keep-alive timeout and its "
               "log, or open a connection for each (--no-keepalive)"},
    {.name = "range",
     .unit = "requests out of it",
     .find = find_range,
     .advice = "longer than 1h: percentiles among them are not given"},
    {.name = "samples",
     .unit = "effective",
     .is_minimum = true,
     .find = find_samples,
     .advice = "too few requests for this quantile: run longer"},
    {.name = "recording",
     .unit = "requests lost",
     .find = find_recording,
     .advice = "the file is damaged: what is missing counts as unfinished"},
    {.name = "events",
     .unit = "content events lost",
     .find = find_events,
     .advice = "events.tgr is damaged: gap and itl are of what is left"},
    {.name = "observed",
     .unit = "% of the window's seconds",
     .is_minimum = true,
     .limit = 90,
     .find = find_observed,
     .advice = "client.tgr has no more: what the client did to the numbers in "
               "the others is not known"},
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) <= TRUST_MAX_CHECKS,
               "a check would not fit");

static bool keeps_limit(const struct check *c)
{
    return c->is_minimum ? c->value >= c->limit : c->value <= c->limit;
}

static void apply(const struct rule *r, const struct evidence *e,
                  struct trust *out)
{
    struct check c = {
        .name = r->name,
        .unit = r->unit,
        .is_fatal = r->is_fatal,
        .is_minimum = r->is_minimum,
        .limit = r->limit,
        .advice = r->advice,
    };
    enum finding found = r->find(e, &c);

    if (found == UNKNOWN)
        return;
    c.ok = found == BY_LIMIT ? keeps_limit(&c) : found == FINE;
    if (c.ok)
        c.advice = "";
    else if (c.is_fatal)
        out->valid = false;
    out->checks[out->len++] = c;
}

void trust_check(const struct evidence *e, struct trust *out)
{
    *out = (struct trust){.valid = true};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        apply(&rules[i], e, out);
}

const struct check *trust_find(const struct trust *t, const char *name)
{
    for (size_t i = 0; i < t->len; i++) {
        if (strcmp(t->checks[i].name, name) == 0)
            return &t->checks[i];
    }
    return NULL;
}
