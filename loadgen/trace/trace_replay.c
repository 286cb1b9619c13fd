#include "loadgen/trace/trace_replay.h"

#include <math.h>
#include <stdatomic.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/stop.h"
#include "common/settings/settings.h"

int replay_open(struct replay *r, const struct load_settings *load,
                struct err *err)
{
    *r = (struct replay){.settings = &load->trace, .seed = load->seed};
    if (trace_open(&r->trace, r->settings, err))
        return -1;
    return r->settings->spread_ns > 0 ? trace_open(&r->ahead, r->settings, err)
                                      : 0;
}

void replay_fini(struct replay *r)
{
    trace_fini(&r->trace);
    trace_fini(&r->ahead);
}

int64_t replay_scale_ns(const struct trace_settings *s, int64_t ns)
{
    return s->time_scale == 1 ? ns : llround((double)ns / s->time_scale);
}

/* ---- the spread ---- */

/* The rows with the same time are spread over the step like independent uniform
 * points, in order: each is the smallest of the remaining points, in the rest
 * of the step.  How many there are is found by reading ahead. */
static int spread(struct replay *r, const struct row *row, struct err *err)
{
    struct rng rng = rng_at(r->seed, RNG_SPREAD, r->trace.counts.rows);
    double u = rng_uniform(&rng);
    int rc = 1;

    if (r->left == 0) {
        if (!r->peek)
            rc = trace_next(&r->ahead, &r->peek, err);
        if (rc < 0)
            return -1;
        r->time_ns = r->peek->time_ns;
        r->place = 0;
        while (rc > 0 && r->peek->time_ns == r->time_ns) {
            r->left++;
            rc = trace_next(&r->ahead, &r->peek, err);
        }
        if (rc < 0)
            return -1;
    }
    if (r->left < 1)
        return err_set(err, ERR_IO, "%s: has changed", r->settings->file);
    r->place = 1 - (1 - r->place) * pow(u, 1 / (double)r->left);
    r->left--;
    r->moved_ns =
        row->time_ns + (int64_t)(r->place * (double)r->settings->spread_ns);
    return 0;
}

/* ---- the next row ---- */

/* Steps that are longer than those of the clock overlap; the order is kept. */
static int place(struct replay *r, const struct row *row, struct err *err)
{
    int64_t before_ns = r->moved_ns;

    if (r->settings->spread_ns == 0)
        r->moved_ns = row->time_ns;
    else if (spread(r, row, err))
        return -1;
    r->is_held = r->has_begun && r->moved_ns < before_ns;
    if (r->is_held)
        r->moved_ns = before_ns;
    if (!r->has_begun)
        r->origin_ns = row->time_ns;
    r->has_begun = true;
    return 0;
}

int replay_check_stop(const struct replay *r, struct err *err)
{
    if (!atomic_load(&stop_signal))
        return 0;
    return err_set(err, ERR_STOPPED, "%s: interrupted while it was read",
                   r->settings->file);
}

int replay_next(struct replay *r, struct replay_row *out, struct err *err)
{
    const struct trace_settings *s = r->settings;
    int rc;

    do {
        int64_t before_ns = r->trace.last_ns;
        bool is_first = r->trace.counts.rows == 0;

        rc = trace_next(&r->trace, &out->row, err);
        if (rc <= 0)
            return rc;
        if (place(r, out->row, err))
            return -1;
        out->is_tied = !is_first && out->row->time_ns == before_ns;
        out->is_held = r->is_held;
        out->due_ns = r->moved_ns - r->origin_ns - s->from_ns;
        if (out->due_ns < 0 && replay_check_stop(r, err))
            return -1;
    } while (out->due_ns < 0);
    if (s->to_ns > 0 && out->due_ns >= s->to_ns - s->from_ns) {
        r->reached_to = true;
        return 0;
    }
    out->due_ns = replay_scale_ns(s, out->due_ns);
    return 1;
}

int replay_first(const struct load_settings *load, struct row *row,
                 struct err *err)
{
    struct replay replay;
    struct replay_row first = {0};
    int rc;

    if (load->scenario != SCENARIO_TRACE)
        return 0;
    rc = replay_open(&replay, load, err);
    if (rc == 0)
        rc = replay_next(&replay, &first, err);
    if (rc > 0)
        row_copy(row, first.row);
    replay_fini(&replay);
    if (rc == 0)
        err_set(err, ERR_CONFIG, "%s: no rows to replay", load->trace.file);
    return rc > 0 ? 0 : -1;
}
