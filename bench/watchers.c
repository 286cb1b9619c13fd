/* Clients of a run with --listen: N pages that are open and read what comes,
 * and a scraper that asks for the metrics once per second, until the run ends.
 * Usage: bench_watchers PORT N
 * Prints how many bytes they read, and how often the scraper was answered. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"

#define MAX_PAGES 32

static int ask(int port, const char *path)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[64];
    int len = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n\r\n", path);

    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
        send(fd, text, (size_t)len, MSG_NOSIGNAL) != len) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Bytes up to the end of the answer; -1: there was none. */
static int64_t scrape(int port)
{
    char bytes[65536];
    int fd = ask(port, "/metrics");
    int64_t sum = 0;
    ssize_t n;

    if (fd < 0)
        return -1;
    while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        sum += n;
    close(fd);
    return sum > 0 ? sum : -1;
}

int main(int argc, char **argv)
{
    struct pollfd pages[MAX_PAGES];
    int port = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    int64_t next_ns = clk_now(&clk_monotonic);
    int64_t bytes = 0;
    int64_t scrapes = 0;
    static char buffer[1 << 20];
    int open = 0;

    if (port <= 0 || n < 1 || n > MAX_PAGES)
        return 2;
    for (; open < n; open++)
        pages[open] =
            (struct pollfd){.fd = ask(port, "/events"), .events = POLLIN};
    while (open > 0) {
        int64_t left_ns = next_ns - clk_now(&clk_monotonic);

        if (left_ns <= 0) {
            scrapes += scrape(port) > 0;
            next_ns += NS_PER_S;
            continue;
        }
        poll(pages, (nfds_t)n, (int)(left_ns / NS_PER_MS) + 1);
        for (int i = 0; i < n; i++) {
            ssize_t got;

            if (pages[i].fd < 0 || !pages[i].revents)
                continue;
            got = recv(pages[i].fd, buffer, sizeof(buffer), 0);
            bytes += got > 0 ? got : 0;
            if (got <= 0) {
                close(pages[i].fd);
                pages[i].fd = -1;
                open--;
            }
        }
    }
    printf("bytes %lld scrapes %lld\n", (long long)bytes, (long long)scrapes);
    return 0;
}
