/* Run a command and note what it cost: its CPU and memory from wait4(2), and
 * the CPU of the server that it talked to meanwhile, from /proc.
 * Usage: bench_usage FILE SECONDS SERVER_PID COMMAND...
 * FILE gets the lines cpu_s, server_cpu_s and max_rss_kb, each with its value.
 * A command that takes longer than SECONDS is killed.  Exit status: that of
 * the command, or 125 if it cannot be run. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_STATUS 125

extern char **environ;

static double seconds_of(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/* The n-th field from here, 1 being the first; NULL if there are fewer. */
static const char *field(const char *text, int n)
{
    while (text && --n > 0) {
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return text;
}

/* User and system time of a process, its threads included; -1 if unknown. */
static double cpu_of(const char *pid)
{
    char path[64];
    char line[1024];
    const char *user = NULL;
    const char *after_name;
    char *end;
    FILE *file;
    double ticks;

    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    /* utime and stime are fields 14 and 15; the name, the second, may hold
     * spaces, and ends with the last ')'. */
    if (fgets(line, sizeof(line), file)) {
        after_name = strrchr(line, ')');
        user = field(after_name, 13);
    }
    fclose(file);
    if (!user)
        return -1;
    ticks = strtod(user, &end);
    ticks += strtod(end, NULL);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Wait for the child, but not for longer than that. */
static int wait_for(pid_t pid, long seconds, struct rusage *usage)
{
    struct timespec timeout = {.tv_sec = seconds};
    sigset_t child_ends;
    int status;

    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    if (sigtimedwait(&child_ends, NULL, &timeout) < 0) {
        fprintf(stderr, "killed after %ld s\n", seconds);
        kill(pid, SIGKILL);
    }
    if (wait4(pid, &status, 0, usage) != pid)
        return NO_STATUS;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Start it with the signals that we had. */
static int start(pid_t *pid, char **argv)
{
    posix_spawnattr_t attr;
    sigset_t child_ends;
    sigset_t before;
    int rc;

    /* Blocked from before it can end, so that its end is not missed. */
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, &before);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &before);
    rc = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    if (rc)
        fprintf(stderr, "%s: %s\n", argv[0], strerror(rc));
    return rc ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct rusage usage = {0};
    double server_s;
    pid_t pid;
    FILE *out;
    int status;

    if (argc < 5) {
        fprintf(stderr, "usage: %s FILE SECONDS SERVER_PID COMMAND...\n",
                argv[0]);
        return NO_STATUS;
    }
    server_s = cpu_of(argv[3]);
    if (start(&pid, argv + 4))
        return NO_STATUS;
    status = wait_for(pid, strtol(argv[2], NULL, 10), &usage);
    server_s = cpu_of(argv[3]) - server_s;
    out = fopen(argv[1], "we");
    if (!out) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return NO_STATUS;
    }
    fprintf(out, "cpu_s %.6f\nserver_cpu_s %.6f\nmax_rss_kb %ld\n",
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), server_s,
            usage.ru_maxrss);
    return fclose(out) ? NO_STATUS : status;
}
