/* The bare client on libcurl: one multi on a libevent base, as libcurl's own
 * examples have it, and nothing recorded.  It shows what the library leaves to
 * save. */
#include <curl/curl.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define READ_SIZE       (16L << 10)
#define MAX_CONNECTIONS 100000
#define MAX_SECONDS     3600

struct client {
    const char *url;
    const char *body;
    const char *ca_file; /* NULL: the system's */
    long connections;
    long seconds;
    struct event_base *base;
    struct event timer;
    CURLM *multi;
    CURL **handles;
    struct curl_slist *headers;
    int64_t done;
    bool has_failed;
};

static void stop(struct client *c, const char *why)
{
    fprintf(stderr, "%s\n", why);
    c->has_failed = true;
    event_base_loopbreak(c->base);
}

/* Count it, and send the next. */
static void take(struct client *c, CURL *easy, CURLcode code)
{
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != 200) {
        stop(c, code ? curl_easy_strerror(code) : "a response is no 200");
        return;
    }
    c->done++;
    curl_multi_remove_handle(c->multi, easy);
    curl_multi_add_handle(c->multi, easy);
}

static void take_all(struct client *c)
{
    CURLMsg *message;
    int left;

    while (!c->has_failed && (message = curl_multi_info_read(c->multi, &left)))
        take(c, message->easy_handle, message->data.result);
}

static size_t drop_body(char *data, size_t size, size_t n, void *arg)
{
    (void)data;
    (void)arg;
    return size * n;
}

/* ---- sockets and timers ---- */

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct client *c = arg;
    int flags = (what & EV_READ ? CURL_CSELECT_IN : 0) |
                (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    int running;

    curl_multi_socket_action(c->multi, fd, flags, &running);
    take_all(c);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct client *c = arg;
    int running;

    (void)fd;
    (void)what;
    curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    take_all(c);
}

static int on_watch(CURL *easy, curl_socket_t fd, int what, void *arg,
                    void *known)
{
    struct client *c = arg;
    struct event *event = known; /* of a socket that it waits for */
    short wanted = EV_PERSIST;

    (void)easy;
    if (event)
        event_del(event);
    if (what == CURL_POLL_REMOVE) {
        curl_multi_assign(c->multi, fd, NULL);
        free(event);
        return 0;
    }
    if (!event) {
        event = xcalloc(1, sizeof(*event));
        curl_multi_assign(c->multi, fd, event);
    }
    wanted |= what & CURL_POLL_IN ? EV_READ : 0;
    wanted |= what & CURL_POLL_OUT ? EV_WRITE : 0;
    event_assign(event, c->base, fd, wanted, on_event, c);
    event_add(event, NULL);
    return 0;
}

static int on_timer(CURLM *multi, long wait_ms, void *arg)
{
    struct client *c = arg;
    struct timeval tv = clk_timeval(wait_ms * NS_PER_MS);

    (void)multi;
    if (wait_ms < 0)
        event_del(&c->timer);
    else
        event_add(&c->timer, &tv);
    return 0;
}

/* ---- making it ---- */

static CURL *new_handle(const struct client *c)
{
    CURL *easy = curl_easy_init();

    if (!easy)
        return NULL;
    curl_easy_setopt(easy, CURLOPT_URL, c->url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, c->body);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
    if (c->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, c->ca_file);
    return easy;
}

static int begin(struct client *c)
{
    c->headers = curl_slist_append(NULL, "Content-Type: application/json");
    c->headers = curl_slist_append(c->headers, "Expect:");
    c->base = event_base_new();
    c->multi = curl_multi_init();
    if (!c->base || !c->multi)
        return -1;
    event_assign(&c->timer, c->base, -1, 0, on_timeout, c);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_watch);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, c->connections);
    c->handles = xcalloc((size_t)c->connections, sizeof(CURL *));
    for (long i = 0; i < c->connections; i++) {
        c->handles[i] = new_handle(c);
        if (!c->handles[i])
            return -1;
        curl_multi_add_handle(c->multi, c->handles[i]);
    }
    return 0;
}

static void end(struct client *c)
{
    for (long i = 0; c->handles && i < c->connections; i++) {
        curl_multi_remove_handle(c->multi, c->handles[i]);
        curl_easy_cleanup(c->handles[i]);
    }
    free(c->handles);
    curl_multi_cleanup(c->multi);
    if (c->base)
        event_base_free(c->base);
    curl_slist_free_all(c->headers);
}

static int run(struct client *c)
{
    struct timeval tv = {.tv_sec = c->seconds};
    int64_t start_ns = clk_now(&clk_monotonic);

    if (event_base_loopexit(c->base, &tv) || event_base_dispatch(c->base) < 0 ||
        c->has_failed)
        return -1;
    printf("%lld requests in %.3f s\n", (long long)c->done,
           (double)(clk_now(&clk_monotonic) - start_ns) / (double)NS_PER_S);
    return 0;
}

int main(int argc, char **argv)
{
    struct client c = {0};
    int rc;

    if (argc == 5 || argc == 6) {
        c.url = argv[1];
        c.connections = strtol(argv[2], NULL, 10);
        c.seconds = strtol(argv[3], NULL, 10);
        c.body = argv[4];
        c.ca_file = argv[5];
    }
    if (c.connections < 1 || c.connections > MAX_CONNECTIONS || c.seconds < 1 ||
        c.seconds > MAX_SECONDS) {
        fprintf(stderr, "usage: %s URL CONNECTIONS SECONDS BODY [CAFILE]\n",
                argv[0]);
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    rc = begin(&c) || run(&c) ? 1 : 0;
    end(&c);
    curl_global_cleanup();
    return rc;
}
