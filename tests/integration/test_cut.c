/* A run that is cut while a billion requests are left: it ends at once, and its
 * recording is small, whole and readable without its manifest. */
#include <jansson.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define IN_FLIGHT 4

/* Until all that may be in flight has come to a server that never answers;
 * connections on which nothing came were made ahead of the run. */
static void await_requests(int fd, int connections[static IN_FLIGHT])
{
    char byte;

    for (int n = 0; n < IN_FLIGHT;) {
        int connection = accept(fd, NULL, NULL);

        assert_true(connection >= 0);
        if (recv(connection, &byte, 1, MSG_PEEK) > 0)
            connections[n++] = connection;
        else
            close(connection);
    }
}

static void check_recording(const char *dir)
{
    char path[300];
    struct stat st;
    json_t *summary = load_summary(dir);

    snprintf(path, sizeof(path), "%s/requests.tgr", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_in_range(st.st_size, 1, 100000);
    assert_true(number_at(summary, "requests.scheduled") == 1e9);
}

/* Times, outcomes and counts are still known, and there is no verdict. */
static void check_without_manifest(const char *dir)
{
    static const struct {
        const char *manifest; /* NULL: none */
        const char *says;
    } cases[] = {
        {"", "manifest.json is empty"},
        {"{\"schema\": 1, \"sett", "manifest.json is damaged"},
        {NULL, "manifest.json is missing"},
    };
    char *path = keepf("%s/manifest.json", dir);
    struct proc_result r;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unlink(path);
        if (cases[i].manifest)
            tmpdir_write("offline/manifest.json", cases[i].manifest,
                         strlen(cases[i].manifest));
        r = proc_run(ARGS("report", "-v", dir));
        proc_expect(&r, 4);
        assert_non_null(strstr(r.out, cases[i].says));
        assert_non_null(strstr(r.out, "requests   1000000000, "));
    }
    r = proc_run(ARGS("rerun", dir));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "manifest.json is missing; tailgate report"));
}

/* What needs the settings says so, in one line; the SLO is not dropped without
 * a word. */
static void check_asked_without_manifest(const char *dir)
{
    static const char *const asked[][2] = {
        {"--checklist", NULL},
        {"--claim", NULL},
        {"--profile", "vllm"},
        {"--format", "vllm-json"},
    };
    char *want = keepf("tailgate: %s: manifest.json is empty; only a report "
                       "as text or json is possible without it\n",
                       dir);
    struct proc_result r;

    tmpdir_write("offline/manifest.json", "", 0);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        r = proc_run(ARGS("report", dir, asked[i][0], asked[i][1]));
        proc_expect(&r, 3);
        assert_string_equal(r.err, want);
    }
    r = proc_run(ARGS("report", dir, "--slo", "errors < 1%"));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "--slo is ignored: manifest.json is empty"));
}

TEST(a_billion_left_is_a_range)
{
    struct sockaddr_in at = loopback_address(0);
    int fd = loopback_listen(&at, 64);
    char *url = keepf("http://127.0.0.1:%d/", ntohs(at.sin_port));
    char *dir = tmpdir_path("offline");
    struct proc p = proc_start(ARGS("run", "-v", url, "--scenario", "offline",
                                    "-n", "1000000000", "-q", "--set",
                                    "client.max_in_flight=4", "-o", dir));
    int connections[IN_FLIGHT];
    struct proc_result r;

    await_requests(fd, connections);
    assert_int_equal(kill(p.pid, SIGINT), 0);
    r = proc_wait(&p);
    proc_expect(&r, 128 + SIGINT);
    assert_non_null(strstr(r.out, "scheduled 1000000000 = "));
    check_recording(dir);
    r = proc_run(ARGS("report", "-v", dir));
    proc_expect(&r, 128 + SIGINT);
    assert_non_null(strstr(r.out, "scheduled 1000000000 = "));
    check_without_manifest(dir);
    check_asked_without_manifest(dir);
    for (int i = 0; i < IN_FLIGHT; i++)
        close(connections[i]);
    close(fd);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
