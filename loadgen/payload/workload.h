/* workload.h - the classes of requests of a run: where each is sent, through
 * which API, and which class a request belongs to.
 *
 * A run without classes is a workload of one class.  Built once before the
 * clock starts; const from then on, and shared.
 */
#ifndef LOADGEN_PAYLOAD_WORKLOAD_H
#define LOADGEN_PAYLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/settings/classes.h"
#include "loadgen/prepare/target.h"

struct api;
struct workload_part;
struct settings;

/* One class of requests; everything is borrowed. */
struct class
{
    const struct targets *targets; /* NULL: nothing is sent */
    const struct api *api;         /* NULL: answers are not read */
    const struct target_settings *settings;
    size_t first_route; /* index of its first endpoint among all classes' */
};

struct workload {
    const struct class *classes;
    size_t len;                  /* at least 1 */
    const struct class *warmup;  /* of requests before the window; NULL: same as
                                    the others.  The last one, never drawn */
    bool is_drawn;               /* there are several classes to draw from: */
    const struct classes *drawn; /* weights; borrowed */
    uint64_t seed;
    size_t n_routes; /* endpoints of all classes */
    size_t
        n_places; /* distinct addresses among them, which share connections */
    bool reads;   /* some class has an API that reads answers ... */
    bool streams; /* ... which may be streams */

    struct class one;            /* of a run without classes */
    struct class *several;       /* owned */
    struct workload_part *parts; /* owned */
};

/* A workload of one class; everything is borrowed and must stay in place. */
void workload_of_one(struct workload *workload, const struct targets *targets,
                     const struct api *api,
                     const struct target_settings *settings);

/* The workload of a run with complete settings: load the data, resolve the
 * targets and try each address once; `notes` gets a line for each.  ERR_CONFIG,
 * ERR_IO.  workload_fini() may follow either way. */
int workload_init(struct workload *workload, const struct settings *s,
                  struct strlist *notes, struct err *err);
void workload_fini(struct workload *workload);

/* The number of workers of a closed loop, which number their requests
 * independently; before the workload is shared. */
void workload_set_lanes(struct workload *workload, int64_t n);

/* Append the name of each place, in order: its URL without secrets, with the
 * address if the URL has several. */
void workload_name_places(const struct workload *workload,
                          struct strlist *names);

/* The API of a class, even if it is not needed to send and read. */
const struct api *workload_api(const struct workload *workload, size_t i);

/* The class drawn for `key`, a sequence number of the schedule. */
static inline size_t workload_draw(const struct workload *workload, int64_t key)
{
    return workload->is_drawn
               ? classes_draw(workload->drawn, workload->seed, key)
               : 0;
}

/* The route, among those of all classes, of a request with this class and
 * sequence number. */
static inline size_t workload_route(const struct class *c, int64_t seq)
{
    return c->first_route + targets_route(c->targets, seq);
}

#endif
