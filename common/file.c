#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

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

static int write_new(const char *path, const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc;

    if (fd < 0)
        return -1;
    rc = file_write_all(fd, data, len);
    if (close(fd) < 0)
        rc = -1;
    return rc;
}

int file_replace(const char *path, const void *data, size_t len,
                 struct err *err)
{
    char *temporary = xasprintf("%s.new", path);
    int rc = 0;

    if (write_new(temporary, data, len) < 0 || rename(temporary, path) < 0) {
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        unlink(temporary);
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
