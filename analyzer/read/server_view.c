#include "analyzer/read/server_view.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

/* A look so soon after the window still ends what a counter grew by in it. */
#define GRACE_NS (NS_PER_S / 2)

/* Fewer looks, or requests, say too little to warn of anything. */
#define LEAST_LOOKS   5
#define LEAST_PRESENT 4
#define FAR_FEWER     0.5

/* ---- gathering ---- */

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

static int64_t both(int64_t a, int64_t b)
{
    return a == TIME_ABSENT || b == TIME_ABSENT ? TIME_ABSENT : a + b;
}

static void measure_all(struct server_view *v, const struct server_scrape *look)
{
    v->looks++;
    v->failed += look->is_failed != 0;
    measure(&v->running, look->running);
    measure(&v->waiting, look->waiting);
    measure(&v->present, both(look->running, look->waiting));
    measure(&v->cache_use, look->cache_use);
}

void server_view_add(struct server_view *v, const struct server_scrape *look)
{
    const struct window *w = &v->window;

    if (window_holds(w, look->at))
        measure_all(v, look);
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

bool server_view_read(struct server_view *v, const char *dir)
{
    char *path = xasprintf("%s/server.tgr", dir);
    struct tgr_reader *reader;
    struct err ignored = {0};
    const void *data;
    size_t n;
    bool is_there = tgr_open(&reader, path, &schema_server, &ignored) == 0;

    while (is_there && tgr_next(reader, &data, &n, &ignored) > 0) {
        const struct server_scrape *looks = data;

        for (size_t i = 0; i < n; i++)
            server_view_add(v, &looks[i]);
    }
    if (is_there)
        tgr_close(reader);
    free(path);
    return is_there;
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

/* What is not known, -1, stays so. */
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
    if (!s->is_there || s->is_partial || s->looks - s->failed < LEAST_LOOKS ||
        s->present_mean < 0 || s->client_mean < LEAST_PRESENT ||
        s->present_mean >= FAR_FEWER * s->client_mean)
        return false;
    *note = (struct note){
        .name = "on_the_way",
        .count = llround(s->present_mean),
        .of = llround(s->client_mean),
        .share = s->present_mean / s->client_mean,
        .text = "the server knows of so few of the requests in flight: the "
                "others wait on the way to it, in a proxy or gateway, or are "
                "longer on the network than in the server",
    };
    return true;
}
