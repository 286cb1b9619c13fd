#include "study/launch/rank_clock.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"

void rank_clock_begin(struct rank_clock *c, enum rank_clock_phase phase)
{
    if (phase == RANK_CLOCK_BEFORE)
        *c = (struct rank_clock){.interval_ns = NS_PER_S};
    c->phase = phase;
    c->exchanges = 0;
}

static struct rank_sample sample_of(const struct rank_stamps *s)
{
    int64_t delay_ns = (s->back_ns - s->asked_ns) - (s->told_ns - s->got_ns);
    int64_t there_ns = s->got_ns - s->asked_ns;
    int64_t back_ns = s->told_ns - s->back_ns;

    return (struct rank_sample){
        .at_ns = s->asked_ns + (s->back_ns - s->asked_ns) / 2,
        .offset_ns = there_ns + (back_ns - there_ns) / 2,
        .error_ns = (delay_ns > 0 ? delay_ns : 0) / 2 + 1,
    };
}

/* Every second one goes, and from now on those of twice the time are one. */
static void thin_out(struct rank_clock *c)
{
    c->n_during /= 2;
    for (int i = 0; i < c->n_during; i++) {
        const struct rank_sample *a = &c->during[(size_t)i * 2];
        const struct rank_sample *b = a + 1;

        c->during[i] = a->error_ns <= b->error_ns ? *a : *b;
    }
    c->interval_ns *= 2;
}

static void add_during(struct rank_clock *c, const struct rank_sample *s)
{
    struct rank_sample *last =
        c->n_during > 0 ? &c->during[c->n_during - 1] : NULL;

    if (last && s->at_ns / c->interval_ns == last->at_ns / c->interval_ns) {
        if (s->error_ns < last->error_ns)
            *last = *s;
        return;
    }
    if (c->n_during == RANK_CLOCK_KEPT)
        thin_out(c);
    c->during[c->n_during++] = *s;
}

void rank_clock_add(struct rank_clock *c, const struct rank_stamps *stamps)
{
    struct rank_sample s = sample_of(stamps);
    struct rank_sample *best =
        c->phase == RANK_CLOCK_AFTER ? &c->after : &c->before;

    c->exchanges++;
    c->total++;
    if (c->phase == RANK_CLOCK_DURING)
        add_during(c, &s);
    else if (best->error_ns == 0 || s.error_ns < best->error_ns)
        *best = s;
}

struct rank_offset rank_clock_found(const struct rank_clock *c)
{
    bool has_after = c->after.error_ns > 0 && c->after.at_ns > c->before.at_ns;
    double drift = has_after
                       ? (double)(c->after.offset_ns - c->before.offset_ns) /
                             (double)(c->after.at_ns - c->before.at_ns)
                       : 0;
    int64_t ends_ns = has_after && c->after.error_ns > c->before.error_ns
                          ? c->after.error_ns
                          : c->before.error_ns;
    int64_t missed_ns = 0;

    for (int i = 0; i < c->n_during; i++) {
        const struct rank_sample *s = &c->during[i];
        int64_t line_ns =
            c->before.offset_ns +
            (int64_t)(drift * (double)(s->at_ns - c->before.at_ns));
        int64_t beyond_ns =
            llabs(s->offset_ns - line_ns) - s->error_ns - ends_ns;

        if (beyond_ns > missed_ns)
            missed_ns = beyond_ns;
    }
    return (struct rank_offset){
        .offset_ns = c->before.offset_ns,
        .error_ns = c->before.error_ns > 0 ? ends_ns + missed_ns : 0,
        .drift_ppm = drift * 1e6,
        .exchanges = c->total,
    };
}
