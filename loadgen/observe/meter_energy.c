/* Energy that was used: the CPU packages of this host (RAPL), its NVIDIA GPUs
 * (NVML), or a series of a Prometheus page.  A part that cannot be read makes
 * the sum unknown: without it the sum would be too small. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/wire/prometheus.h"
#include "loadgen/observe/host.h"
#include "loadgen/observe/meter.h"
#include "loadgen/prepare/fetch.h"

/* ---- RAPL: the kernel's power capping files ---- */

#define MAX_PACKAGES 16
#define PACKAGES     "/sys/class/powercap/intel-rapl:"

struct package {
    char *path;
    int64_t range; /* the counter wraps at this; 0: not known */
    int64_t last;
};

struct rapl {
    struct package packages[MAX_PACKAGES];
    size_t n;
    int64_t sum;
    bool is_lost; /* a counter wrapped, and its range is not known */
};

static int64_t number_at(const char *path)
{
    char text[HOST_TEXT];

    return host_parse_count(host_read_start(path, text));
}

/* Other zones, such as the whole platform, include the packages. */
static int add_package(struct rapl *r, const char *root, size_t i,
                       struct err *err)
{
    struct package *p = &r->packages[r->n];
    char *path = xasprintf("%s" PACKAGES "%zu/name", root, i);
    char text[HOST_TEXT];
    const char *name = host_read_start(path, text);

    free(path);
    p->path = xasprintf("%s" PACKAGES "%zu/energy_uj", root, i);
    if (access(p->path, F_OK) < 0 ||
        (name[0] && strncmp(name, "package", 7) != 0)) {
        free(p->path);
        return 0;
    }
    r->n++;
    path = xasprintf("%s" PACKAGES "%zu/max_energy_range_uj", root, i);
    p->range = number_at(path);
    free(path);
    if (p->range == TIME_ABSENT)
        p->range = 0;
    p->last = number_at(p->path);
    return p->last == TIME_ABSENT
               ? err_set(err, ERR_IO,
                         "RAPL package %zu cannot be read, and without it the "
                         "sum is too small (%s)",
                         i, p->path)
               : 0;
}

static int rapl_open(void *self, const struct meter_place *place,
                     struct err *err)
{
    struct rapl *r = self;

    for (size_t i = 0; i < MAX_PACKAGES; i++) {
        if (add_package(r, place->root, i, err))
            return -1;
    }
    return r->n > 0
               ? 0
               : err_set(err, ERR_IO, "RAPL is not available on this host");
}

/* A package that could not be read is caught up with at the next reading. */
static int64_t rapl_read(void *self, int64_t now_ns)
{
    struct rapl *r = self;
    bool is_complete = true;

    (void)now_ns;
    for (size_t i = 0; i < r->n; i++) {
        struct package *p = &r->packages[i];
        int64_t now = number_at(p->path);
        int64_t by;

        if (now == TIME_ABSENT) {
            is_complete = false;
            continue;
        }
        by = now >= p->last ? now - p->last : p->range - p->last + now;
        p->last = now;
        r->is_lost |= by < 0;
        r->sum += by;
    }
    return is_complete && !r->is_lost ? r->sum : TIME_ABSENT;
}

static void rapl_close(void *self)
{
    struct rapl *r = self;

    for (size_t i = 0; i < r->n; i++)
        free(r->packages[i].path);
}

const struct meter_ops meter_rapl = {
    .name = "rapl",
    .state_size = sizeof(struct rapl),
    .open = rapl_open,
    .read = rapl_read,
    .close = rapl_close,
};

/* ---- NVML: the library is loaded only when it is needed, and neither the
 * build nor other runs depend on it ---- */

#define LIBRARY     "libnvidia-ml.so.1"
#define MAX_DEVICES 64
#define UJ_PER_MJ   1000

/* The library's functions; all return 0 on success. */
typedef int plain_fn(void);
typedef int count_fn(unsigned *count);
typedef int handle_fn(unsigned index, void **device);
typedef int energy_fn(void *device, unsigned long long *millijoules);

struct nvml {
    void *library;
    plain_fn *shutdown;
    energy_fn *energy;
    void *devices[MAX_DEVICES];
    unsigned long long last_mj[MAX_DEVICES];
    unsigned n;
    int64_t sum_mj;
};

/* ISO C has no cast from an object to a function; POSIX means this one. */
static bool find_symbol(const struct nvml *v, const char *name, void *fn)
{
    void *symbol = dlsym(v->library, name);

    memcpy(fn, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static int add_devices(struct nvml *v, count_fn *count, handle_fn *handle,
                       struct err *err)
{
    unsigned present = 0;

    if (count(&present) != 0 || present == 0)
        return err_set(err, ERR_IO, "NVML finds no GPU on this host");
    if (present > MAX_DEVICES)
        return err_set(err, ERR_IO, "more than %d GPUs", MAX_DEVICES);
    for (; v->n < present; v->n++) {
        if (handle(v->n, &v->devices[v->n]) != 0 ||
            v->energy(v->devices[v->n], &v->last_mj[v->n]) != 0)
            return err_set(err, ERR_IO,
                           "GPU %u of %u does not count its energy", v->n,
                           present);
    }
    return 0;
}

static int nvml_open(void *self, const struct meter_place *place,
                     struct err *err)
{
    struct nvml *v = self;
    const char *name = place->arg[0] ? place->arg : LIBRARY;
    plain_fn *init;
    count_fn *count;
    handle_fn *handle;

    v->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!v->library)
        return err_set(err, ERR_IO, "NVML is not available on this host (%s)",
                       name);
    if (!find_symbol(v, "nvmlInit_v2", &init) ||
        !find_symbol(v, "nvmlDeviceGetCount_v2", &count) ||
        !find_symbol(v, "nvmlDeviceGetHandleByIndex_v2", &handle) ||
        !find_symbol(v, "nvmlDeviceGetTotalEnergyConsumption", &v->energy))
        return err_set(err, ERR_IO,
                       "this version of NVML does not count "
                       "energy");
    if (init() != 0)
        return err_set(err, ERR_IO,
                       "NVML does not start; is the driver "
                       "loaded?");
    find_symbol(v, "nvmlShutdown", &v->shutdown);
    return add_devices(v, count, handle, err);
}

static int64_t nvml_read(void *self, int64_t now_ns)
{
    struct nvml *v = self;

    (void)now_ns;
    for (unsigned i = 0; i < v->n; i++) {
        unsigned long long mj;

        if (v->energy(v->devices[i], &mj) != 0)
            return TIME_ABSENT;
        /* A driver that was reloaded counts from 0. */
        v->sum_mj += (int64_t)(mj >= v->last_mj[i] ? mj - v->last_mj[i] : mj);
        v->last_mj[i] = mj;
    }
    return v->sum_mj * UJ_PER_MJ;
}

static void nvml_close(void *self)
{
    struct nvml *v = self;

    if (v->shutdown)
        v->shutdown();
    if (v->library)
        dlclose(v->library);
}

const struct meter_ops meter_nvml = {
    .name = "nvml",
    .state_size = sizeof(struct nvml),
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};

/* ---- counters ---- */

struct counter {
    char *labels; /* owned */
    double last;
};

double counters_grown(struct counters *c, const struct prom_sample *sample)
{
    for (size_t i = 0; i < c->n; i++) {
        struct counter *x = &c->list[(c->next + i) % c->n];
        double last = x->last;

        if (!prom_is(sample->labels, x->labels))
            continue;
        c->next = (size_t)(x - c->list) + 1;
        x->last = sample->value;
        return sample->value >= last ? sample->value - last : sample->value;
    }
    if (c->n < COUNTERS_MAX) {
        c->list = xrealloc(c->list, c->n + 1, sizeof(*c->list));
        c->list[c->n++] = (struct counter){
            xstrndup(sample->labels.at, sample->labels.len), sample->value};
    }
    return 0;
}

void counters_fini(struct counters *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].labels);
    free(c->list);
    *c = (struct counters){0};
}

/* ---- a series of a Prometheus page: the sum of all its samples ---- */
#define TIMEOUT_NS (500 * NS_PER_MS)
#define MAX_PAGE   ((int64_t)4 << 20)

/* The name of a series says its unit; the first ending that fits.  Power is
 * integrated over time; for counters their growth counts, so that a restart
 * takes nothing away. */
static const struct unit {
    const char *ending;
    double uj;     /* per unit */
    bool is_power; /* per second */
} units[] = {
    {"_millijoules_total", 1e3, false},  {"_millijoules", 1e3, false},
    {"_joules_total", 1e6, false},       {"_joules", 1e6, false},
    {"_ENERGY_CONSUMPTION", 1e3, false}, /* DCGM's, in mJ */
    {"_milliwatts", 1e3, true},          {"_watts", 1e6, true},
    {"_POWER_USAGE", 1e6, true}, /* DCGM's, in W */
};

struct series {
    struct fetch *fetch;
    char *name;
    const struct unit *unit;
    struct buf page;
    double sum;      /* of a page, or the growth of its counters */
    int64_t samples; /* of that page */

    struct counters counters; /* for units that are not power */
    double used_uj;           /* so far */
    int64_t last_ns;          /* of the last reading; TIME_ABSENT: none */
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

/* Read the page: microwatts, or microjoules since the last reading. */
static int read_page(struct series *s, double *value, struct err *err)
{
    if (fetch_page(s->fetch, TIMEOUT_NS, NULL, &s->page, err))
        return -1;
    s->sum = 0;
    s->samples = 0;
    prom_read(buf_text(&s->page), s->page.len, take_sample, s);
    *value = s->sum * s->unit->uj;
    if (!s->unit->is_power && s->samples > COUNTERS_MAX)
        return err_set(err, ERR_IO, "more than %d samples of %s", COUNTERS_MAX,
                       s->name);
    return s->samples > 0
               ? 0
               : err_set(err, ERR_IO, "the page has no series %s", s->name);
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
                     "the name of the series must end in _joules, "
                     "_joules_total, _millijoules, _watts or _milliwatts, not "
                     "'%s'",
                     s->name);
    if (rc == 0 && str_next_word(&rest))
        rc = err_set(err, ERR_CONFIG,
                     "expected a URL and the name of a series, nothing else");
    if (rc == 0)
        rc = fetch_new(&s->fetch, place->target, url, MAX_PAGE, err) ||
                     fetch_probe(s->fetch, TIMEOUT_NS, err) ||
                     read_page(s, &value, err)
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

    if (read_page(s, &value, &ignored))
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
    .state_size = sizeof(struct series),
    .open = series_open,
    .read = series_read,
    .close = series_close,
};
