/* Ten thousand streams at once from one stub. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/wire/http_message.h"
#include "tests/support/httpget.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"

#define STREAMS 10000
#define TOKENS  10 /* half a second each, after the first */
#define LONGEST (60 * NS_PER_S)

#define BODY "{\"prompt\":[1],\"max_tokens\":10,\"stream\":true}"

struct stream {
    int fd;
    struct http1 parser;
    struct buf body;
};

static void on_body(void *arg, const char *data, size_t len)
{
    struct stream *s = arg;

    assert_int_equal(buf_add(&s->body, data, len), 0);
}

static const struct http1_hooks hooks = {.body = on_body};

static bool can_open_enough(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < STREAMS + 64)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Every connection is open before the first request is sent. */
static struct stream *open_streams(const char *url, int epoll)
{
    struct stream *streams = xcalloc(STREAMS, sizeof(*streams));

    for (int i = 0; i < STREAMS; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &streams[i]};

        streams[i].fd = http_connect(url);
        buf_init(&streams[i].body, 65536);
        http1_init(&streams[i].parser, HTTP1_RESPONSE, &hooks, &streams[i]);
        assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, streams[i].fd, &event),
                         0);
    }
    for (int i = 0; i < STREAMS; i++)
        http_send(streams[i].fd, &(struct http_request){
                                     .path = "/v1/completions", .body = BODY});
    return streams;
}

static void close_streams(struct stream *streams)
{
    for (int i = 0; i < STREAMS; i++) {
        close(streams[i].fd);
        buf_fini(&streams[i].body);
        http1_fini(&streams[i].parser);
    }
    free(streams);
}

/* True if that was the end of it. */
static bool read_stream(struct stream *s)
{
    char bytes[16384];
    ssize_t n = recv(s->fd, bytes, sizeof(bytes), 0);

    assert_true(n > 0);
    assert_int_equal(http1_feed(&s->parser, bytes, (size_t)n), n);
    return http1_is_done(&s->parser);
}

static void read_streams(int epoll)
{
    int64_t patience_ns = clk_now(&clk_monotonic) + LONGEST;
    int left = STREAMS;

    while (left > 0) {
        struct epoll_event events[256];
        int n = epoll_wait(epoll, events, 256, 1000);

        assert_true(clk_now(&clk_monotonic) < patience_ns);
        for (int i = 0; i < n; i++)
            left -= read_stream(events[i].data.ptr);
    }
}

static void check_stream(const struct stream *s)
{
    const char *text = buf_text(&s->body);
    int tokens = 0;

    assert_int_equal(s->parser.status, 200);
    for (const char *at = text; (at = strstr(at, "\" tok\"")); at++)
        tokens++;
    assert_int_equal(tokens, TOKENS);
    assert_non_null(strstr(text, "data: [DONE]\n\n"));
}

/* Kilobytes of memory that a process has now. */
static long resident_kb(pid_t pid)
{
    char path[40];
    char line[128];
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (kb < 0 && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    }
    fclose(file);
    return kb;
}

static bool all_run(const char *url)
{
    struct http_reply reply = HTTP_ASK(url, .path = "/metrics");
    bool is_so =
        strstr(buf_text(&reply.body), "\ntailgate_stub_running 10000\n");

    http_reply_fini(&reply);
    return is_so;
}

/* The first begin at once, the others with the next step; all are there until
 * the first one's last token. */
static void wait_until_all_run(const char *url)
{
    int64_t patience_ns = clk_now(&clk_monotonic) + LONGEST;

    while (!all_run(url)) {
        assert_true(clk_now(&clk_monotonic) < patience_ns);
        clk_sleep_ns(20 * NS_PER_MS);
    }
}

TEST(ten_thousand_streams_at_once)
{
    struct proc_result result;
    struct stream *streams;
    struct proc stub;
    char *url;
    long kb;
    int epoll;

    if (!can_open_enough()) {
        print_message("the limit of open files is below %d\n", STREAMS + 64);
        skip();
    }
    stub = stub_start(ARGS("stub", "--service", "llm", "--batching",
                           "continuous", "--max-running=20000", "--prefill=0",
                           "--decode=1s", "--decode-item=0"),
                      &url);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    streams = open_streams(url, epoll);
    wait_until_all_run(url);
    kb = resident_kb(stub.pid);
    read_streams(epoll);
    for (int i = 0; i < STREAMS; i++)
        check_stream(&streams[i]);
    close_streams(streams);
    close(epoll);
    assert_int_equal(kill(stub.pid, SIGTERM), 0);
    result = proc_wait(&stub);
    proc_expect(&result, 0);
    print_message("stub: %ld kB resident with %d streams, %ld kB at most; "
                  "%.2f s of CPU for %d tokens\n",
                  kb, STREAMS, result.max_rss_kb, result.cpu_s,
                  STREAMS * TOKENS);
    assert_true(result.max_rss_kb < 128 << 10);
}
