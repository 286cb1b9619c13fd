#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

/* A pseudo terminal that is ready has room for at least 256 bytes, and a
 * newline may become two. */
#define TERMINAL_STEP 128

#define FLUSH_NS     (1 * NS_PER_S)
#define FLUSH_NAP_NS (10 * NS_PER_MS)

static enum log_level current_level = LOG_NORMAL;

void log_set_level(enum log_level level)
{
    current_level = level;
}

/* ---- standard error, without blocking ---- */

/* Output that could not be written yet: the rest of a frame, and messages. */
static struct {
    pthread_mutex_t lock;
    char bytes[2 * LOG_MAX_BYTES];
    size_t len;
    size_t dropped; /* messages that did not fit */
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Write as much as possible without blocking and return how much.  Bytes
 * for a closed reader count as written. */
static size_t write_to(int fd, size_t step, const char *bytes, size_t len)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    size_t at = 0;

    while (at < len && poll(&ready, 1, 0) > 0) {
        ssize_t n = write(fd, bytes + at, len - at < step ? len - at : step);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        at = n > 0 ? at + (size_t)n : len;
    }
    return at;
}

/* The open file behind standard error is shared with others, such as the shell,
 * that do not expect O_NONBLOCK on it.  So terminals and pipes are opened again
 * where possible. */
static size_t write_some(const char *bytes, size_t len)
{
    struct stat st;
    int own = -1;
    size_t n;

    if (fstat(STDERR_FILENO, &st) == 0 &&
        (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
        own = open("/proc/self/fd/2",
                   O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0)
        return write_to(STDERR_FILENO,
                        isatty(STDERR_FILENO) ? TERMINAL_STEP : PIPE_BUF, bytes,
                        len);
    n = write_to(own, len, bytes, len);
    close(own);
    return n;
}

/* Call with the lock.  True if nothing waits any more. */
static bool write_waiting(void)
{
    size_t n = waiting.len > 0 ? write_some(waiting.bytes, waiting.len) : 0;

    waiting.len -= n;
    memmove(waiting.bytes, waiting.bytes + n, waiting.len);
    return waiting.len == 0;
}

/* Call with the lock.  A message that does not fit is dropped. */
static void keep(const char *bytes, size_t len)
{
    size_t room = sizeof(waiting.bytes) - waiting.len;

    if (len > room) {
        waiting.dropped++;
        return;
    }
    memcpy(waiting.bytes + waiting.len, bytes, len);
    waiting.len += len;
}

bool log_frame(const char *bytes, size_t len)
{
    size_t n = 0;

    pthread_mutex_lock(&waiting.lock);
    if (len <= LOG_MAX_BYTES && write_waiting())
        n = write_some(bytes, len);
    if (n > 0) /* an escape sequence that was begun must be completed */
        keep(bytes + n, len - n);
    pthread_mutex_unlock(&waiting.lock);
    return n > 0;
}

void log_bytes(const char *bytes, size_t len)
{
    pthread_mutex_lock(&waiting.lock);
    if (write_waiting() && waiting.dropped > 0) {
        waiting.len = (size_t)snprintf(
            waiting.bytes, sizeof(waiting.bytes),
            "tailgate: %zu messages were dropped: stderr was not read\n",
            waiting.dropped);
        waiting.dropped = 0;
    }
    if (write_waiting()) {
        size_t n = write_some(bytes, len);

        bytes += n;
        len -= n;
    }
    keep(bytes, len);
    pthread_mutex_unlock(&waiting.lock);
}

void log_flush(void)
{
    int64_t until_ns = clk_now(&clk_monotonic) + FLUSH_NS;

    pthread_mutex_lock(&waiting.lock);
    while (!write_waiting() && clk_now(&clk_monotonic) < until_ns)
        clk_sleep_ns(FLUSH_NAP_NS);
    pthread_mutex_unlock(&waiting.lock);
}

/* ---- messages ---- */

static struct {
    void (*call)(void *arg);
    void *arg;
} first;

void log_set_before(void (*before)(void *arg), void *arg)
{
    first.call = before;
    first.arg = arg;
}

/* One write per line, so that lines of several threads do not mix. */
static void print_line(const char *prefix, const char *fmt, va_list ap)
{
    char *line = xvasprintf(fmt, ap);
    char *text;

    if (first.call)
        first.call(first.arg);
    printable(line, strlen(line), "");
    text = xasprintf("%s%s\n", prefix, line);
    log_bytes(text, strlen(text));
    free(text);
    free(line);
}

void log_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_line("tailgate: ", fmt, ap);
    va_end(ap);
}

void log_note(const char *fmt, ...)
{
    va_list ap;

    if (current_level < LOG_NORMAL)
        return;
    va_start(ap, fmt);
    print_line("", fmt, ap);
    va_end(ap);
}
