#include "analyzer/verdict/cost.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr.h"
#include "common/settings/settings.h"
#include "common/spec/prices.h"

/* -1: there is nothing to divide by. */
static double per(double amount, double count)
{
    return count > 0 ? amount / count : -1;
}

/* ---- money ---- */

int cost_ask_apply(const struct cost_ask *ask, struct settings *s,
                   struct err *err)
{
    if (!ask)
        return 0;
    if (ask->usd_per_hour > 0)
        s->cost.usd_per_hour = ask->usd_per_hour;
    if (ask->replicas > 0)
        s->cost.replicas = ask->replicas;
    if (ask->usd_per_gb_egress > 0)
        s->cost.usd_per_gb_egress = ask->usd_per_gb_egress;
    if (ask->usd_per_gb_month > 0)
        s->cost.usd_per_gb_month = ask->usd_per_gb_month;
    if (ask->storage_gb > 0)
        s->cost.storage_gb = ask->storage_gb;
    if (ask->machine) {
        free(s->cost.machine);
        s->cost.machine = xstrdup(ask->machine);
    }
    return ask->prices ? prices_apply(ask->prices, s, err) : 0;
}

double cost_of_storage(double usd_per_gb_month, double gb, double seconds)
{
    return usd_per_gb_month * gb * (seconds / 3600 / COST_MONTH_HOURS);
}

struct cost cost_of(const struct cost_settings *price,
                    const struct delivered *d)
{
    double machines_per_hour = price->usd_per_hour * (double)price->replicas;
    double storage_per_hour =
        cost_of_storage(price->usd_per_gb_month, price->storage_gb, 3600);
    double egress = price->usd_per_gb_egress * (d->egress_bytes / COST_GB);
    double hours = d->window_s / 3600;
    double usd = (machines_per_hour + storage_per_hour) * hours + egress;

    if (!(machines_per_hour > 0) && !(storage_per_hour > 0) &&
        !(price->usd_per_gb_egress > 0))
        return (struct cost){0};
    return (struct cost){
        .is_there = true,
        .usd = usd,
        .usd_machines = machines_per_hour * hours,
        .usd_storage = storage_per_hour * hours,
        .usd_egress = egress,
        .usd_per_hour = machines_per_hour + storage_per_hour,
        .usd_per_1000_good = per(usd * 1e3, (double)d->good),
        .usd_per_million_good_tokens = per(usd * 1e6, d->good_tokens),
        .usd_per_million_tokens = per(usd * 1e6, d->tokens),
    };
}

/* ---- energy and memory ---- */

#define J_PER_KWH 3.6e6
#define MAX_FILE  ((size_t)256 << 20)

/* Bounds for a line of watts: what a nanosecond counter holds, and a thousand
 * of the largest data centres. */
#define MAX_SECONDS 9e9
#define MAX_WATTS   1e12

/* A sample farther than this from an end of the window does not count for it.
 */
#define MAX_DISTANCE_NS (2 * NS_PER_S)

static double between(const struct metered_energy *e, int64_t at_ns, double uj,
                      int64_t want_ns)
{
    double share = at_ns > e->last_ns ? (double)(want_ns - e->last_ns) /
                                            (double)(at_ns - e->last_ns)
                                      : 1;

    return e->last_uj + share * (uj - e->last_uj);
}

/* An end of the window must lie between two samples, or close to the first or
 * the last of them. */
void metered_add(struct metered_energy *e, const struct window *w,
                 int64_t at_ns, double uj)
{
    if (!e->has_last) {
        e->has_start =
            at_ns >= w->start_ns && at_ns - w->start_ns < MAX_DISTANCE_NS;
        e->start_uj = uj;
    } else {
        if (e->last_ns <= w->start_ns && at_ns > w->start_ns) {
            e->has_start = true;
            e->start_uj = between(e, at_ns, uj, w->start_ns);
        }
        if (e->last_ns < w->end_ns && at_ns >= w->end_ns) {
            e->has_end = true;
            e->end_uj = between(e, at_ns, uj, w->end_ns);
        }
        e->has_moved |= uj > e->last_uj;
    }
    e->has_last = true;
    e->last_ns = at_ns;
    e->last_uj = uj;
}

void metered_take(struct metered *m, const struct metered_energy *e,
                  const struct window *w, const struct metered_share *share)
{
    bool is_near = e->has_last && e->last_ns < w->end_ns &&
                   w->end_ns - e->last_ns < MAX_DISTANCE_NS;
    bool is_covered = e->has_start && (e->has_end || is_near);
    double end_uj = e->has_end ? e->end_uj : e->last_uj;

    m->note[0] = '\0';
    m->has_energy = is_covered && e->has_moved;
    if (!e->has_last)
        return;
    if (!m->has_energy) {
        snprintf(m->note, sizeof(m->note), "%s",
                 is_covered ? "the counter never moved"
                            : "the samples do not cover the window");
        return;
    }
    m->joules = (end_uj - e->start_uj) / 1e6;
    m->watts = per(m->joules * NS_PER_S, (double)(w->end_ns - w->start_ns));
    m->joules_per_good = per(m->joules, (double)share->good);
    m->joules_per_token = per(m->joules, share->tokens);
    m->co2_g = share->co2_g_per_kwh > 0
                   ? m->joules / J_PER_KWH * share->co2_g_per_kwh
                   : -1;
}

/* ---- from the recording ---- */

struct readings {
    struct metered *m;
    const struct window *window;
    struct metered_energy energy;
};

static void add_reading(void *arg, unsigned shard, const void *row)
{
    const struct meter_reading *look = row;
    struct readings *r = arg;

    (void)shard;
    r->m->is_asked = true;
    if (look->memory >= 0) {
        r->m->has_memory = true;
        if (look->memory > r->m->peak_bytes)
            r->m->peak_bytes = look->memory;
    }
    if (look->energy >= 0)
        metered_add(&r->energy, r->window, look->at, (double)look->energy);
}

void metered_read(struct metered *m, const char *dir, const struct window *w,
                  const struct metered_share *share)
{
    struct readings r = {.m = m, .window = w};

    *m = (struct metered){0};
    tgr_each(dir, "meter.tgr", &schema_meter, add_reading, &r);
    metered_take(m, &r.energy, w, share);
}

/* ---- from a file of watts ---- */

struct watts {
    struct metered_energy energy;
    double uj; /* so far */
    bool has_last;
    int64_t last_ns;
    double last_w;
};

/* A number of at least 0 and below `limit`, and nothing else. */
static int read_number(char *cell, double limit, double *out)
{
    char *end;

    cell = str_trim(cell);
    *out = strtod(cell, &end);
    return end != cell && !*end && *out >= 0 && *out < limit ? 0 : -1;
}

static int add_line(struct watts *s, const struct window *w, char *line)
{
    char *first = strsep(&line, ",");
    double seconds, watts;
    int64_t at_ns;

    if (!line || read_number(first, MAX_SECONDS, &seconds) ||
        read_number(line, MAX_WATTS, &watts))
        return -1;
    at_ns = (int64_t)(seconds * 1e9);
    if (s->has_last && at_ns <= s->last_ns)
        return -1;
    if (s->has_last) /* power is linear between two lines */
        s->uj += (watts + s->last_w) / 2 * (double)(at_ns - s->last_ns) / 1e3;
    metered_add(&s->energy, w, at_ns, s->uj);
    s->has_last = true;
    s->last_ns = at_ns;
    s->last_w = watts;
    return 0;
}

int metered_parse_watts(struct metered *m, const char *name, char *text,
                        const struct window *w,
                        const struct metered_share *share, struct err *err)
{
    struct watts s = {0};
    size_t number = 0;
    char *line;

    while ((line = strsep(&text, "\n")) != NULL) {
        line = str_trim(line);
        number++;
        if (!*line || (number == 1 && (isalpha((unsigned char)*line) ||
                                       *line == '"' || *line == '#')))
            continue; /* empty, or a heading */
        if (add_line(&s, w, line))
            return err_set(err, ERR_CONFIG,
                           "%s:%zu: expected 'seconds since 1970, watts', "
                           "later than the line before",
                           name, number);
    }
    m->is_asked = true;
    metered_take(m, &s.energy, w, share);
    if (!s.has_last)
        snprintf(m->note, sizeof(m->note), "the file has no samples");
    return 0;
}

int metered_read_file(struct metered *m, const char *path, int64_t start_ns,
                      const struct window *w, const struct metered_share *share,
                      struct err *err)
{
    const struct window since_1970 = {start_ns + w->start_ns,
                                      start_ns + w->end_ns};
    char *text;
    int rc;

    if (file_read_text(path, MAX_FILE, &text, err))
        return -1;
    rc = metered_parse_watts(m, path, text, &since_1970, share, err);
    free(text);
    return rc;
}
