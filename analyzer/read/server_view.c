#include "analyzer/read/server_view.h"

#include <math.h>

#include "common/base/clk.h"

/* A scrape up to this long after the window still counts for its counters. */
#define GRACE_NS (NS_PER_S / 2)

/* No warning with fewer scrapes or requests in flight. */
#define MIN_SCRAPES 5
#define MIN_PRESENT 4
#define FAR_FEWER   0.5

/* ---- collecting ---- */

void server_view_init(struct server_view *v, struct window window)
{
    *v = (struct server_view){.window = window};
}

static void measure(struct look_gauge *g, int64_t value)
{
    if (value == TIME_ABSENT || value < 0)
        return;
    g->n++;
    g->sum += (double)value;
    if (value > g->max)
        g->max = value;
}

static void count(struct look_counter *c, int64_t at_ns, int64_t value)
{
    if (value == TIME_ABSENT || value < 0)
        return;
    if (!c->is_seen)
        c->from_ns = at_ns;
    else
        c->grown += (double)(value >= c->last ? value - c->last : value);
    c->is_seen = true;
    c->to_ns = at_ns;
    c->last = value;
}

void server_view_add(struct server_view *v, const struct server_scrape *look)
{
    const struct window *w = &v->window;
    bool has_both =
        look->running != TIME_ABSENT && look->waiting != TIME_ABSENT;

    if (window_holds(w, look->at)) {
        v->looks++;
        v->failed += look->is_failed != 0;
        measure(&v->running, look->running);
        measure(&v->waiting, look->waiting);
        measure(&v->present,
                has_both ? look->running + look->waiting : TIME_ABSENT);
        measure(&v->cache_use, look->cache_use);
    }
    if (look->at < w->start_ns || look->at - GRACE_NS >= w->end_ns)
        return;
    count(&v->queue_sum_us, look->at, look->queue_sum_us);
    count(&v->queue_count, look->at, look->queue_count);
    count(&v->prompt_tokens, look->at, look->prompt_tokens);
    count(&v->generated_tokens, look->at, look->generated_tokens);
    count(&v->cached_tokens, look->at, look->cached_tokens);
    count(&v->preemptions, look->at, look->preemptions);
    count(&v->requests, look->at, look->requests);
}

static void add_look(void *arg, unsigned shard, const void *row)
{
    (void)shard;
    server_view_add(arg, row);
}

bool server_view_read(struct server_view *v, const char *dir)
{
    return tgr_each(dir, "server.tgr", &schema_server, add_look, v);
}

/* ---- summing up ---- */

static double mean(const struct look_gauge *g)
{
    return g->n > 0 ? g->sum / (double)g->n : -1;
}

static double most(const struct look_gauge *g)
{
    return g->n > 0 ? (double)g->max : -1;
}

/* -1, unknown, stays -1. */
static double scaled(double value, double by)
{
    return value < 0 ? value : value * by;
}

static bool has_span(const struct look_counter *c)
{
    return c->is_seen && c->to_ns > c->from_ns;
}

static double per_second(const struct look_counter *c)
{
    return has_span(c) ? c->grown * 1e9 / (double)(c->to_ns - c->from_ns) : -1;
}

static double ratio(const struct look_counter *part,
                    const struct look_counter *whole)
{
    return has_span(part) && has_span(whole) && whole->grown > 0
               ? part->grown / whole->grown
               : -1;
}

struct server_summary server_view_sum_up(const struct server_view *v,
                                         double client_mean)
{
    return (struct server_summary){
        .is_there = true,
        .looks = v->looks,
        .failed = v->failed,
        .running_mean = mean(&v->running),
        .running_max = most(&v->running),
        .waiting_mean = mean(&v->waiting),
        .waiting_max = most(&v->waiting),
        .present_mean = mean(&v->present),
        .client_mean = client_mean,
        .cache_mean = scaled(mean(&v->cache_use), 1e-6),
        .cache_max = scaled(most(&v->cache_use), 1e-6),
        .queue_mean_ns = scaled(ratio(&v->queue_sum_us, &v->queue_count), 1e3),
        .prompt_per_s = per_second(&v->prompt_tokens),
        .generated_per_s = per_second(&v->generated_tokens),
        .cached_share = ratio(&v->cached_tokens, &v->prompt_tokens),
        .preemptions = has_span(&v->preemptions) ? v->preemptions.grown : -1,
        .requests_per_s = per_second(&v->requests),
    };
}

bool server_view_misses_requests(const struct server_summary *s,
                                 struct note *note)
{
    if (!s->is_there || s->is_partial || s->looks - s->failed < MIN_SCRAPES ||
        s->present_mean < 0 || s->client_mean < MIN_PRESENT ||
        s->present_mean >= FAR_FEWER * s->client_mean)
        return false;
    *note = (struct note){
        .name = "on_the_way",
        .count = llround(s->present_mean),
        .of = llround(s->client_mean),
        .share = s->present_mean / s->client_mean,
        .text = "the server has only this part of the requests in flight: the "
                "others wait in a proxy or gateway, or spend more time on the "
                "network than in the server",
    };
    return true;
}
