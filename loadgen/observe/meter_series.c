/* Energy that somebody else measures, from a Prometheus page: the sum of all
 * samples of a series.  Its name says the unit; power is added up over time,
 * counters by what each of them has grown by, so that one that starts anew
 * takes nothing away. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/wire/prometheus.h"
#include "loadgen/observe/meter_counters.h"
#include "loadgen/observe/meter_source.h"
#include "loadgen/prepare/fetch.h"

#define TIMEOUT_NS (500 * NS_PER_MS)
#define MAX_PAGE   ((int64_t)4 << 20)

/* The first whose ending the name has. */
static const struct unit {
    const char *ending;
    double uj;     /* a unit */
    bool is_power; /* a second */
} units[] = {
    {"_millijoules_total", 1e3, false},  {"_millijoules", 1e3, false},
    {"_joules_total", 1e6, false},       {"_joules", 1e6, false},
    {"_ENERGY_CONSUMPTION", 1e3, false}, /* DCGM's, in mJ */
    {"_milliwatts", 1e3, true},          {"_watts", 1e6, true},
    {"_POWER_USAGE", 1e6, true}, /* likewise, in W */
};

struct series {
    struct fetch *fetch;
    char *name;
    const struct unit *unit;
    struct buf page;
    double sum;      /* of a page, or what its counters have grown by */
    int64_t samples; /* likewise */

    struct counters counters; /* of what is no power */
    double used_uj;           /* so far ... */
    int64_t last_ns; /* ... of power up to here; TIME_ABSENT: not begun */
};

static const struct unit *unit_of(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i].ending);

        if (len > n && strcmp(name + len - n, units[i].ending) == 0)
            return &units[i];
    }
    return NULL;
}

static void take_sample(void *arg, const struct prom_sample *sample)
{
    struct series *s = arg;

    if (!prom_is(sample->name, s->name) || !isfinite(sample->value))
        return;
    s->sum += s->unit->is_power ? sample->value
                                : counters_grown(&s->counters, sample);
    s->samples++;
}

/* How much the page says, in microwatts, or how many microjoules more. */
static int look(struct series *s, double *value, struct err *err)
{
    static const struct prom_hooks hooks = {.sample = take_sample};

    if (fetch_page(s->fetch, TIMEOUT_NS, NULL, &s->page, err))
        return -1;
    s->sum = 0;
    s->samples = 0;
    prom_read(buf_text(&s->page), s->page.len, &hooks, s);
    *value = s->sum * s->unit->uj;
    if (!s->unit->is_power && s->samples > COUNTERS_MAX)
        return err_set(err, ERR_IO, "more than %d samples of %s", COUNTERS_MAX,
                       s->name);
    return s->samples > 0
               ? 0
               : err_set(err, ERR_IO, "there is no series %s", s->name);
}

static int series_open(void *self, const struct meter_place *place,
                       struct err *err)
{
    struct series *s = self;
    char *words = xstrdup(place->arg);
    char *rest = words;
    const char *url = str_next_word(&rest);
    const char *name = str_next_word(&rest);
    double value;
    int rc = 0;

    buf_init(&s->page, (size_t)MAX_PAGE);
    s->last_ns = TIME_ABSENT;
    s->name = xstrdup(name ? name : "");
    s->unit = unit_of(s->name);
    if (!s->unit)
        rc = err_set(err, ERR_CONFIG,
                     "a series whose name ends in _joules, _joules_total, "
                     "_millijoules, _watts or _milliwatts, not '%s'",
                     s->name);
    if (rc == 0 && str_next_word(&rest))
        rc = err_set(err, ERR_CONFIG,
                     "a URL and the name of a series, not "
                     "more");
    if (rc == 0)
        rc = fetch_new(&s->fetch, place->target, url, MAX_PAGE, err) ||
                     fetch_probe(s->fetch, TIMEOUT_NS, err) ||
                     look(s, &value, err)
                 ? -1
                 : 0;
    free(words);
    return rc;
}

static int64_t series_read(void *self, int64_t now_ns)
{
    struct series *s = self;
    struct err ignored = {0};
    double value;

    if (look(s, &value, &ignored))
        return TIME_ABSENT;
    if (!s->unit->is_power)
        s->used_uj += value;
    else if (s->last_ns != TIME_ABSENT)
        s->used_uj += value * (double)(now_ns - s->last_ns) / NS_PER_S;
    s->last_ns = now_ns;
    return llround(s->used_uj);
}

static void series_close(void *self)
{
    struct series *s = self;

    fetch_free(s->fetch);
    buf_fini(&s->page);
    counters_fini(&s->counters);
    free(s->name);
}

const struct meter_ops meter_series = {
    .name = "series",
    .help = "series URL NAME",
    .state_size = sizeof(struct series),
    .open = series_open,
    .read = series_read,
    .close = series_close,
};
