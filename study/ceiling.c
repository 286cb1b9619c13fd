#include "study/ceiling.h"

#include <math.h>

/* A gap that is not worth another probe. */
#define NARROW 1.1

/* Two digits: what a short probe knows of a rate is no better. */
static double rounded(double rps)
{
    double unit = pow(10, floor(log10(rps)) - 1);

    return round(rps / unit) * unit;
}

static double doubled(const struct ceiling *c)
{
    if (c->low_rps <= 0)
        return c->plan.start_rps;
    return c->low_rps < c->plan.most_rps
               ? fmin(2 * c->low_rps, c->plan.most_rps)
               : 0;
}

static double between(struct ceiling *c)
{
    if (c->low_rps <= 0)
        return c->high_rps > c->plan.lowest_rps ? c->plan.lowest_rps : 0;
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
    c->is_lowest_tried |= c->next_rps <= c->plan.lowest_rps;
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
