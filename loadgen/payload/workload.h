/* workload.h - the kinds of requests of a run: where each goes, how it is
 * spoken to, and which a request is of.
 *
 * A run without classes is a mix of one.  Built once before the clock starts;
 * const from then on, and shared.
 */
#ifndef LOADGEN_PAYLOAD_WORKLOAD_H
#define LOADGEN_PAYLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/settings/classes.h"
#include "loadgen/prepare/target.h"

struct api;
struct err;
struct workload_part;
struct settings;
struct strlist;
struct target_settings;

/* One kind of request; everything is borrowed. */
struct class
{
    const struct targets *targets; /* NULL: nothing is sent */
    const struct api *api;         /* NULL: nobody reads the answers */
    const struct target_settings *settings;
    size_t first_route; /* where its endpoints begin among those of all */
};

struct workload {
    const struct class *classes;
    size_t len;                  /* at least 1 */
    const struct class *warmup;  /* of requests before the window; NULL: as
                                    the others.  The last one, never drawn */
    bool is_drawn;               /* there are several to draw from: */
    const struct classes *drawn; /* weights; borrowed */
    uint64_t seed;
    size_t n_routes; /* endpoints of all classes */
    size_t n_places; /* of those, that connections are shared by */
    bool reads;      /* some class has an API that reads answers ... */
    bool streams;    /* ... which may be streams */

    struct class one;            /* of a run without classes */
    struct class *several;       /* owned */
    struct workload_part *parts; /* likewise */
};

/* Of one class; all of it is borrowed, and stays where it is. */
void workload_of_one(struct workload *workload, const struct targets *targets,
                     const struct api *api,
                     const struct target_settings *settings);

/* Of a run whose settings are all known: read what is to be sent, resolve the
 * targets and try each address once; `said` gets a line for each.  ERR_CONFIG,
 * ERR_IO.  mix_fini() may follow either way. */
int workload_init(struct workload *workload, const struct settings *s,
                  struct strlist *said, struct err *err);
void workload_fini(struct workload *workload);

/* So many workers of a closed loop number their requests by themselves; before
 * the mix is shared. */
void workload_set_lanes(struct workload *workload, int64_t n);

/* Also where it is not needed to send and read. */
const struct api *workload_api(const struct workload *workload, size_t i);

/* Which class what is drawn for `key`, a place in the schedule, is of. */
static inline size_t workload_draw(const struct workload *workload, int64_t key)
{
    return workload->is_drawn
               ? classes_draw(workload->drawn, workload->seed, key)
               : 0;
}

/* Which of the mix's routes the request of this class takes at this place of
 * the schedule. */
static inline size_t workload_route(const struct class *c, int64_t seq)
{
    return c->first_route + targets_route(c->targets, seq);
}

#endif
