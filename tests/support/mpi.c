#include "tests/support/mpi.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* Of the test that runs. */
static const char *home;

bool mpi_set_up(void)
{
    if (access(keepf("%s-mpi", getenv("TAILGATE")), X_OK) < 0) {
        print_message("skipped: tailgate was built without MPI\n");
        return false;
    }
    home = tmpdir_path("mpi");
    mkdir(home, 0777);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    /* Open MPI is not built with our sanitizers, and keeps what it has. */
    setenv("TAILGATE_MPIRUN",
           keepf("env TMPDIR=%s mpirun --oversubscribe -x "
                 "LSAN_OPTIONS=detect_leaks=0 -x "
                 "TSAN_OPTIONS=ignore_noninstrumented_modules=1",
                 home),
           1);
    return true;
}

/* Is `entry` in the environment of the process? */
static bool has_entry(const char *environment, size_t len, const char *entry)
{
    for (const char *p = environment; p < environment + len;
         p += strlen(p) + 1) {
        if (strcmp(p, entry) == 0)
            return true;
    }
    return false;
}

static bool is_rank(const char *pid, int rank)
{
    char exe[4096];
    char text[1 << 16];
    ssize_t len = readlink(keepf("/proc/%s/exe", pid), exe, sizeof(exe) - 1);
    ssize_t n;
    int fd;

    if (len < 0)
        return false;
    exe[len] = '\0';
    if (strcmp(exe, keepf("%s-mpi", getenv("TAILGATE"))) != 0)
        return false;
    fd = open(keepf("/proc/%s/environ", pid), O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return has_entry(text, (size_t)n, keepf("TMPDIR=%s", home)) &&
           (rank < 0 ||
            has_entry(text, (size_t)n, keepf("OMPI_COMM_WORLD_RANK=%d", rank)));
}

/* -1: any rank.  0: there is none. */
static pid_t find(int rank)
{
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;

    assert_non_null(all);
    while (!found && (entry = readdir(all))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            is_rank(entry->d_name, rank))
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(all);
    return found;
}

pid_t mpi_rank(int rank)
{
    pid_t pid = find(rank);

    assert_true(pid > 0);
    return pid;
}

void mpi_expect_none(void)
{
    assert_int_equal(find(-1), 0);
}
