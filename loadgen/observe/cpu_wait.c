#include "loadgen/observe/cpu_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/recording/schema.h"

#define MOST (INT64_C(1) << 62) /* of a column */

/* The next number of a column's size, with *text moved past it; or -1. */
static int64_t next_number(const char **text)
{
    char *end;
    long long n = strtoll(*text, &end, 10);
    bool is_one = end != *text && n >= 0 && n < MOST;

    *text = end;
    return is_one ? n : -1;
}

bool cpu_wait_parse(const char *text, int64_t *wait_ns, int64_t *turns)
{
    int64_t ran = next_number(&text);
    int64_t waited = next_number(&text);
    int64_t n = next_number(&text);

    if (ran < 0 || waited < 0 || n < 1)
        return false;
    *wait_ns = waited;
    *turns = n;
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
