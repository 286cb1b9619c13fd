#include "study/ceiling.h"

#include <math.h>

/* A stub that was on a CPU for this share of the time had no more to give; the
 * rest is the beginning and the end of the run. */
#define SATURATED 0.8

/* A gap that is not worth another probe. */
#define NARROW 1.1

/* Two digits: a short probe is no more precise. */
static double rounded(double rps)
{
    double unit = pow(10, floor(log10(rps)) - 1);

    return round(rps / unit) * unit;
}

static double doubled(const struct ceiling *c)
{
    if (c->low_rps <= 0)
        return c->plan.start_rps;
    return c->low_rps < c->plan.max_rps ? fmin(2 * c->low_rps, c->plan.max_rps)
                                        : 0;
}

static double between(struct ceiling *c)
{
    if (c->low_rps <= 0)
        return c->high_rps > c->plan.min_rps ? c->plan.min_rps : 0;
    if (c->bisections <= 0 || c->high_rps < NARROW * c->low_rps)
        return 0;
    c->bisections--;
    return rounded(sqrt(c->low_rps * c->high_rps));
}

static void choose_next(struct ceiling *c)
{
    c->is_again = false;
    c->next_rps = c->high_rps > 0 ? between(c) : doubled(c);
}

void ceiling_init(struct ceiling *c, const struct ceiling_plan *plan)
{
    *c = (struct ceiling){
        .plan = *plan,
        .bisections = plan->bisections,
        .high_limit = LIMIT_SEARCH,
        .limit = LIMIT_SEARCH,
    };
    choose_next(c);
}

bool ceiling_next(const struct ceiling *c, double *rate_rps)
{
    *rate_rps = c->next_rps;
    return c->next_rps > 0;
}

void ceiling_note(struct ceiling *c, enum ceiling_found found)
{
    c->is_min_tried |= c->next_rps <= c->plan.min_rps;
    if (found == FOUND_PASSED) {
        c->low_rps = c->next_rps;
        c->limit = c->high_limit;
        choose_next(c);
        return;
    }
    c->limit = found == FOUND_STUB ? LIMIT_STUB : LIMIT_CLIENT;
    if (!c->is_again) {
        c->is_again = true;
        return;
    }
    c->high_rps = c->next_rps;
    c->high_limit = c->limit;
    choose_next(c);
}

bool probe_is_stub_limited(const struct probe_result *r)
{
    return !r->is_trusted && r->stub_share >= SATURATED &&
           r->stub_share > r->client_share;
}
