#include "analyzer/search/search_step.h"

#include <math.h>

#include "analyzer/search/probe_marks.h"
#include "analyzer/search/probe_windows.h"

#define SECOND 1e9 /* times are computed as doubles, and rounded last */

/* A confirmation that was disturbed is made in so many pieces. */
#define PIECES 3

/* What is cut to the time that is left is still a whole; a shorter one was for
 * another end. */
#define WHOLE_PART 0.5

double step_rounded(const struct search *s, double value)
{
    double most = s->config.most > 0 ? s->config.most : INFINITY;

    if (s->config.by == SEARCH_CONCURRENCY) {
        value = round(value);
        most = fmax(1, floor(most));
    }
    value = fmax(fmin(value, most), s->config.least);
    return s->config.by == SEARCH_CONCURRENCY ? fmax(1, ceil(value)) : value;
}

double step_whole(const struct search *s, double value)
{
    return s->config.by == SEARCH_CONCURRENCY ? floor(value) : value;
}

void step_ask(const struct search *s, struct step *out, enum search_why why,
              double value, double window_s)
{
    out->ask = (struct search_ask){
        .step = why == SEARCH_PROVING ? SEARCH_CONFIRM : SEARCH_PROBE,
        .why = why,
        .value = step_rounded(s, value),
        .warmup_ns = llround(windows_warmup(s, window_s) * SECOND),
        .window_ns = llround(window_s * SECOND),
        .may_end_early = true};
}

/* What is as short as a probe is not cut. */
static double piece_s(const struct search *s, const struct evidence *e,
                      double value, double whole, double seen)
{
    double part = whole / PIECES;

    return fmin(fmax(part, windows_probe(s, e, value)),
                fmax(part, whole - seen));
}

/* Short pieces are disturbed less often, and those that were not add up.  What
 * they must add up to is the whole, which is asked for first at each value. */
void step_confirm(const struct search *s, const struct evidence *e,
                  struct step *out, double value, enum search_outcome proves)
{
    struct search_result seen;
    double asked;
    double window;

    value = step_rounded(s, step_whole(s, value));
    window = proves == SEARCH_CLIENT ? windows_client(s, e, value)
                                     : windows_confirm(s, e, value);
    probe_marks_pool(s, value, &seen);
    asked = (double)seen.asked_ns / SECOND;
    out->proves = proves;
    out->is_piece = asked >= WHOLE_PART * window;
    if (out->is_piece)
        window = piece_s(s, e, value, fmax(window, asked),
                         (double)seen.window_ns / SECOND);
    step_ask(s, out, SEARCH_PROVING, value, window);
}

void step_end(struct step *out, enum search_outcome outcome)
{
    out->ask = (struct search_ask){.step = SEARCH_DONE, .why = SEARCH_OVER};
    out->outcome = outcome;
}
