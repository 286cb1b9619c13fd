/* The memory of a server that runs on this host: the peak of a process as the
 * kernel keeps it, the sum over the processes of a group, or the peak of a
 * cgroup (its current memory where the kernel keeps no peak). */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/observe/host.h"
#include "loadgen/observe/meter.h"

#define KB 1024

struct memory {
    char *path; /* of a file, or for a group of /proc; owned */
    long id;    /* of the process or group */
};

/* A number of kB after a field of /proc/PID/status. */
static int64_t status_bytes(const char *text, const char *field)
{
    const char *at = strstr(text, field);
    int64_t kb = at ? host_parse_count(at + strlen(field)) : TIME_ABSENT;

    return kb >= 0 && kb < INT64_MAX / KB ? kb * KB : TIME_ABSENT;
}

static int parse_id(struct memory *m, const char *text, struct err *err)
{
    char *end;

    m->id = strtol(text, &end, 10);
    return *end == '\0' && m->id > 0
               ? 0
               : err_set(err, ERR_CONFIG, "'%s' is not a process id", text);
}

static void memory_close(void *self)
{
    free(((struct memory *)self)->path);
}

/* ---- a process ---- */

static int64_t pid_read(void *self, int64_t now_ns)
{
    const struct memory *m = self;
    char text[HOST_TEXT];

    (void)now_ns;
    return status_bytes(host_read_start(m->path, text), "VmHWM:");
}

static int pid_open(void *self, const struct meter_place *place,
                    struct err *err)
{
    struct memory *m = self;

    if (parse_id(m, place->arg, err))
        return -1;
    m->path = xasprintf("%s/proc/%ld/status", place->root, m->id);
    return pid_read(m, 0) == TIME_ABSENT
               ? err_set(err, ERR_IO, "there is no process %ld", m->id)
               : 0;
}

const struct meter_ops meter_pid = {
    .name = "pid",
    .is_memory = true,
    .state_size = sizeof(struct memory),
    .open = pid_open,
    .read = pid_read,
    .close = memory_close,
};

/* ---- a process group ---- */

/* The memory of a process if it belongs to the group.  /proc/PID/stat: the name
 * in brackets may hold anything; after it come the state, the parent and the
 * group. */
static int64_t member_bytes(const struct memory *m, const char *name)
{
    char *stat = xasprintf("%s/%s/stat", m->path, name);
    char *status = xasprintf("%s/%s/status", m->path, name);
    char text[HOST_TEXT];
    const char *at = strrchr(host_read_start(stat, text), ')');
    int64_t bytes = TIME_ABSENT;

    for (int i = 0; at && i < 3; i++)
        at = strchr(at + 1, ' ');
    if (at && host_parse_count(at) == m->id)
        bytes = status_bytes(host_read_start(status, text), "VmRSS:");
    free(stat);
    free(status);
    return bytes;
}

static int64_t group_read(void *self, int64_t now_ns)
{
    const struct memory *m = self;
    DIR *dir = opendir(m->path);
    int64_t sum = TIME_ABSENT;
    const struct dirent *e;

    (void)now_ns;
    while (dir && (e = readdir(dir)) != NULL) {
        int64_t bytes = isdigit((unsigned char)e->d_name[0])
                            ? member_bytes(m, e->d_name)
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
    struct memory *m = self;

    if (parse_id(m, place->arg, err))
        return -1;
    m->path = xasprintf("%s/proc", place->root);
    return group_read(m, 0) == TIME_ABSENT
               ? err_set(err, ERR_IO, "there is no process group %ld", m->id)
               : 0;
}

const struct meter_ops meter_group = {
    .name = "group",
    .is_memory = true,
    .state_size = sizeof(struct memory),
    .open = group_open,
    .read = group_read,
    .close = memory_close,
};

/* ---- a cgroup ---- */

static int64_t cgroup_read(void *self, int64_t now_ns)
{
    const struct memory *m = self;
    char text[HOST_TEXT];

    (void)now_ns;
    return host_parse_count(host_read_start(m->path, text));
}

static int cgroup_open(void *self, const struct meter_place *place,
                       struct err *err)
{
    static const char *const files[] = {"memory.peak", "memory.current"};
    struct memory *m = self;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        free(m->path);
        m->path = xasprintf("%s%s/%s", place->root, place->arg, files[i]);
        if (cgroup_read(m, 0) != TIME_ABSENT)
            return 0;
    }
    return err_set(err, ERR_IO,
                   "%s is not a cgroup (version 2) with memory accounting",
                   place->arg);
}

const struct meter_ops meter_cgroup = {
    .name = "cgroup",
    .is_memory = true,
    .state_size = sizeof(struct memory),
    .open = cgroup_open,
    .read = cgroup_read,
    .close = memory_close,
};
