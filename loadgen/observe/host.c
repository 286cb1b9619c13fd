#include "loadgen/observe/host.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "loadgen/transport/transport.h"

#define CGROUPS "/sys/fs/cgroup"

/* ---- texts ---- */

/* A count that fits into a column; TIME_ABSENT if there is none. */
static int64_t count_at(const char *p, char **end)
{
    unsigned long long v;

    errno = 0;
    v = strtoull(p, end, 10);
    if (*end == p || *p == '-' || errno || v >= 1ULL << 62)
        return TIME_ABSENT;
    return (int64_t)v;
}

int64_t host_parse_count(const char *text)
{
    char *end;

    return count_at(text + strspn(text, " \t"), &end);
}

/* user nice system idle iowait irq softirq steal.  The last is what the
 * hypervisor took; what follows is part of user and nice. */
bool host_parse_stat(const char *text, int64_t *ticks, int64_t *steal)
{
    const char *p = text + strlen("cpu ");
    int64_t sum = 0;
    int64_t v = 0;

    if (strncmp(text, "cpu ", strlen("cpu ")) != 0)
        return false;
    for (int i = 0; i < 8; i++) {
        char *end;

        while (*p == ' ')
            p++;
        v = count_at(p, &end);
        if (v == TIME_ABSENT || v >= (INT64_C(1) << 62) - sum)
            return false;
        sum += v;
        p = end;
    }
    *ticks = sum;
    *steal = v;
    return true;
}

static const char *next_line(const char *line)
{
    line = strchr(line, '\n');
    return line ? line + 1 : "";
}

/* Lines are "number:controllers:path", with commas between controllers; version
 * 2 lists none.  NULL: a line that does not concern the CPU. */
static const char *path_in(const char *line, bool *is_v1)
{
    const char *names = strpbrk(line, ":\n");
    const char *rest = names ? strpbrk(names + 1, ":\n") : NULL;

    if (!rest || *names != ':' || *rest != ':')
        return NULL;
    *is_v1 = false;
    for (const char *at = names; at < rest; at += 1 + strcspn(at + 1, ",:"))
        *is_v1 |= strcspn(at + 1, ",:") == 3 && strncmp(at + 1, "cpu", 3) == 0;
    return *is_v1 || rest == names + 1 ? rest + 1 : NULL;
}

bool host_parse_cgroup(const char *text, char *out, size_t size)
{
    const char *found = NULL;
    bool is_v1 = false;
    int n;

    for (const char *line = text; *line && !is_v1; line = next_line(line)) {
        const char *path = path_in(line, &is_v1);

        if (path)
            found = path;
    }
    if (!found)
        return false;
    n = snprintf(out, size, "%s%.*s", is_v1 ? "/cpu" : "",
                 (int)strcspn(found, "\n"), found);
    return n >= 0 && (size_t)n < size;
}

/* The number after a key at the start of a line. */
static int64_t value_of_key(const char *text, const char *key)
{
    size_t len = strlen(key);
    char *end;

    for (const char *line = text; *line; line = next_line(line)) {
        if (strncmp(line, key, len) == 0 && line[len] == ' ')
            return count_at(line + len + 1, &end);
    }
    return TIME_ABSENT;
}

static int64_t ns_of_us(int64_t us)
{
    return us == TIME_ABSENT || us >= (INT64_C(1) << 62) / NS_PER_US
               ? TIME_ABSENT
               : us * NS_PER_US;
}

int64_t host_parse_throttled(const char *text)
{
    int64_t us = value_of_key(text, "throttled_usec"); /* version 2 */

    return us == TIME_ABSENT ? value_of_key(text, "throttled_time")
                             : ns_of_us(us);
}

int64_t host_parse_pressure(const char *text)
{
    const char *total = strstr(text, " total=");
    char *end;

    if (strncmp(text, "some ", strlen("some ")) != 0 || !total ||
        total > strchrnul(text, '\n'))
        return TIME_ABSENT;
    return ns_of_us(count_at(total + strlen(" total="), &end));
}

/* ---- files ---- */

const char *host_read_start(const char *path, char text[static HOST_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, HOST_TEXT - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static bool has_throttled(const char *text)
{
    return host_parse_throttled(text) != TIME_ABSENT;
}

static bool has_text(const char *text)
{
    return text[0] != '\0';
}

/* The file of that name of our cgroup whose text fits, or NULL.  Our cgroup may
 * have no cpu controller, and in a container its path may be the host's, which
 * is not mounted: then the nearest one above is used.  The caller frees it. */
static char *find_in_cgroup(const char *root, const char *name,
                            bool (*fits)(const char *text))
{
    char text[HOST_TEXT];
    char group[HOST_TEXT];
    char *path = xasprintf("%s/proc/self/cgroup", root);
    char *slash = group;

    if (!host_parse_cgroup(host_read_start(path, text), group, sizeof(group)))
        slash = NULL;
    free(path);
    while (slash) {
        path = xasprintf("%s" CGROUPS "%s/%s", root, group, name);
        if (fits(host_read_start(path, text)))
            return path;
        free(path);
        slash = strrchr(group, '/');
        if (slash)
            *slash = '\0';
    }
    return NULL;
}

char *host_find_in_cgroup(const char *root, const char *name)
{
    return find_in_cgroup(root, name, has_text);
}

void host_init(struct host *h, const char *root)
{
    h->stat = xasprintf("%s/proc/stat", root);
    h->pressure = xasprintf("%s/proc/pressure/cpu", root);
    h->throttled = find_in_cgroup(root, "cpu.stat", has_throttled);
    h->asleep_ns = clk_asleep_ns();
}

void host_fini(struct host *h)
{
    free(h->stat);
    free(h->pressure);
    free(h->throttled);
    *h = (struct host){0};
}

void host_read(const struct host *h, struct observation *seen)
{
    char text[HOST_TEXT] = "";

    if (!host_parse_stat(host_read_start(h->stat, text), &seen->host_ticks,
                         &seen->host_steal)) {
        seen->host_ticks = TIME_ABSENT;
        seen->host_steal = TIME_ABSENT;
    }
    seen->throttled = TIME_ABSENT;
    if (h->throttled)
        seen->throttled =
            host_parse_throttled(host_read_start(h->throttled, text));
    seen->pressure = host_parse_pressure(host_read_start(h->pressure, text));
    seen->asleep = clk_asleep_ns() - h->asleep_ns;
}

/* ---- waiting for a CPU ---- */

bool cpu_wait_parse(const char *text, int64_t *wait_ns, int64_t *turns)
{
    int64_t numbers[3]; /* ns on a CPU, ns waited for one, turns */

    for (int i = 0; i < 3; i++) {
        char *end;

        numbers[i] = count_at(text + strspn(text, " "), &end);
        if (numbers[i] == TIME_ABSENT)
            return false;
        text = end;
    }
    if (numbers[2] < 1)
        return false;
    *wait_ns = numbers[1];
    *turns = numbers[2];
    return true;
}

struct cpu_wait cpu_wait_of_this_thread(void)
{
    return (struct cpu_wait){
        .fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)};
}

void cpu_wait_fini(struct cpu_wait *q)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
}

void cpu_wait_read(const struct cpu_wait *q, struct observation *seen)
{
    char text[128];
    ssize_t n = q->fd < 0 ? -1 : pread(q->fd, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    if (!cpu_wait_parse(text, &seen->cpu_wait, &seen->cpu_turns)) {
        seen->cpu_wait = TIME_ABSENT;
        seen->cpu_turns = TIME_ABSENT;
    }
}

/* ---- the environment ---- */

static const struct {
    const char *key;
    const char *path;  /* NULL: a file of our cgroup, ... */
    const char *field; /* ... this one; else at the start of its line; NULL:
                          the first line */
} environment_files[] = {
    {"cpu_model", "/proc/cpuinfo", "model name"},
    {"memory", "/proc/meminfo", "MemTotal"},
    {"clock_source",
     "/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL},
    {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL},
    {"cgroup_cpu", NULL, "cpu.max"},
    {"cgroup_memory", NULL, "memory.max"},
};

/* The first line of a text, or what follows a field up to the end of its line.
 */
static void put_line(struct strmap *out, const char *key, const char *text,
                     const char *field)
{
    const char *at = field ? strstr(text, field) : text;
    char *line;

    if (at && field)
        at = strchr(at, ':');
    if (!at)
        return;
    at += strspn(at, ": \t");
    line = xstrndup(at, strcspn(at, "\n"));
    if (line[0])
        strmap_put(out, key, line);
    free(line);
}

void environment_read(struct strmap *out, const char *root)
{
    size_t n = sizeof(environment_files) / sizeof(environment_files[0]);

    for (size_t i = 0; i < n; i++) {
        const char *file = environment_files[i].path;
        const char *field = environment_files[i].field;
        char *path = file ? xasprintf("%s%s", root, file)
                          : host_find_in_cgroup(root, field);
        char text[HOST_TEXT];

        if (path)
            put_line(out, environment_files[i].key, host_read_start(path, text),
                     file ? field : NULL);
        free(path);
    }
    strmap_put(out, "compiler", __VERSION__);
    strmap_put(out, "libevent", event_get_version());
    strmap_put(out, "libcurl", transport_curl_version());
}
