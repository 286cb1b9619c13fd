/* host.h - what the host kept from us: ticks that the hypervisor took, time for
 * which our cgroup was throttled, time in which a task waited for a CPU, time
 * for which the system was suspended.
 *
 * Parsers of text are pure; where the kernel keeps its texts is found out once.
 */
#ifndef LOADGEN_OBSERVE_HOST_H
#define LOADGEN_OBSERVE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct observation;

struct host {
    char *stat;        /* paths, owned */
    char *pressure;    /* may not be there */
    char *throttled;   /* cpu.stat of our cgroup; NULL: it tells nothing */
    int64_t asleep_ns; /* clk_asleep_ns() at the start */
};

/* All that we look for stands at the start of its file. */
#define HOST_TEXT 4096

/* What a file starts with; "" if it cannot be read. */
const char *host_read_start(const char *path, char text[static HOST_TEXT]);

/* A count at the start of a text, after blanks; TIME_ABSENT if there is none.
 */
int64_t host_parse_count(const char *text);

/* The file of that name of our cgroup, or of the nearest one above that has it;
 * NULL: there is none.  Owned by the caller. */
char *host_find_in_cgroup(const char *root, const char *name);

/* Find the files below `root`: "" but in tests. */
void host_init(struct host *h, const char *root);
void host_fini(struct host *h);

/* The five fields of the host's; TIME_ABSENT where it does not tell. */
void host_read(const struct host *h, struct observation *seen);

/* /proc/stat: ticks of all CPUs together, and of those the stolen ones.  False
 * if the text is not that. */
bool host_parse_stat(const char *text, int64_t *ticks, int64_t *steal);

/* /proc/self/cgroup: where our cgroup with the cpu controller lies below
 * /sys/fs/cgroup, such as "/a/b" (version 2) or "/cpu/a/b" (version 1, which
 * goes first where both are mounted).  False if it does not fit or there is
 * none. */
bool host_parse_cgroup(const char *text, char *out, size_t size);

/* cpu.stat of a cgroup of either version, and /proc/pressure/cpu: nanoseconds,
 * or TIME_ABSENT. */
int64_t host_parse_throttled(const char *text);
int64_t host_parse_pressure(const char *text);

#endif
