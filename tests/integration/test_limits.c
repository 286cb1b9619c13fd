/* Where the machine gives no more: open files and local ports.  What is short,
 * and what to do about it, is stated.
 *
 * load_summary() checks the identity of the counts each time. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/netns.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* ---- open files ---- */

#define FILES 120

static void few_files(void)
{
    struct rlimit limit = {.rlim_cur = FILES, .rlim_max = FILES};

    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct proc_result run_with_few_files(const char *const *argv)
{
    struct proc p = proc_start_with(argv, few_files);

    return proc_wait(&p);
}

/* However they were asked for; the run does not start. */
TEST(more_connections_than_files)
{
    static const char *const cases[][4] = {
        {"-c", "500"},
        {"--clients", "500"},
        {"--rate", "50", "-c", "500"},
        {"--rate", "50", "--max-in-flight", "500"},
    };
    char *dir = tmpdir_path("files");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *argv[12] = {"tailgate", "run", url, "-o", dir, "-q"};
        struct proc_result r;

        memcpy(argv + 6, cases[i], sizeof(cases[i]));
        r = run_with_few_files(argv);
        proc_expect(&r, 3);
        if (!strstr(r.err, "tailgate: 500 connections need "))
            print_error("case %zu: %s", i, r.err);
        assert_non_null(strstr(r.err, "tailgate: 500 connections need "));
        assert_non_null(strstr(r.err, " open files; the limit is 120 "
                                      "(ulimit -Hn)\n"));
        assert_string_equal(r.out, "");
        assert_int_equal(access(dir, F_OK), -1);
    }
    stub_stop(&stub);
}

/* What was not asked for is bounded by what there is. */
TEST(the_bound_is_what_the_files_allow)
{
    const char *dir = tmpdir_path("bounded");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc_result r = run_with_few_files(
        ARGS("run", url, "--rate", "100", "-n", "20", "-q", "-o", dir));
    json_t *summary;

    run_expect(&r, dir, 0);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 20);
    assert_true(number_at(summary, "client.max_in_flight") > 0);
    assert_true(number_at(summary, "client.max_in_flight") < FILES);
}

/* ---- the size of a request ---- */

/* 16 documents of 3M words: a request that cannot be made has failed, and says
 * why; nothing goes out in its place. */
TEST(a_request_that_is_too_large)
{
    static const char *const transports[] = {"native", "curl"};
    static const char *const dirs[] = {"large", "large-curl"};
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    char *rerank = keepf("%s/v1/rerank", url);

    for (size_t i = 0; i < COUNT(transports); i++) {
        const char *dir = tmpdir_path(dirs[i]);
        struct proc_result r =
            proc_run(ARGS("run", rerank, "--model", "m", "--input-len", "3M",
                          "--scenario", "single-stream", "-n", "1",
                          "--transport", transports[i], "-q", "-o", dir));
        json_t *summary;

        run_expect(&r, dir, 1);
        summary = load_summary(dir);
        assert_true(failures_saying(summary, "reset",
                                    "the request is larger than 64 MiB and "
                                    "was not sent") == 1);
    }
    stub_stop(&stub);
}

/* ---- local ports ---- */

#define PORTS 10
#define NO_PORT                                                                \
    "no local port left: keep connections alive, use more target addresses, "  \
    "or widen net.ipv4.ip_local_port_range"

/* From here on for all that this program starts; so this comes last. */
static bool has_few_ports(void)
{
    if (!netns_enter()) {
        print_message("no network of one's own here: %s\n", strerror(errno));
        return false;
    }
    netns_set_local_ports(40000, 40000 + PORTS - 1);
    return true;
}

/* 40 at once from ten ports: those that find none have failed, and say so. Each
 * server is at a port of its own: connections to the last one linger. */
static void check_exhaustion(const char *transport, const char *port)
{
    json_t *summary =
        run_on_stub(ARGS("stub", "--port", port, "--delay", "1s"),
                    ARGS("run", "--transport", transport, "--arrival",
                         "constant", "--rate", "400", "-n", "40"),
                    tmpdir_path(transport), 4);
    double ok = number_at(summary, "requests.ok");

    print_message("%s: %g ok from %d ports\n", transport, ok, PORTS);
    assert_true(ok > 0);
    /* Who is sent a second late finds a connection that is free again. */
    assert_true(ok <= PORTS || number_at(summary, "measures.lag.max_ms") > 500);
    assert_true(failures_of(summary, "connect") == 40 - ok);
    assert_true(failures_saying(summary, "connect", NO_PORT) == 40 - ok);
    assert_true(check_failed(summary, "client resources"));
}

static void check_preconnect(const char *port)
{
    const char *dir = tmpdir_path("ahead");
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--port", port), &url);
    struct proc_result r =
        proc_run(ARGS("run", url, "--rate", "10", "-n", "5", "--preconnect",
                      "40", "-q", "-o", dir));

    stub_stop(&stub);
    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, NO_PORT));
}

TEST(no_port_is_left)
{
    if (!has_few_ports())
        skip();
    check_exhaustion("native", "8001");
    check_exhaustion("curl", "8002");
    check_preconnect("8003");
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
