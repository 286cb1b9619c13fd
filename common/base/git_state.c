#include "common/base/git_state.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/xalloc.h"

#define MAX_LINE 256

extern char **environ;

/* Start git, whose output comes out of the pipe; -1 if there is none. */
static pid_t start_git(char *const *argv, const int pipe_fds[static 2])
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    if (posix_spawnp(&pid, "git", &actions, NULL, argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* The first line of what it says. */
static void read_line(int fd, char line[static MAX_LINE])
{
    char rest[MAX_LINE];
    size_t len = 0;
    ssize_t n;

    while (len < MAX_LINE - 1 &&
           (n = read(fd, line + len, MAX_LINE - 1 - len)) > 0)
        len += (size_t)n;
    while (read(fd, rest, sizeof(rest)) > 0)
        continue;
    line[len] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* False if git fails, or says nothing. */
static bool ask(char *const *argv, char line[static MAX_LINE])
{
    int fds[2];
    int status = -1;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC))
        return false;
    line[0] = '\0';
    pid = start_git(argv, fds);
    close(fds[1]);
    if (pid > 0) {
        read_line(fds[0], line);
        waitpid(pid, &status, 0);
    }
    close(fds[0]);
    return pid > 0 && status == 0 && line[0];
}

/* A question about one file, asked where it is. */
#define QUESTION(dir, ...)                                                     \
    ((char *const[]){(char *)"git", (char *)"--no-optional-locks",             \
                     (char *)"-C", (dir), __VA_ARGS__, NULL})

char *git_state(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir =
        slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    char *name = xstrdup(slash ? slash + 1 : path);
    const char *state = "unchanged";
    char commit[MAX_LINE];
    char line[MAX_LINE];
    char *out = NULL;

    if (ask(QUESTION(dir, (char *)"rev-parse", (char *)"--verify",
                     (char *)"HEAD"),
            commit)) {
        if (!ask(QUESTION(dir, (char *)"ls-files", (char *)"--", name), line))
            state = "not tracked";
        else if (ask(QUESTION(dir, (char *)"status", (char *)"--porcelain",
                              (char *)"--", name),
                     line))
            state = "changed since";
        out = xasprintf("%s, %s", commit, state);
    }
    free(name);
    free(dir);
    return out;
}
