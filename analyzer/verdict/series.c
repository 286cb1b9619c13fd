#include "analyzer/verdict/series.h"

#include <math.h>

#include "common/base/clk.h"
#include "common/measure/measure.h"

void series_init(struct series *s, struct window window)
{
    double length = (double)window.end_ns - (double)window.start_ns;
    double start = (double)window.start_ns;
    double before;

    *s = (struct series){.window = window};
    if (!(length > 0))
        return;
    s->width_ns = ceil(fmax(length, start) / SERIES_WINDOW);
    s->per_ns = 1 / s->width_ns;
    before = ceil(start / s->width_ns);
    s->first = (size_t)before;
    s->origin_ns = start - before * s->width_ns;
    s->n = s->first + (size_t)fmax(1, round(length / s->width_ns));
}

/* -1: before the first bin; n: after the last.  Damaged rows may hold any time.
 */
static ptrdiff_t bin_at(const struct series *s, double ns)
{
    double at = (ns - s->origin_ns) * s->per_ns;

    if (!(at >= 0))
        return -1;
    return at < (double)s->n ? (ptrdiff_t)at : (ptrdiff_t)s->n;
}

static double start_of(const struct series *s, ptrdiff_t bin)
{
    return s->origin_ns + (double)bin * s->width_ns;
}

/* The first and the last bin get a part of it, those between all of it. */
static void add_flight(struct series *s, double from, double to)
{
    ptrdiff_t last = (ptrdiff_t)s->n - 1;
    ptrdiff_t i = bin_at(s, from);
    ptrdiff_t j = bin_at(s, to);

    if (!(to > from) || j < 0 || i > last)
        return;
    if (i < 0) {
        i = 0;
        from = s->origin_ns;
    }
    if (j > last) {
        j = last;
        to = start_of(s, last + 1);
    }
    if (i == j) {
        s->bins[i].area_ns += to - from;
        return;
    }
    s->bins[i].area_ns += start_of(s, i + 1) - from;
    s->bins[j].area_ns += to - start_of(s, j);
    s->bins[i + 1].step++;
    s->bins[j].step--;
}

ptrdiff_t series_add(struct series *s, const struct facts *f)
{
    ptrdiff_t at = s->n > 0 ? bin_at(s, (double)f->due) : -1;
    struct series_bin *due = NULL;
    double flight;

    if (s->n == 0)
        return -1;
    if (at >= 0 && at < (ptrdiff_t)s->n) {
        due = &s->bins[at];
        due->due += facts_n(f);
    } else {
        at = -1;
    }
    if (f->sent == TIME_ABSENT || f->end == TIME_ABSENT)
        return at;
    flight = (double)f->end - (double)f->sent;
    add_flight(s, (double)f->sent, (double)f->end);
    if (due) {
        due->sent++;
        due->flight_ns += flight;
    }
    if (window_holds(&s->window, f->end)) {
        s->ended++;
        s->ended_flight_ns += flight;
    }
    return at;
}

void series_add_value(struct series *s, ptrdiff_t bin, size_t measure,
                      int64_t value_ns)
{
    if (bin < 0 || value_ns == TIME_ABSENT)
        return;
    s->sums[measure][bin].n++;
    s->sums[measure][bin].sum_ns += (double)value_ns;
}

void series_in_flight(const struct series *s, double *out)
{
    int64_t through = 0;

    for (size_t i = 0; i < s->n; i++) {
        through += s->bins[i].step;
        out[i] = (double)through + s->bins[i].area_ns / s->width_ns;
    }
}

void series_blocks(const double *x, size_t n, double *out, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++) {
        size_t from = b * n / blocks;
        size_t to = (b + 1) * n / blocks;
        double sum = 0;

        for (size_t i = from; i < to; i++)
            sum += x[i];
        out[b] = to > from ? sum / (double)(to - from) : 0;
    }
}

int64_t series_means(const struct series *s, size_t measure, size_t from,
                     size_t to, double *out, size_t groups)
{
    int64_t all = 0;
    size_t i = from;
    double mean = 0;

    for (size_t g = 0; g < groups; g++) {
        size_t end = from + (g + 1) * (to - from) / groups;
        int64_t n = 0;
        double sum = 0;

        for (; i < end; i++) {
            n += s->sums[measure][i].n;
            sum += s->sums[measure][i].sum_ns;
        }
        if (n > 0)
            mean = sum / (double)n;
        out[g] = mean;
        all += n;
    }
    return all;
}

size_t series_groups(const struct series *s, size_t measure, size_t from,
                     size_t to, int64_t each)
{
    int64_t n = 0;

    for (size_t i = from; i < to; i++)
        n += s->sums[measure][i].n;
    n /= each;
    return n < (int64_t)(to - from) ? (size_t)n : to - from;
}

double series_first_flight_s(const struct series *s, int64_t count)
{
    int64_t sent = 0;
    double flight_ns = 0;

    for (size_t i = 0; i < s->n && sent < count; i++) {
        sent += s->bins[i].sent;
        flight_ns += s->bins[i].flight_ns;
    }
    return sent > 0 ? flight_ns / (double)sent / 1e9 : 0;
}
