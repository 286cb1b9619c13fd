/* host.h - what the client runs on: how much CPU time the host kept from it,
 * how long a thread waited for a CPU, and the machine and libraries that the
 * manifest names.
 *
 * The parsers of text are pure.
 */
#ifndef LOADGEN_OBSERVE_HOST_H
#define LOADGEN_OBSERVE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct observation;
struct strmap;

/* ---- CPU time that the host kept from the client ---- */

struct host {
    char *stat;        /* paths, owned */
    char *pressure;    /* the file may be missing */
    char *throttled;   /* cpu.stat of our cgroup; NULL: not available */
    int64_t asleep_ns; /* clk_asleep_ns() at the start */
};

/* Find the files below `root`, which is "" except in tests. */
void host_init(struct host *h, const char *root);
void host_fini(struct host *h);

/* Fill in ticks that the hypervisor took, time for which our cgroup was
 * throttled, time in which a task waited for a CPU, and time for which the
 * system was suspended; TIME_ABSENT where the host does not say. */
void host_read(const struct host *h, struct observation *seen);

/* ---- how long a thread was ready to run but did not get a CPU ---- */

struct cpu_wait {
    int fd; /* -1: the kernel does not say */
};

/* Of the calling thread; only this thread may read it. */
struct cpu_wait cpu_wait_of_this_thread(void);
void cpu_wait_fini(struct cpu_wait *q);

/* Fill in cpu_wait and cpu_turns; TIME_ABSENT where the kernel does not say. */
void cpu_wait_read(const struct cpu_wait *q, struct observation *seen);

/* ---- for the manifest ---- */

/* The machine and the libraries that the client is built with.  Files are
 * looked for below `root`, which is "" except in tests.  What the host does not
 * say is left out. */
void environment_read(struct strmap *out, const char *root);

/* ---- files and texts ---- */

/* Everything we look for is within the first HOST_TEXT bytes of its file. */
#define HOST_TEXT 4096

/* The beginning of a file; "" if it cannot be read. */
const char *host_read_start(const char *path, char text[static HOST_TEXT]);

/* The file of that name of our cgroup, or of the nearest one above that has it;
 * NULL: there is none.  The caller frees it. */
char *host_find_in_cgroup(const char *root, const char *name);

/* A count at the start of a text, after blanks; or TIME_ABSENT. */
int64_t host_parse_count(const char *text);

/* /proc/stat: ticks of all CPUs together, and how many of them were stolen.
 * False if the text does not fit. */
bool host_parse_stat(const char *text, int64_t *ticks, int64_t *steal);

/* /proc/self/cgroup: the path of our cgroup with the cpu controller below
 * /sys/fs/cgroup, such as "/a/b" (version 2) or "/cpu/a/b" (version 1, which is
 * preferred if both are mounted).  False if there is none or it does not fit.
 */
bool host_parse_cgroup(const char *text, char *out, size_t size);

/* cpu.stat of a cgroup of either version, and /proc/pressure/cpu: nanoseconds,
 * or TIME_ABSENT. */
int64_t host_parse_throttled(const char *text);
int64_t host_parse_pressure(const char *text);

/* /proc/thread-self/schedstat: nanoseconds on a CPU, nanoseconds waited for
 * one, number of turns.  False if the text does not fit or the kernel does not
 * count. */
bool cpu_wait_parse(const char *text, int64_t *wait_ns, int64_t *turns);

#endif
