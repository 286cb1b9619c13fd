#include "tests/support/tool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/xalloc.h"

static _Noreturn void become(const char *const *argv, const char *log)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char *daemon_path = xasprintf("/usr/sbin/%s", argv[0]);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    execv(daemon_path, (char *const *)argv);
    _exit(127);
}

pid_t tool_start(const char *const *argv, const char *log)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        become(argv, log);
    return pid;
}

static void must_succeed(pid_t pid, const char *what)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        print_error("%s ended with status %x\n", what, (unsigned)status);
    assert_int_equal(status, 0);
}

void tool_run(const char *const *argv, const char *log)
{
    must_succeed(tool_start(argv, log), argv[0]);
}

void tool_stop(pid_t pid)
{
    assert_int_equal(kill(pid, SIGTERM), 0);
    must_succeed(pid, "a server");
}
