/* The bytes of a request, and what cannot be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/target.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct asked {
    const char *url;
    const char *method;
    const char *body;
    const char *headers[2][2]; /* name, value */
    bool request_id;
};

static struct target_settings settings_of(const struct asked *a)
{
    struct target_settings s = {
        .method = xstrdup(a->method),
        .body = a->body ? xstrdup(a->body) : NULL,
        .request_id = a->request_id,
    };

    strlist_add(&s.urls, a->url);
    for (size_t i = 0; i < COUNT(a->headers) && a->headers[i][0]; i++)
        strmap_put(&s.headers, a->headers[i][0], a->headers[i][1]);
    return s;
}

static int init(struct targets *t, const struct asked *a, struct err *err)
{
    struct target_settings s = settings_of(a);
    int rc = targets_init(t, &s, err);

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

static void requests_are_exactly_these_bytes(void **state)
{
    (void)state;
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

static void the_id_has_a_place_only_if_asked(void **state)
{
    struct asked a = {.url = "http://127.0.0.1:1/", .method = "GET"};
    struct targets t;
    struct err err = {0};

    (void)state;
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

static void a_body_may_come_from_a_file(void **state)
{
    static const char bytes[] = "a\0b\r\n\xff"; /* whatever is in it */
    char *body = xasprintf("@%s", tmpdir_write("body", bytes, sizeof(bytes)));
    struct asked a = {
        .url = "http://127.0.0.1:1/", .method = "POST", .body = body};
    struct targets t;
    struct err err = {0};

    (void)state;
    assert_int_equal(init(&t, &a, &err), 0);
    assert_non_null(strstr(t.items->request.data, "\r\nContent-Length: 7\r\n"));
    assert_memory_equal(t.items->request.data + t.items->request.len -
                            sizeof(bytes),
                        bytes, sizeof(bytes));
    assert_memory_equal(t.items->request.data + t.items->request.len -
                            sizeof(bytes) - 4,
                        "\r\n\r\n", 4);
    targets_fini(&t);
    free(body);
}

static void addresses_are_of_the_asked_family(void **state)
{
    struct asked four = {.url = "http://127.0.0.1:1/", .method = "GET"};
    struct asked six = {.url = "http://[::1]:1/", .method = "GET"};
    struct asked none = {.url = "null://", .method = "GET"};
    struct targets t;
    struct err err = {0};

    (void)state;
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
    {{LOCAL, .method = ""}, ERR_CONFIG, "target.method: '' is no method"},
    {{LOCAL, .method = "GET /"}, ERR_CONFIG, "target.method: 'GET /' is no"},
    {{LOCAL, .method = "GET", .headers = {{"", "x"}}},
     ERR_CONFIG,
     "target.headers: '' cannot be a header"},
    {{LOCAL, .method = "GET", .headers = {{"a b", "x"}}},
     ERR_CONFIG,
     "target.headers: 'a b' cannot be a header"},
    {{LOCAL, .method = "GET", .headers = {{"a\x01", "x"}}},
     ERR_CONFIG,
     "target.headers: 'a?' cannot be a header"},
    {{LOCAL, .method = "GET", .headers = {{"a", "x\r\nb: y"}}},
     ERR_CONFIG,
     "target.headers: 'a' cannot be a header"},
    {{LOCAL, .method = "GET", .headers = {{"Content-length", "3"}}},
     ERR_CONFIG,
     "target.headers: 'Content-length' is set from the body"},
    {{LOCAL, .method = "GET", .headers = {{"transfer-encoding", "chunked"}}},
     ERR_CONFIG,
     "target.headers: 'transfer-encoding' is set from the body"},
    {{LOCAL, .method = "POST", .body = "@/no/such/file"},
     ERR_CONFIG,
     "target.body: /no/such/file: "},
    /* No name can have such a label, so nobody is asked for it. */
    {{.url = "http://a234567890123456789012345678901234567890123456789012345678"
             "901234.invalid/",
      .method = "GET"},
     ERR_IO,
     "a2345678901234567890"},
};

static void what_cannot_be_sent_is_refused(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_exactly_these_bytes),
        cmocka_unit_test(the_id_has_a_place_only_if_asked),
        cmocka_unit_test(a_body_may_come_from_a_file),
        cmocka_unit_test(addresses_are_of_the_asked_family),
        cmocka_unit_test(what_cannot_be_sent_is_refused),
    };

    return cmocka_run_group_tests_name("target", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
