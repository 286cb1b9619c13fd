/* The open loop: due times are a pure function of settings and seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/arrival.h"
#include "loadgen/schedule/mlperf_schedule.h"
#include "loadgen/schedule/rate_shape.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

/* How many gaps of a window are drawn between two checks of the stop flag. */
#define CHECK_STOP_EVERY (1 << 16)

struct open_loop {
    struct window_limits limits;      /* of all lanes: each lane walks the whole
                                         schedule */
    const struct load_settings *load; /* borrowed */
    const struct arrival_ops *arrival;
    void *arrival_self;
    struct rng rng;
    struct shape shape;
    struct lane lane;
    bool has_begun;   /* the window has begun */
    bool is_official; /* the window has LoadGen's schedule */
    struct mlperf_schedule official;
    bool is_fitted;  /* gaps are scaled so that the count is exact */
    int64_t left;    /* of that count */
    double scale;    /* of gaps */
    double arrivals; /* expected up to the next one */
    int64_t next_ns;
    int64_t next_seq;
    int64_t turn;     /* of that, see lane_seq() */
    int64_t next_own; /* the lane's next sequence number; kept because a
                         division per request of all lanes would cost as much
                         as a logarithm */
};

/* Start the arrival process from its beginning. */
static int restart(struct open_loop *o, enum rng_purpose purpose,
                   struct err *err)
{
    memset(o->arrival_self, 0, o->arrival->state_size);
    o->rng = rng_stream(o->load->seed, purpose);
    return o->arrival->init ? o->arrival->init(o->arrival_self, o->load, err)
                            : 0;
}

/* A process conditioned on its count: as many gaps as are expected in the
 * window, plus the one that leaves it, are scaled to fit.  For Poisson arrivals
 * that gives uniform order statistics, as conditioning on the count should.
 * The gaps are drawn twice from the same seed, so that none has to be stored.
 */
static void fit_window(struct open_loop *o)
{
    double before =
        shape_arrivals(&o->shape, (double)o->limits.window_start_ns);
    double expected =
        shape_arrivals(&o->shape, (double)o->limits.window_end_ns) - before;
    int64_t n = llround(expected);
    struct err none = {0};
    double sum = 0;

    o->is_fitted = true;
    o->left = n;
    o->arrivals = before;
    restart(o, RNG_WINDOW, &none); /* cannot fail: it succeeded in init */
    for (int64_t i = 0; i <= n; i++) {
        if (i % CHECK_STOP_EVERY == 0 && atomic_load(&stop_signal))
            break; /* the run is interrupted */
        sum += o->arrival->gap(o->arrival_self, &o->rng);
    }
    o->scale = sum > 0 ? expected / sum : 1;
    restart(o, RNG_WINDOW, &none);
}

/* A time beyond 64 bits (a rate near 0) is never reached. */
static int64_t draw(struct open_loop *o)
{
    double at_ns;

    o->arrivals += o->arrival->gap(o->arrival_self, &o->rng) * o->scale;
    at_ns = shape_when_ns(&o->shape, o->arrivals);
    return at_ns < 0x1p62 ? llround(at_ns) : DUE_UNKNOWN;
}

/* The first request after the warm-up has already been drawn.  A window whose
 * count is exact, or that has LoadGen's schedule, draws anew. */
static int64_t next_due(struct open_loop *o)
{
    int64_t window_end_ns = o->limits.window_end_ns;
    int64_t due_ns = DUE_UNKNOWN;

    if (!o->has_begun) {
        due_ns = draw(o);
        if (o->limits.window_start_ns == DUE_UNKNOWN ||
            due_ns < o->limits.window_start_ns)
            return due_ns;
        o->has_begun = true;
        o->is_official = o->load->seeds == SEEDS_MLPERF;
        if (o->load->exact)
            fit_window(o);
    }
    if (o->is_official)
        return o->limits.window_start_ns +
               mlperf_schedule_next_ns(&o->official);
    if (o->is_fitted && o->left-- > 0) {
        due_ns = draw(o); /* half a nanosecond before the end is inside */
        return due_ns < window_end_ns ? due_ns : window_end_ns - 1;
    }
    if (o->is_fitted) { /* the cool-down is not fitted */
        o->is_fitted = false;
        o->scale = 1;
        o->arrivals = shape_arrivals(&o->shape, (double)window_end_ns);
    } else if (due_ns != DUE_UNKNOWN) {
        return due_ns;
    }
    return draw(o);
}

/* A warm-up counted in requests is as long as they take: the rest of the shape
 * begins where it ended. */
static void count(struct open_loop *o)
{
    bool was_known = o->limits.window_start_ns != DUE_UNKNOWN;

    window_limits_take(&o->limits, o->next_ns);
    if (!was_known && o->limits.window_start_ns != DUE_UNKNOWN)
        shape_end_warmup(&o->shape, (double)o->limits.window_start_ns);
}

/* Skip the requests of other lanes. */
static void skip_others(struct open_loop *o)
{
    while (o->next_seq < o->next_own &&
           !window_limits_is_spent(&o->limits, o->next_ns)) {
        count(o);
        o->next_seq++;
        o->next_ns = next_due(o);
    }
}

static int open_init(void *self, const struct load_settings *load,
                     struct lane lane, struct err *err)
{
    struct open_loop *o = self;

    o->load = load;
    o->lane = lane;
    o->turn = lane_first_turn(lane);
    o->next_own = lane_seq(lane, o->turn);
    o->arrival = arrival_of((enum arrival)load->arrival);
    o->arrival_self = xcalloc(1, o->arrival->state_size);
    o->limits = window_limits_of(load);
    o->scale = 1;
    o->official = mlperf_schedule_make(load->schedule_seed, load->rate_rps);
    if (shape_init(&o->shape, load, err) || restart(o, RNG_ARRIVAL, err))
        return -1;
    o->next_ns = next_due(o);
    skip_others(o);
    return o->is_fitted && atomic_load(&stop_signal)
               ? err_set(err, ERR_STOPPED,
                         "interrupted while the schedule was drawn")
               : 0;
}

static int64_t open_peek_ns(void *self)
{
    const struct open_loop *o = self;

    return window_limits_is_spent(&o->limits, o->next_ns) ? DUE_NEVER
                                                          : o->next_ns;
}

static struct due open_take(void *self)
{
    struct open_loop *o = self;
    struct due due = {.seq = o->next_seq++, .at_ns = o->next_ns};

    o->turn += lane_step(o->lane);
    o->next_own = lane_seq(o->lane, o->turn);
    count(o);
    o->next_ns = next_due(o);
    skip_others(o);
    return due;
}

/* A window that ended by its count reaches to the first arrival not sent. */
static int64_t open_due_end_ns(void *self)
{
    const struct open_loop *o = self;

    return o->next_ns < o->limits.end_ns ? o->next_ns : o->limits.end_ns;
}

static void open_fini(void *self)
{
    struct open_loop *o = self;

    shape_fini(&o->shape);
    free(o->arrival_self);
}

const struct source_ops source_open = {
    .state_size = sizeof(struct open_loop),
    .init = open_init,
    .peek_ns = open_peek_ns,
    .take = open_take,
    .due_end_ns = open_due_end_ns,
    .fini = open_fini,
};
