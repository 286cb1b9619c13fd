/* Energy of the CPU packages of this host, from the kernel's power capping
 * files.  Counters wrap; each package has its own.  One that does not tell
 * leaves the sum unknown: without it, it would be too small. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/observe/host.h"
#include "loadgen/observe/meter_source.h"

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
    bool is_lost; /* one fell, and by how much it wrapped is not known */
};

static int64_t number_at(const char *path)
{
    char text[HOST_TEXT];

    return host_parse_count(host_read_start(path, text));
}

/* What is there besides, such as the whole platform, has the packages in it. */
static bool is_package(const char *root, size_t i)
{
    char *path = xasprintf("%s" PACKAGES "%zu/name", root, i);
    char text[HOST_TEXT];
    const char *name = host_read_start(path, text);

    free(path);
    return !name || !name[0] || strncmp(name, "package", 7) == 0;
}

static int add_package(struct rapl *r, const char *root, size_t i,
                       struct err *err)
{
    struct package *p = &r->packages[r->n];
    char *range;

    p->path = xasprintf("%s" PACKAGES "%zu/energy_uj", root, i);
    r->n++;
    if (access(p->path, F_OK) < 0 || !is_package(root, i)) {
        free(p->path);
        r->n--;
        return 0;
    }
    range = xasprintf("%s" PACKAGES "%zu/max_energy_range_uj", root, i);
    p->range = number_at(range);
    free(range);
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
    return r->n > 0 ? 0 : err_set(err, ERR_IO, "no RAPL here");
}

/* Add what it has grown by; -1: it does not tell. */
static int add_grown(struct rapl *r, struct package *p)
{
    int64_t now = number_at(p->path);
    int64_t by;

    if (now == TIME_ABSENT)
        return -1;
    by = now >= p->last ? now - p->last : p->range - p->last + now;
    p->last = now;
    r->is_lost |= by < 0;
    r->sum += by;
    return 0;
}

/* A package that tells again later is made up for then. */
static int64_t rapl_read(void *self, int64_t now_ns)
{
    struct rapl *r = self;
    int rc = 0;

    (void)now_ns;
    for (size_t i = 0; i < r->n; i++)
        rc |= add_grown(r, &r->packages[i]);
    return rc || r->is_lost ? TIME_ABSENT : r->sum;
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
