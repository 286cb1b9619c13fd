/* A run that others watch: what it serves, to whom, and that nothing they do
 * changes it. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"
#include "tests/support/watched.h"

#define TOKEN "secret-token-1"

static char *stub_url; /* of the stub that serves all tests here */
static struct proc stub;

static int begin(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    stub = stub_start(ARGS("stub", "--service", "fixed 2ms"), &stub_url);
    return 0;
}

static int end(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

/* The sum of a metric over its labels; `with` must be among them. */
static double sum_of(const char *page, const char *name, const char *with)
{
    size_t len = strlen(name);
    double sum = 0;

    for (const char *line = page; line; line = strchr(line, '\n')) {
        const char *value;

        line += *line == '\n';
        if (strncmp(line, name, len) != 0 || line[len] != '{')
            continue;
        value = memrchr(line, '}', strcspn(line, "\n")); /* not in a label */
        assert_non_null(value);
        if (!with[0] ||
            memmem(line, (size_t)(value - line), with, strlen(with)))
            sum += strtod(value + 2, NULL);
    }
    return sum;
}

static void check_identity(const char *page)
{
    double issued = sum_of(page, "tailgate_requests_issued_total", "");

    assert_true(sum_of(page, "tailgate_requests_scheduled_total", "") ==
                issued + sum_of(page, "tailgate_requests_unsent_total", ""));
    assert_true(issued ==
                sum_of(page, "tailgate_requests_ok_total", "") +
                    sum_of(page, "tailgate_requests_failed_total", "") +
                    sum_of(page, "tailgate_requests_in_flight", ""));
}

/* Ask until it is as far; counters never fall on the way. */
static char *metrics_from(const char *url, const char *phase)
{
    char *wanted = keepf("phase=\"%s\"} 1\n", phase);
    double last = 0;
    char *page;

    for (int i = 0; i < 600; i++) {
        double issued;

        page = watched_get(url, "/metrics", NULL, 200);
        check_identity(page);
        issued = sum_of(page, "tailgate_requests_issued_total", "");
        assert_true(issued >= last);
        last = issued;
        if (strstr(page, wanted))
            return page;
        clk_sleep_ns(20 * NS_PER_MS);
    }
    fail_msg("it never came to the phase %s", phase);
    return NULL;
}

/* Prometheus asks for OpenMetrics, people and promtool for the classic text. */
static void check_formats(const char *url)
{
    char *open =
        watched_get(url, "/metrics",
                    "Accept: application/openmetrics-text;version=1.0.0,"
                    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n",
                    200);
    char *classic = watched_get(url, "/metrics", "Accept: */*\r\n", 200);

    assert_string_equal(open + strlen(open) - 6, "# EOF\n");
    assert_non_null(strstr(open, "# TYPE tailgate_requests_issued counter\n"));
    assert_null(strstr(classic, "# EOF"));
    assert_non_null(
        strstr(classic, "# TYPE tailgate_requests_issued_total counter\n"));
}

/* A page of another site may know a name that leads to loopback. */
static void check_names(const char *url)
{
    watched_get(url, "/metrics", "Host: rebound.example:80\r\n", 403);
    watched_get(url, "/metrics", "Host: localhost:80\r\n", 200);
    watched_get(url, "/metrics", "Host: 127.0.0.1\r\n", 200);
    watched_get(url, "/metrics", "Host: [::1]:80\r\n", 200);
}

/* All of it is there while it runs; afterwards the numbers are those of the
 * summary, and the file that of `report --html`. */
TEST(what_it_serves)
{
    char *dir = tmpdir_path("serves");
    char *file = tmpdir_path("serves.html");
    struct proc p =
        proc_start(ARGS("run", stub_url, "--rate", "200", "-d", "2s",
                        "--warmup", "0s", "--slo", "e2e p90 < 500ms", "-o", dir,
                        "--listen", "127.0.0.1:0", "--listen-linger", "60s"));
    char *url = watched_url(&p);
    char *page;
    json_t *json;
    struct proc_result r;

    assert_string_equal(watched_get(url, "/healthz", NULL, 200), "ok\n");
    metrics_from(url, "window");
    page = watched_get(url, "/summary.json", NULL, 200);
    assert_schema_text("live", page);
    json = json_loads(page, 0, NULL);
    assert_true(json_is_false(json_object_get(json, "complete")));
    json_decref(json);
    page = watched_get(url, "/", NULL, 200);
    assert_non_null(strstr(page, "connect-src 'self'"));
    assert_non_null(strstr(page, ">RUNNING<"));
    watched_get(url, "/report.html", NULL, 404);
    watched_get(url, "/elsewhere", NULL, 404);
    check_formats(url);
    check_names(url);
    page = metrics_from(url, "over");
    json = load_summary(dir);
    assert_true(sum_of(page, "tailgate_window_requests_total", "") ==
                number_at(json, "requests.scheduled"));
    assert_true(sum_of(page, "tailgate_window_requests_good_total", "") ==
                number_at(json, "requests.good"));
    assert_true(sum_of(page, "tailgate_request_duration_seconds_bucket",
                       "le=\"+Inf\"") == number_at(json, "requests.scheduled"));
    assert_true(sum_of(page, "tailgate_request_duration_seconds_bucket",
                       "le=\"0.5\"") == number_at(json, "requests.good"));
    assert_true(sum_of(page, "tailgate_requests_in_flight", "") == 0);
    json_decref(json);
    assert_string_equal(watched_get(url, "/summary.json", NULL, 200),
                        watched_text(keepf("%s/summary.json", dir)));
    page = watched_get(url, "/report.html", NULL, 200);
    assert_string_equal(watched_get(url, "/", NULL, 200), page);
    kill(p.pid, SIGTERM); /* it only lingers */
    r = proc_wait(&p);
    run_expect(&r, dir, 0);
    r = proc_run(ARGS("report", dir, "--html", file));
    run_expect(&r, dir, 0);
    assert_string_equal(page, watched_text(file));
}

TEST(what_is_refused)
{
    static const struct {
        const char *flags[5];
        const char *says;
    } cases[] = {
        {{"--listen", "0.0.0.0:0"}, "requires --listen-token-env"},
        {{"--listen", ":0"}, "requires --listen-token-env"},
        {{"--listen", "here"}, "is not an address"},
        {{"--listen", "127.0.0.1:99999"}, "is not an address"},
        {{"--listen", "::1:0"}, "write an IPv6 address as"},
        {{"--listen", "0.0.0.0:0", "--listen-token-env", "NO_SUCH_NAME"},
         "the environment has no NO_SUCH_NAME"},
        {{"--listen", "0.0.0.0:0", "--listen-token-env", "LONG"},
         "the token in LONG has 300 characters; it needs 8 to 256"},
        {{"--listen-token-env", "PATH"}, "requires --listen"},
        {{"--listen-linger", "1s"}, "requires --listen"},
        {{"--listen", "0", "--launch", "local:2"},
         "--listen cannot be combined with --launch"},
    };

    setenv("LONG", keepf("%0300d", 0), 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const *f = cases[i].flags;
        struct proc_result r =
            proc_run(ARGS("run", stub_url, "--rate", "10", "-d", "1s", "-o",
                          tmpdir_path("refused"), f[0], f[1], f[2], f[3]));

        proc_expect(&r, 2);
        if (!strstr(r.err, cases[i].says))
            fail_msg("%s: %s", cases[i].says, r.err);
        assert_null(strchr(strchr(r.err, '\n') + 1, '\n')); /* one line */
    }
}

static void set_token(void)
{
    setenv("LISTEN_TOKEN", TOKEN, 1);
}

TEST(a_token_is_required_beyond_loopback)
{
    /* anybody:secret-token-1, then anybody:secret-token-2 */
    static const char basic[] =
        "Authorization: Basic YW55Ym9keTpzZWNyZXQtdG9rZW4tMQ==\r\n";
    static const char wrong[] =
        "Authorization: Basic YW55Ym9keTpzZWNyZXQtdG9rZW4tMg==\r\n";
    struct proc p =
        proc_start_with(ARGS("run", stub_url, "--rate", "50", "-d", "1s", "-o",
                             tmpdir_path("token"), "--listen", "0.0.0.0:0",
                             "--listen-token-env", "LISTEN_TOKEN"),
                        set_token);
    char *url = watched_url(&p);
    struct proc_result r;

    watched_get(url, "/healthz", NULL, 200);
    watched_get(url, "/metrics", NULL, 401);
    watched_get(url, "/", wrong, 401);
    watched_get(url, "/events", "Authorization: Bearer " TOKEN "x\r\n", 401);
    watched_get(url, "/metrics", "Authorization: Bearer " TOKEN "\r\n", 200);
    watched_get(url, "/", basic, 200);
    r = proc_wait(&p);
    assert_null(strstr(r.err, TOKEN));
}

/* ---- clients that mean no good ---- */

#define MANY 200

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0) /* it has closed the connection: fine */
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

static int open_stream(const char *url)
{
    int small = 4096;
    int fd = http_connect(url);

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    http_send(fd, &(const struct http_request){.path = "/events"});
    return fd;
}

/* A page whose browser was killed. */
static void open_and_break(const char *url)
{
    const struct linger at_once = {.l_onoff = 1};
    int fd = open_stream(url);
    char byte;

    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

static struct proc start_watched(const char *dir)
{
    return proc_start(ARGS("run", stub_url, "--rate", "200", "-d", "2s",
                           "--warmup", "0s", "-o", dir, "--listen",
                           "127.0.0.1:0"));
}

/* Connections that say nothing, streams that are not read or that break,
 * garbage, a megabyte of headers: the run is as it would be, and so is its
 * memory.  Those who ask properly are served meanwhile. */
TEST(hostile_clients_change_nothing)
{
    char *dir = tmpdir_path("hostile");
    size_t len = (size_t)1 << 20;
    char *junk = keep(xcalloc(len + 1, 1));
    struct proc calm = start_watched(tmpdir_path("calm"));
    struct proc_result quiet = proc_wait(&calm);
    struct proc p = start_watched(dir);
    char *url = watched_url(&p);
    int fds[MANY];
    struct proc_result r;
    json_t *json;

    memset(junk, 'x', len);
    metrics_from(url, "window");
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = i % 4 == 0 ? open_stream(url) : http_connect(url);
        if (i % 4 == 1)
            send_all(fds[i], "\x16\x03\x01\xff garbage\r\n\r\n", 15);
        if (i % 50 == 2) {
            send_all(fds[i], "GET /metrics HTTP/1.1\r\nX: ", 26);
            send_all(fds[i], junk, len);
        }
        if (i % 4 == 3)
            send_all(fds[i], "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
                     39);
    }
    open_and_break(url);
    check_identity(watched_get(url, "/metrics", NULL, 200));
    r = proc_wait(&p);
    run_expect(&r, dir, 0);
    json = load_summary(dir); /* its identity holds */
    assert_true(number_at(json, "requests.unsent") == 0);
    assert_true(number_at(json, "requests.failed") == 0);
    json_decref(json);
    assert_in_range(r.max_rss_kb, 0, quiet.max_rss_kb + 48L * 1024);
    for (size_t i = 0; i < MANY; i++)
        close(fds[i]);
}

static int64_t last_write_ns(const char *dir)
{
    struct stat st;

    assert_int_equal(stat(keepf("%s/summary.json", dir), &st), 0);
    return (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

/* A browser that hangs keeps its connections and takes nothing from them. */
TEST(a_hung_browser_does_not_delay_the_end)
{
    char *dir = tmpdir_path("hung");
    struct proc p = start_watched(dir);
    char *url = watched_url(&p);
    int fds[8];
    struct proc_result r;

    for (size_t i = 0; i < COUNT(fds); i++)
        fds[i] = open_stream(url);
    r = proc_wait(&p);
    assert_in_range(clk_realtime_ns() - last_write_ns(dir), 0, 3 * NS_PER_S);
    run_expect(&r, dir, 0);
    for (size_t i = 0; i < COUNT(fds); i++)
        close(fds[i]);
}

/* A page that is open gets the report, although the process ends at once. */
TEST(an_open_page_gets_the_report)
{
    char *dir = tmpdir_path("pushed");
    char *file = tmpdir_path("pushed.html");
    struct proc p = start_watched(dir);
    int fd = http_connect(watched_url(&p));
    struct http_reply reply;
    struct proc_result r;
    const char *last;
    json_t *json;

    http_send(fd, &(const struct http_request){.path = "/events"});
    reply = http_read(fd);
    r = proc_wait(&p);
    run_expect(&r, dir, 0);
    assert_int_equal(strncmp(buf_text(&reply.body), "event: page\n", 12), 0);
    last = strstr(buf_text(&reply.body), "event: end\ndata: ");
    assert_non_null(last);
    json = json_loads(last + strlen("event: end\ndata: "),
                      JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(json);
    r = proc_run(ARGS("report", dir, "--html", file));
    run_expect(&r, dir, 0);
    assert_string_equal(json_string_value(json_object_get(json, "html")),
                        watched_text(file));
    json_decref(json);
    http_reply_fini(&reply);
    close(fd);
}

/* ---- files, and what promtool says ---- */

static bool has_promtool(void)
{
    if (access("/usr/bin/promtool", X_OK) == 0)
        return true;
    print_message("SKIPPED: no promtool here (scripts/setup live)\n");
    return false;
}

static void check_by_promtool(const char *page)
{
    char *path = tmpdir_write("checked.prom", page, strlen(page));

    tool_run(TOOL("sh", "-c",
                  keepf("promtool check metrics <%s || { cat %s; exit 1; }",
                        path, path)),
             tmpdir_path("promtool.log"));
}

#define ODD                                                                    \
    "quote \" back \\ slash\nline \xc3\xa4\xe2\x82\xac \xff\xfe {x=\"1\"} 7"

/* Before the first request, during the run, at its end, with labels that need
 * escapes; and the file for a collector of text files. */
TEST(metrics_are_correct_at_every_moment)
{
    char *file = tmpdir_path("tailgate.prom");
    struct proc p = proc_start(
        ARGS("run", stub_url, "--rate", "100", "-d", "1s", "--start-at", "+2s",
             "--name", ODD, "--slo", "e2e p90 < 123ms", "-o",
             tmpdir_path("odd"), "--listen", "127.0.0.1:0", "--metrics-file",
             file, "--listen-linger", "60s"));
    char *url = watched_url(&p);
    bool has_tool = has_promtool();
    char *pages[3];

    pages[0] = watched_get(url, "/metrics", NULL, 200);
    assert_true(sum_of(pages[0], "tailgate_requests_scheduled_total", "") == 0);
    pages[1] = metrics_from(url, "window");
    pages[2] = metrics_from(url, "over");
    assert_non_null(strstr(pages[2], "le=\"0.123\""));
    assert_non_null(
        strstr(pages[2], "name=\"quote \\\" back \\\\ slash\\nline "));
    for (size_t i = 0; has_tool && i < COUNT(pages); i++)
        check_by_promtool(pages[i]);
    kill(p.pid, SIGTERM);
    proc_wait(&p);
    pages[0] = watched_text(file); /* what the last second left */
    check_identity(pages[0]);
    assert_non_null(strstr(pages[0], "phase=\"over\"} 1\n"));
    if (has_tool)
        check_by_promtool(pages[0]);
}

/* Each recording of a study adds to the counters; the page says which it is. */
TEST(a_study_is_watched_as_a_whole)
{
    char *dir = tmpdir_path("sweep");
    struct proc p = proc_start(
        ARGS("sweep", stub_url, "--rates", "50,100", "-d", "1s", "--warmup",
             "0s", "--settle", "0s", "--slo", "e2e p90 < 500ms", "-o", dir,
             "--listen", "127.0.0.1:0", "--listen-linger", "60s"));
    char *url = watched_url(&p);
    char *page = metrics_from(url, "between");
    double first = sum_of(page, "tailgate_requests_issued_total", "");
    struct proc_result r;
    char *file = tmpdir_path("report.html");
    json_t *json;

    assert_true(first > 0);
    page = metrics_from(url, "over");
    assert_true(sum_of(page, "tailgate_requests_issued_total", "") > first);
    json = json_loads(watched_get(url, "/summary.json", NULL, 200), 0, NULL);
    assert_true(sum_of(page, "tailgate_recordings_total", "") ==
                number_at(json, "recorded"));
    json_decref(json);
    assert_true(sum_of(page, "tailgate_study_value", "") > 0);
    page = watched_get(url, "/report.html", NULL, 200);
    kill(p.pid, SIGTERM);
    proc_wait(&p);
    r = proc_run(ARGS("report", dir, "--html", file));
    assert_true(r.status != 2 && r.status != 3);
    /* The command that repeats it names the file. */
    assert_string_equal(
        keep(str_replace(page, "--html report.html", "--html X")),
        keep(str_replace(watched_text(file), keepf("--html %s", file),
                         "--html X")));
}

/* As many as its report knows. */
static double recorded_of(const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");

    return probes ? (double)json_array_size(probes)
                  : number_at(json, "trials.recorded");
}

/* Which recording of the study is being made, as soon as one is. */
static const char *point_of(const char *url)
{
    const char *point = NULL;

    for (int i = 0; i < 600 && !point; i++) {
        json_t *json =
            json_loads(watched_get(url, "/summary.json", NULL, 200), 0, NULL);
        const char *text = json_string_value(json_object_get(json, "point"));

        point = text ? keepf("%s", text) : NULL;
        json_decref(json);
        if (!point)
            clk_sleep_ns(20 * NS_PER_MS);
    }
    assert_non_null(point);
    return point;
}

/* Trials and searches are watched like sweeps, and end with their report. */
TEST(trials_and_searches_are_watched)
{
    const char *const says[] = {" of 2, seed ", "probe-"};
    const char *const *const cases[] = {
        ARGS("run", stub_url, "--rate", "50", "-d", "500ms", "--warmup", "0s",
             "--trials", "2", "--max-discarded", "0", "--settle", "0s", "--slo",
             "e2e p90 < 500ms", "-o", tmpdir_path("t"), "--listen",
             "127.0.0.1:0", "--listen-linger", "60s"),
        ARGS("search", stub_url, "--start", "60", "--probe", "200ms",
             "--no-confirm", "--budget", "5s", "--warmup", "0s", "--settle",
             "0s", "--slo", "e2e p50 < 500ms", "-o", tmpdir_path("s"),
             "--listen", "127.0.0.1:0", "--listen-linger", "60s"),
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc p = proc_start(cases[i]);
        char *url = watched_url(&p);
        const char *point = point_of(url);
        char *page = metrics_from(url, "over");
        json_t *json =
            json_loads(watched_get(url, "/summary.json", NULL, 200), 0, NULL);

        assert_non_null(strstr(point, says[i]));
        assert_true(sum_of(page, "tailgate_recordings_total", "") ==
                    recorded_of(json));
        assert_true(recorded_of(json) > 0);
        json_decref(json);
        page = watched_get(url, "/", NULL, 200);
        assert_non_null(strstr(page, "id=\"charts\""));
        kill(p.pid, SIGTERM); /* it only lingers */
        proc_wait(&p);
    }
}

GROUP_FIXTURE(begin, end)
