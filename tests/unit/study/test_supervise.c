/* A user's server: it ends with us, and with it all that it has started. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "study/child.h"
#include "study/supervise.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define LONGEST_NS (20 * NS_PER_S) /* on a machine that is busy */
#define NAP_NS     (2 * NS_PER_MS)
#define MAX_PIDS   8
#define MAX_TEXT   4096

/* Everything that these commands start notes its pid in `pids`. */
struct rig {
    char *pids;
    char *log;
};

static struct rig rig_make(const char *name)
{
    return (struct rig){xasprintf("%s/%s.pids", tmpdir_root(), name),
                        xasprintf("%s/%s.log", tmpdir_root(), name)};
}

static void rig_fini(struct rig *r)
{
    free(r->pids);
    free(r->log);
}

static char *text_of(const char *path)
{
    char *text = xcalloc(MAX_TEXT, 1);
    FILE *file = fopen(path, "r");

    if (file) {
        size_t n = fread(text, 1, MAX_TEXT - 1, file);

        text[n] = '\0';
        fclose(file);
    }
    return text;
}

/* Wait until `n` have noted themselves. */
static void wait_for_pids(const struct rig *r, pid_t *pids, size_t n)
{
    int64_t until_ns = clk_now(&clk_monotonic) + LONGEST_NS;
    size_t found = 0;

    while (found < n) {
        char *text = text_of(r->pids);
        char *rest = text;

        assert_true(clk_now(&clk_monotonic) < until_ns);
        for (found = 0; found < n && strchr(rest, '\n'); found++)
            pids[found] = (pid_t)strtol(rest, &rest, 10), rest++;
        free(text);
        clk_sleep_ns(NAP_NS);
    }
}

/* Those that have no parent left are ours to wait for. */
static void expect_gone(const pid_t *pids, size_t n)
{
    int64_t until_ns = clk_now(&clk_monotonic) + LONGEST_NS;

    for (size_t i = 0; i < n; i++) {
        while (kill(pids[i], 0) == 0) {
            assert_true(clk_now(&clk_monotonic) < until_ns);
            waitpid(pids[i], NULL, WNOHANG);
            clk_sleep_ns(NAP_NS);
        }
        assert_int_equal(errno, ESRCH);
    }
}

static void start_as(struct supervised *s, const struct rig *r,
                     const char *start, struct supervise_how how)
{
    char *command = keepf("pids=%s\n%s", r->pids, start);
    struct err err = {0};

    how.start = command;
    how.log = r->log;
    how.port = 4711;
    assert_int_equal(supervise_start(s, &how, &err), 0);
}

static void start(struct supervised *s, const struct rig *r, const char *start,
                  const char *stop, int64_t grace_ns)
{
    start_as(s, r, start,
             (struct supervise_how){.stop = stop, .grace_ns = grace_ns});
}

static void wait_for_end(struct supervised *s)
{
    int64_t until_ns = clk_now(&clk_monotonic) + LONGEST_NS;

    while (!supervise_has_ended(s)) {
        assert_true(clk_now(&clk_monotonic) < until_ns);
        clk_sleep_ns(NAP_NS);
    }
}

/* ---- trees of processes, and how they end ---- */

/* Two that stay in its group, one that leaves it, and one whose parent is gone
 * by then. */
#define TREE                                                                   \
    "echo $$ >>$pids; "                                                        \
    "sh -c 'echo $$ >>'$pids'; sleep 1000; :' & "                              \
    "setsid sh -c 'echo $$ >>'$pids'; sleep 1000; :' & "                       \
    "(setsid sh -c 'echo $$ >>'$pids'; exec sleep 1000' &) ; "
#define TREE_SIZE 4

static const struct {
    const char *name;
    const char *start;
    size_t n;
    int64_t grace_ns;
} trees[] = {
    {"one", "echo $$ >>$pids; exec sleep 1000", 1, 10 * NS_PER_S},
    {"tree", TREE "wait", TREE_SIZE, 10 * NS_PER_S},
    {"deaf", "trap '' TERM; echo $$ >>$pids; while :; do sleep 1000; done", 1,
     50 * NS_PER_MS},
    {"deaf-tree", "trap '' TERM; " TREE "while :; do sleep 1000; done",
     TREE_SIZE, 50 * NS_PER_MS},
    {"left-behind", TREE "exit 0", TREE_SIZE, 10 * NS_PER_S},
};

TEST(test_stop_ends_all)
{
    for (size_t i = 0; i < COUNT(trees); i++) {
        struct rig r = rig_make(trees[i].name);
        struct supervised s;
        pid_t pids[MAX_PIDS];

        print_message("%s\n", trees[i].name);
        start(&s, &r, trees[i].start, NULL, trees[i].grace_ns);
        wait_for_pids(&r, pids, trees[i].n);
        supervise_stop(&s);
        for (size_t k = 0; k < trees[i].n; k++)
            assert_int_equal(kill(pids[k], 0), -1); /* at once */
        assert_int_equal(s.keeper, 0);
        rig_fini(&r);
    }
}

/* Nothing asks any more: the process that held the pipe is gone. */
TEST(test_killed_with_us)
{
    struct rig r = rig_make("killed");
    pid_t pids[MAX_PIDS];
    pid_t us = fork();

    if (us == 0) {
        struct supervised s;

        start(&s, &r, TREE "wait", NULL, 10 * NS_PER_S);
        wait_for_pids(&r, pids, TREE_SIZE);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(us, NULL, 0), us);
    wait_for_pids(&r, pids, TREE_SIZE);
    expect_gone(pids, TREE_SIZE);
    rig_fini(&r);
}

/* Two at a time: none holds the pipe of the other. */
TEST(test_two_are_apart)
{
    struct rig a = rig_make("a");
    struct rig b = rig_make("b");
    struct supervised first;
    struct supervised second;
    pid_t pids[2];

    start(&first, &a, trees[0].start, NULL, NS_PER_S);
    start(&second, &b, trees[0].start, NULL, NS_PER_S);
    wait_for_pids(&a, &pids[0], 1);
    wait_for_pids(&b, &pids[1], 1);
    supervise_stop(&first);
    expect_gone(&pids[0], 1);
    assert_int_equal(kill(pids[1], 0), 0);
    assert_false(supervise_has_ended(&second));
    supervise_stop(&second);
    expect_gone(&pids[1], 1);
    rig_fini(&a);
    rig_fini(&b);
}

/* The kernel ends the command, and we the rest of its group. */
TEST(test_killed_keeper)
{
    struct rig r = rig_make("keeper");
    struct supervised s;
    pid_t pids[MAX_PIDS];
    char text[64];

    start(&s, &r, "echo $$ >>$pids; sleep 1000 & echo $! >>$pids; wait", NULL,
          NS_PER_S);
    wait_for_pids(&r, pids, 2);
    assert_int_equal(kill(s.keeper, SIGKILL), 0);
    wait_for_end(&s);
    assert_string_equal(supervise_describe_end(&s, text, sizeof(text)),
                        "its supervisor was killed");
    supervise_stop(&s);
    expect_gone(pids, 2);
    rig_fini(&r);
}

/* ---- a command that is waited for ---- */

#define FOREVER_NS (INT64_C(1000) * NS_PER_S)

static const struct {
    const char *name;
    const char *start;
} deaf[] = {
    {"deaf-command", "trap '' TERM; " TREE "while :; do sleep 1000; done"},
    {"deaf-child", TREE "trap '' TERM; sleep 1000; :"},
};

/* What it leaves running when it ends by itself is the user's. */
TEST(test_leaves_rest)
{
    struct rig r = rig_make("rest");
    struct supervised s;
    char text[64];
    pid_t pid;

    start_as(&s, &r,
             "sh -c 'trap \"\" TERM; echo $$ >>'$pids'; exec sleep 1000' & "
             "while ! test -s $pids; do sleep 0.01; done; exit 3",
             (struct supervise_how){.leaves_rest = true});
    wait_for_end(&s);
    assert_string_equal(supervise_describe_end(&s, text, sizeof(text)),
                        "exit code 3");
    supervise_stop(&s);
    wait_for_pids(&r, &pid, 1);
    assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    expect_gone(&pid, 1);
    rig_fini(&r);
}

TEST(test_cut_command)
{
    for (size_t i = 0; i < COUNT(deaf); i++) {
        struct rig r = rig_make(deaf[i].name);
        struct supervised s;
        pid_t pids[MAX_PIDS];

        start_as(&s, &r, deaf[i].start,
                 (struct supervise_how){.leaves_rest = true,
                                        .grace_ns = 50 * NS_PER_MS});
        wait_for_pids(&r, pids, TREE_SIZE);
        supervise_stop(&s);
        expect_gone(pids, TREE_SIZE);
        rig_fini(&r);
    }
}

/* As by a second Ctrl-C: whether or not we have begun to end the command, it
 * gets no more time once we are gone. */
TEST(test_killed_during_command)
{
    for (int stops = 0; stops < 2; stops++) {
        struct rig r = rig_make(stops ? "late-command" : "lost-command");
        pid_t pids[MAX_PIDS];
        pid_t us = fork();

        if (us == 0) {
            struct supervised s;

            prctl(PR_SET_PDEATHSIG, SIGKILL);
            start_as(&s, &r, deaf[0].start,
                     (struct supervise_how){.leaves_rest = true,
                                            .grace_ns = FOREVER_NS});
            wait_for_pids(&r, pids, TREE_SIZE);
            if (stops)
                supervise_stop(&s);
            for (;;)
                pause();
        }
        wait_for_pids(&r, pids, TREE_SIZE);
        assert_int_equal(kill(us, SIGINT), 0);
        assert_int_equal(waitpid(us, NULL, 0), us);
        expect_gone(pids, TREE_SIZE);
        rig_fini(&r);
    }
}

/* ---- a stub that does not end ---- */

TEST(test_deaf_stub)
{
    struct child child = {.grace_ns = 50 * NS_PER_MS};
    struct err err = {0};
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    child.pid = fork();
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTERM, SIG_IGN);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    assert_int_equal(child_stop(&child, &err), -1);
    assert_string_equal(err.msg, "the stub did not end and was killed");
    assert_int_equal(child.pid, 0);
}

/* ---- kernels and sandboxes that lack something ---- */

/* From here on this system call fails so, in this process and its children. */
static void forbid(int number, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT(code), .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(2);
}

TEST(test_without)
{
    static const struct {
        int number;
        int error;
        const char *says;
    } rows[] = {
        {SYS_close_range, ENOSYS, "exit code 3"}, /* Linux before 5.9 */
        {SYS_close_range, EPERM, "exit code 3"},
        {SYS_signalfd4, ENOSYS,
         "its supervisor cannot start it: Function not implemented"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r = rig_make("without");
        pid_t us = fork();
        int status;

        if (us == 0) {
            struct supervised s;
            char text[64];

            forbid(rows[i].number, rows[i].error);
            start(&s, &r, "exit 3", NULL, NS_PER_S);
            wait_for_end(&s);
            supervise_describe_end(&s, text, sizeof(text));
            supervise_stop(&s);
            _exit(strcmp(text, rows[i].says) == 0 ? 0 : 1);
        }
        assert_int_equal(waitpid(us, &status, 0), us);
        assert_int_equal(status, 0);
        rig_fini(&r);
    }
}

/* ---- what is known of it ---- */

TEST(test_own_end)
{
    static const struct {
        const char *start;
        const char *says;
    } rows[] = {
        {"exit 3", "exit code 3"},
        {"exit 0", "exit code 0"},
        {"kill -9 $$", "signal 9"},
        {"/no/such/program", "exit code 127"},
    };
    char text[64];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r = rig_make("own");
        struct supervised s;

        start(&s, &r, rows[i].start, NULL, NS_PER_S);
        wait_for_end(&s);
        assert_string_equal(supervise_describe_end(&s, text, sizeof(text)),
                            rows[i].says);
        supervise_stop(&s);
        rig_fini(&r);
    }
}

/* Output and port; and of what we have open, nothing. */
TEST(test_surroundings)
{
    struct rig r = rig_make("around");
    struct supervised s;
    char *log;
    int fd = dup(STDERR_FILENO); /* would be inherited */

    start(
        &s, &r,
        "echo out; echo err >&2; echo port $TAILGATE_PORT; "
        "for i in 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$i && echo fd $i; done",
        NULL, NS_PER_S);
    wait_for_end(&s);
    supervise_stop(&s);
    log = text_of(r.log);
    assert_string_equal(log, "out\nerr\nport 4711\n");
    free(log);
    close(fd);
    rig_fini(&r);
}

/* It ends by itself, as it was asked to: no signal is needed. */
TEST(test_stop_command)
{
    struct rig r = rig_make("stop");
    struct supervised s;
    pid_t pid;
    char *log;
    char *stop = keepf("echo stop at $TAILGATE_PORT; touch %s.end", r.pids);

    start(&s, &r,
          "trap 'echo signal; exit' TERM; echo $$ >>$pids; "
          "while ! test -e $pids.end; do sleep 0.01; done; echo bye",
          stop, 10 * NS_PER_S);
    wait_for_pids(&r, &pid, 1);
    supervise_stop(&s);
    log = text_of(r.log);
    assert_string_equal(log, "stop at 4711\nbye\n");
    free(log);
    rig_fini(&r);
}

/* A stop command that hangs does not keep us. */
TEST(test_stop_hangs)
{
    struct rig r = rig_make("hangs");
    struct supervised s;
    pid_t pids[2];
    char *stop = keepf("echo $$ >>%s; sleep 1000", r.pids);

    start(&s, &r, trees[0].start, stop, 100 * NS_PER_MS);
    wait_for_pids(&r, pids, 1);
    supervise_stop(&s);
    wait_for_pids(&r, pids, 2);
    expect_gone(pids, 2);
    rig_fini(&r);
}

TEST(test_cannot_start)
{
    const struct supervise_how how = {.start = "true", .log = "/no/such/log"};
    struct supervised s;
    struct err err = {0};

    assert_int_equal(supervise_start(&s, &how, &err), -1);
    assert_string_equal(err.msg, "/no/such/log: No such file or directory");
    assert_false(supervise_has_ended(&s));
    supervise_stop(&s);
}

static int prepare(void **state)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return tmpdir_setup(state);
}

GROUP_FIXTURE(prepare, tmpdir_teardown)
