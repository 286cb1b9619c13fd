#include "loadgen/schedule/window_limits.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A time beyond 64 bits is never reached. */
static int64_t after(int64_t at_ns, int64_t ns)
{
    return at_ns < DUE_NEVER - ns ? at_ns + ns : DUE_UNKNOWN;
}

/* ---- phases ---- */

void phases_init(struct phases *p, const struct load_settings *load,
                 int64_t lanes)
{
    atomic_init(&p->begin,
                load->warmup_requests > 0 ? 0 : 2 * load->warmup_ns + 1);
    atomic_init(&p->end_ns, DUE_UNKNOWN);
    atomic_init(&p->lanes_left, lanes);
    p->longest_ns = load_longest_ns(load);
    p->cooldown_ns = load_cooldown_ns(load);
    atomic_init(&p->lanes_open, lanes);
    atomic_init(&p->load_end_ns, DUE_UNKNOWN);
}

void phases_begin(struct phases *p, int64_t start_ns)
{
    int64_t seen = atomic_load(&p->begin);

    while (seen % 2 == 0 &&
           !atomic_compare_exchange_weak(&p->begin, &seen,
                                         2 * later(seen / 2, start_ns) + 1))
        ;
}

int64_t phases_enter(struct phases *p, int64_t due_ns)
{
    int64_t seen = atomic_load(&p->begin);

    while (seen % 2 == 0 &&
           !atomic_compare_exchange_weak(&p->begin, &seen,
                                         later(seen, 2 * (due_ns + 1))))
        ;
    return seen % 2 ? seen / 2 : DUE_UNKNOWN;
}

void phases_leave(struct phases *p, int64_t due_ns)
{
    if (atomic_fetch_sub(&p->lanes_left, 1) == 1)
        phases_begin(p, due_ns);
}

int64_t phases_start_ns(const struct phases *p)
{
    int64_t seen = atomic_load(&p->begin);

    return seen % 2 ? seen / 2 : DUE_UNKNOWN;
}

int64_t phases_end_ns(const struct phases *p)
{
    int64_t start_ns = phases_start_ns(p);
    int64_t counted_ns = atomic_load(&p->end_ns);

    if (p->longest_ns == 0 || start_ns == DUE_UNKNOWN)
        return counted_ns;
    return counted_ns - start_ns < p->longest_ns ? counted_ns
                                                 : start_ns + p->longest_ns;
}

int64_t phases_load_end_ns(const struct phases *p)
{
    int64_t latest_ns = after(phases_end_ns(p), p->cooldown_ns);
    int64_t end_ns = atomic_load(&p->load_end_ns);

    return end_ns < latest_ns ? end_ns : latest_ns;
}

/* ---- limits ---- */

void window_limits_begin(struct window_limits *q, int64_t start_ns)
{
    q->window_start_ns = start_ns;
    if (q->longest_ns > 0) {
        q->window_end_ns = after(start_ns, q->longest_ns);
        q->end_ns = after(q->window_end_ns, q->cooldown_ns);
    }
    if (q->phases)
        phases_begin(q->phases, start_ns);
}

void window_limits_publish(struct window_limits *q, struct phases *phases)
{
    q->phases = phases;
    if (q->window_start_ns != DUE_UNKNOWN)
        phases_begin(phases, q->window_start_ns);
}

struct window_limits window_limits_of(const struct load_settings *load)
{
    struct window_limits q = {
        .warmup_left = load->warmup_requests,
        .window_start_ns = DUE_UNKNOWN,
        .window_end_ns = DUE_UNKNOWN,
        .end_ns = DUE_UNKNOWN,
        .longest_ns = load_longest_ns(load),
        .cooldown_ns = load_cooldown_ns(load),
        .is_auto = load->cooldown_ns == OPT_AUTO && load_cooldown_ns(load) > 0,
        .window_left = load->requests > 0 ? load->requests : -1,
        .last_ns = -1,
        .min_ns = load->min_duration_ns,
        .min_left = load->min_requests,
        .has_min = load->min_duration_ns > 0 || load->min_requests > 0,
    };

    if (q.warmup_left == 0)
        window_limits_begin(&q, load->warmup_ns);
    return q;
}

void window_limits_share(struct window_limits *q, struct lane lane)
{
    bool has_count = q->min_left > 0;

    if (q->window_left > 0)
        q->window_left = lane_share(q->window_left, lane);
    q->min_left = lane_share(q->min_left, lane);
    q->is_enough = has_count && q->min_left == 0 && q->min_ns == 0;
}

/* The window has as many requests as the settings ask for. */
static bool has_all(const struct window_limits *q)
{
    return q->window_start_ns != DUE_UNKNOWN &&
           (q->window_left == 0 || q->is_enough);
}

bool window_limits_is_full(const struct window_limits *q)
{
    return has_all(q) && q->cooldown_ns == 0;
}

bool window_limits_is_spent(const struct window_limits *q, int64_t due_ns)
{
    return window_limits_is_full(q) || due_ns >= q->end_ns;
}

void window_limits_take(struct window_limits *q, int64_t due_ns)
{
    if (q->warmup_left > 0) {
        if (--q->warmup_left == 0)
            window_limits_begin(q, due_ns + 1);
        return;
    }
    if (due_ns < q->window_start_ns || due_ns >= q->window_end_ns)
        return;
    if (has_all(q) && due_ns > q->last_ns) { /* the first of the cool-down */
        q->window_end_ns = due_ns;
        q->end_ns = after(due_ns, q->cooldown_ns);
        if (q->phases)
            atomic_store(&q->phases->end_ns, due_ns);
        return;
    }
    q->last_ns = due_ns;
    q->min_left--;
    q->is_enough = q->has_min && q->min_left <= 0 &&
                   due_ns - q->window_start_ns >= q->min_ns;
    if (q->window_left > 0)
        q->window_left--;
}

void window_limits_settle(struct window_limits *q, int64_t open, int64_t sent,
                          int64_t now_ns)
{
    int64_t end_ns = later(now_ns, q->window_end_ns);

    if (!q->is_settled && open * COOLDOWN_OPEN > sent)
        return;
    if (q->phases) {
        if (!q->is_settled && atomic_fetch_sub(&q->phases->lanes_open, 1) == 1)
            atomic_store(&q->phases->load_end_ns, end_ns);
        end_ns = atomic_load(&q->phases->load_end_ns);
    }
    q->is_settled = true;
    if (end_ns == DUE_UNKNOWN)
        return; /* other lanes have not settled */
    q->is_auto = false;
    if (end_ns < q->end_ns)
        q->end_ns = end_ns;
}

void window_limits_stop(struct window_limits *q, int64_t end_ns)
{
    q->is_auto = false;
    if (q->end_ns > end_ns)
        q->end_ns = end_ns;
}
