#include "study/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "study/supervise.h"

#define MAX_SETTINGS ((size_t)1 << 20)
#define MAX_LINE     4096
#define POLL_NS      (10 * NS_PER_MS)
#define NAP_NS       (2 * NS_PER_MS)

/* From SIGTERM to SIGKILL.  The stub writes its truth out; a user who
 * interrupts us while a command runs waits no longer than this. */
#define GRACE_NS         (10 * NS_PER_S)
#define COMMAND_GRACE_NS (2 * NS_PER_S)

/* Above the standard ones, which may be closed here and are set there. */
#define FIRST_FREE_FD 3

static const char announces[] = "listening on ";

/* The stub's settings in a file without a name; -1 on failure. */
static int write_settings(const struct settings *s, struct err *err)
{
    int low = memfd_create("stub settings", 0);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD, FIRST_FREE_FD);
    struct buf text;
    int rc;

    buf_init(&text, MAX_SETTINGS);
    settings_print_block(s, BLOCK_STUB, &text);
    if (low >= 0)
        close(low);
    rc = fd < 0 ? -1 : file_write_all(fd, buf_text(&text), text.len);
    if (rc)
        err_set(err, ERR_IO, "settings of the stub: %s", strerror(errno));
    buf_fini(&text);
    if (rc && fd >= 0)
        close(fd);
    return rc ? -1 : fd;
}

static bool is_grpc(const char *url)
{
    return strncmp(url, "grpc", strlen("grpc")) == 0;
}

static bool aims_at_grpc(const struct settings *s)
{
    for (size_t i = 0; i < s->target.urls.len; i++) {
        if (is_grpc(s->target.urls.items[i]))
            return true;
    }
    return false;
}

/* Does the run, a class or the warm-up use gRPC? */
static bool needs_grpc(const struct settings *s)
{
    bool needs = aims_at_grpc(s) || strcmp(s->stub.grpc_port, "none") != 0;

    for (size_t i = 0; i < s->classes.len; i++)
        needs |= aims_at_grpc(s->classes.items[i].settings);
    for (size_t i = 0; i < s->warmup.len; i++)
        needs |= aims_at_grpc(s->warmup.items[i].settings);
    return needs;
}

struct stub_start {
    pid_t parent;
    int out_fd;
    int settings_fd;
    bool has_grpc;
    const char *truth_path; /* NULL: none */
};

static _Noreturn void become_stub(const struct stub_start *start)
{
    char path[32];
    const char *argv[10] = {"tailgate", "stub", path, "--port", "0"};
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    size_t n = 5;

    /* Told of our end, also before it can listen for that; too late if that
     * has come already. */
    stop_restore_signals();
    sigaction(SIGTERM, &ends, NULL); /* also if we had it ignored */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != start->parent)
        _exit(127);
    setpgid(0, 0);
    if (dup2(start->out_fd, STDOUT_FILENO) < 0)
        _exit(127);
    lseek(start->settings_fd, 0, SEEK_SET);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", start->settings_fd);
    if (start->has_grpc) {
        argv[n++] = "--grpc-port";
        argv[n++] = "0";
    }
    if (start->truth_path) {
        argv[n++] = "--truth";
        argv[n++] = start->truth_path;
    }
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

/* The URL in the next line of its output; NULL: none. */
static char *read_url(int fd)
{
    char line[MAX_LINE];
    size_t len = 0;

    while (len < MAX_LINE - 1) {
        ssize_t n = read(fd, line + len, 1);

        if (n < 0 && errno == EINTR && !atomic_load(&stop_signal))
            continue;
        if (n <= 0)
            return NULL;
        if (line[len] == '\n')
            break;
        len++;
    }
    line[len] = '\0';
    if (strncmp(line, announces, strlen(announces)) != 0)
        return NULL;
    return xstrdup(line + strlen(announces));
}

const char *child_url_for(const struct child *child, const char *target)
{
    return is_grpc(target) ? child->grpc_url : child->url;
}

int child_start_stub(struct child *child, const struct settings *settings,
                     const char *truth_path, struct err *err)
{
    struct stub_start start = {.parent = getpid(),
                               .settings_fd = write_settings(settings, err),
                               .has_grpc = needs_grpc(settings),
                               .truth_path = truth_path};
    int out[2];
    int rc = 0;

    *child = (struct child){0};
    if (start.settings_fd < 0)
        return -1;
    if (pipe2(out, O_CLOEXEC) < 0) {
        close(start.settings_fd);
        return err_set(err, ERR_IO, "cannot make a pipe to the stub: %s",
                       strerror(errno));
    }
    start.out_fd = out[1];
    child->pid = fork();
    if (child->pid == 0)
        become_stub(&start);
    close(start.settings_fd);
    close(out[1]);
    if (child->pid < 0) {
        child->pid = 0;
        rc = err_set(err, ERR_IO, "cannot start a process for the stub: %s",
                     strerror(errno));
    } else {
        child->url = read_url(out[0]);
        if (child->url && start.has_grpc)
            child->grpc_url = read_url(out[0]);
        if (!child->url || (start.has_grpc && !child->grpc_url)) {
            child_stop(child, &(struct err){0});
            rc = err_set(err, ERR_IO, "the stub did not start");
        }
    }
    close(out[0]);
    return rc;
}

/* SIGTERM, and SIGKILL when the grace is over; false if it came to that. */
static bool end_stub(const struct child *child, int *status)
{
    int64_t grace_ns = child->grace_ns > 0 ? child->grace_ns : GRACE_NS;
    int64_t until_ns = clk_now(&clk_monotonic) + grace_ns;

    kill(child->pid, SIGTERM);
    while (waitpid(child->pid, status, WNOHANG) == 0) {
        if (clk_now(&clk_monotonic) > until_ns) {
            kill(child->pid, SIGKILL);
            while (waitpid(child->pid, status, 0) < 0 && errno == EINTR)
                continue;
            return false;
        }
        clk_sleep_ns(NAP_NS);
    }
    return true;
}

int child_stop(struct child *child, struct err *err)
{
    int status = 0;
    int rc = 0;

    if (child->pid > 0) {
        if (!end_stub(child, &status))
            rc = err_set(err, ERR_IO, "the stub did not end and was killed");
        else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            rc = err_set(err, ERR_IO, "the stub of the run failed");
    }
    free(child->url);
    free(child->grpc_url);
    *child = (struct child){0};
    return rc;
}

/* ---- a program behind pipes, and the end of our input ---- */

static _Noreturn void become_program(const char *const *argv, int in, int out,
                                     pid_t parent)
{
    stop_restore_signals();
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent ||
        dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(127);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

int child_start_piped(struct child_piped *child, const char *const *argv,
                      struct err *err)
{
    pid_t parent = getpid();
    int to[2] = {-1, -1};
    int from[2] = {-1, -1};
    int rc = 0;

    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
        rc = err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    } else {
        *child = (struct child_piped){fork(), to[1], from[0]};
        if (child->pid == 0)
            become_program(argv, to[0], from[1], parent);
        if (child->pid < 0)
            rc = err_set(err, ERR_IO, "cannot start a process: %s",
                         strerror(errno));
    }
    close(to[0]);
    close(from[1]);
    if (rc) {
        close(to[1]);
        close(from[0]);
    }
    return rc;
}

void child_end_piped(struct child_piped *child, bool is_told)
{
    close(child->in_fd);
    close(child->out_fd);
    if (is_told)
        kill(child->pid, SIGTERM);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int child_follow_input(struct err *err)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    pid_t parent = getpid();
    pid_t pid = fork();
    char ignored[256];
    ssize_t n;

    if (pid < 0)
        return err_set(err, ERR_IO, "cannot start a process: %s",
                       strerror(errno));
    if (pid > 0)
        return 0;
    sigaction(SIGTERM, &ignore, NULL); /* those of the group are not for us */
    sigaction(SIGINT, &ignore, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(0);
    close(STDOUT_FILENO); /* a reader of ours waits for its end */
    close(STDERR_FILENO);
    do {
        n = read(STDIN_FILENO, ignored, sizeof(ignored));
    } while (n > 0 || (n < 0 && errno == EINTR));
    kill(parent, SIGTERM);
    _exit(0);
}

/* ---- a user's command ---- */

int child_run_command(const char *command, const char *key, int64_t max_ns,
                      struct err *err)
{
    const struct supervise_how how = {
        .start = command, .grace_ns = COMMAND_GRACE_NS, .leaves_rest = true};
    int64_t until_ns = clk_now(&clk_monotonic) + max_ns;
    struct err why = {0};
    struct supervised s;
    char end[64];
    int rc = 0;

    if (supervise_start(&s, &how, &why))
        return err_set(err, ERR_IO, "%s: %.200s", key, why.msg);
    while (rc == 0 && !supervise_has_ended(&s)) {
        if (atomic_load(&stop_signal))
            rc = err_set(err, ERR_STOPPED, "%s: interrupted", key);
        else if (clk_now(&clk_monotonic) > until_ns)
            rc = err_set(err, ERR_IO, "%s: did not end in time", key);
        else
            clk_sleep_ns(POLL_NS);
    }
    if (rc == 0 && (s.is_orphan || s.failed || s.status != 0))
        rc = err_set(err, ERR_IO, "%s: %s", key,
                     supervise_describe_end(&s, end, sizeof(end)));
    supervise_stop(&s);
    return rc;
}
