/* Responses that exceed client.memory: the requests fail by name, the run goes
 * on, and it is not valid. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define BODY_LEN ((size_t)1 << 20)
#define N_LARGE  2 /* of 5 responses */

#define JSON_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#define SMALL     "{\"data\": [{\"embedding\": [1]}]}"

/* The run goes on: the small responses that follow succeed. */
TEST(requests_fail_by_name)
{
    static const char small[] = JSON_HEAD "Connection: close\r\n\r\n" SMALL;
    static const char *const transports[] = {"native", "curl"};
    char head[100];
    int head_len = snprintf(head, sizeof(head),
                            JSON_HEAD "Content-Length: %zu\r\n\r\n", BODY_LEN);
    char *bytes = xcalloc((size_t)head_len + BODY_LEN, 1);

    memset(bytes, ' ', (size_t)head_len + BODY_LEN);
    memcpy(bytes, head, (size_t)head_len);
    for (size_t i = 0; i < COUNT(transports); i++) {
        struct rawserver server = rawserver_start_then(
            (struct raw_answer){bytes, (size_t)head_len + BODY_LEN}, N_LARGE,
            (struct raw_answer){small, strlen(small)});
        char *url = keepf("%sv1/embeddings", server.url);
        char *dir = tmpdir_path(transports[i]);
        struct proc run = proc_start(ARGS(
            "run", url, "--model", "m", "--transport", transports[i], "-c", "1",
            "-n", "5", "--memory", "100KB", "--no-preflight", "-q", "-o", dir));
        json_t *summary;

        must_end(&run, 4);
        summary = load_summary(dir);
        assert_true(check_failed(summary, "client memory"));
        assert_int_equal(
            failures_saying(
                summary, "truncated",
                "client memory: the responses exceed client.memory"),
            N_LARGE);
        assert_true(number_at(summary, "requests.ok") == 5 - N_LARGE);
        rawserver_stop(&server);
    }
    free(bytes);
}

/* The default depends on the machine. */
TEST(a_plan_says_how_much)
{
    struct proc_result r = proc_run(
        ARGS("validate", "http://127.0.0.1:1/", "--rate", "1", "-n", "1"));
    struct proc_result asked =
        proc_run(ARGS("validate", "http://127.0.0.1:1/", "--rate", "1", "-n",
                      "1", "--memory", "100MB"));

    proc_expect(&r, 0);
    proc_expect(&asked, 0);
    assert_non_null(strstr(r.out, "\nmemory     responses may use "));
    assert_non_null(strstr(
        asked.out,
        "\nmemory     responses may use 100MB in total (client.memory)"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
