#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/text/redact.h"
#include "common/text/url.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

TEST(urls_lose_their_secrets)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", ""},
        {"http://h/", "http://h/"},
        {"http://h/?a=1&b=2", "http://h/?a=1&b=2"},
        {"http://h/?api_key=s3cret", "http://h/?api_key=***"},
        {"http://h?KEY=s3cret&a=1", "http://h?KEY=***&a=1"},
        {"http://h/?a=1&token=s3cret#top", "http://h/?a=1&token=***#top"},
        {"http://h/?a=1;sig=s3cret", "http://h/?a=1;sig=***"},
        {"http://h/?sig=s3;cret&b=1", "http://h/?sig=***&b=1"},
        {"http://h/?token=a=b?c&x=1", "http://h/?token=***&x=1"},
        {"http://h/?token=s3cret&sig=more&key=", "http://h/?token=***&sig=***"
                                                 "&key="},
        {"http://h/?api%5fkey=s3cret", "http://h/?api%5fkey=***"},
        {"http://h/?%6bey=s3cret", "http://h/?%6bey=***"},
        {"http://h/?X-Amz-Credential=s3cret", "http://h/?X-Amz-Credential=***"},
        {"http://h/?design=1&passage=2&assigned=3",
         "http://h/?design=1&passage=2&assigned=3"},
        {"http://h/?sid=s3cret&user_pwd=s3cret", "http://h/?sid=***"
                                                 "&user_pwd=***"},
        {"http://h/?key=a&key=ab", "http://h/?key=*&key=**"},
        {"http://h/#access_token=s3cret", "http://h/#access_token=***"},
        {"http://h/key=shown", "http://h/key=shown"},
        {"GET /?key=s3cret HTTP/1.1\r\n", "GET /?key=*** HTTP/1.1\r\n"},
        {"GET /a@b HTTP/1.1\r\n", "GET /a@b HTTP/1.1\r\n"},
        {"http://u:s3cret@h:80/", "http://***@h:80/"},
        {"http://u@h/", "http://*@h/"},
        {"http://u:s3@cret@h/?sig=s3cret", "http://***@h/?sig=***"},
        {"http://u:s3/cret@h/", "http://***@h/"},
        {"u:s3cret@p:3128", "***@p:3128"},
        {"p:3128", "p:3128"},
        {"http://h:80/a@b", "http://h:80/a@b"},
        {"http://[::1]:80/a@b", "http://[::1]:80/a@b"},
        {"http://u:s3cret@[::1]:80/", "http://***@[::1]:80/"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = redact_url(cases[i].text);

        assert_string_equal(got, cases[i].want);
        assert_true(strlen(got) <= strlen(cases[i].text));
        free(got);
    }
}

/* A URL may stand in a command, and there may be several. */
TEST(texts_lose_the_secrets_of_their_urls)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"test -e a:b@c?key=1", "test -e a:b@c?key=1"},
        {"curl http://127.0.0.1:{port}/health; echo a@b",
         "curl http://127.0.0.1:{port}/health; echo a@b"},
        {"curl 'http://h/?session_id=s3cret' http://u:s3cret@g/",
         "curl 'http://h/?session_id=***' http://***@g/"},
        {"curl http://u:s3/cret@h/ http://h/?jwt=s3cret x@y",
         "curl http://***@h/ http://h/?jwt=*** x@y"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = redact_text(cases[i].text);

        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

/* Headers, parameters and settings go by the same list. */
TEST(one_list_decides)
{
    static const struct {
        const char *name;
        bool is_secret;
    } cases[] = {
        {"X-Session-Id", true},
        {"X-Passphrase", true},
        {"X-Hmac", true},
        {"X-SAML-Response", true},
        {"X-Private", true},
        {"X-Ticket", true},
        {"X-Pin", true},
        {"pw", true},
        {"code", true},
        {"X-Decode", false},
        {"X-Spin", false},
        {"PHPSESSIONID", true},
        {"X-JWT-Assertion", true},
        {"X-Signature", true},
        {"Proxy-Credential", true},
        {"x-amz-credential", true},
        {"api_key", true},
        {"passwd", true},
        {"sig", true},
        {"csrf", true},
        {"x-team", false},
        {"design", false},
        {"passage", false},
        {"content-type", false},
        {"traceparent", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *name = cases[i].name;
        char *line = keepf("%s: s3cret", name);
        char *url = keepf("http://h/?%s=s3cret", name);
        const char *argv[] = {"-H", line, NULL};
        char *shown[] = {redact_header(name, "s3cret"), redact_arg(argv, 1),
                         redact_url(url)};

        for (size_t k = 0; k < COUNT(shown); k++) {
            assert_int_equal(!strstr(shown[k], "s3cret"), cases[i].is_secret);
            free(shown[k]);
        }
    }
}

/* The longest URL that is taken is still one afterwards. */
TEST(a_url_stays_one)
{
    char text[2056] = "http://h/?";
    struct err err = {0};
    char *got;

    while (strlen(text) + 6 < sizeof(text))
        memcpy(text + strlen(text), "key=a&", 7);
    assert_int_equal(url_check(text, &err), 0);
    got = redact_url(text);
    assert_int_equal(url_check(got, &err), 0);
    free(got);
}

TEST(headers_lose_their_secrets)
{
    static const struct {
        const char *name;
        const char *value;
        const char *want;
    } cases[] = {
        {"Authorization", "Bearer s3cret", REDACTED},
        {"x-team", "me", "me"},
        {"referer", "http://h/?key=s3cret", "http://h/?key=***"},
        {"from", "me@example.org", "me@example.org"},
        {"X-Session-Id", "s3cret", REDACTED},
        {"X-JWT-Assertion", "s3cret", REDACTED},
        {"X-Signature", "s3cret", REDACTED},
        {"Proxy-Credential", "s3cret", REDACTED},
        {"x-user-pwd", "s3cret", REDACTED},
        {"X-Design", "shown", "shown"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = redact_header(cases[i].name, cases[i].value);

        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

TEST(arguments_lose_their_secrets)
{
    static const struct {
        const char *argv[2];
        const char *want; /* of the last one */
    } cases[] = {
        {{"-H", "cookie: s3cret"}, "cookie: " REDACTED},
        {{"-H", "x-team: me"}, "x-team: me"},
        {{"-H", "referer: http://h/?key=s3cret"}, "referer: http://h/?key=***"},
        {{"-HCookie:s3cret"}, "-HCookie: " REDACTED},
        {{"--header=x-api-key: s3cret"}, "--header=x-api-key: " REDACTED},
        {{"--set", "target.headers=api-key: s3cret"},
         "target.headers=api-key: " REDACTED},
        {{"--set", "target.url=http://h/?key=s3cret"},
         "target.url=http://h/?key=***"},
        {{"--set=target.proxy=u:s3cret@p:1"}, "--set=target.proxy=***@p:1"},
        {{"--proxy", "u:s3cret@p:1"}, "***@p:1"},
        {{"--proxy=http://u:s3cret@p:1"}, "--proxy=http://***@p:1"},
        {{"http://h/?token=s3cret"}, "http://h/?token=***"},
        {{"--url=http://h/?token=s3cret"}, "--url=http://h/?token=***"},
        {{"h:8000/v1?api_key=s3cret"}, "h:8000/v1?api_key=***"},
        {{"h.example/v1?api_key=s3cret"}, "h.example/v1?api_key=***"},
        {{"localhost?token=s3cret"}, "localhost?token=***"},
        {{"--url", "h:80/?a=b&token=s3cret"}, "h:80/?a=b&token=***"},
        {{"--url=h:80?token=s3cret"}, "--url=h:80?token=***"},
        {{"--set", "target.url=h:80/?token=s3cret"},
         "target.url=h:80/?token=***"},
        {{"--set=target.metrics=h:80/m?token=s3cret"},
         "--set=target.metrics=h:80/m?token=***"},
        {{"-qH", "cookie: s3cret"}, "cookie: " REDACTED},
        {{"--start-at", "2026-12-31T23:59:59Z"}, "2026-12-31T23:59:59Z"},
        {{"a.b/chat.yaml"}, "a.b/chat.yaml"},
        {{"--label", "mail=a:b@c"}, "mail=a:b@c"},
        {{"--name=key: shown"}, "--name=key: shown"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *got = redact_arg(cases[i].argv, cases[i].argv[1] ? 1 : 0);

        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

TEST(what_was_redacted_is_known)
{
    static const struct {
        const char *text;
        bool was;
    } cases[] = {
        {"http://h/v1?api_key=abc", true},
        {"http://h/v1?a=1&token=abc&b=2", true},
        {"series http://h/m?token=abc x_watts", true},
        {"http://h/v1?a=***", false},
        {"http://h/v1", false},
        {"auto", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *shown = redact_url(cases[i].text);

        assert_false(redact_was(cases[i].text));
        assert_int_equal(redact_was(shown), cases[i].was);
        free(shown);
    }
    assert_true(redact_was(REDACTED));
}
