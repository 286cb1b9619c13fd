#include "study/launch/clock_exchange.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/stop.h"
#include "common/text/json.h"
#include "study/child.h"

#define EXCHANGES 20
#define TEXT      32

/* The first answer may have to wait for a connection. */
#define PATIENCE_MS 30000

int clock_answer(int in, int out, struct err *err)
{
    char text[TEXT];
    char byte;
    ssize_t n;

    while ((n = read(in, &byte, 1)) != 0) {
        if (n < 0 && errno == EINTR && !atomic_load(&stop_signal))
            continue;
        if (n < 0)
            return err_set(err, ERR_IO, "cannot read: %s", strerror(errno));
        if (byte != '\n')
            continue;
        snprintf(text, sizeof(text), "%lld\n", (long long)clk_realtime_ns());
        if (file_write_all(out, text, strlen(text)))
            return err_set(err, ERR_IO, "cannot write: %s", strerror(errno));
    }
    return 0;
}

/* A line with a number; -1: it did not come. */
static int64_t read_time(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char text[TEXT];
    size_t len = 0;
    char *end;
    int64_t ns;

    while (len < sizeof(text) - 1) {
        if (poll(&ready, 1, PATIENCE_MS) <= 0 || read(fd, text + len, 1) != 1)
            return -1;
        if (text[len] == '\n')
            break;
        len++;
    }
    text[len] = '\0';
    ns = strtoll(text, &end, 10);
    return *end == '\0' && len > 0 ? ns : -1;
}

int clock_ask(int in, int out, struct clock_offset *found, struct err *err)
{
    int64_t shortest_ns = INT64_MAX;

    for (int i = 0; i < EXCHANGES; i++) {
        int64_t ours_ns = clk_realtime_ns();
        int64_t began_ns = clk_now(&clk_monotonic);
        int64_t theirs_ns =
            file_write_all(out, "\n", 1) == 0 ? read_time(in) : -1;
        int64_t took_ns = clk_now(&clk_monotonic) - began_ns;

        if (theirs_ns < 0)
            return err_set(err, ERR_IO,
                           "the other clock did not answer with a time");
        if (took_ns >= shortest_ns)
            continue;
        shortest_ns = took_ns;
        *found = (struct clock_offset){
            .offset_ns = theirs_ns - (ours_ns + took_ns / 2),
            .error_ns = took_ns / 2 + 1,
            .exchanges = EXCHANGES,
        };
    }
    return 0;
}

int clock_ask_command(const char *const *command, struct clock_offset *found,
                      struct err *err)
{
    struct child_piped child;
    int rc = child_start_piped(&child, command, err);

    if (rc == 0) {
        rc = clock_ask(child.out_fd, child.in_fd, found, err);
        child_end_piped(&child, rc != 0);
    }
    return rc;
}

int clock_offset_read(const char *path, struct clock_offset *found,
                      struct err *err)
{
    json_t *json = NULL;

    if (json_read_file(path, &json, err))
        return -1;
    *found = (struct clock_offset){
        .offset_ns = json_get_int(json, "offset_ns", 0),
        .error_ns = json_get_int(json, "error_ns", 0),
        .exchanges = (int)json_get_int(json, "exchanges", 0),
    };
    json_decref(json);
    return found->error_ns > 0
               ? 0
               : err_set(err, ERR_FORMAT, "%s: has no offset of a clock", path);
}
