/* tailgate-mpi: a rank of `tailgate run --launch mpi:N`, which starts it by
 * mpirun or srun.  It stays until its command ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/config.h"
#include "ranks/leader.h"
#include "ranks/link.h"
#include "ranks/rank.h"

/* Between two looks for messages, and soon after one: clocks may be being
 * compared, and this time widens the bound of their offsets. */
#define POLL_NS  NS_PER_MS
#define HURRY_NS (50 * NS_PER_US)

/* After mpirun has told all ranks to end, it kills the others once the first of
 * them has ended: time for them to complete their recordings. */
#define LINGER_NS (400 * NS_PER_MS)

/* By mpirun, srun or a user.  It is not the flag of common/base/stop.h: a run
 * that ends for this was not interrupted by the user who reads its report. */
static atomic_bool is_told_to_end;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&is_told_to_end, true);
}

static void catch_signals(void)
{
    const int stopping[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
        sigaction(stopping[i], &action, NULL);
    stop_ignore_write_signals();
}

static void pass_on(struct rank *r, struct leader *l, const struct talk *talk)
{
    bool is_for_leader = talk->kind >= TALK_TIME;

    if (is_for_leader && l->link)
        leader_take(l, talk);
    else if (!is_for_leader)
        rank_take(r, talk);
}

static void serve(struct rank *r, struct leader *l)
{
    int64_t busy_ns = 0;
    struct talk talk;
    int64_t now_ns;

    for (;;) {
        int n = 0;

        link_settle(r->link);
        for (; n < LINK_BUSY && link_receive(&talk); n++)
            pass_on(r, l, &talk);
        now_ns = clk_now(&clk_monotonic);
        if (l->link)
            leader_step(l, now_ns);
        if (!rank_step(r, now_ns) || atomic_load(&is_told_to_end))
            return;
        if (n > 0)
            busy_ns = now_ns;
        if (n < LINK_BUSY)
            clk_sleep_ns(now_ns - busy_ns < 2 * POLL_NS ? HURRY_NS : POLL_NS);
    }
}

int main(int argc, char **argv)
{
    struct leader leader = {0};
    struct link link;
    struct rank rank;
    struct err err = {0};

    if (argc > 1) {
        fprintf(stderr,
                "%s: is started by mpirun or srun for 'tailgate run --launch "
                "mpi:N' (tailgate %s)\n",
                argv[0], TAILGATE_VERSION);
        return 2;
    }
    log_set_level(LOG_QUIET);
    catch_signals();
    if (link_open(&link, &err)) {
        fprintf(stderr, "%s: %s\n", argv[0], err.msg);
        return 3;
    }
    if (link.rank == 0) {
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
        leader_init(&leader, &link, STDIN_FILENO, STDOUT_FILENO);
    }
    rank_init(&rank, &link);
    serve(&rank, &leader);
    if (rank_fini(&rank))
        link_close(&link);
    leader_fini(&leader);
    if (atomic_load(&is_told_to_end))
        clk_sleep_ns(LINGER_NS);
    return 0;
}
