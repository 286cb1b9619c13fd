#include "analyzer/tally/bars.h"

#include <math.h>
#include <string.h>

/* Values that differ by less have one row. */
#define LEAST_SPREAD 1.05

/* One edge more than rows, from the smallest value to the largest.  Returns how
 * many. */
static size_t lay_edges(int64_t low, int64_t high,
                        int64_t edge[static BARS_MAX + 1])
{
    double spread = (double)high / (double)low;
    size_t rows = BARS_MAX - 1; /* the limit may make one more */
    size_t n = 0;

    if (spread < LEAST_SPREAD)
        rows = 1;
    for (size_t i = 0; i <= rows; i++) {
        int64_t at =
            llround((double)low * pow(spread, (double)i / (double)rows));

        if (i == rows)
            at = high > low ? high : low + 1;
        if (n == 0 || at > edge[n - 1])
            edge[n++] = at;
    }
    return n;
}

/* The limit is an edge too, so that what keeps it is told from what does not.
 */
static size_t add_limit(int64_t limit, int64_t edge[static BARS_MAX + 1],
                        size_t n)
{
    size_t at = 0;

    while (at < n && edge[at] < limit)
        at++;
    if (at == 0 || at == n || edge[at] == limit)
        return n;
    memmove(&edge[at + 1], &edge[at], (n - at) * sizeof(edge[0]));
    edge[at] = limit;
    return n + 1;
}

static void fill(const struct hist *h, const int64_t *edge, struct bars *out)
{
    int64_t below = 0;

    for (size_t i = 0; i < out->len; i++) {
        int64_t upto = i + 1 < out->len ? hist_count_below(h, edge[i + 1])
                                        : h->n - h->beyond;

        out->list[i] = (struct bar){
            .from_ns = edge[i], .to_ns = edge[i + 1], .count = upto - below};
        below = upto;
    }
}

void bars_make(const struct hist *h, enum measure m, int64_t limit_ns,
               struct bars *out)
{
    int64_t edge[BARS_MAX + 1];
    int64_t low;

    *out = (struct bars){.measure = m,
                         .limit_ns = limit_ns,
                         .failed = h->beyond - h->out_of_range,
                         .out_of_range = h->out_of_range};
    if (h->n == h->beyond)
        return;
    low = hist_at_rank(h, 1);
    if (low < 1)
        low = 1;
    out->len = lay_edges(low, h->max_ns > low ? h->max_ns : low, edge);
    out->len = add_limit(limit_ns, edge, out->len) - 1;
    fill(h, edge, out);
}
