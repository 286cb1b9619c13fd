/* The memory of a server that runs on this host: of a process the peak that the
 * kernel keeps, of a process group the sum of what they have, of a cgroup its
 * peak, or what it has where the kernel keeps none. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/observe/host.h"
#include "loadgen/observe/meter_source.h"

#define KB 1024

/* A number of kB behind a field of /proc/PID/status. */
static int64_t status_bytes(const char *text, const char *field)
{
    const char *at = strstr(text, field);
    int64_t kb = at ? host_parse_count(at + strlen(field)) : TIME_ABSENT;

    return kb >= 0 && kb < INT64_MAX / KB ? kb * KB : TIME_ABSENT;
}

static int parse_id(const char *text, long *id, struct err *err)
{
    char *end;

    *id = strtol(text, &end, 10);
    return *end == '\0' && *id > 0
               ? 0
               : err_set(err, ERR_CONFIG, "'%s' is no process", text);
}

/* ---- a process ---- */

struct pid {
    char *path;
};

static int64_t pid_read(void *self, int64_t now_ns)
{
    const struct pid *p = self;
    char text[HOST_TEXT];

    (void)now_ns;
    return status_bytes(host_read_start(p->path, text), "VmHWM:");
}

static int pid_open(void *self, const struct meter_place *place,
                    struct err *err)
{
    struct pid *p = self;
    long id;

    if (parse_id(place->arg, &id, err))
        return -1;
    p->path = xasprintf("%s/proc/%ld/status", place->root, id);
    return pid_read(p, 0) == TIME_ABSENT
               ? err_set(err, ERR_IO, "there is no process %ld", id)
               : 0;
}

static void pid_close(void *self)
{
    free(((struct pid *)self)->path);
}

const struct meter_ops meter_pid = {
    .name = "pid",
    .help = "pid N",
    .is_memory = true,
    .state_size = sizeof(struct pid),
    .open = pid_open,
    .read = pid_read,
    .close = pid_close,
};

/* ---- a process group ---- */

struct group {
    char *proc;
    long id;
};

/* /proc/PID/stat: the name in brackets may hold anything; behind it are the
 * state, the parent and the group. */
static int64_t group_of(const char *stat)
{
    const char *at = strrchr(stat, ')');

    for (int i = 0; at && i < 3; i++)
        at = strchr(at + 1, ' ');
    return at ? host_parse_count(at) : TIME_ABSENT;
}

static int64_t member_bytes(const struct group *g, const char *name)
{
    char *stat = xasprintf("%s/%s/stat", g->proc, name);
    char *status = xasprintf("%s/%s/status", g->proc, name);
    char text[HOST_TEXT];
    int64_t bytes = TIME_ABSENT;

    if (group_of(host_read_start(stat, text)) == g->id)
        bytes = status_bytes(host_read_start(status, text), "VmRSS:");
    free(stat);
    free(status);
    return bytes;
}

static int64_t group_read(void *self, int64_t now_ns)
{
    const struct group *g = self;
    DIR *dir = opendir(g->proc);
    int64_t sum = TIME_ABSENT;
    const struct dirent *e;

    (void)now_ns;
    while (dir && (e = readdir(dir)) != NULL) {
        int64_t bytes = isdigit((unsigned char)e->d_name[0])
                            ? member_bytes(g, e->d_name)
                            : TIME_ABSENT;

        if (bytes != TIME_ABSENT)
            sum = (sum == TIME_ABSENT ? 0 : sum) + bytes;
    }
    if (dir)
        closedir(dir);
    return sum;
}

static int group_open(void *self, const struct meter_place *place,
                      struct err *err)
{
    struct group *g = self;

    if (parse_id(place->arg, &g->id, err))
        return -1;
    g->proc = xasprintf("%s/proc", place->root);
    return group_read(g, 0) == TIME_ABSENT
               ? err_set(err, ERR_IO, "there is no process group %ld", g->id)
               : 0;
}

static void group_close(void *self)
{
    free(((struct group *)self)->proc);
}

const struct meter_ops meter_group = {
    .name = "group",
    .help = "group N",
    .is_memory = true,
    .state_size = sizeof(struct group),
    .open = group_open,
    .read = group_read,
    .close = group_close,
};

/* ---- a cgroup ---- */

struct cgroup {
    char *path;
};

static int64_t cgroup_read(void *self, int64_t now_ns)
{
    const struct cgroup *c = self;
    char text[HOST_TEXT];

    (void)now_ns;
    return host_parse_count(host_read_start(c->path, text));
}

static int cgroup_open(void *self, const struct meter_place *place,
                       struct err *err)
{
    static const char *const files[] = {"memory.peak", "memory.current"};
    struct cgroup *c = self;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        free(c->path);
        c->path = xasprintf("%s%s/%s", place->root, place->arg, files[i]);
        if (cgroup_read(c, 0) != TIME_ABSENT)
            return 0;
    }
    return err_set(err, ERR_IO, "%s: no cgroup (version 2) with memory",
                   place->arg);
}

static void cgroup_close(void *self)
{
    free(((struct cgroup *)self)->path);
}

const struct meter_ops meter_cgroup = {
    .name = "cgroup",
    .help = "cgroup DIR",
    .is_memory = true,
    .state_size = sizeof(struct cgroup),
    .open = cgroup_open,
    .read = cgroup_read,
    .close = cgroup_close,
};
