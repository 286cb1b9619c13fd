/* Energy of NVIDIA's GPUs of this host, from their library, which is loaded
 * only when it is asked for: nothing here needs it to build or run. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "loadgen/observe/meter_source.h"

#define LIBRARY     "libnvidia-ml.so.1"
#define MAX_DEVICES 64
#define UJ_PER_MJ   1000

/* As the library has them; 0 is success everywhere. */
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
static bool find(const struct nvml *v, const char *name, void *fn)
{
    void *symbol = dlsym(v->library, name);

    memcpy(fn, &symbol, sizeof(symbol));
    return symbol != NULL;
}

/* All of them: a sum without one would be too small. */
static int add_devices(struct nvml *v, count_fn *count, handle_fn *handle,
                       struct err *err)
{
    unsigned there = 0;

    if (count(&there) != 0 || there == 0)
        return err_set(err, ERR_IO, "no GPU here");
    if (there > MAX_DEVICES)
        return err_set(err, ERR_IO, "more than %d GPUs", MAX_DEVICES);
    for (; v->n < there; v->n++) {
        if (handle(v->n, &v->devices[v->n]) != 0 ||
            v->energy(v->devices[v->n], &v->last_mj[v->n]) != 0)
            return err_set(err, ERR_IO,
                           "GPU %u of %u does not count its energy", v->n,
                           there);
    }
    return 0;
}

static int begin(struct nvml *v, struct err *err)
{
    plain_fn *init;
    count_fn *count;
    handle_fn *handle;

    if (!find(v, "nvmlInit_v2", &init) ||
        !find(v, "nvmlDeviceGetCount_v2", &count) ||
        !find(v, "nvmlDeviceGetHandleByIndex_v2", &handle) ||
        !find(v, "nvmlDeviceGetTotalEnergyConsumption", &v->energy))
        return err_set(err, ERR_IO, "this NVML does not count energy");
    if (init() != 0)
        return err_set(err, ERR_IO, "NVML does not start: no driver?");
    find(v, "nvmlShutdown", &v->shutdown);
    return add_devices(v, count, handle, err);
}

static int nvml_open(void *self, const struct meter_place *place,
                     struct err *err)
{
    struct nvml *v = self;
    const char *name = place->arg[0] ? place->arg : LIBRARY;

    v->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!v->library)
        return err_set(err, ERR_IO, "no NVML here (%s)", name);
    return begin(v, err);
}

static int64_t nvml_read(void *self, int64_t now_ns)
{
    struct nvml *v = self;

    (void)now_ns;
    for (unsigned i = 0; i < v->n; i++) {
        unsigned long long mj;

        if (v->energy(v->devices[i], &mj) != 0)
            return TIME_ABSENT;
        /* A driver that is loaded anew counts from 0. */
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
    .help = "nvml [LIBRARY]",
    .state_size = sizeof(struct nvml),
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};
