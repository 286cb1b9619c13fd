/* The bytes of a request, and what cannot be one. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/target.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

struct asked {
    const char *url;
    const char *second; /* URL; NULL: none */
    const char *method;
    const char *body;
    const char *headers[2][2]; /* name, value */
    bool request_id;
    bool no_keepalive;
};

static struct target_settings settings_of(const struct asked *a)
{
    struct target_settings s = {
        .method = xstrdup(a->method),
        .body = a->body ? xstrdup(a->body) : NULL,
        .request_id = a->request_id,
        .no_keepalive = a->no_keepalive,
    };

    strlist_add(&s.urls, a->url);
    if (a->second)
        strlist_add(&s.urls, a->second);
    for (size_t i = 0; i < COUNT(a->headers) && a->headers[i][0]; i++)
        strmap_put(&s.headers, a->headers[i][0], a->headers[i][1]);
    return s;
}

static int init(struct targets *t, const struct asked *a, struct err *err)
{
    struct target_settings s = settings_of(a);
    int rc = targets_init(t, &s, NULL, err);

    strlist_fini(&s.urls);
    free(s.method);
    free(s.body);
    strmap_fini(&s.headers);
    return rc;
}

static const struct {
    struct asked asked;
    const char *want;
} requests[] = {
    {{.url = "http://127.0.0.1:8000/v1/x?y=1#z", .method = "GET"},
     "GET /v1/x?y=1 HTTP/1.1\r\n"
     "Host: 127.0.0.1:8000\r\n"
     "User-Agent: tailgate\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1", .method = "HEAD"},
     "HEAD / HTTP/1.1\r\n"
     "Host: 127.0.0.1:80\r\n"
     "User-Agent: tailgate\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1:81/", .method = "POST", .body = "{\"a\": 1}"},
     "POST / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "Content-Type: application/json\r\n"
     "Content-Length: 8\r\n"
     "\r\n"
     "{\"a\": 1}"},
    {{.url = "http://127.0.0.1:81/", .method = "PUT", .body = ""},
     "PUT / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "Content-Type: application/json\r\n"
     "Content-Length: 0\r\n"
     "\r\n"},
    {{.url = "http://[::1]:8080/six", .method = "GET"},
     "GET /six HTTP/1.1\r\n"
     "Host: [::1]:8080\r\n"
     "User-Agent: tailgate\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1:81/",
      .method = "GET",
      .headers = {{"HOST", "example.org"}, {"user-AGENT", "me"}}},
     "GET / HTTP/1.1\r\n"
     "HOST: example.org\r\n"
     "user-AGENT: me\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1:81/",
      .method = "POST",
      .body = "x",
      .headers = {{"content-type", "text/plain"}, {"x-team", "search"}}},
     "POST / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "Content-Length: 1\r\n"
     "content-type: text/plain\r\n"
     "x-team: search\r\n"
     "\r\n"
     "x"},
    {{.url = "http://127.0.0.1:81/", .method = "GET", .no_keepalive = true},
     "GET / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "Connection: close\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1:81/",
      .method = "GET",
      .headers = {{"connection", "keep-alive"}},
      .no_keepalive = true},
     "GET / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "connection: keep-alive\r\n"
     "\r\n"},
    {{.url = "http://127.0.0.1:81/",
      .method = "POST",
      .body = "id",
      .request_id = true},
     "POST / HTTP/1.1\r\n"
     "Host: 127.0.0.1:81\r\n"
     "User-Agent: tailgate\r\n"
     "Content-Type: application/json\r\n"
     "Content-Length: 2\r\n"
     "x-tailgate-id: 000000000000000000\r\n"
     "\r\n"
     "id"},
};

TEST(requests_are_exactly_these_bytes)
{
    for (size_t i = 0; i < COUNT(requests); i++) {
        const struct asked *a = &requests[i].asked;
        struct targets t;
        struct err err = {0};

        assert_int_equal(init(&t, a, &err), 0);
        assert_int_equal(t.len, 1);
        assert_string_equal(buf_text(&t.items->request), requests[i].want);
        assert_int_equal(t.items->request.len, strlen(requests[i].want));
        assert_int_equal(t.is_head, strcmp(a->method, "HEAD") == 0);
        assert_int_equal(t.n_endpoints, 1);
        assert_ptr_equal(t.endpoints[0].target, t.items);
        targets_fini(&t);
    }
}

TEST(the_id_has_a_place_only_if_asked)
{
    struct asked a = {.url = "http://127.0.0.1:1/", .method = "GET"};
    struct targets t;
    struct err err = {0};

    assert_int_equal(init(&t, &a, &err), 0);
    assert_int_equal(t.items->id_at, 0);
    assert_null(strstr(buf_text(&t.items->request), "x-tailgate-id"));
    targets_fini(&t);
    a.request_id = true;
    assert_int_equal(init(&t, &a, &err), 0);
    assert_ptr_equal(t.items->request.data + t.items->id_at,
                     strstr(t.items->request.data, "x-tailgate-id: ") + 15);
    assert_int_equal(strspn(t.items->request.data + t.items->id_at, "0"),
                     TARGET_ID_DIGITS);
    assert_memory_equal(
        t.items->request.data + t.items->id_at + TARGET_ID_DIGITS, "\r\n", 2);
    targets_fini(&t);
}

TEST(a_body_may_come_from_a_file)
{
    static const char bytes[] = "a\0b\r\n\xff"; /* whatever is in it */
    char *body = keepf("@%s", tmpdir_write("body", bytes, sizeof(bytes)));
    struct asked a = {
        .url = "http://127.0.0.1:1/", .method = "POST", .body = body};
    struct targets t;
    struct err err = {0};

    assert_int_equal(init(&t, &a, &err), 0);
    assert_non_null(strstr(t.items->request.data, "\r\nContent-Length: 7\r\n"));
    assert_memory_equal(t.items->request.data + t.items->request.len -
                            sizeof(bytes),
                        bytes, sizeof(bytes));
    assert_memory_equal(t.items->request.data + t.items->request.len -
                            sizeof(bytes) - 4,
                        "\r\n\r\n", 4);
    targets_fini(&t);
}

TEST(addresses_are_of_the_asked_family)
{
    struct asked four = {.url = "http://127.0.0.1:1/", .method = "GET"};
    struct asked six = {.url = "http://[::1]:1/", .method = "GET"};
    struct asked none = {.url = "null://", .method = "GET"};
    struct targets t;
    struct err err = {0};

    assert_int_equal(init(&t, &four, &err), 0);
    assert_int_equal(t.endpoints->address->ai_family, AF_INET);
    targets_fini(&t);
    assert_int_equal(init(&t, &six, &err), 0);
    assert_int_equal(t.endpoints->address->ai_family, AF_INET6);
    targets_fini(&t);
    assert_int_equal(init(&t, &none, &err), 0);
    assert_int_equal(t.n_endpoints, 0);
    targets_fini(&t);
}

#define LOCAL .url = "http://127.0.0.1:1/"

static const struct {
    struct asked asked;
    enum err_code code;
    const char *want; /* how the message begins */
} refusals[] = {
    {{.url = "127.0.0.1", .method = "GET"}, ERR_CONFIG, "target.url: '127.0"},
    {{.url = "ftp://h/", .method = "GET"}, ERR_CONFIG, "target.url: 'ftp:"},
    {{LOCAL, .second = "null://", .method = "GET"},
     ERR_CONFIG,
     "target.url: http and null cannot be combined"},
    {{.url = "null://", .second = "http://127.0.0.1:1/", .method = "GET"},
     ERR_CONFIG,
     "target.url: null and http cannot be combined"},
    {{LOCAL, .second = "nonsense", .method = "GET"},
     ERR_CONFIG,
     "target.url: 'nonsense'"},
    {{LOCAL, .method = ""},
     ERR_CONFIG,
     "target.method: '' is not a valid method"},
    {{LOCAL, .method = "GET /"}, ERR_CONFIG, "target.method: 'GET /' is no"},
    {{LOCAL, .method = "GET", .headers = {{"", "x"}}},
     ERR_CONFIG,
     "target.headers: '' is not a valid header name"},
    {{LOCAL, .method = "GET", .headers = {{"a b", "x"}}},
     ERR_CONFIG,
     "target.headers: 'a b' is not a valid header name"},
    {{LOCAL, .method = "GET", .headers = {{"a\x01", "x"}}},
     ERR_CONFIG,
     "target.headers: 'a?' is not a valid header name"},
    {{LOCAL, .method = "GET", .headers = {{"a", "x\r\nb: y"}}},
     ERR_CONFIG,
     "target.headers: the value of 'a' contains a line break"},
    {{LOCAL, .method = "GET", .headers = {{"Content-length", "3"}}},
     ERR_CONFIG,
     "target.headers: 'Content-length' cannot be set; it follows from the "
     "body"},
    {{LOCAL, .method = "GET", .headers = {{"transfer-encoding", "chunked"}}},
     ERR_CONFIG,
     "target.headers: 'transfer-encoding' cannot be set; it follows from the "
     "body"},
    {{LOCAL, .method = "POST", .body = "@/no/such/file"},
     ERR_CONFIG,
     "target.body: /no/such/file: "},
    /* No name can have such a label, so no server is asked for it. */
    {{.url = "http://a234567890123456789012345678901234567890123456789012345678"
             "901234.invalid/",
      .method = "GET"},
     ERR_IO,
     "a2345678901234567890"},
};

TEST(what_cannot_be_sent_is_refused)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct targets t;
        struct err err = {0};

        assert_int_equal(init(&t, &refusals[i].asked, &err), -1);
        assert_int_equal(err.code, refusals[i].code);
        assert_memory_equal(err.msg, refusals[i].want,
                            strlen(refusals[i].want));
        targets_fini(&t);
    }
}

/* ---- several ---- */

TEST(each_url_has_its_own_request)
{
    struct asked a = {.url = "http://127.0.0.1:81/one",
                      .second = "http://[::1]:82/two",
                      .method = "GET"};
    struct targets t;
    struct err err = {0};

    assert_int_equal(init(&t, &a, &err), 0);
    assert_int_equal(t.len, 2);
    assert_string_equal(buf_text(&t.items[0].request),
                        "GET /one HTTP/1.1\r\nHost: 127.0.0.1:81\r\n"
                        "User-Agent: tailgate\r\n\r\n");
    assert_string_equal(buf_text(&t.items[1].request),
                        "GET /two HTTP/1.1\r\nHost: [::1]:82\r\n"
                        "User-Agent: tailgate\r\n\r\n");
    assert_int_equal(t.n_endpoints, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(t.items[i].first_endpoint, i);
        assert_int_equal(t.items[i].n_endpoints, 1);
        assert_ptr_equal(t.endpoints[i].target, &t.items[i]);
        assert_ptr_equal(t.endpoints[i].address, t.items[i].resolved);
    }
    targets_fini(&t);
    targets_fini(&t);
}

/* Targets take turns, and so do the addresses of each. */
TEST(routes_go_round)
{
    static const struct {
        size_t endpoints[3]; /* of each target; 0: no such target */
        size_t want[9];
    } cases[] = {
        {{1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {{3}, {0, 1, 2, 0, 1, 2, 0, 1, 2}},
        {{1, 1}, {0, 1, 0, 1, 0, 1, 0, 1, 0}},
        {{2, 1}, {0, 2, 1, 2, 0, 2, 1, 2, 0}},
        {{2, 3, 1}, {0, 2, 5, 1, 3, 5, 0, 4, 5}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct target items[3] = {{.id_at = 0}};
        struct targets ts = {.items = items, .n_lanes = 1};

        for (; ts.len < 3 && cases[i].endpoints[ts.len] > 0; ts.len++) {
            items[ts.len].first_endpoint = ts.n_endpoints;
            items[ts.len].n_endpoints = cases[i].endpoints[ts.len];
            ts.n_endpoints += cases[i].endpoints[ts.len];
        }
        for (int64_t seq = 0; seq < 9; seq++)
            assert_int_equal(targets_route(&ts, seq), cases[i].want[seq]);
    }
}

/* Workers of a closed loop number their own requests; each goes round all
 * targets. */
TEST(every_lane_takes_turns)
{
    static const size_t want[2][4] = {{0, 1, 0, 1}, {1, 0, 1, 0}};
    struct target items[2] = {{.n_endpoints = 1},
                              {.first_endpoint = 1, .n_endpoints = 1}};
    struct targets ts = {.items = items, .len = 2, .n_lanes = 2};

    for (int64_t worker = 0; worker < 2; worker++) {
        for (int64_t k = 0; k < 4; k++)
            assert_int_equal(targets_route(&ts, worker + 2 * k),
                             want[worker][k]);
    }
}

/* ---- who answers ---- */

#define N_ADDRESSES 4

static const struct target_settings patient = {.connect_timeout_ns =
                                                   5 * NS_PER_S};

/* Two targets with two addresses each, on ports of their own. */
struct addresses {
    struct sockaddr_in sockets[N_ADDRESSES];
    struct addrinfo infos[N_ADDRESSES];
    int listeners[N_ADDRESSES];
    /* -1: nothing listens */
    struct target items[2];
    struct endpoint endpoints[N_ADDRESSES];
    struct targets targets;
    struct strlist said;
};

static void addresses_begin(struct addresses *a, const bool *answers)
{
    *a = (struct addresses){.targets = {.items = a->items,
                                        .len = 2,
                                        .endpoints = a->endpoints,
                                        .n_endpoints = N_ADDRESSES}};
    for (size_t i = 0; i < N_ADDRESSES; i++) {
        struct target *t = &a->items[i / 2];

        a->listeners[i] = loopback_listen(&a->sockets[i], 16);
        a->infos[i] =
            (struct addrinfo){.ai_family = AF_INET,
                              .ai_addrlen = sizeof(a->sockets[i]),
                              .ai_addr = (struct sockaddr *)&a->sockets[i]};
        a->endpoints[i] = (struct endpoint){t, &a->infos[i], i};
        t->resolved = &a->infos[i / 2 * 2];
        t->first_endpoint = i / 2 * 2;
        t->n_endpoints = 2;
    }
    for (size_t i = 0; i < N_ADDRESSES; i++) {
        if (!answers[i])
            close(a->listeners[i]);
    }
}

static void addresses_end(struct addresses *a, const bool *answers)
{
    for (size_t i = 0; i < N_ADDRESSES; i++) {
        if (answers[i])
            close(a->listeners[i]);
    }
    strlist_fini(&a->said);
}

static void check_said(const struct addresses *a, size_t i, bool answers)
{
    char *want = keepf("127.0.0.1:%d%s", ntohs(a->sockets[i].sin_port),
                       answers ? "" : ": Connection refused");

    assert_string_equal(a->said.items[i], want);
}

TEST(who_does_not_answer_is_dropped)
{
    static const struct {
        bool answers[N_ADDRESSES];
        size_t n[2]; /* kept of each target */
        size_t kept[N_ADDRESSES];
    } cases[] = {
        {{true, true, true, true}, {2, 2}, {0, 1, 2, 3}},
        {{false, true, true, true}, {1, 2}, {1, 2, 3}},
        {{true, false, false, true}, {1, 1}, {0, 3}},
        {{true, true, true, false}, {2, 1}, {0, 1, 2}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct addresses a;
        struct err err = {0};

        addresses_begin(&a, cases[i].answers);
        assert_int_equal(targets_probe(&a.targets, &patient, &a.said, &err), 0);
        assert_int_equal(a.targets.n_endpoints, cases[i].n[0] + cases[i].n[1]);
        assert_int_equal(a.items[0].first_endpoint, 0);
        assert_int_equal(a.items[1].first_endpoint, cases[i].n[0]);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(a.items[k].n_endpoints, cases[i].n[k]);
        for (size_t k = 0; k < a.targets.n_endpoints; k++)
            assert_ptr_equal(a.endpoints[k].address,
                             &a.infos[cases[i].kept[k]]);
        assert_int_equal(a.said.len, N_ADDRESSES);
        for (size_t k = 0; k < N_ADDRESSES; k++)
            check_said(&a, k, cases[i].answers[k]);
        addresses_end(&a, cases[i].answers);
    }
}

/* One of the targets has no address left, whatever the other answers. */
TEST(a_target_that_does_not_answer_is_an_error)
{
    static const bool cases[][N_ADDRESSES] = {
        {false, false, true, true},
        {true, true, false, false},
        {false, false, false, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct addresses a;
        struct err err = {0};

        addresses_begin(&a, cases[i]);
        assert_int_equal(targets_probe(&a.targets, &patient, &a.said, &err),
                         -1);
        assert_int_equal(err.code, ERR_IO);
        assert_string_equal(err.msg, a.said.items[a.said.len - 1]);
        check_said(&a, i == 1 ? 3 : 1, false);
        addresses_end(&a, cases[i]);
    }
}

TEST(nobody_is_asked_for_null)
{
    struct asked a = {.url = "null://", .method = "GET"};
    struct strlist said = {0};
    struct targets t;
    struct err err = {0};

    assert_int_equal(init(&t, &a, &err), 0);
    assert_int_equal(targets_probe(&t, &patient, &said, &err), 0);
    assert_int_equal(said.len, 0);
    targets_fini(&t);
}

/* Everything of the target's own goes nowhere else. */
TEST(only_the_target_gets_credentials)
{
    static const struct {
        const char *url;
        bool is_target;
    } cases[] = {
        {"http://a:1/health", true},   {"http://b:2/metrics?x=1", true},
        {"http://a:2/health", false},  {"http://c:1/", false},
        {"https://a:1/health", false}, {"grpc://a:1/", false},
    };
    struct asked asked = {.url = "http://a:1/",
                          .second = "http://b:2/",
                          .method = "POST",
                          .headers = {{"X-Api-Key", "k"}}};
    struct target_settings s = settings_of(&asked);
    char text[] = "text";

    s.auth_env = s.auth_file = s.cert = s.key = text;
    s.unix_socket = s.connect_to = s.ca_file = text;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *url = xstrdup(cases[i].url);
        char *own = cases[i].is_target ? text : NULL;
        struct target_settings t;

        target_aim(&t, &s, &url);
        assert_int_equal(t.urls.len, 1);
        assert_string_equal(t.urls.items[0], cases[i].url);
        assert_int_equal(t.headers.keys.len, cases[i].is_target ? 1 : 0);
        assert_ptr_equal(t.auth_env, own);
        assert_ptr_equal(t.auth_file, own);
        assert_ptr_equal(t.cert, own);
        assert_ptr_equal(t.key, own);
        assert_ptr_equal(t.unix_socket, own);
        assert_ptr_equal(t.connect_to, own);
        assert_ptr_equal(t.ca_file, text);
        free(url);
    }
    strlist_fini(&s.urls);
    strmap_fini(&s.headers);
    free(s.method);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
