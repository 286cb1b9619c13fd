#include "tests/support/proc.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"

#define MAX_OUTPUT ((size_t)4 << 20)

static void exec_child(const char *const *argv, const int *out, const int *err,
                       void (*prepare)(void))
{
    const char *path = getenv("TAILGATE");

    setenv("XDG_STATE_HOME", PROC_NO_STATE, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing */
    signal(SIGINT, SIG_DFL); /* the suite itself may run in the background */
    signal(SIGHUP, SIG_DFL);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (prepare)
        prepare();
    execv(path ? path : "tailgate", (char *const *)argv);
    _exit(127);
}

struct proc proc_start(const char *const *argv)
{
    return proc_start_with(argv, NULL);
}

struct proc proc_start_with(const char *const *argv, void (*prepare)(void))
{
    struct proc p;
    int out[2];
    int err[2];

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0)
        exec_child(argv, out, err, prepare);
    close(out[1]);
    close(err[1]);
    p.out_fd = out[0];
    p.err_fd = err[0];
    return p;
}

/* Append what is there; false at the end. */
static bool drain(int fd, struct buf *out)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof(bytes));

    if (n <= 0)
        return false;
    assert_int_equal(buf_add(out, bytes, (size_t)n), 0);
    return true;
}

static void read_both(const struct proc *p, struct buf *out, struct buf *err)
{
    struct pollfd fds[2] = {{.fd = p->out_fd, .events = POLLIN},
                            {.fd = p->err_fd, .events = POLLIN}};
    struct buf *into[2] = {out, err};

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        assert_true(poll(fds, 2, -1) > 0);
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents && !drain(fds[i].fd, into[i]))
                fds[i].fd = -1;
        }
    }
}

struct proc_result proc_wait(struct proc *p)
{
    struct proc_result r = {0};
    struct rusage usage;
    struct buf out;
    struct buf err;
    int status;

    buf_init(&out, MAX_OUTPUT);
    buf_init(&err, MAX_OUTPUT);
    read_both(p, &out, &err);
    assert_int_equal(wait4(p->pid, &status, 0, &usage), p->pid);
    close(p->out_fd);
    close(p->err_fd);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = keepf("%s", buf_text(&out));
    r.err = keepf("%s", buf_text(&err));
    r.max_rss_kb = usage.ru_maxrss;
    r.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    buf_fini(&out);
    buf_fini(&err);
    return r;
}

struct proc_result proc_run(const char *const *argv)
{
    struct proc p = proc_start(argv);

    return proc_wait(&p);
}

static char *read_line(int fd)
{
    struct buf line;
    char *text;
    char c;

    buf_init(&line, 4096);
    while (read(fd, &c, 1) == 1 && c != '\n')
        assert_int_equal(buf_add(&line, &c, 1), 0);
    text = keepf("%s", buf_text(&line));
    buf_fini(&line);
    return text;
}

char *proc_read_line(struct proc *p)
{
    return read_line(p->out_fd);
}

char *proc_read_error(struct proc *p)
{
    return read_line(p->err_fd);
}

struct proc stub_start(const char *const *argv, char **url)
{
    static const char prefix[] = "listening on ";
    struct proc p = proc_start(argv);
    char *line = proc_read_line(&p);

    assert_memory_equal(line, prefix, strlen(prefix));
    *url = keepf("%s", line + strlen(prefix));
    return p;
}

void stub_stop(struct proc *p)
{
    struct proc_result r;

    assert_int_equal(kill(p->pid, SIGTERM), 0);
    r = proc_wait(p);
    if (r.status != 0)
        print_error("stub said: %s\n", r.err);
    assert_int_equal(r.status, 0);
}

/* 0 if there is none. */
static off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_size : 0;
}

/* Of a table that holds nothing but its schema. */
static off_t bare_size(const char *dir, const struct tgr_schema *schema)
{
    char *path = keepf("%s.bare", dir);
    struct tgr_writer *w;
    struct err err = {0};
    off_t size;

    assert_int_equal(tgr_create(&w, path, schema, &err), 0);
    assert_int_equal(tgr_finish(w, &err), 0);
    size = size_of(path);
    unlink(path);
    return size;
}

void wait_for_table(const char *dir, const char *name,
                    const struct tgr_schema *schema)
{
    char *path = keepf("%s/%s", dir, name);
    off_t bare = bare_size(dir, schema);
    int tries = 0;

    while (size_of(path) <= bare && tries++ < 2000)
        clk_sleep_ns(10 * NS_PER_MS);
    assert_true(size_of(path) > bare);
}

void wait_for_rows(const char *dir)
{
    wait_for_table(dir, "requests.tgr", &schema_requests);
}

static bool catches(const struct proc *p, int signal_number)
{
    char *path = keepf("/proc/%d/status", (int)p->pid);
    const char *at;
    uint64_t caught = 0;
    struct err err = {0};
    struct buf text;

    buf_init(&text, 65536);
    assert_int_equal(file_read(path, &text, &err), 0);
    at = strstr(buf_text(&text), "\nSigCgt:");
    if (at)
        caught = strtoull(at + strlen("\nSigCgt:"), NULL, 16);
    buf_fini(&text);
    return caught >> (signal_number - 1) & 1;
}

void wait_for_handler(const struct proc *p, int signal_number)
{
    int tries = 0;

    while (!catches(p, signal_number) && tries++ < 2000)
        clk_sleep_ns(10 * NS_PER_MS);
    assert_true(catches(p, signal_number));
}

void wait_for_no_handler(const struct proc *p, int signal_number)
{
    int tries = 0;

    while (catches(p, signal_number) && tries++ < 10000)
        clk_sleep_ns(2 * NS_PER_MS);
    assert_false(catches(p, signal_number));
}

int refusing_port(void)
{
    struct sockaddr_in address = {0};

    loopback_bind(&address);
    return ntohs(address.sin_port);
}

double number_at(const struct json_t *json, const char *path)
{
    char *copy = xstrdup(path);
    char *rest = copy;
    char *key;

    while ((key = strsep(&rest, ".")) && json)
        json = json_object_get(json, key);
    if (!json_is_number(json))
        print_error("no number at %s\n", path);
    assert_true(json_is_number(json));
    free(copy);
    return json_number_value(json);
}

static void check_identity(const json_t *summary)
{
    const json_t *kinds =
        json_object_get(json_object_get(summary, "requests"), "by_outcome");
    double failed = 0;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)kinds, key, value)
    {
        (void)key;
        failed += json_number_value(value);
    }
    assert_true(number_at(summary, "requests.scheduled") ==
                number_at(summary, "requests.issued") +
                    number_at(summary, "requests.unsent"));
    assert_true(number_at(summary, "requests.issued") ==
                number_at(summary, "requests.ok") + failed);
    assert_true(failed == number_at(summary, "requests.failed"));
}

static json_t *load(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    struct err err = {0};
    json_t *json = NULL;

    if (json_read_file(path, &json, &err))
        print_error("%s\n", err.msg);
    assert_int_equal(err.code, ERR_NONE);
    return keep(json);
}

struct json_t *load_manifest(const char *dir)
{
    return load(dir, "manifest.json");
}

struct json_t *load_summary(const char *dir)
{
    json_t *json = load(dir, "summary.json");

    check_identity(json);
    return json;
}

void proc_expect(const struct proc_result *r, int status)
{
    if (r->status != status)
        print_error("exit %d, not %d: %s%s", r->status, status, r->out, r->err);
    assert_int_equal(r->status, status);
}

/* Checks that a machine on which others run may fail. */
static bool is_of_the_machine(const char *check)
{
    static const char *const names[] = {
        "lag p50",  "lag p99", "buffer wait", "pace",      "rate",     "busy",
        "cpu wait", "steal",   "throttled",   "suspended", "pressure",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(check, names[i]) == 0)
            return true;
    }
    return false;
}

static bool has_failed(const json_t *checks, const char *name)
{
    const json_t *check;
    size_t i;

    json_array_foreach(checks, i, check)
    {
        if (strcmp(json_string_value(json_object_get(check, "name")), name) ==
            0)
            return !json_is_true(json_object_get(check, "ok"));
    }
    return false;
}

/* A client that was suspended does not send all that was due meanwhile. */
bool was_disturbed(const struct json_t *summary)
{
    const json_t *checks =
        json_object_get(json_object_get(summary, "trust"), "checks");
    bool was_suspended = has_failed(checks, "suspended");
    const json_t *check;
    size_t failed = 0;
    size_t i;

    json_array_foreach(checks, i, check)
    {
        const char *name = json_string_value(json_object_get(check, "name"));

        if (json_is_true(json_object_get(check, "ok")) ||
            !json_is_true(json_object_get(check, "fatal")))
            continue; /* a note withdraws nothing */
        if (!is_of_the_machine(name) &&
            !(was_suspended && strcmp(name, "unsent") == 0))
            return false;
        failed++;
    }
    return failed > 0;
}

void run_expect(const struct proc_result *r, const char *dir, int status)
{
    json_t *summary = load_summary(dir);
    const char *verdict =
        json_string_value(json_object_get(summary, "verdict"));
    /* A pass stands though the client was late. */
    bool is_open =
        strcmp(verdict, "invalid") == 0 || strcmp(verdict, "undecided") == 0;

    proc_expect(r, was_disturbed(summary) && is_open ? 4 : status);
}

void expect_status_as_reported(const struct proc_result *r, const char *dir)
{
    struct proc_result again = proc_run(ARGS("report", dir));

    proc_expect(r, again.status);
}

void run_as_reported(const char *const *argv)
{
    struct proc_result r = proc_run(argv);
    size_t i = 0;

    while (argv[i] && strcmp(argv[i], "-o") != 0)
        i++;
    assert_non_null(argv[i]);
    expect_status_as_reported(&r, argv[i + 1]);
}

void expect_as_reported(const struct proc_result *r, const char *dir)
{
    struct proc_result again = proc_run(ARGS("report", "-v", dir));

    proc_expect(r, again.status);
    assert_string_equal(r->out, again.out);
}
