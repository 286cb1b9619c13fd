/* One recording from the shards of a run: whatever the order, and nothing is
 * lost without a word. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/compare/compare.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/recording/merge.h"
#include "tests/support/keep.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS 2000 /* 10 ms apart: a window of 20 s */
#define BLOCK    37   /* rows, so that shards interleave */

/* A shard to be made. */
struct made_shard {
    int64_t index;
    int64_t of;
    int64_t threads;
    uint64_t seed;
    int64_t start_s;    /* planned */
    int64_t start_at_s; /* the common start; 0: none */
    int64_t late_ms;    /* it really started */
    int64_t lag_ms;
    int64_t slower_ms; /* answers */
    int64_t clock_error_ms;
    uint64_t nonce;
    const char *url;  /* NULL: null:// */
    const char *data; /* hash of the file; NULL: none */
    bool is_closed;
    bool was_killed;
    size_t rows; /* at most this many; 0: all */
};

/* e2e times of 1 to 100 ms; every 50th fails. */
static struct facts request(int64_t seq, int64_t slower_ms)
{
    int64_t e2e_ms = 1 + slower_ms + seq * 7919 % 100;

    return seq % 50 == 49 ? row_failed(seq, 10 * seq, e2e_ms, OUTCOME_RESET)
                          : row_ok(seq, 10 * seq, e2e_ms);
}

static void write_manifest(const struct made_shard *m, const char *dir,
                           int64_t n)
{
    const struct run_end end = {.due_end_ns = 20 * NS_PER_S,
                                .scheduled = n,
                                .issued = n,
                                .rtt_floor_ns = 1000 + m->index,
                                .segments = 10,
                                .tls = "TLSv1.3 X",
                                .tls_handshakes = 2,
                                .tls_resumed = 1};
    char sha256[SHA256_TEXT];
    char shard_text[SHARD_ID_TEXT];
    struct shard_start shard = {.id = {m->index, m->of},
                                .settings_sha256 = sha256,
                                .start_at_ns = m->start_at_s * NS_PER_S};
    const struct run_start start = {.monotonic_ns = 1 + m->index,
                                    .realtime_ns =
                                        (1000 + m->start_s) * NS_PER_S,
                                    .shard = m->of > 1 ? &shard : NULL,
                                    .transport = "native"};
    struct failures *failures = xcalloc(1, sizeof(*failures));
    json_t *clock;
    struct manifest manifest;
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    strlist_add(&s.target.urls, m->url ? m->url : "null://");
    s.data.nonce = m->nonce;
    strlist_add(&s.slo, "e2e p90 < 95ms");
    s.load.scenario = m->is_closed ? SCENARIO_CLOSED : SCENARIO_SERVER;
    s.load.rate_rps = 100;
    s.load.clients = m->is_closed ? 8 : 0;
    s.load.duration_ns = 20 * NS_PER_S;
    s.load.seed = m->seed;
    manifest_hash_settings(&s, sha256);
    s.client.threads = m->threads;
    s.client.max_in_flight = 100 + m->index; /* machines differ */
    if (m->of > 1)
        s.client.shard = xstrdup(shard_id_print(shard.id, shard_text));
    manifest_init(&manifest, &s, &start);
    clock = json_object_get(manifest.json, "clock");
    json_object_set_new(clock, "max_error_ns",
                        json_integer(m->clock_error_ms * NS_PER_MS));
    json_object_set_new(clock, "is_synchronised", json_true());
    json_object_set_new(json_object_get(manifest.json, "environment"), "host",
                        json_string(keepf("node%lld", (long long)m->index)));
    failures_note(failures, OUTCOME_RESET, 0, "reset", NULL, 0);
    if (m->data)
        manifest_set_data(&manifest, &(struct data_seen){.source = "data set",
                                                         .format = "jsonl",
                                                         .sha256 = m->data});
    manifest_set_started(&manifest, start.realtime_ns + m->late_ms * NS_PER_MS);
    if (!m->was_killed)
        manifest_complete(&manifest, &end, failures);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&s);
    free(failures);
}

/* Each worker appends blocks of its own requests, and an observation. */
static char *make(const char *name, const struct made_shard *m)
{
    char *dir = tmpdir_path(name);
    struct tgr_writer *requests;
    struct tgr_writer *client;
    struct facts rows[BLOCK];
    struct err err = {0};
    int64_t total = 0;
    size_t n = 0;

    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(tgr_create(&requests, keepf("%s/requests.tgr", dir),
                                &schema_requests, &err),
                     0);
    assert_int_equal(
        tgr_create(&client, keepf("%s/client.tgr", dir), &schema_client, &err),
        0);
    for (int64_t t = 0; t < m->threads; t++) {
        for (int64_t seq = m->index + m->of * t; seq < REQUESTS;
             seq += m->of * m->threads) {
            if (m->rows > 0 && (size_t)total >= m->rows)
                continue;
            rows[n] = request(seq, m->slower_ms);
            rows[n++].issued += m->lag_ms * NS_PER_MS;
            total++;
            if (n < BLOCK && seq + m->of * m->threads < REQUESTS)
                continue;
            assert_int_equal(tgr_append(requests, (unsigned)t, rows, n, &err),
                             0);
            n = 0;
        }
        for (int64_t at = 1; at <= 20; at++) {
            const struct observation seen = {.at = at * NS_PER_S,
                                             .issued = at,
                                             .host_ticks = 100 * at,
                                             .host_steal = m->index * at};

            assert_int_equal(tgr_append(client, (unsigned)t, &seen, 1, &err),
                             0);
        }
    }
    if (n > 0)
        assert_int_equal(tgr_append(requests, 0, rows, n, &err), 0);
    assert_int_equal(tgr_finish(requests, &err), 0);
    assert_int_equal(tgr_finish(client, &err), 0);
    write_manifest(m, dir, REQUESTS / m->of + (m->index < REQUESTS % m->of));
    return dir;
}

/* The shards 0 to 3 of four, with one or two threads. */
static void make_four(char *dirs[4])
{
    for (int64_t i = 0; i < 4; i++) {
        const struct made_shard m = {
            .index = i, .of = 4, .threads = 1 + i % 2, .seed = 1};

        dirs[i] = make(keepf("shard%lld", (long long)i), &m);
    }
}

/* Merge the directories, up to a NULL. */
static int merge(const char *out, struct merge_result *r, struct err *err,
                 char *const *dirs)
{
    struct strlist list = {0};
    int rc;

    for (size_t i = 0; dirs[i]; i++)
        strlist_add(&list, dirs[i]);
    rc = merge_recordings(&list, out, MERGE_NEW, r, err);
    strlist_fini(&list);
    return rc;
}

static char *merged(const char *name, char *const *dirs)
{
    char *out = tmpdir_path(name);
    struct merge_result r;
    struct err err = {0};

    if (merge(out, &r, &err, dirs))
        fail_msg("%s", err.msg);
    merge_result_fini(&r);
    assert_schema_file("manifest", keepf("%s/manifest.json", out));
    return out;
}

#define DIRS(...) ((char *const[]){__VA_ARGS__, NULL})

static void assert_same_bytes(const char *a, const char *b)
{
    static const char *const files[] = {"manifest.json", "requests.tgr",
                                        "client.tgr"};

    for (size_t i = 0; i < COUNT(files); i++) {
        char x[SHA256_TEXT];
        char y[SHA256_TEXT];
        struct err err = {0};

        assert_int_equal(sha256_file(keepf("%s/%s", a, files[i]), x, &err), 0);
        assert_int_equal(sha256_file(keepf("%s/%s", b, files[i]), y, &err), 0);
        assert_string_equal(x, y);
    }
}

TEST_WITH(any_order_and_any_grouping_gives_the_same_bytes, tmpdir_setup,
          tmpdir_teardown)
{
    char *d[4];
    char *all;
    char *left;
    char *right;

    make_four(d);
    all = merged("all", DIRS(d[0], d[1], d[2], d[3]));
    assert_same_bytes(all, merged("back", DIRS(d[3], d[1], d[0], d[2])));
    left = merged("left", DIRS(d[2], d[0]));
    right = merged("right", DIRS(d[3], d[1]));
    assert_same_bytes(all, merged("pairs", DIRS(right, left)));
    assert_same_bytes(all, merged("mixed", DIRS(d[1], left, d[3])));
    assert_same_bytes(left, merged("again", DIRS(left)));
}

/* All percentiles are those of one machine that sent everything. */
TEST_WITH(numbers_are_those_of_one_machine, tmpdir_setup, tmpdir_teardown)
{
    const struct made_shard whole = {.of = 1, .threads = 1, .seed = 1};
    struct read_run *one = read_run_new(make("one", &whole), NULL);
    struct read_run *many;
    char *d[4];

    make_four(d);
    many = read_run_new(merged("all", DIRS(d[0], d[1], d[2], d[3])), NULL);
    assert_int_equal(many->s.scheduled, REQUESTS);
    assert_int_equal(many->s.ok, one->s.ok);
    assert_int_equal(many->s.verdict, one->s.verdict);
    assert_int_equal(many->s.integrity.lost_requests, 0);
    assert_memory_equal(&many->s.spread, &one->s.spread, sizeof(one->s.spread));
    assert_int_equal(many->s.threads, 6);
    assert_int_equal(many->s.rtt_floor_ns, 1000);
    assert_int_equal(many->s.segments, 40);
    assert_string_equal(many->s.tls, "TLSv1.3 X");
    assert_int_equal(many->s.tls_handshakes, 8);
    assert_int_equal(many->s.tls_resumed, 4);
    read_run_free(one);
    read_run_free(many);
}

/* Two merged recordings, one of which is slower. */
TEST_WITH(merged_recordings_are_compared, tmpdir_setup, tmpdir_teardown)
{
    struct strlist dirs = {0};
    struct strlist on = {0};
    const struct compare_ask ask = {.dirs = &dirs, .on = &on, .regression = -1};
    struct comparison c;
    struct err err = {0};

    for (int side = 0; side < 2; side++) {
        char *d[2];

        for (int64_t i = 0; i < 2; i++) {
            const struct made_shard m = {.index = i,
                                         .of = 2,
                                         .threads = 1,
                                         .seed = 1,
                                         .slower_ms = side == 0 ? 0 : 20};

            d[i] = make(keepf("%d-%lld", side, (long long)i), &m);
        }
        strlist_add(&dirs, merged(keepf("side%d", side), DIRS(d[0], d[1])));
    }
    strlist_add(&on, "e2e p50");
    if (compare_make(&c, &ask, &err))
        fail_msg("%s", err.msg);
    assert_true(c.is_compared);
    assert_int_equal(c.answer, COMPARE_WORSE);
    compare_fini(&c);
    strlist_fini(&on);
    strlist_fini(&dirs);
}

/* The load is not smaller: what is missing is unfinished. */
TEST_WITH(a_lost_shard_is_missing_requests, tmpdir_setup, tmpdir_teardown)
{
    struct merge_result r;
    struct err err = {0};
    struct read_run *run;
    char *out = tmpdir_path("out");
    char *d[4];

    make_four(d);
    assert_int_equal(merge(out, &r, &err, DIRS(d[0], d[1], d[3])), 0);
    assert_int_equal(r.n, 3);
    assert_int_equal(r.of, 4);
    assert_int_equal(r.requests, REQUESTS * 3 / 4);
    assert_int_equal(r.flaws.len, 1);
    assert_string_equal(r.flaws.items[0], "shard 2 of 4 is missing");
    merge_result_fini(&r);
    run = read_run_new(out, NULL);
    assert_int_equal(run->s.scheduled, REQUESTS);
    assert_int_equal(run->s.outcome[OUTCOME_UNFINISHED], REQUESTS / 4);
    assert_int_equal(run->s.integrity.lost_requests, REQUESTS / 4);
    assert_int_equal(run->s.verdict, VERDICT_UNDECIDED);
    assert_int_equal(run->s.shards.n, 4);
    assert_int_equal(run->s.shards.missing, 1);
    assert_true(run->s.shards.items[2].is_missing);
    assert_int_equal(run->s.shards.items[1].due, REQUESTS / 4);
    assert_false(trust_find(&run->s.trust, "shards")->ok);
    assert_int_equal(trust_find(&run->s.trust, "shards")->worst_shard, 2);
    read_run_free(run);
}

/* The host of shard i lost i % of its ticks, the last shard started 5 s late,
 * and each client was late by as many milliseconds as its number. */
TEST_WITH(checks_name_the_worst_shard, tmpdir_setup, tmpdir_teardown)
{
    static const struct {
        const char *name;
        int64_t worst;
        double value;
        bool ok;
    } cases[] = {
        {"steal", 3, 3, true},          {"lag p99", 3, 3, true},
        {"start skew", 3, 5000, false}, {"clock error", 3, 450, false},
        {"shards", -1, 0, true},
    };
    struct read_run *run;
    char *d[4];

    for (int64_t i = 0; i < 4; i++) {
        const struct made_shard m = {.index = i,
                                     .of = 4,
                                     .threads = 1,
                                     .seed = 1,
                                     .start_at_s = 1000,
                                     .late_ms = i == 3 ? 5001 : 1,
                                     .lag_ms = i,
                                     .clock_error_ms = 150 * i};

        d[i] = make(keepf("shard%lld", (long long)i), &m);
    }
    run = read_run_new(merged("all", DIRS(d[0], d[1], d[2], d[3])), NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct check *c = trust_find(&run->s.trust, cases[i].name);

        assert_non_null(c);
        assert_int_equal(c->worst_shard, cases[i].worst);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(fabs(c->worst_value - cases[i].value) < 0.01);
    }
    assert_int_equal(run->s.shards.items[0].offset_ns, NS_PER_MS);
    assert_int_equal(run->s.shards.items[3].offset_ns, 5001 * NS_PER_MS);
    assert_string_equal(run->s.shards.items[3].info.host, "node3");
    read_run_free(run);
}

/* That one clock is off cannot be seen: the bounds of the kernels are all that
 * is known, and the report says so. */
TEST_WITH(a_plain_merge_knows_only_what_the_kernels_say, tmpdir_setup,
          tmpdir_teardown)
{
    struct read_run *run;
    const struct check *c;
    char *d[2];

    for (int64_t i = 0; i < 2; i++) {
        const struct made_shard m = {.index = i,
                                     .of = 2,
                                     .threads = 1,
                                     .seed = 1,
                                     .start_at_s = 1000,
                                     .clock_error_ms = 7 + i};

        d[i] = make(keepf("shard%lld", (long long)i), &m);
    }
    run = read_run_new(merged("all", DIRS(d[0], d[1])), NULL);
    c = trust_find(&run->s.trust, "clock error");
    assert_true(c->ok && c->value == 8);
    assert_string_equal(c->unit, "ms at most, by the kernel");
    assert_says(report_verbose(&run->s), "clocks: only the kernel's own bounds "
                                         "of their errors are known");
    assert_null(strstr(report_verbose(&run->s), "compared by the launcher"));
    read_run_free(run);
}

/* A shard can be reported alone; if it was killed, only its own requests are
 * expected. */
TEST_WITH(a_shard_alone_has_its_share, tmpdir_setup, tmpdir_teardown)
{
    static const struct made_shard cases[] = {
        {.index = 1, .of = 4, .threads = 2, .seed = 1},
        {.index = 1, .of = 4, .threads = 2, .seed = 1, .was_killed = true},
        {.index = 3,
         .of = 4,
         .threads = 2,
         .seed = 1,
         .was_killed = true,
         .is_closed = true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *run =
            read_run_new(make(keepf("one%zu", i), &cases[i]), NULL);

        assert_int_equal(run->s.scheduled, REQUESTS / 4);
        assert_int_equal(run->s.integrity.lost_requests, 0);
        assert_int_equal(run->s.shards.n, 0);
        read_run_free(run);
    }
}

/* Killed halfway, and with a block that was not written completely.  That the
 * last request of the schedule was its own, no other shard knows. */
TEST_WITH(a_cut_shard_is_named, tmpdir_setup, tmpdir_teardown)
{
    const struct made_shard cut = {.index = 1,
                                   .of = 2,
                                   .threads = 1,
                                   .seed = 1,
                                   .was_killed = true,
                                   .rows = 400};
    const struct made_shard whole = {
        .index = 0, .of = 2, .threads = 1, .seed = 1};
    char *out = tmpdir_path("out");
    char *a = make("a", &whole);
    char *b = make("b", &cut);
    struct merge_result r;
    struct err err = {0};
    struct read_run *run;
    struct stat st;

    assert_int_equal(merge(out, &r, &err, DIRS(a, b)), 0);
    assert_int_equal(r.flaws.len, 1);
    assert_string_equal(r.flaws.items[0], "shard 1 of 2 was killed");
    merge_result_fini(&r);
    run = read_run_new(out, NULL);
    assert_int_equal(run->s.scheduled, REQUESTS - 1);
    assert_int_equal(run->s.integrity.lost_requests, 599);
    read_run_free(run);

    assert_int_equal(stat(keepf("%s/requests.tgr", a), &st), 0);
    assert_int_equal(truncate(keepf("%s/requests.tgr", a), st.st_size - 3), 0);
    out = tmpdir_path("damaged");
    assert_int_equal(merge(out, &r, &err, DIRS(a, b)), 0);
    assert_int_equal(r.flaws.len, 2);
    assert_string_equal(r.flaws.items[0], "shard 0 of 2 is damaged");
    assert_true(r.requests < 1400);
    merge_result_fini(&r);
    run = read_run_new(out, NULL);
    assert_int_equal(run->s.scheduled, REQUESTS - 1);
    read_run_free(run);
}

/* It says that it is complete, and every block is whole. */
TEST_WITH(a_shard_that_lacks_requests_is_named, tmpdir_setup, tmpdir_teardown)
{
    const struct made_shard shards[] = {
        {.index = 0, .of = 2, .threads = 1, .seed = 1},
        {.index = 1, .of = 2, .threads = 1, .seed = 1, .rows = 400}};
    struct merge_result r;
    struct err err = {0};

    assert_int_equal(merge(tmpdir_path("out"), &r, &err,
                           DIRS(make("a", &shards[0]), make("b", &shards[1]))),
                     0);
    assert_int_equal(r.flaws.len, 1);
    assert_string_equal(r.flaws.items[0], "shard 1 of 2 lacks 600 requests");
    merge_result_fini(&r);
}

/* It is not known what the clients of a lost shard would have sent: as many as
 * those of the busiest one. */
TEST_WITH(a_lost_shard_of_a_closed_loop_counts_like_the_busiest, tmpdir_setup,
          tmpdir_teardown)
{
    const struct made_shard one = {
        .index = 0, .of = 4, .threads = 2, .seed = 1, .is_closed = true};
    struct read_run *run =
        read_run_new(merged("out", DIRS(make("a", &one))), NULL);

    assert_int_equal(run->s.scheduled, REQUESTS);
    assert_int_equal(run->s.integrity.lost_requests, REQUESTS * 3 / 4);
    read_run_free(run);
}

TEST_WITH(what_does_not_belong_together_is_refused, tmpdir_setup,
          tmpdir_teardown)
{
    static const struct {
        struct made_shard other;
        const char *want;
    } cases[] = {
        {{.index = 0, .of = 2, .threads = 1, .seed = 1},
         "shard 0 of 2 is given twice"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 2},
         "load.seed is \"2\", but \"1\" in"},
        {{.index = 1, .of = 3, .threads = 1, .seed = 1},
         "is one of 3 shards, but"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .is_closed = true},
         "is \"closed\", but \"server\" in"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .start_s = 3},
         "was to start 3.000 s after"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .start_at_s = 1000},
         "has a common start (--start-at TIME), but"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .nonce = 6},
         "data.nonce is \"6\", but"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .url = "null://b"},
         "target.url is [\"null://b\"], but [\"null://\"] in"},
        {{.index = 1, .of = 2, .threads = 1, .seed = 1, .data = "other"},
         "'data' in its manifest differs from that of"},
        {{.index = 0, .of = 1, .threads = 1, .seed = 1},
         "is a whole run, not a shard"},
    };
    const struct made_shard first = {
        .index = 0, .of = 2, .threads = 1, .seed = 1};
    char *a = make("a", &first);

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *b = make(keepf("other%zu", i), &cases[i].other);
        char *out = tmpdir_path("out");
        struct merge_result r;
        struct err err = {0};

        assert_int_equal(merge(out, &r, &err, DIRS(a, b)), -1);
        if (!strstr(err.msg, cases[i].want))
            fail_msg("%s", err.msg);
        assert_int_equal(access(out, F_OK), -1);
        merge_result_fini(&r);
    }
}

/* Also what has been merged knows the common start. */
TEST_WITH(another_common_start_is_another_run, tmpdir_setup, tmpdir_teardown)
{
    struct made_shard m = {.of = 3, .threads = 1, .seed = 1, .start_at_s = 500};
    struct merge_result r;
    struct err err = {0};
    char *d[3];
    char *two;

    for (; m.index < 3; m.index++) {
        if (m.index == 2)
            m.start_at_s = 502; /* its own start is that of the others */
        d[m.index] = make(keepf("shard%lld", (long long)m.index), &m);
    }
    two = merged("two", DIRS(d[0], d[1]));
    assert_int_equal(merge(tmpdir_path("out"), &r, &err, DIRS(d[2], two)), -1);
    assert_non_null(strstr(err.msg, "was to start 2.000 s after"));
    merge_result_fini(&r);
}
