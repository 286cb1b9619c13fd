/* Time to read one small response: our parser, and llhttp where its sources
 * are installed.  Alternating rounds, medians, one line each. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/wire/http_message.h"

#ifdef HAVE_LLHTTP
#include <llhttp.h>
#endif

#define ROUNDS    15
#define RESPONSES 200000

static const char response[] = "HTTP/1.1 200 OK\r\n"
                               "Date: Mon, 16 Nov 2026 04:00:00 GMT\r\n"
                               "Server: uvicorn\r\n"
                               "Content-Type: application/json\r\n"
                               "Content-Length: 32\r\n"
                               "\r\n"
                               "{\"text\": \"a small JSON answer.\"}";

static void our_body(void *arg, const char *data, size_t len)
{
    (void)data;
    *(size_t *)arg += len;
}

static size_t read_ours(void)
{
    static const struct http1_hooks hooks = {.body = our_body};
    struct http1 p;
    size_t body = 0;

    http1_init(&p, HTTP1_RESPONSE, &hooks, &body);
    for (int i = 0; i < RESPONSES; i++) {
        http1_begin(&p);
        if (http1_feed(&p, response, sizeof(response) - 1) < 0)
            abort();
    }
    http1_fini(&p);
    return body;
}

#ifdef HAVE_LLHTTP
static int their_body(llhttp_t *p, const char *data, size_t len)
{
    (void)data;
    *(size_t *)p->data += len;
    return 0;
}

static size_t read_theirs(void)
{
    llhttp_settings_t settings;
    llhttp_t p;
    size_t body = 0;

    llhttp_settings_init(&settings);
    settings.on_body = their_body;
    llhttp_init(&p, HTTP_RESPONSE, &settings);
    p.data = &body;
    for (int i = 0; i < RESPONSES; i++) {
        if (llhttp_execute(&p, response, sizeof(response) - 1) != HPE_OK)
            abort();
    }
    return body;
}
#endif

static double time_ns(size_t (*read)(void))
{
    int64_t start = clk_now(&clk_monotonic);
    size_t body = read();

    if (body != (size_t)32 * RESPONSES)
        abort();
    return (double)(clk_now(&clk_monotonic) - start) / RESPONSES;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

int main(void)
{
    double ours[ROUNDS];
#ifdef HAVE_LLHTTP
    double theirs[ROUNDS];
    double ratios[ROUNDS];
#endif

    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = time_ns(read_ours);
#ifdef HAVE_LLHTTP
        theirs[i] = time_ns(read_theirs);
        ratios[i] = theirs[i] / ours[i];
#endif
    }
    printf("http1: %.0f ns a response\n", median(ours));
#ifdef HAVE_LLHTTP
    printf("llhttp: %.0f ns a response, ratio %.2f\n", median(theirs),
           median(ratios));
#else
    printf("llhttp: not installed (Debian's node-llhttp)\n");
#endif
    return 0;
}
