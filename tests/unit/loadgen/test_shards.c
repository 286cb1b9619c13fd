/* The shares of several machines are together the schedule of one. */
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/session.h"
#include "loadgen/trace/trace_format.h"
#include "tests/support/replay.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

#define MAX_SEQ 20000

static const int64_t shard_counts[] = {1, 2, 4, 7};
static const int64_t thread_counts[] = {1, 3};

/* What a schedule says of a request. */
struct planned {
    int64_t due_ns; /* -1: there is no such request */
    int64_t detail; /* what else must be equal */
};

static struct planned *planned_new(void)
{
    struct planned *p = xcalloc(MAX_SEQ, sizeof(*p));

    for (size_t i = 0; i < MAX_SEQ; i++)
        p[i].due_ns = -1;
    return p;
}

/* A request stands in one lane of one shard. */
static void note(struct planned *all, int64_t at, int64_t due_ns,
                 int64_t detail)
{
    assert_in_range(at, 0, MAX_SEQ - 1);
    assert_int_equal(all[at].due_ns, -1);
    all[at] = (struct planned){due_ns, detail};
}

/* Due times of an open loop or a trace, with the length of the prompt. */
static void take_open(const struct load_settings *load, struct lane lane,
                      struct planned *out)
{
    struct source s = lane_make(load, lane);

    while (s.ops->peek_ns(s.self) != DUE_NEVER) {
        struct due due = s.ops->take(s.self);

        note(out, due.seq, due.at_ns, due.row ? due.row->input : 0);
    }
    source_end(&s);
}

/* First turns by session, with the planned number of turns; then, by
 * MAX_SEQ / 2 + session, the think time before the second one. */
static void take_sessions(const struct load_settings *load, struct lane lane,
                          struct planned *out)
{
    struct source s = lane_make(load, lane);
    int64_t at_ns;

    while ((at_ns = s.ops->peek_ns(s.self)) < DUE_NEVER) {
        struct due due = s.ops->take(s.self);
        struct request r = {.session = due.session};
        int64_t id = due.session->id;

        if (due.session->turn == 0)
            note(out, id, due.at_ns, due.session->n_turns);
        else
            note(out, MAX_SEQ / 2 + id, due.at_ns, due.session->turn);
        r.facts.outcome = due.session->turn == 0 ? OUTCOME_OK : OUTCOME_RESET;
        s.ops->ended(s.self, &r, due.at_ns + NS_PER_MS);
    }
    source_end(&s);
}

/* The first requests of all clients, and when each client sends again, by the
 * order of that time. */
static void take_closed(const struct load_settings *load, struct lane lane,
                        struct planned *out)
{
    struct source s = lane_make(load, lane);

    while (s.ops->peek_ns(s.self) == 0) {
        struct due due = s.ops->take(s.self);
        struct source one = lane_make(load, (struct lane){0, 1});
        struct request r = {.facts.seq = due.seq};

        for (int64_t i = 0; i < load->clients; i++)
            one.ops->take(one.self);
        one.ops->ended(one.self, &r, 5);
        note(out, due.seq, due.at_ns, one.ops->peek_ns(one.self));
        source_end(&one);
    }
    source_end(&s);
}

typedef void take_fn(const struct load_settings *load, struct lane lane,
                     struct planned *out);

static void check_shards(const struct load_settings *load, take_fn *take)
{
    struct planned *want = planned_new();

    take(load, (struct lane){0, 1}, want);
    for (size_t n = 0; n < COUNT(shard_counts); n++) {
        struct planned *got = planned_new();

        for (int64_t i = 0; i < shard_counts[n]; i++) {
            /* The machines need not be equal. */
            int64_t threads = thread_counts[i % 2];

            for (int64_t t = 0; t < threads; t++)
                take(load, lane_of_shard(i, shard_counts[n], t, threads), got);
        }
        assert_memory_equal(got, want, MAX_SEQ * sizeof(*want));
        free(got);
    }
    free(want);
}

TEST(open_loops_are_shared)
{
    const struct load_settings plain = {.scenario = SCENARIO_SERVER,
                                        .rate_rps = 1000,
                                        .duration_ns = 2 * NS_PER_S,
                                        .seed = 3};
    struct load_settings load = plain;

    load.arrival = ARRIVAL_POISSON;
    check_shards(&load, take_open);
    load.exact = true;
    check_shards(&load, take_open);
    load = plain;
    load.arrival = ARRIVAL_GAMMA;
    load.cv = 3;
    load.warmup_requests = 100;
    check_shards(&load, take_open);
    load = plain;
    load.arrival = ARRIVAL_CONSTANT;
    load.requests = 999;
    load.warmup_ns = 100 * NS_PER_MS;
    load.cooldown_ns = 100 * NS_PER_MS;
    check_shards(&load, take_open);
    load = plain; /* LoadGen's own schedule */
    load.seeds = SEEDS_MLPERF;
    load.schedule_seed = 12345;
    check_shards(&load, take_open);
}

TEST(a_trace_is_shared)
{
    struct buf text;
    struct load_settings load;

    buf_init(&text, 1 << 16);
    buf_adds(&text, REPLAY_HEADER);
    for (int i = 0; i < 500; i++)
        buf_addf(&text, "%d,%d,%d\n", i * 7, 1 + i % 40, 1 + i % 7);
    load = replay_of(buf_text(&text));
    check_shards(&load, take_open);
    replay_forget(&load);
    buf_fini(&text);
}

TEST(offline_requests_are_shared)
{
    const struct load_settings load = {.scenario = SCENARIO_OFFLINE,
                                       .requests = 1001};

    check_shards(&load, take_open);
}

TEST(clients_and_their_think_times_are_shared)
{
    static char think[] = "exponential 20ms";
    const struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                       .clients = 50,
                                       .think = think,
                                       .duration_ns = NS_PER_S,
                                       .seed = 5};

    check_shards(&load, take_closed);
}

/* All turns of a session are in the shard of its arrival. */
TEST(sessions_stay_whole)
{
    static char turns[] = "uniform 1 6";
    static char think[] = "exponential 20ms";
    const struct load_settings load = {.scenario = SCENARIO_SESSIONS,
                                       .arrival = ARRIVAL_POISSON,
                                       .rate_rps = 500,
                                       .duration_ns = 2 * NS_PER_S,
                                       .turns = turns,
                                       .think = think,
                                       .seed = 9};

    check_shards(&load, take_sessions);
}

/* A machine's part of a total does not depend on its threads. */
TEST(threads_divide_what_a_shard_has)
{
    for (int64_t total = 0; total < 60; total++) {
        for (int64_t i = 0; i < 5; i++) {
            for (int64_t threads = 1; threads < 4; threads++) {
                int64_t sum = 0;

                for (int64_t t = 0; t < threads; t++)
                    sum += lane_share(total, lane_of_shard(i, 5, t, threads));
                assert_int_equal(sum, lane_share(total, (struct lane){i, 5}));
            }
        }
    }
}
