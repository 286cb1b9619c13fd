#include "tests/support/madesummary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/rows.h"

/* The next number that was not used before. */
static int64_t fresh(struct made_summary *m)
{
    return m->next += 101;
}

static void fill_counts(struct made_summary *m)
{
    struct summary *s = &m->s;

    s->scheduled = fresh(m);
    s->issued = fresh(m);
    s->unsent = fresh(m);
    s->ok = fresh(m);
    s->failed = fresh(m);
    s->warmup_requests = fresh(m);
    s->good = fresh(m);
    s->fresh_connections = fresh(m);
    s->reused_connections = fresh(m);
    s->retried = fresh(m);
    s->resends = s->retried + 1;
    for (int o = 0; o < OUTCOME_COUNT; o++)
        s->outcome[o] = fresh(m);
    s->stopped_by = fresh(m);
    s->threads = fresh(m);
    m->settings.client.max_in_flight = fresh(m);
    s->rtt_floor_ns = fresh(m) * NS_PER_US;
    s->segments = fresh(m);
    s->retransmits = fresh(m);
    s->integrity.lost_requests = fresh(m);
    s->integrity.lost_events = fresh(m);
    s->integrity.was_killed = true;
    s->damage.skipped_bytes = (uint64_t)fresh(m);
    s->damage.cut_off_bytes = (uint64_t)fresh(m);
}

static void fill_rates(struct made_summary *m)
{
    struct summary *s = &m->s;

    s->window_start_s = (double)fresh(m);
    s->window_length_s = (double)fresh(m);
    s->warmup_s = (double)fresh(m);
    s->offered_rps = (double)fresh(m);
    s->throughput_rps = (double)fresh(m);
    s->goodput_rps = (double)fresh(m);
    s->completed_rps = s->offered_rps - 1;      /* others keep their numbers */
    s->bytes_in_per_s = (double)fresh(m) / 100; /* in whole bytes */
    s->bytes_out_per_s = (double)fresh(m) / 100;
    s->attainment = (double)fresh(m) / 1e5;
    s->attainment_ci95.low = (double)fresh(m) / 1e5;
    s->attainment_ci95.high = (double)fresh(m) / 1e5;
}

static void fill_spread(struct made_summary *m, struct spread *p)
{
    p->n = fresh(m);
    p->failed = fresh(m);
    p->out_of_range = fresh(m);
    p->mean_ns = (double)fresh(m);
    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        p->quantile_ns[i] = fresh(m);
    p->max_ns = fresh(m);
}

static void fill_judgement(struct made_summary *m)
{
    struct judgement *j = &m->s.judgement;

    m->s.slo = slo_of("e2e p50 < 9s,errors < 9%,good >= 9%,goodput >= 9/s");
    j->len = m->s.slo.len;
    for (size_t i = 0; i < j->len; i++) {
        j->terms[i] = (struct term_judgement){
            .term = &m->s.slo.terms[i],
            .verdict = VERDICT_UNDECIDED,
            .measured_ns = fresh(m) * NS_PER_US,
            .measured = (double)fresh(m) / 1e5,
            .n_effective = (double)fresh(m),
            .more_needed = i == 0 ? fresh(m) : 0,
            .why = i == 0 ? NULL : "depends on unfinished requests",
        };
    }
}

static void fill_trust(struct made_summary *m)
{
    struct trust *t = &m->s.trust;

    t->len = 2;
    t->checks[0] = (struct check){.name = "lag",
                                  .unit = "ms",
                                  .ok = true,
                                  .value = (double)fresh(m) / 10,
                                  .limit = (double)fresh(m) / 10,
                                  .advice = ""};
    t->checks[1] = (struct check){.name = "samples",
                                  .unit = "effective",
                                  .is_minimum = true,
                                  .value = (double)fresh(m) / 10,
                                  .limit = (double)fresh(m) / 10,
                                  .advice = "run longer"};
}

struct made_summary *made_summary_new(int64_t start)
{
    struct made_summary *m = xcalloc(1, sizeof(*m));

    m->next = start;
    settings_init(&m->settings);
    m->settings.name = xstrdup("checkout");
    m->settings.target.method = xstrdup("GET");
    strlist_add(&m->settings.target.urls, "http://host/");
    m->settings.load.scenario = SCENARIO_SERVER;
    m->settings.load.rate_rps = (double)fresh(m);
    m->settings.load.duration_ns = fresh(m);
    m->settings.load.seed = (uint64_t)fresh(m);
    m->s.settings = &m->settings;
    fill_counts(m);
    fill_rates(m);
    fill_judgement(m);
    fill_trust(m);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            fill_spread(m, &m->s.spread[i][v]);
    }
    m->s.is_streamed = true;
    m->s.verdict = VERDICT_UNDECIDED;
    return m;
}

struct made_summary *made_summary_bare(const char *url)
{
    struct made_summary *m = xcalloc(1, sizeof(*m));

    settings_init(&m->settings);
    strlist_add(&m->settings.target.urls, url);
    m->settings.client.max_in_flight = 7;
    m->s.settings = &m->settings;
    m->s.threads = 1;
    return m;
}

void made_summary_free(struct made_summary *m)
{
    summary_fini(&m->s);
    settings_fini(&m->settings);
    free(m);
}
