#include "study/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "study/keeper.h"

extern char **environ;

#define PORT_VARIABLE "TAILGATE_PORT="

/* Ours, and the port, if there is one, in place of one that is there. */
static char **make_environment(int port, char **entry)
{
    size_t n = 0;
    size_t kept = 0;
    char **out;

    while (environ[n])
        n++;
    out = xcalloc(n + 2, sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        if (port <= 0 ||
            strncmp(environ[i], PORT_VARIABLE, strlen(PORT_VARIABLE)) != 0)
            out[kept++] = environ[i];
    }
    *entry = port > 0 ? xasprintf(PORT_VARIABLE "%d", port) : NULL;
    out[kept] = *entry;
    return out;
}

static int open_log(const char *path, struct err *err)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                  : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        err_set(err, ERR_IO, "%s: %s", path ? path : "standard error",
                strerror(errno));
    return fd;
}

static int open_pipes(int life[2], int news[2])
{
    if (pipe2(life, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(news, O_CLOEXEC | O_NONBLOCK) == 0)
        return 0;
    close(life[0]);
    close(life[1]);
    return -1;
}

/* Its end of each pipe is its own alone. */
static int fork_keeper(struct supervised *s, struct keeper *k)
{
    int life[2];
    int news[2];

    if (open_pipes(life, news) < 0)
        return -1;
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
    struct keeper k = {.parent = getpid(),
                       .start = how->start,
                       .stop = how->stop,
                       .log_fd = open_log(how->log, err),
                       .grace_ns = how->grace_ns,
                       .leaves_rest = how->leaves_rest};
    char **environment;
    char *entry;
    int rc;

    *s = (struct supervised){0};
    if (k.log_fd < 0)
        return -1;
    environment = make_environment(how->port, &entry);
    k.environment = environment;
    rc = fork_keeper(s, &k);
    if (rc)
        err_set(err, ERR_IO, "cannot start a process: %s", strerror(errno));
    close(k.log_fd);
    free((void *)environment);
    free(entry);
    return rc;
}

static void take(struct supervised *s, const struct keeper_news *news)
{
    if (news->kind == KEEPER_STARTED)
        s->pid = news->value;
    else
        s->has_ended = true;
    if (news->kind == KEEPER_ENDED)
        s->status = news->value;
    if (news->kind == KEEPER_FAILED)
        s->failed = news->value;
}

/* All that the keeper has said; a piece is short, and so never cut. */
static void listen_to_keeper(struct supervised *s)
{
    struct keeper_news news;
    ssize_t n;

    while ((n = read(s->news_fd, &news, sizeof(news))) == sizeof(news))
        take(s, &news);
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
