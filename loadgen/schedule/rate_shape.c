#include "loadgen/schedule/rate_shape.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/spec/load_shape.h"

static void add_piece(struct shape *s, double length_ns, double from_rps,
                      double to_rps)
{
    s->pieces = xrealloc(s->pieces, s->len + 1, sizeof(*s->pieces));
    s->pieces[s->len++] =
        (struct piece){length_ns, from_rps / 1e9, to_rps / 1e9};
}

/* The warm-up runs at the first rate of the first stage, the cool-down at the
 * last rate of the last one. */
static int add_stages(struct shape *s, const struct load_settings *load,
                      struct err *err)
{
    double warmup_ns =
        load->warmup_requests > 0 ? INFINITY : (double)load->warmup_ns;
    struct load_stage stage = {0};

    s->has_warmup = load->warmup_requests > 0;
    for (size_t i = 0; i < load->stages.len; i++) {
        if (load_stage_parse(load->stages.items[i], &stage, err))
            return err_context(err, "load.stages");
        if (i == 0 && warmup_ns > 0)
            add_piece(s, warmup_ns, stage.from_rps, stage.from_rps);
        add_piece(s, (double)stage.length_ns, stage.from_rps, stage.to_rps);
    }
    if (load_cooldown_ns(load) > 0)
        add_piece(s, INFINITY, stage.to_rps, stage.to_rps);
    return 0;
}

int shape_init(struct shape *s, const struct load_settings *load,
               struct err *err)
{
    double on_ns = (double)load->burst_on_ns;
    double off_ns = (double)load->burst_off_ns;

    *s = (struct shape){0};
    if (load->stages.len > 0)
        return add_stages(s, load, err);
    if (!(load->rate_rps > 0) || isinf(load->rate_rps))
        return err_set(err, ERR_CONFIG, "rate must be above 0, not %g",
                       load->rate_rps);
    if (load->burst_on_ns > 0) { /* the mean rate is the one in the settings */
        double rps = load->rate_rps * (on_ns + off_ns) / on_ns;

        add_piece(s, on_ns, rps, rps);
        add_piece(s, off_ns, 0, 0);
        s->repeats = true;
    } else {
        add_piece(s, INFINITY, load->rate_rps, load->rate_rps);
    }
    return 0;
}

void shape_end_warmup(struct shape *s, double length_ns)
{
    if (s->has_warmup)
        s->pieces[0].length_ns = length_ns;
}

void shape_fini(struct shape *s)
{
    free(s->pieces);
    *s = (struct shape){0};
}

static double piece_total(const struct piece *p)
{
    if (isinf(p->length_ns))
        return p->from > 0 ? INFINITY : 0;
    return p->length_ns * (p->from + p->to) / 2;
}

/* When `arrivals` have come since the start of the piece, in the form that does
 * not cancel.  A constant piece, the usual case, needs no square root. */
static double piece_when_ns(const struct piece *p, double arrivals)
{
    double slope;
    double root;

    if (!(arrivals > 0))
        return 0;
    if (p->to == p->from)
        return arrivals / p->from;
    slope = (p->to - p->from) / p->length_ns;
    root = sqrt(fmax(0, p->from * p->from + 2 * slope * arrivals));
    return 2 * arrivals / (p->from + root);
}

/* Go to the next piece; false if there is none. */
static bool step(struct shape *s)
{
    const struct piece *p = &s->pieces[s->at];

    if (isinf(p->length_ns) || (s->at + 1 == s->len && !s->repeats))
        return false;
    s->before += piece_total(p);
    s->start_ns += p->length_ns;
    s->at = (s->at + 1) % s->len;
    return true;
}

double shape_when_ns(struct shape *s, double arrivals)
{
    if (arrivals < s->before) {
        s->at = 0;
        s->start_ns = s->before = 0;
    }
    while (arrivals - s->before >= piece_total(&s->pieces[s->at])) {
        if (!step(s))
            return INFINITY;
    }
    return s->start_ns + piece_when_ns(&s->pieces[s->at], arrivals - s->before);
}

double shape_arrivals(const struct shape *s, double until_ns)
{
    struct shape walk = {
        .pieces = s->pieces, .len = s->len, .repeats = s->repeats};
    const struct piece *p;
    double slope;
    double ns;

    while (until_ns - walk.start_ns > walk.pieces[walk.at].length_ns) {
        double rest = piece_total(&walk.pieces[walk.at]);

        if (!step(&walk))
            return walk.before + rest;
    }
    p = &walk.pieces[walk.at];
    slope = isinf(p->length_ns) ? 0 : (p->to - p->from) / p->length_ns;
    ns = until_ns - walk.start_ns;
    return walk.before + ns * (p->from + slope * ns / 2);
}
