#include "loadgen/observe/environment.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "loadgen/observe/host.h"
#include "loadgen/transport/transport.h"

/* A line of a file, below the root. */
struct source {
    const char *key;
    const char *path;
    const char *field; /* that opens the line, up to ':'; NULL: the first */
};

static const struct source sources[] = {
    {"cpu_model", "/proc/cpuinfo", "model name"},
    {"memory", "/proc/meminfo", "MemTotal"},
    {"clock_source",
     "/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL},
    {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL},
};

/* Limits of our cgroup, as the kernel puts them. */
static const struct {
    const char *key;
    const char *file;
} limits[] = {
    {"cgroup_cpu", "cpu.max"},
    {"cgroup_memory", "memory.max"},
};

/* What stands behind the field, or in the first line; "" if nothing does. */
static char *line_of(const char *text, const char *field)
{
    const char *at = text;

    if (field) {
        at = strstr(text, field);
        at = at ? strchr(at, ':') : NULL;
        if (!at)
            return xstrdup("");
        at++;
    }
    at += strspn(at, " \t");
    return xstrndup(at, strcspn(at, "\n"));
}

static void put_line(struct strmap *out, const char *key, const char *path,
                     const char *field)
{
    char text[HOST_TEXT];
    char *line = line_of(host_read_start(path, text), field);

    if (line[0])
        strmap_put(out, key, line);
    free(line);
}

void environment_read(struct strmap *out, const char *root)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        char *path = xasprintf("%s%s", root, sources[i].path);

        put_line(out, sources[i].key, path, sources[i].field);
        free(path);
    }
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        char *path = host_find_in_cgroup(root, limits[i].file);

        if (path)
            put_line(out, limits[i].key, path, NULL);
        free(path);
    }
    strmap_put(out, "compiler", __VERSION__);
    strmap_put(out, "libevent", event_get_version());
    strmap_put(out, "libcurl", transport_curl_version());
}
