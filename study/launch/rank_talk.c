#include "study/launch/rank_talk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void talk_describe_lost(int rank, const struct talk_here *here,
                        char out[static ABORT_TEXT])
{
    snprintf(out, ABORT_TEXT,
             "rank %d%s%s was lost: it has not answered for %.1f s", rank,
             here->host[0] ? " on " : "", here->host,
             (double)TALK_LOST_NS / 1e9);
}

/* srun passes output on line by line. */
#define END '\n'

int talk_read(struct talk_reader *r, int fd, struct talk *talk)
{
    const size_t head = offsetof(struct talk, is);

    for (;;) {
        size_t want = r->have < head ? head : talk_size(r->next.kind);
        ssize_t n;
        char end;

        if (want == 0)
            return -1;
        if (r->have == want) {
            n = read(fd, &end, 1);
            if (n == 1 && end == END) {
                *talk = r->next;
                r->have = 0;
                return 1;
            }
        } else {
            n = read(fd, (char *)&r->next + r->have, want - r->have);
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0 || r->have == want)
            return -1;
        r->have += (size_t)n;
    }
}

static int write_all(int fd, const char *bytes, size_t size, int64_t until_ns)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    size_t done = 0;

    while (done < size) {
        ssize_t n = write(fd, bytes + done, size - done);

        if (n > 0)
            done += (size_t)n;
        else if ((errno != EAGAIN && errno != EINTR) ||
                 clk_now(&clk_monotonic) > until_ns)
            return -1;
        else
            poll(&ready, 1, 20);
    }
    return 0;
}

int talk_write(int fd, const struct talk *talk)
{
    int64_t until_ns = clk_now(&clk_monotonic) + TALK_LOST_NS;
    const char end = END;

    return write_all(fd, (const char *)talk, talk_size(talk->kind), until_ns) ||
                   write_all(fd, &end, 1, until_ns)
               ? -1
               : 0;
}
