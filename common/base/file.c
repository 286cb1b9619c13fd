#include "common/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define READ_STEP 65536

int file_read(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    bool is_full = false;

    while (n > 0 && !is_full) {
        size_t room = out->max - out->len;
        size_t step = room < READ_STEP ? room : READ_STEP;
        char extra; /* there must be nothing more once the buffer is full */

        is_full = step == 0;
        n = is_full ? read(fd, &extra, 1)
                    : read(fd, buf_reserve(out, step), step);
        if (n >= 0 && !is_full)
            buf_commit(out, (size_t)n);
    }
    if (n < 0)
        err_set(err, ERR_CONFIG, "%s: %s", path, strerror(errno));
    else if (n > 0)
        err_set(err, ERR_CONFIG, "%s: larger than %zu bytes", path, out->max);
    if (fd >= 0)
        close(fd);
    return n == 0 ? 0 : -1;
}

int file_read_text(const char *path, size_t max, char **text, struct err *err)
{
    struct buf bytes;
    int rc;

    buf_init(&bytes, max);
    rc = file_read(path, &bytes, err);
    if (rc == 0 && strlen(buf_text(&bytes)) < bytes.len)
        rc = err_set(err, ERR_CONFIG, "%s: not a text file", path);
    if (rc == 0)
        *text = xstrdup(buf_text(&bytes) +
                        str_bom_len(buf_text(&bytes), bytes.len));
    buf_fini(&bytes);
    return rc;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat at;
    struct stat bt;

    return stat(a, &at) == 0 && stat(b, &bt) == 0 && at.st_dev == bt.st_dev &&
           at.st_ino == bt.st_ino;
}

int file_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* A unique name next to `path`; the caller owns it. */
static int create_temporary(const char *path, char **name)
{
    static atomic_uint made;
    int fd;

    do {
        *name = xasprintf("%s.new-%ld-%u", path, (long)getpid(),
                          atomic_fetch_add(&made, 1));
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0) {
            free(*name);
            *name = NULL;
        }
    } while (fd < 0 && errno == EEXIST); /* left by a process of this pid */
    return fd;
}

/* Some file systems cannot sync; that is not an error. */
static int sync_fd(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

/* Afterwards a crash of the machine does not undo a rename. */
static int sync_dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? xstrndup(path, (size_t)(slash + 1 - path)) : NULL;
    int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_unreadable = fd < 0 && errno == EACCES; /* but maybe writable */
    int rc = is_unreadable ? 0 : fd < 0 ? -1 : sync_fd(fd);
    int error = errno;

    if (fd >= 0)
        close(fd);
    free(dir);
    errno = error;
    return rc;
}

int file_replace(const char *path, const void *data, size_t len,
                 struct err *err)
{
    char *temporary = NULL;
    bool is_written;
    struct stat st;
    int error;
    int rc = 0;
    int fd;

    /* Replacing a device or a pipe would take it away from its other users. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || file_write_all(fd, data, len) < 0)
            rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    fd = create_temporary(path, &temporary);
    is_written =
        fd >= 0 && file_write_all(fd, data, len) == 0 && sync_fd(fd) == 0;
    error = errno;
    if (fd >= 0 && close(fd) < 0 && is_written) {
        is_written = false;
        error = errno;
    }
    errno = error;
    is_written = is_written && rename(temporary, path) == 0;
    if (!is_written || sync_dir_of(path) < 0)
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (!is_written && temporary)
        unlink(temporary);
    free(temporary);
    return rc;
}

int file_replace_in(const char *dir, const char *name, const struct buf *text,
                    struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = file_replace(path, buf_text(text), text->len, err);

    free(path);
    return rc;
}

int file_make_dir(const char *path, struct err *err)
{
    char *copy = xstrdup(path);
    int rc = 0;

    for (char *p = copy + 1; rc == 0; p++) {
        char c = *p;

        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            rc = err_set(err, ERR_IO, "%s: %s", copy, strerror(errno));
        *p = c;
        if (c == '\0')
            break;
    }
    free(copy);
    return rc;
}

bool file_is_temporary(const char *name, const char *of)
{
    size_t len = strlen(of);
    const char *rest = name + len + strlen(".new");

    if (strncmp(name, of, len) != 0 || strncmp(name + len, ".new", 4) != 0)
        return false;
    if (!*rest) /* written by an older version */
        return true;
    if (*rest != '-')
        return false;
    rest++;
    rest += strspn(rest, "0123456789");
    return *rest == '-' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")];
}

int file_list_dir(const char *dir, bool (*is_wanted)(const char *name),
                  struct strlist *names, struct err *err)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;

    if (!d)
        return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    while ((entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 && is_wanted(entry->d_name))
            strlist_add(names, entry->d_name);
    }
    closedir(d);
    return 0;
}

#define MAX_LINE 256

extern char **environ;

/* Run git and read the first line of its output.  False if git fails or prints
 * nothing. */
static bool run_git(char *const *argv, char line[static MAX_LINE])
{
    posix_spawn_file_actions_t actions;
    char rest[MAX_LINE];
    int status = -1;
    size_t len = 0;
    pid_t pid = -1;
    ssize_t n;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    if (posix_spawnp(&pid, "git", &actions, NULL, argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    while (len < MAX_LINE - 1 &&
           (n = read(fds[0], line + len, MAX_LINE - 1 - len)) > 0)
        len += (size_t)n;
    while (read(fds[0], rest, sizeof(rest)) > 0)
        continue;
    line[len] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (pid > 0)
        waitpid(pid, &status, 0);
    close(fds[0]);
    return pid > 0 && status == 0 && line[0];
}

#define GIT(dir, ...)                                                          \
    ((char *const[]){(char *)"git", (char *)"--no-optional-locks",             \
                     (char *)"-C", (dir), (char *)__VA_ARGS__, NULL})

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

    if (run_git(GIT(dir, "rev-parse", (char *)"--verify", (char *)"HEAD"),
                commit)) {
        if (!run_git(GIT(dir, "ls-files", (char *)"--", name), line))
            state = "not tracked";
        else if (run_git(GIT(dir, "status", (char *)"--porcelain", (char *)"--",
                             name),
                         line))
            state = "changed since";
        out = xasprintf("%s, %s", commit, state);
    }
    free(name);
    free(dir);
    return out;
}

int64_t files_raise_limit(void)
{
    struct rlimit limit;
    struct rlimit raised;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1024; /* the usual limit */
    raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    return limit.rlim_cur < INT32_MAX ? (int64_t)limit.rlim_cur : INT32_MAX;
}
