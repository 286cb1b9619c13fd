#include "analyzer/stats/share_trials.h"

#include <math.h>

#define BISECTIONS 50

/* The mean of the inflations, not that of the effective samples: a trial with
 * few misses by chance also shows less of how they cluster. */
struct share_sample share_trials(const struct share_sample *trials, size_t n)
{
    struct share_sample all = {0};
    double inflated = 0;
    double squares = 0;
    double used = 0;
    double dispersion = 1;
    double share;

    for (size_t i = 0; i < n; i++) {
        const struct share_sample *t = &trials[i];

        if (!(t->n > 0) || !(t->n_effective > 0))
            continue;
        used++;
        all.n += t->n;
        all.misses += t->misses;
        inflated += t->n * t->n / t->n_effective;
    }
    if (!(used > 0))
        return all;
    all.n_effective = all.n * all.n / inflated;
    share = all.misses / all.n;
    if (used < 2 || !(share > 0 && share < 1))
        return all;
    for (size_t i = 0; i < n; i++) {
        const struct share_sample *t = &trials[i];
        double off;

        if (!(t->n > 0) || !(t->n_effective > 0))
            continue;
        off = t->misses / t->n - share;
        squares += t->n * off * off;
    }
    dispersion =
        squares * all.n_effective / all.n / (used - 1) / (share * (1 - share));
    all.n_effective /= fmax(1, dispersion);
    return all;
}

struct interval share_bounds(const struct share_sample *s)
{
    struct interval of_fail = {0, 1};
    struct interval of_pass = {0, 1};

    for (int i = 0; i < BISECTIONS; i++) {
        double low = (of_fail.low + of_fail.high) / 2;
        double high = (of_pass.low + of_pass.high) / 2;

        *(share_fail_p(s, low) <= SHARE_LEVEL ? &of_fail.low : &of_fail.high) =
            low;
        *(share_pass_p(s, high) <= SHARE_LEVEL ? &of_pass.high : &of_pass.low) =
            high;
    }
    return (struct interval){of_fail.low, of_pass.high};
}
