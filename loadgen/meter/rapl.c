/* Energy of the CPU packages of this host, from the kernel's power capping
 * files.  Counters wrap; each package has its own. */
#include <stdlib.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/xalloc.h"
#include "loadgen/host.h"
#include "loadgen/meter/source.h"

#define MAX_PACKAGES 16
#define PACKAGES     "/sys/class/powercap/intel-rapl:"

struct package {
    char *path;
    int64_t range; /* at which it wraps; 0: not known */
    int64_t last;
};

struct rapl {
    struct package packages[MAX_PACKAGES];
    size_t n;
    int64_t sum;
};

static int64_t number_at(const char *path)
{
    char text[HOST_TEXT];

    return host_parse_count(host_read_start(path, text));
}

static void add_package(struct rapl *r, const char *root, size_t i)
{
    char *range = xasprintf("%s" PACKAGES "%zu/max_energy_range_uj", root, i);
    struct package p = {.path =
                            xasprintf("%s" PACKAGES "%zu/energy_uj", root, i)};

    p.last = number_at(p.path);
    p.range = number_at(range);
    if (p.range == TIME_ABSENT)
        p.range = 0;
    free(range);
    if (p.last == TIME_ABSENT)
        free(p.path);
    else
        r->packages[r->n++] = p;
}

static int rapl_open(void *self, const struct meter_place *place,
                     struct err *err)
{
    struct rapl *r = self;

    for (size_t i = 0; i < MAX_PACKAGES; i++)
        add_package(r, place->root, i);
    return r->n > 0 ? 0
                    : err_set(err, ERR_IO,
                              "no RAPL here, or no permission to read it");
}

/* What it has grown by. */
static int64_t grown(struct package *p)
{
    int64_t now = number_at(p->path);
    int64_t by;

    if (now == TIME_ABSENT)
        return 0;
    by = now >= p->last ? now - p->last : p->range - p->last + now;
    p->last = now;
    return by > 0 ? by : 0;
}

static int64_t rapl_read(void *self, int64_t now_ns)
{
    struct rapl *r = self;

    (void)now_ns;
    for (size_t i = 0; i < r->n; i++)
        r->sum += grown(&r->packages[i]);
    return r->sum;
}

static void rapl_close(void *self)
{
    struct rapl *r = self;

    for (size_t i = 0; i < r->n; i++)
        free(r->packages[i].path);
}

const struct meter_ops meter_rapl = {
    .name = "rapl",
    .help = "rapl",
    .state_size = sizeof(struct rapl),
    .open = rapl_open,
    .read = rapl_read,
    .close = rapl_close,
};
