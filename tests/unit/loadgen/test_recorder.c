/* What the workers hand over is on disk, once; a disk that fails is reported
 * and does not stop others. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "loadgen/record/recorder.h"
#include "tests/support/keep.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define N_SHARDS 3
#define N_EACH   50001 /* no whole number of chunks */
#define SECOND   700   /* rows between two observations */

struct job {
    struct shard *shard;
    int64_t first_seq;
    int64_t n;
};

/* A thread's work: rows, now and then an observation. */
static void *fill(void *arg)
{
    const struct job *job = arg;

    for (int64_t i = 0; i < job->n; i++) {
        int64_t seq = job->first_seq + i;
        struct facts f = row_ok(seq, seq, seq % 100);

        shard_add(job->shard, &f);
        if (i % SECOND == SECOND - 1) {
            struct observation seen = {.at = seq};

            shard_observe(job->shard, &seen);
        }
    }
    shard_flush(job->shard);
    return NULL;
}

static char *make_dir(const char *name)
{
    char *dir = tmpdir_path(name);

    assert_int_equal(mkdir(dir, 0777), 0);
    return dir;
}

static struct tgr_reader *open_table(const char *dir, const char *name,
                                     const struct tgr_schema *schema)
{
    char *path = keepf("%s/%s", dir, name);
    struct tgr_reader *reader = NULL;
    struct err err = {0};

    assert_int_equal(tgr_open(&reader, path, schema, &err), 0);
    return reader;
}

/* Every sequence number below n is there once, with its own facts. */
static void assert_rows_once(const char *dir, size_t n)
{
    struct tgr_reader *r = open_table(dir, "requests.tgr", &schema_requests);
    unsigned char *seen = xcalloc(n, 1);
    struct err err = {0};
    const void *rows;
    size_t len;
    size_t total = 0;

    while (tgr_next(r, &rows, &len, &err) > 0) {
        const struct facts *f = rows;

        total += len;
        for (size_t i = 0; i < len; i++) {
            struct facts want = row_ok(f[i].seq, f[i].seq, f[i].seq % 100);

            assert_in_range(f[i].seq, 0, n - 1);
            assert_int_equal(seen[f[i].seq]++, 0);
            assert_memory_equal(&f[i], &want, sizeof(want));
        }
    }
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(total, n);
    tgr_close(r);
    free(seen);
}

static size_t count_observations(const char *dir)
{
    struct tgr_reader *r = open_table(dir, "client.tgr", &schema_client);
    struct err err = {0};
    const void *rows;
    size_t len;
    size_t total = 0;

    while (tgr_next(r, &rows, &len, &err) > 0) {
        const struct observation *seen = rows;

        total += len;
        assert_int_equal(len, 1); /* written as they come, second by second */
        assert_true(seen[0].host_ticks > 0); /* the recorder adds these */
        assert_true(seen[0].host_steal >= 0);
    }
    tgr_close(r);
    return total;
}

static void rows_arrive_once(int n_shards, int64_t n_each, const char *name)
{
    char *dir = make_dir(name);
    struct recorder *recorder;
    struct job jobs[N_SHARDS];
    pthread_t threads[N_SHARDS];
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct err err = {0};

    assert_int_equal(recorder_new(&recorder, dir, n_shards, false, &err), 0);
    for (int i = 0; i < n_shards; i++) {
        jobs[i] = (struct job){.shard = recorder_shard(recorder, i),
                               .first_seq = i * n_each,
                               .n = n_each};
        assert_int_equal(pthread_create(&threads[i], NULL, fill, &jobs[i]), 0);
    }
    for (int i = 0; i < n_shards; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_in_range(shard_waited_ns(jobs[i].shard), 0,
                        clk_now(&clk_monotonic) - begun_ns);
    }
    assert_false(recorder_has_failed(recorder));
    assert_int_equal(recorder_finish(recorder, &err), 0);
    assert_int_equal(err.code, ERR_NONE);
    assert_rows_once(dir, (size_t)(n_shards * n_each));
    assert_int_equal(count_observations(dir), n_shards * (n_each / SECOND));
}

TEST(one_shard_records_every_row)
{
    rows_arrive_once(1, N_EACH, "one");
}

TEST(three_shards_record_every_row)
{
    rows_arrive_once(N_SHARDS, N_EACH, "three");
}

TEST(a_whole_chunk_and_one_row)
{
    rows_arrive_once(1, 1024, "chunk");
    rows_arrive_once(1, 1, "row");
}

/* What a watcher has seen. */
struct seen {
    int64_t rows[N_SHARDS];
    int64_t observations[N_SHARDS];
    int64_t next_seq[N_SHARDS];
};

static void count_chunk(void *arg, unsigned shard, const struct facts *rows,
                        size_t n, const struct observation *observed)
{
    struct seen *seen = arg;

    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].seq, seen->next_seq[shard]++);
    seen->rows[shard] += (int64_t)n;
    if (observed)
        assert_int_equal(observed->at,
                         ++seen->observations[shard] * SECOND - 1);
}

/* Each chunk, in order, a trickle too. */
TEST(a_watcher_sees_every_row)
{
    char *dir = make_dir("watched");
    struct seen seen = {0};
    struct job job = {.n = 3 * SECOND + 5};
    struct recorder *recorder;
    struct err err = {0};

    assert_int_equal(recorder_new(&recorder, dir, N_SHARDS, false, &err), 0);
    assert_int_equal(recorder_n_shards(recorder), N_SHARDS);
    recorder_watch(recorder, (struct watcher){count_chunk, &seen});
    for (int i = 0; i < 2; i++) {
        job.shard = recorder_shard(recorder, i);
        fill(&job);
    }
    assert_int_equal(recorder_finish(recorder, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.rows[i], job.n);
        assert_int_equal(seen.observations[i], 3);
    }
    assert_int_equal(seen.rows[2], 0);
}

/* Seconds without a row are seen all the same, each with the host's times. */
TEST(idle_seconds_are_written_as_they_come)
{
    char *dir = make_dir("idle");
    struct recorder *recorder;
    struct err err = {0};

    assert_int_equal(recorder_new(&recorder, dir, 1, false, &err), 0);
    for (int64_t i = 0; i < 7; i++) {
        struct observation seen = {.at = i};

        shard_observe(recorder_shard(recorder, 0), &seen);
    }
    shard_flush(recorder_shard(recorder, 0));
    assert_int_equal(recorder_finish(recorder, &err), 0);
    assert_int_equal(count_observations(dir), 7);
}

TEST(an_empty_run_leaves_readable_tables)
{
    char *dir = make_dir("empty");
    struct recorder *recorder;
    struct err err = {0};
    struct tgr_reader *r;
    const void *rows;
    size_t len;

    assert_int_equal(recorder_new(&recorder, dir, 1, false, &err), 0);
    shard_flush(recorder_shard(recorder, 0));
    assert_int_equal(recorder_finish(recorder, &err), 0);
    r = open_table(dir, "requests.tgr", &schema_requests);
    assert_int_equal(tgr_next(r, &rows, &len, &err), 0);
    tgr_close(r);
    assert_int_equal(recorder_finish(NULL, &err), 0);
}

TEST(a_missing_directory_is_an_error)
{
    struct recorder *recorder = NULL;
    struct err err = {0};

    assert_int_equal(
        recorder_new(&recorder, tmpdir_path("nowhere"), 1, false, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.msg, "requests.tgr: No such file"));
    assert_null(recorder);
}

/* ---- a disk that fails at the end ---- */

static int fsyncs_until_failure = -1;

/* In the place of the library's, for this program. */
int fsync(int fd)
{
    (void)fd;
    if (fsyncs_until_failure < 0 || fsyncs_until_failure-- > 0)
        return 0;
    errno = EIO;
    return -1;
}

/* Whichever file it is, its name and what the system said are told. */
TEST(a_failing_flush_is_named)
{
    static const char *const files[] = {"requests.tgr", "client.tgr"};

    for (int i = 0; i < 2; i++) {
        char *dir = make_dir(files[i]);
        char *want = keepf("%s/%s: Input/output error", dir, files[i]);
        struct recorder *recorder;
        struct err err = {0};

        assert_int_equal(recorder_new(&recorder, dir, 1, false, &err), 0);
        fsyncs_until_failure = i;
        assert_int_equal(recorder_finish(recorder, &err), -1);
        fsyncs_until_failure = -1;
        assert_int_equal(err.code, ERR_IO);
        assert_string_equal(err.msg, want);
    }
}

/* ---- a full disk ---- */

#define DISK_BYTES ((rlim_t)64 << 10)

static struct rlimit disk_limit(rlim_t bytes)
{
    struct rlimit before;
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

static size_t count_readable(const char *dir)
{
    struct tgr_reader *r = open_table(dir, "requests.tgr", &schema_requests);
    struct err err = {0};
    const void *rows;
    size_t len;
    size_t total = 0;

    while (tgr_next(r, &rows, &len, &err) > 0) {
        const struct facts *f = rows;

        for (size_t i = 0; i < len; i++)
            assert_int_equal(f[i].seq, total++); /* from the start, no gap */
    }
    tgr_close(r);
    return total;
}

/* Many times more rows than the rings hold, so that a writer that stopped
 * emptying them would hang this test. */
TEST(a_full_disk_is_reported_and_nobody_hangs)
{
    char *dir = make_dir("full");
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    struct rlimit limit;
    struct recorder *recorder;
    struct job job = {.n = 200000};
    struct err err = {0};

    assert_int_equal(recorder_new(&recorder, dir, 1, false, &err), 0);
    assert_int_equal(sigaction(SIGXFSZ, &ignore, &before), 0);
    limit = disk_limit(DISK_BYTES);
    job.shard = recorder_shard(recorder, 0);
    fill(&job);
    assert_true(recorder_has_failed(recorder));
    assert_int_equal(recorder_finish(recorder, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.msg, "requests.tgr: File too large"));
    assert_in_range(count_readable(dir), 1024, 199999);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
