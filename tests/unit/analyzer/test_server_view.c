/* Looks at a server, made by hand, and what is said of them. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/read/server_view.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

#define NONE TIME_ABSENT

static const struct window window = {.start_ns = 1 * NS_PER_S,
                                     .end_ns = 5 * NS_PER_S};

/* A look that says what a test does not ask about in no way. */
static struct server_scrape look_at(int64_t at_ms)
{
    return (struct server_scrape){
        .at = at_ms * NS_PER_MS,
        .took = NS_PER_MS,
        .running = NONE,
        .waiting = NONE,
        .cache_use = NONE,
        .queue_sum_us = NONE,
        .queue_count = NONE,
        .prompt_tokens = NONE,
        .generated_tokens = NONE,
        .cached_tokens = NONE,
        .preemptions = NONE,
        .requests = NONE,
    };
}

/* Running, waiting, and everything that counts: the same number of each. */
static struct server_scrape full_look(int64_t at_ms, int64_t running,
                                      int64_t waiting, int64_t count)
{
    struct server_scrape look = look_at(at_ms);

    look.running = running;
    look.waiting = waiting;
    look.cache_use = 10000 * running;
    look.queue_sum_us = 30000 * count;
    look.queue_count = count;
    look.prompt_tokens = 100 * count;
    look.generated_tokens = 10 * count;
    look.cached_tokens = 25 * count;
    look.preemptions = count / 10;
    look.requests = count;
    return look;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Gauges are of the looks inside; counters of those and one soon after. */
TEST(the_window_counts)
{
    const struct server_scrape looks[] = {
        full_look(999, 1000, 1000, 100),  /* before */
        full_look(1000, 10, 0, 200),      /* its first moment */
        full_look(3000, 20, 10, 300),     /* inside */
        full_look(4999, 30, 5, 400),      /* its last */
        full_look(5400, 1000, 1000, 640), /* soon after */
        full_look(5600, 1000, 1000, 999), /* later */
    };
    struct server_summary s;
    struct server_view v;

    server_view_init(&v, window);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
        server_view_add(&v, &looks[i]);
    s = server_view_sum_up(&v, 27.5);
    assert_true(s.is_there);
    assert_int_equal(s.looks, 3);
    assert_int_equal(s.failed, 0);
    assert_true(is_near(s.running_mean, 20));
    assert_true(is_near(s.running_max, 30));
    assert_true(is_near(s.waiting_mean, 5));
    assert_true(is_near(s.waiting_max, 10));
    assert_true(is_near(s.present_mean, 25));
    assert_true(is_near(s.client_mean, 27.5));
    assert_true(is_near(s.cache_mean, 0.2));
    assert_true(is_near(s.cache_max, 0.3));
    assert_true(is_near(s.queue_mean_ns, 30e6));
    assert_true(is_near(s.requests_per_s, 100)); /* 440 in 4.4 s */
    assert_true(is_near(s.prompt_per_s, 10000));
    assert_true(is_near(s.generated_per_s, 1000));
    assert_true(is_near(s.cached_share, 0.25));
    assert_true(is_near(s.preemptions, 44));
}

TEST(what_nobody_says_is_not_known)
{
    struct server_scrape looks[3];
    struct server_summary s;
    struct server_view v;

    server_view_init(&v, window);
    s = server_view_sum_up(&v, 1);
    assert_int_equal(s.looks, 0);
    assert_true(s.running_mean < 0 && s.queue_mean_ns < 0);

    looks[0] = look_at(1000);
    looks[0].waiting = 4; /* as Triton, which tells no more */
    looks[0].queue_count = 7;
    looks[1] = look_at(2000);
    looks[1].is_failed = 1;
    looks[2] = look_at(3000);
    looks[2].waiting = 6;
    looks[2].queue_count = 7;
    for (size_t i = 0; i < 3; i++)
        server_view_add(&v, &looks[i]);
    s = server_view_sum_up(&v, 1);
    assert_int_equal(s.looks, 3);
    assert_int_equal(s.failed, 1);
    assert_true(is_near(s.waiting_mean, 5));
    assert_true(s.running_mean < 0 && s.running_max < 0);
    assert_true(s.present_mean < 0);
    assert_true(s.cache_mean < 0 && s.cache_max < 0);
    assert_true(s.queue_mean_ns < 0);
    assert_true(s.generated_per_s < 0 && s.prompt_per_s < 0);
    assert_true(s.cached_share < 0 && s.preemptions < 0);
    assert_true(s.requests_per_s < 0);
}

/* It started anew in between, and again counts from 0. */
TEST(a_server_that_starts_anew)
{
    const int64_t counts[] = {1000, 1010, 5, 25};
    struct server_view v;

    server_view_init(&v, window);
    for (int64_t i = 0; i < 4; i++) {
        struct server_scrape look = full_look(1000 + 1000 * i, 0, 0, counts[i]);

        server_view_add(&v, &look);
    }
    assert_true(is_near(server_view_sum_up(&v, 0).requests_per_s, 35 / 3.0));
}

/* ---- the note ---- */

static struct server_summary knows(double present, double client)
{
    return (struct server_summary){.is_there = true,
                                   .looks = 10,
                                   .present_mean = present,
                                   .client_mean = client};
}

TEST(requests_on_the_way_are_noted)
{
    struct server_summary partial = knows(4, 40);
    struct server_summary seldom = knows(4, 40);
    struct server_summary s = knows(4, 40);
    struct note note;

    assert_true(server_view_misses_requests(&s, &note));
    assert_string_equal(note.name, "on_the_way");
    assert_int_equal(note.count, 4);
    assert_int_equal(note.of, 40);
    assert_true(is_near(note.share, 0.1));
    partial.is_partial = true;
    assert_false(server_view_misses_requests(&partial, &note));
    seldom.failed = 6;
    assert_false(server_view_misses_requests(&seldom, &note));
    s = knows(20, 40);
    assert_false(server_view_misses_requests(&s, &note));
    s = knows(0.1, 3.9);
    assert_false(server_view_misses_requests(&s, &note));
    s = knows(-1, 40);
    assert_false(server_view_misses_requests(&s, &note));
    s.is_there = false;
    assert_false(server_view_misses_requests(&s, &note));
}

/* ---- as it is shown ---- */

static const struct summary shown = {.has_tokens = true,
                                     .output_tokens_per_s = 1230,
                                     .server = {.is_there = true,
                                                .dialect = "vllm",
                                                .url = "http://h/metrics",
                                                .looks = 10,
                                                .running_mean = 12.3,
                                                .running_max = 16,
                                                .waiting_mean = 3.1,
                                                .waiting_max = 40,
                                                .present_mean = 15.4,
                                                .client_mean = 15.9,
                                                .cache_mean = 0.5,
                                                .cache_max = 0.61,
                                                .queue_mean_ns = 35.2e6,
                                                .prompt_per_s = 4000,
                                                .generated_per_s = 1234,
                                                .cached_share = 0.25,
                                                .requests_per_s = 20}};

static const struct summary unknown = {.server = {.is_there = true,
                                                  .is_partial = true,
                                                  .looks = 4,
                                                  .failed = 3,
                                                  .running_mean = -1,
                                                  .running_max = -1,
                                                  .waiting_mean = 2,
                                                  .waiting_max = 5,
                                                  .present_mean = -1,
                                                  .client_mean = 1,
                                                  .cache_mean = -1,
                                                  .cache_max = -1,
                                                  .queue_mean_ns = -1,
                                                  .prompt_per_s = -1,
                                                  .generated_per_s = -1,
                                                  .cached_share = -1,
                                                  .preemptions = -1,
                                                  .requests_per_s = -1}};

/* Its metrics are of no known kind. */
static const struct summary strange = {
    .server = {.is_unknown = true, .url = "http://h/metrics"}};

/* Embeddings. */
static const struct summary promptly = {.has_tokens = true,
                                        .server = {.is_there = true,
                                                   .dialect = "vllm",
                                                   .looks = 1,
                                                   .running_mean = -1,
                                                   .running_max = -1,
                                                   .waiting_mean = 2,
                                                   .waiting_max = 5,
                                                   .present_mean = -1,
                                                   .cache_mean = -1,
                                                   .cache_max = -1,
                                                   .queue_mean_ns = -1,
                                                   .prompt_per_s = 1117400.4,
                                                   .cached_share = -1,
                                                   .preemptions = -1}};

TEST(as_a_report_shows_it)
{
    assert_golden_doc("server", doc_of_part(run_doc_server, &shown));
    assert_golden_doc("server-unknown", doc_of_part(run_doc_server, &unknown));
    assert_golden_doc("server-prompts", doc_of_part(run_doc_server, &promptly));
    assert_golden_doc("server-strange", doc_of_part(run_doc_server, &strange));
}

static double number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    assert_true(json_is_number(value));
    return json_number_value(value);
}

TEST(json)
{
    static const struct summary nothing = {0};
    json_t *o = json_object();
    const json_t *server;

    json_decref(o);
    o = doc_json_of(doc_of_part(run_doc_server, &nothing));
    assert_int_equal(json_object_size(o), 0);
    json_decref(o);
    o = doc_json_of(doc_of_part(run_doc_server, &shown));
    server = json_object_get(o, "server");
    assert_string_equal(json_string_value(json_object_get(server, "flavour")),
                        "vllm");
    assert_true(is_near(number(server, "running_mean"), 12.3));
    assert_true(is_near(number(server, "waiting_max"), 40));
    assert_true(is_near(number(server, "queue_mean_ms"), 35.2));
    assert_true(is_near(number(server, "cache_use_max"), 0.61));
    assert_true(is_near(number(server, "in_flight_mean"), 15.4));
    assert_true(is_near(number(server, "client_in_flight_mean"), 15.9));
    assert_true(is_near(number(server, "output_tokens_per_s"), 1234));
    assert_int_equal(number(server, "looks"), 10);
    json_decref(o);
    o = doc_json_of(doc_of_part(run_doc_server, &unknown));
    server = json_object_get(o, "server");
    assert_true(json_is_null(json_object_get(server, "running_mean")));
    assert_string_equal(
        json_string_value(json_object_get(server, "running_mean_note")),
        "not known");
    assert_true(json_is_true(json_object_get(server, "is_partial")));
    assert_true(json_is_true(json_object_get(server, "is_known")));
    json_decref(o);
    o = doc_json_of(doc_of_part(run_doc_server, &strange));
    server = json_object_get(o, "server");
    assert_true(json_is_false(json_object_get(server, "is_known")));
    assert_true(json_is_null(json_object_get(server, "flavour")));
    assert_string_equal(json_string_value(json_object_get(server, "url")),
                        "http://h/metrics");
    json_decref(o);
}
