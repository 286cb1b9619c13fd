/* The shares of several machines are together the schedule of one. */
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/api/history.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/session.h"
#include "loadgen/trace/trace_format.h"
#include "tests/support/datarig.h"
#include "tests/support/replay.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

#define MAX_SEQ   20000
#define MAX_TURNS 6 /* of a session */

static const int64_t shard_counts[] = {1, 2, 4, 7};
static const int64_t thread_counts[] = {1, 3};

/* What a request is, in whichever shard. */
struct planned {
    int64_t due_ns;   /* -1: there is no such request */
    int64_t think_ns; /* after it, of the client of a closed loop */
    uint64_t body;    /* hash of the bytes that are sent */
};

static struct planned *planned_new(void)
{
    struct planned *p = xcalloc(MAX_SEQ, sizeof(*p));

    for (size_t i = 0; i < MAX_SEQ; i++)
        p[i].due_ns = -1;
    return p;
}

/* A request stands in one lane of one shard. */
static void note(struct planned *all, int64_t at, struct planned request)
{
    assert_in_range(at, 0, MAX_SEQ - 1);
    assert_int_equal(all[at].due_ns, -1);
    all[at] = request;
}

/* As the engine makes it. */
static uint64_t hash_body(const struct api *api, const struct due *due,
                          struct facts *f)
{
    struct buf body;
    uint64_t hash;

    *f = facts_unknown(due->seq, due->at_ns);
    if (due->session) {
        history_begin(api, due->session);
        f->session = due->session->id;
        f->turn = due->session->turn;
        f->turns = due->session->n_turns;
    }
    buf_init(&body, 1 << 20);
    api_make_body(api, f, due->row, due->session, &body);
    assert_true(body.len > 0);
    hash = fnv_bytes(FNV_START, body.data, body.len);
    buf_fini(&body);
    return hash;
}

/* All of an open loop or a trace. */
static void take_open(const struct load_settings *load, const struct api *api,
                      struct lane lane, struct planned *out)
{
    struct source s = lane_make(load, lane);
    struct facts f;

    while (s.ops->peek_ns(s.self) != DUE_NEVER) {
        struct due due = s.ops->take(s.self);

        note(out, due.seq,
             (struct planned){due.at_ns, 0, hash_body(api, &due, &f)});
    }
    source_end(&s);
}

/* Each turn is answered after a millisecond.  Later ones carry what was said
 * before, and are due after a think time. */
static void take_sessions(const struct load_settings *load,
                          const struct api *api, struct lane lane,
                          struct planned *out)
{
    struct source s = lane_make(load, lane);
    struct buf answer;

    buf_init(&answer, 100);
    while (s.ops->peek_ns(s.self) < DUE_NEVER) {
        struct due due = s.ops->take(s.self);
        struct session *session = due.session;
        struct request r = {.session = session};
        uint64_t body = hash_body(api, &due, &r.facts);

        note(out, session->id * MAX_TURNS + session->turn,
             (struct planned){due.at_ns, session->n_turns, body});
        buf_reset(&answer);
        buf_addf(&answer, "%lld.%lld", (long long)session->id,
                 (long long)session->turn);
        r.facts.outcome = OUTCOME_OK;
        history_add(api, session, &r.facts, &answer);
        s.ops->ended(s.self, &r, due.at_ns + NS_PER_MS);
    }
    buf_fini(&answer);
    source_end(&s);
}

/* The first request of each client of the lane.  Then all are answered, one
 * after the other, so that what is due next is that client's second one. */
static void take_closed(const struct load_settings *load, const struct api *api,
                        struct lane lane, struct planned *out)
{
    struct source s = lane_make(load, lane);
    int64_t n = 0;

    for (; s.ops->peek_ns(s.self) == 0; n++) {
        struct due due = s.ops->take(s.self);
        struct facts f;

        assert_int_equal(due.seq, lane.worker + n * lane.workers);
        note(out, due.seq,
             (struct planned){due.at_ns, 0, hash_body(api, &due, &f)});
    }
    assert_int_equal(n, lane_share(load->clients, lane));
    for (int64_t i = 0; i < n; i++) {
        struct request r = {.facts.seq = lane.worker + i * lane.workers};

        s.ops->ended(s.self, &r, 5);
        out[r.facts.seq].think_ns = s.ops->peek_ns(s.self) - 5;
        s.ops->take(s.self);
    }
    source_end(&s);
}

typedef void take_fn(const struct load_settings *load, const struct api *api,
                     struct lane lane, struct planned *out);

/* With the prompts that are generated, or those of a data set. */
static void make_api(struct datarig *rig, const struct load_settings *load)
{
    bool is_mlperf = load->seeds == SEEDS_MLPERF;

    datarig_init(rig, "openai-chat", is_mlperf ? datarig_three : NULL);
    datarig_set(rig, "target.model=m");
    if (load->scenario == SCENARIO_SERVER && !is_mlperf)
        datarig_set(rig, "data.input_tokens=uniform 2 9");
    rig->settings.load.seeds = load->seeds;
    rig->settings.load.scenario = load->scenario;
    rig->settings.load.seed = load->seed;
    datarig_start(rig);
}

static void check_shards(const struct load_settings *load, take_fn *take)
{
    struct planned *want = planned_new();
    struct datarig rig;

    make_api(&rig, load);
    take(load, &rig.api, (struct lane){.worker = 0, .workers = 1}, want);
    for (size_t n = 0; n < COUNT(shard_counts); n++) {
        struct planned *got = planned_new();
        struct shard_layout layout = {shard_counts[n], 0};

        for (int64_t i = 0; i < shard_counts[n]; i++) {
            /* The machines need not be equal. */
            int64_t threads = thread_counts[i % 2];

            for (int64_t t = 0; t < threads; t++)
                take(load, &rig.api, lane_of_shard(i, layout, t, threads), got);
        }
        assert_memory_equal(got, want, MAX_SEQ * sizeof(*want));
        free(got);
    }
    datarig_fini(&rig);
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

/* With a probe shard: the last has one request in `every`, the others the
 * rest. */
static void check_probe(const struct load_settings *load, int64_t every)
{
    struct planned *want = planned_new();
    struct datarig rig;

    make_api(&rig, load);
    take_open(load, &rig.api, (struct lane){.worker = 0, .workers = 1}, want);
    for (size_t n = 1; n < COUNT(shard_counts); n++) {
        struct shard_layout layout = {shard_counts[n], every};
        struct planned *got = planned_new();

        for (int64_t i = 0; i < layout.count; i++) {
            struct planned *own = planned_new();
            int64_t threads = thread_counts[i % 2];
            int64_t total = 0;
            int64_t place = 0;

            for (int64_t t = 0; t < threads; t++) {
                struct lane lane = lane_of_shard(i, layout, t, threads);

                take_open(load, &rig.api, lane, own);
                take_open(load, &rig.api, lane, got);
            }
            for (int64_t seq = 0; seq < MAX_SEQ; seq++) {
                total += want[seq].due_ns >= 0;
                if (own[seq].due_ns < 0)
                    continue;
                assert_int_equal(shard_of_seq(layout, seq), i);
                assert_int_equal(shard_place(layout, seq), place);
                assert_int_equal(shard_seq(layout, i, place), seq);
                place++;
            }
            assert_int_equal(shard_share(layout, i, total), place);
            if (i == layout.count - 1)
                assert_int_equal(place, total / every);
            free(own);
        }
        assert_memory_equal(got, want, MAX_SEQ * sizeof(*want));
        free(got);
    }
    datarig_fini(&rig);
    free(want);
}

TEST(a_probe_shard_has_its_part_of_the_schedule)
{
    const struct load_settings load = {.scenario = SCENARIO_SERVER,
                                       .arrival = ARRIVAL_POISSON,
                                       .rate_rps = 1000,
                                       .duration_ns = 2 * NS_PER_S,
                                       .seed = 3};

    check_probe(&load, 2);
    check_probe(&load, 10);
    check_probe(&load, 97);
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
    check_probe(&load, 10);
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
    const struct shard_layout five = {.count = 5};

    for (int64_t total = 0; total < 60; total++) {
        for (int64_t i = 0; i < 5; i++) {
            for (int64_t threads = 1; threads < 4; threads++) {
                int64_t sum = 0;

                for (int64_t t = 0; t < threads; t++)
                    sum +=
                        lane_share(total, lane_of_shard(i, five, t, threads));
                assert_int_equal(
                    sum, lane_share(total,
                                    (struct lane){.worker = i, .workers = 5}));
            }
        }
    }
}
