#include "common/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
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

static int read_step(int fd, const char *path, struct buf *out, struct err *err)
{
    size_t room = out->max - out->len;
    size_t step = room < READ_STEP ? room : READ_STEP;
    char *p = buf_reserve(out, step);
    char extra;
    ssize_t n = step > 0 ? read(fd, p, step) : read(fd, &extra, 1);

    if (step == 0 && n > 0)
        return err_set(err, ERR_CONFIG, "%s: larger than %zu bytes", path,
                       out->max);
    if (n < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", path, strerror(errno));
    if (p)
        buf_commit(out, (size_t)n);
    return n > 0;
}

int file_read(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", path, strerror(errno));
    do
        rc = read_step(fd, path, out, err);
    while (rc > 0);
    close(fd);
    return rc;
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
    } while (fd < 0 && errno == EEXIST); /* left by a process of this number */
    return fd;
}

/* Some file systems cannot sync; that is not an error. */
static int sync_fd(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

/* After that a crash of the machine does not undo the rename. */
static int sync_dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? xstrndup(path, (size_t)(slash + 1 - path)) : NULL;
    int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_unreadable = fd < 0 && errno == EACCES; /* it may be written */
    int rc = is_unreadable ? 0 : fd < 0 ? -1 : sync_fd(fd);
    int error = errno;

    if (fd >= 0)
        close(fd);
    free(dir);
    errno = error;
    return rc;
}

/* A device, a pipe: replacing it would take it away from everybody else. */
static bool is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_into(const char *path, const void *data, size_t len,
                      struct err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 || file_write_all(fd, data, len) < 0
                 ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno))
                 : 0;

    if (fd >= 0)
        close(fd);
    return rc;
}

int file_replace(const char *path, const void *data, size_t len,
                 struct err *err)
{
    if (is_special(path))
        return write_into(path, data, len, err);

    char *temporary = NULL;
    int fd = create_temporary(path, &temporary);
    bool is_written =
        fd >= 0 && file_write_all(fd, data, len) == 0 && sync_fd(fd) == 0;
    int error = errno;
    int rc = 0;

    if (fd >= 0 && close(fd) < 0 && is_written) {
        is_written = false;
        error = errno;
    }
    errno = error;
    if (!is_written || rename(temporary, path) < 0) {
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        if (temporary)
            unlink(temporary);
    } else if (sync_dir_of(path) < 0) {
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    }
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
    if (!*rest) /* older */
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

#define LIKELY_LIMIT 1024 /* where it cannot be asked for */

int64_t files_raise_limit(void)
{
    struct rlimit limit;
    struct rlimit raised;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return LIKELY_LIMIT;
    raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    return limit.rlim_cur < INT32_MAX ? (int64_t)limit.rlim_cur : INT32_MAX;
}
