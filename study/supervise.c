/* The process between us and a user's server, and our side of it. */
#include "study/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

enum keeper_word {
    KEEPER_STARTED, /* value: its pid */
    KEEPER_ENDED,   /* value: its status */
    KEEPER_FAILED,  /* value: errno; nothing was started */
};

/* What the keeper tells us. */
struct keeper_news {
    int kind; /* enum keeper_word */
    int value;
};

struct keeper {
    pid_t parent;
    const struct supervise_how *how;
    char *const *environment;
    int log_fd;
    int life_fd; /* when it ends, everything is to end */
    int news_fd; /* written to, never waited for */
};

/* ---- the keeper: after a fork, so it calls nothing that a fork among threads
 * does not allow ---- */

/* Fixed places, so that everything above can be closed. */
enum { LIFE_FD = 3, NEWS_FD, SIGNAL_FD, N_FDS };

/* The kernel ends what was killed; only what hangs in it may take longer. */
#define KILLED_NS (5 * NS_PER_S)

struct state {
    const struct keeper *k;
    pid_t command;  /* 0: it has ended */
    pid_t group;    /* its process group, whether or not it has */
    pid_t stopping; /* the stop command; 0: none runs */
    bool is_alone;  /* no descendant is left */
};

static void tell(int fd, int kind, int value)
{
    struct keeper_news news = {kind, value};

    (void)!write(fd, &news, sizeof(news));
}

static _Noreturn void fail(int news_fd)
{
    tell(news_fd, KEEPER_FAILED, errno);
    _exit(127);
}

/* Move all of them up first: one may be in the place of another. */
static bool place_fds(const struct keeper *k)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int wanted[] = {k->how->in_fd ? k->how->in_fd : nothing,
                    k->how->out_fd ? k->how->out_fd : k->log_fd, k->log_fd,
                    k->life_fd, k->news_fd};
    const int n = sizeof(wanted) / sizeof(wanted[0]);

    for (int i = 0; i < n; i++) {
        wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, N_FDS);
        if (wanted[i] < 0)
            return false;
    }
    for (int i = 0; i < n; i++) {
        if (dup3(wanted[i], i, i < LIFE_FD ? 0 : O_CLOEXEC) < 0)
            return false;
    }
    return true;
}

/* The keeper ends by its pipe alone.  It blocks signals and does not ignore
 * them: one that comes before a child of it has become a shell must not be
 * lost.
 */
static bool settle_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t children;
    sigset_t all;
    int fd;

    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0 || dup3(fd, SIGNAL_FD, O_CLOEXEC) < 0)
        return fd == SIGNAL_FD;
    close(fd);
    return true;
}

/* closefrom() also works where the kernel has no close_range() (before 5.9) or
 * a sandbox forbids it.  The end of our parent wakes us, as that of a child. */
static void settle(const struct keeper *k)
{
    setsid();
    if (!place_fds(k))
        fail(k->news_fd);
    if (!settle_signals())
        fail(NEWS_FD);
    closefrom(N_FDS);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGCHLD) < 0)
        fail(NEWS_FD);
}

/* ---- its children ---- */

/* Below 0 on failure.  It does not outlive a keeper that is killed. */
static pid_t start(const struct keeper *k, const char *command)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    pid_t keeper = getpid();
    pid_t pid = fork();
    sigset_t none;

    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper)
            _exit(127);
        stop_restore_signals();
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setpgid(0, 0);
        execve("/bin/sh", (char *const *)argv, k->environment);
        _exit(127);
    }
    if (pid > 0)
        setpgid(pid, pid); /* the child does the same; one is the first */
    return pid;
}

/* Its own and those that it has inherited. */
static void reap(struct state *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->command) {
            s->command = 0;
            tell(NEWS_FD, KEEPER_ENDED, status);
        }
        if (pid == s->stopping)
            s->stopping = 0;
    }
    s->is_alone = pid < 0 && errno == ECHILD;
    if (s->command == 0 && s->group > 0 && kill(-s->group, 0) < 0)
        s->group = 0; /* its number may be another's from now on */
}

/* Until a child ends, or the pipe does, or it is time; false: the pipe has
 * ended.  `watched` is LIFE_FD, or -1 once that is known. */
static bool wait_for_change(int watched, int64_t wait_ns)
{
    struct pollfd fds[] = {{.fd = SIGNAL_FD, .events = POLLIN},
                           {.fd = watched, .events = POLLIN}};
    struct signalfd_siginfo info;
    int wait_ms = wait_ns < 0 ? -1 : (int)(wait_ns / NS_PER_MS) + 1;

    (void)poll(fds, 2, wait_ms);
    while (read(SIGNAL_FD, &info, sizeof(info)) > 0)
        continue;
    return !(fds[1].revents & (POLLHUP | POLLERR | POLLIN));
}

/* ---- the end ---- */

/* A process that has left the group and whose parent is gone is a child of
 * ours.  "12 345 " is 12 and 345; a number that the end of the text cuts is
 * dropped, since the list is read again. */
static void signal_outsiders(const struct state *s, int number)
{
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
    pid_t pid = 0;

    for (ssize_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = pid * 10 + (text[i] - '0');
            continue;
        }
        if (pid > 0) {
            pid_t group = getpgid(pid);

            if (group > 0 && group != s->group && pid != s->stopping)
                kill(pid, number);
        }
        pid = 0;
    }
    if (fd >= 0)
        close(fd);
}

/* Wait until `until_ns`, or until no process is left, or with `command` until
 * that has ended.  A command whose caller is gone gets no grace. */
static void await(struct state *s, int64_t until_ns, const pid_t *command,
                  int number)
{
    int64_t left_ns;

    for (reap(s); !s->is_alone && !(command && *command == 0); reap(s)) {
        bool is_hurried = number == SIGTERM && s->k->how->leaves_rest &&
                          getppid() != s->k->parent;

        left_ns = until_ns - clk_now(&clk_monotonic);
        if (left_ns <= 0 || is_hurried)
            return;
        wait_for_change(-1, left_ns);
        if (number) /* what comes to light when its parent has ended */
            signal_outsiders(s, number);
    }
}

static void signal_all(struct state *s, int number)
{
    if (s->group > 0)
        kill(-s->group, number);
    signal_outsiders(s, number);
}

static void end_all(struct state *s)
{
    int64_t grace_ns = s->k->how->grace_ns;
    int64_t until_ns = clk_now(&clk_monotonic) + grace_ns;
    pid_t stop = s->k->how->stop ? start(s->k, s->k->how->stop) : -1;

    if (stop >= 0) {
        s->stopping = stop;
        await(s, until_ns, &s->stopping, 0);
        kill(-stop, SIGKILL);
        if (s->command > 0) /* was asked to end, and has the rest of the time */
            await(s, until_ns, &s->command, 0);
    }
    reap(s);
    if (s->is_alone)
        return;
    signal_all(s, SIGTERM);
    await(s, clk_now(&clk_monotonic) + grace_ns, NULL, SIGTERM);
    if (s->is_alone)
        return;
    signal_all(s, SIGKILL);
    await(s, clk_now(&clk_monotonic) + KILLED_NS, NULL, SIGKILL);
}

static _Noreturn void keeper_run(const struct keeper *k)
{
    struct state s = {.k = k};
    bool goes_on = true;

    settle(k);
    s.command = s.group = start(k, k->how->start);
    if (s.command < 0)
        fail(NEWS_FD);
    tell(NEWS_FD, KEEPER_STARTED, s.command);
    while (goes_on) {
        goes_on = wait_for_change(LIFE_FD, -1);
        reap(&s);
        if (k->how->leaves_rest && s.command == 0)
            _exit(0);
    }
    end_all(&s);
    _exit(0);
}

/* ---- our side ---- */

extern char **environ;

/* Is the variable of `entry` among those that replace ours? */
static bool is_replaced(const char *entry, const struct strlist *more)
{
    for (size_t i = 0; i < more->len; i++) {
        size_t name = strcspn(more->items[i], "=") + 1;

        if (strncmp(entry, more->items[i], name) == 0)
            return true;
    }
    return false;
}

/* Our environment, with what `how` adds to it.  `more` holds that. */
static char **make_environment(const struct supervise_how *how,
                               struct strlist *more)
{
    size_t n = 0;
    size_t kept = 0;
    char **out;

    if (how->port > 0) {
        char *entry = xasprintf("TAILGATE_PORT=%d", how->port);

        strlist_add(more, entry);
        free(entry);
    }
    for (size_t i = 0; how->environment && i < how->environment->len; i++)
        strlist_add(more, how->environment->items[i]);
    while (environ[n])
        n++;
    out = xcalloc(n + more->len + 1, sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        if (!is_replaced(environ[i], more))
            out[kept++] = environ[i];
    }
    for (size_t i = 0; i < more->len; i++)
        out[kept++] = more->items[i];
    return out;
}

/* No other process holds its end of each pipe. */
static int fork_keeper(struct supervised *s, struct keeper *k)
{
    int life[2];
    int news[2];

    if (pipe2(life, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(news, O_CLOEXEC | O_NONBLOCK) < 0) {
        close(life[0]);
        close(life[1]);
        return -1;
    }
    k->life_fd = life[0];
    k->news_fd = news[1];
    s->keeper = fork();
    if (s->keeper == 0)
        keeper_run(k);
    s->life_fd = life[1];
    s->news_fd = news[0];
    close(life[0]);
    close(news[1]);
    if (s->keeper > 0)
        return 0;
    s->keeper = 0;
    close(life[1]);
    close(news[0]);
    return -1;
}

int supervise_start(struct supervised *s, const struct supervise_how *how,
                    struct err *err)
{
    struct keeper k = {.parent = getpid(), .how = how};
    struct strlist more = {0};
    char **environment;
    int rc;

    *s = (struct supervised){0};
    k.log_fd = how->log ? open(how->log,
                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                        : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (k.log_fd < 0)
        return err_set(err, ERR_IO, "%s: %s",
                       how->log ? how->log : "standard error", strerror(errno));
    environment = make_environment(how, &more);
    k.environment = environment;
    rc = fork_keeper(s, &k);
    if (rc)
        err_set(err, ERR_IO, "cannot start a process: %s", strerror(errno));
    close(k.log_fd);
    free((void *)environment);
    strlist_fini(&more);
    return rc;
}

/* All that the keeper has written; a piece is short, and so never cut. */
static void listen_to_keeper(struct supervised *s)
{
    struct keeper_news news;
    ssize_t n;

    while ((n = read(s->news_fd, &news, sizeof(news))) == sizeof(news)) {
        if (news.kind == KEEPER_STARTED)
            s->pid = news.value;
        else
            s->has_ended = true;
        if (news.kind == KEEPER_ENDED)
            s->status = news.value;
        if (news.kind == KEEPER_FAILED)
            s->failed = news.value;
    }
    if (n == 0 && !s->has_ended)
        s->has_ended = s->is_orphan = true;
}

bool supervise_has_ended(struct supervised *s)
{
    if (s->keeper > 0 && !s->has_ended)
        listen_to_keeper(s);
    return s->has_ended;
}

const char *supervise_describe_end(const struct supervised *s, char *text,
                                   size_t size)
{
    if (s->is_orphan)
        snprintf(text, size, "its supervisor was killed");
    else if (s->failed)
        snprintf(text, size, "its supervisor cannot start it: %s",
                 strerror(s->failed));
    else if (WIFSIGNALED(s->status))
        snprintf(text, size, "signal %d", WTERMSIG(s->status));
    else
        snprintf(text, size, "exit code %d", WEXITSTATUS(s->status));
    return text;
}

void supervise_stop(struct supervised *s)
{
    if (s->keeper <= 0)
        return;
    close(s->life_fd);
    while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    listen_to_keeper(s);
    if (s->is_orphan && s->pid > 0)
        kill(-s->pid, SIGKILL);
    close(s->news_fd);
    *s = (struct supervised){0};
}

int supervise_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = 0;

    if (fd < 0)
        return 0;
    if (bind(fd, (struct sockaddr *)&at, len) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &len) == 0)
        port = ntohs(at.sin_port);
    close(fd);
    return port;
}
