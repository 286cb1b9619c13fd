#include "loadgen/schedule/window_limits.h"

#include "loadgen/schedule/phases.h"

/* Beyond what 64 bits can count is never. */
static int64_t after(int64_t at_ns, int64_t ns)
{
    return at_ns < DUE_NEVER - ns ? at_ns + ns : DUE_UNKNOWN;
}

void window_limits_begin(struct window_limits *q, int64_t start_ns)
{
    q->window_start_ns = start_ns;
    if (q->longest_ns > 0) {
        q->window_end_ns = after(start_ns, q->longest_ns);
        q->end_ns = after(q->window_end_ns, q->cooldown_ns);
    }
    if (q->known)
        phases_begin(q->known, start_ns);
}

void window_limits_tell(struct window_limits *q, struct phases *phases)
{
    q->known = phases;
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
        .cooldown_ns = load->cooldown_ns,
        .window_left = load->requests > 0 ? load->requests : -1,
        .last_ns = -1,
        .least_ns = load->min_duration_ns,
        .least_left = load->min_requests,
        .has_least = load->min_duration_ns > 0 || load->min_requests > 0,
    };

    if (q.warmup_left == 0)
        window_limits_begin(&q, load->warmup_ns);
    return q;
}

void window_limits_share(struct window_limits *q, struct lane lane)
{
    bool has_count = q->least_left > 0;

    if (q->window_left > 0)
        q->window_left = lane_share(q->window_left, lane);
    q->least_left = lane_share(q->least_left, lane);
    q->is_enough = has_count && q->least_left == 0 && q->least_ns == 0;
}

/* There were as many in the window as were asked for. */
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

/* This one is the first of the cool-down. */
static void end_window(struct window_limits *q, int64_t due_ns)
{
    q->window_end_ns = due_ns;
    q->end_ns = after(due_ns, q->cooldown_ns);
    if (q->known)
        phases_end(q->known, due_ns);
}

static void take_in_window(struct window_limits *q, int64_t due_ns)
{
    q->last_ns = due_ns;
    q->least_left--;
    q->is_enough = q->has_least && q->least_left <= 0 &&
                   due_ns - q->window_start_ns >= q->least_ns;
    if (q->window_left > 0)
        q->window_left--;
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
    if (has_all(q) && due_ns > q->last_ns)
        end_window(q, due_ns);
    else
        take_in_window(q, due_ns);
}
