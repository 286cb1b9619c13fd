#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/text/url.h"
#include "tests/support/test.h"

TEST(addresses_are_split)
{
    static const struct {
        const char *text;
        struct url want;
    } cases[] = {
        {"http://host", {"http", "host", "80", "/"}},
        {"http://host/", {"http", "host", "80", "/"}},
        {"http://host:8000", {"http", "host", "8000", "/"}},
        {"http://127.0.0.1:1/a/b?c=d&e",
         {"http", "127.0.0.1", "1", "/a/b?c=d&e"}},
        {"http://h?q=1", {"http", "h", "80", "/?q=1"}},
        {"http://h:9#frag", {"http", "h", "9", "/"}},
        {"http://h/p#frag?no", {"http", "h", "80", "/p"}},
        {"http://h/a@b:c", {"http", "h", "80", "/a@b:c"}},
        {"http://[::1]/", {"http", "::1", "80", "/"}},
        {"http://[fe80::1%25eth0]:65535/x",
         {"http", "fe80::1%25eth0", "65535", "/x"}},
        {"HTTP://h/", {"http", "h", "80", "/"}},
        {"null://", {"null", "", "", ""}},
        {"null://whatever:x/y", {"null", "", "", ""}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct url url;

        assert_int_equal(url_check(cases[i].text, &err), 0);
        assert_int_equal(url_parse(cases[i].text, &url, &err), 0);
        assert_string_equal(url.scheme, cases[i].want.scheme);
        assert_string_equal(url.host, cases[i].want.host);
        assert_string_equal(url.port, cases[i].want.port);
        assert_string_equal(url.path, cases[i].want.path);
    }
}

/* http is assumed where the word begins like a host. */
TEST(a_scheme_can_be_missing)
{
    static const struct {
        const char *word;
        bool is_completed;
        bool is_meant; /* as an argument that could be a file */
    } cases[] = {
        {"localhost", true, true},
        {"localhost:8000/v1/chat/completions", true, true},
        {"localhost/v1", true, true},
        {"vllm:8000", true, true},
        {"[::1]:80/x", true, true},
        {"10.0.0.1/v1", true, true},
        {"example.com/v1?x=y", true, true},
        {"example.com", true, false},
        {"chat.yaml", true, false},
        {"runs.d/chat.yaml", true, false},
        {"host:{port}/", true, true},
        {"server", false, false},
        {"scenarios/chat.yaml", false, false},
        {"./localhost:80", false, false},
        {"../a.b/c", false, false},
        {"host:99999", false, false},
        {"/tmp/x:1", false, false},
        {"a=b", false, false},
        {"", false, false},
        {"http://h", false, false},
        {"ftp://h:1", false, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *whole = url_complete(cases[i].word);
        bool is_longer = strlen(whole) > strlen(cases[i].word);

        if (is_longer != cases[i].is_completed ||
            url_is_meant(cases[i].word) != cases[i].is_meant)
            fail_msg("%s: %s", cases[i].word, whole);
        if (is_longer)
            assert_memory_equal(whole, "http://", 7);
        assert_non_null(strstr(whole, cases[i].word));
        free(whole);
    }
}

TEST(ports_have_bounds)
{
    static const char *const cases[] = {"http://h:0/", "http://h:65536/x",
                                        "https://[::1]:123456",
                                        "http://h:00000"};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        char want[200];

        snprintf(want, sizeof(want), "'%s': the port must be from 1 to 65535",
                 cases[i]);
        assert_int_equal(url_check(cases[i], &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
    }
}

TEST(what_is_no_address_is_refused)
{
    static const char *const cases[] = {
        "",
        "host",
        "host:80",
        "http:/host",
        "http://",
        "http:///path",
        "http://:80/",
        "http://h:/",
        "http://h:8o/",
        "http://h:-1/",
        "http://h:+1/",
        "http://h:1:2/",
        "http://[::1",
        "http://[]/",
        "http://[::1]x/",
        "http://[::1]:/",
        "http://::1/",
        "http://h /",
        "http://h/a b",
        "http://h/a\tb",
        "http://h/a\x7f",
        " http://h/",
        "averyveryverylongscheme://h/",
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        char want[200];

        snprintf(want, sizeof(want),
                 "'%s' is not a URL; write http://host:port/path", cases[i]);
        for (char *p = want; *p; p++) {
            if (*p == '\t' || *p == 0x7f)
                *p = '?';
        }
        assert_int_equal(url_check(cases[i], &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
    }
}

/* Nor is the password repeated. */
TEST(passwords_are_refused)
{
    static const char *const cases[] = {"http://u:p@h/", "http://u@h/"};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(url_check(cases[i], &err), -1);
        assert_string_equal(err.msg, "a URL cannot contain a user or password; "
                                     "send it in a header (-H)");
    }
}

TEST(messages_repeat_no_secrets)
{
    static const char *const cases[] = {
        "http://h:x/?api_key=s3cret", "ftp://h/?sig=s3cret",
        "h:80/?token=s3cret",         "http://u:s3c/s3cret@h/",
        "http://h/ ?key=s3cret",      "ftp://u:s3cret@h/",
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(url_check(cases[i], &err), -1);
        assert_null(strstr(err.msg, "s3c"));
    }
}

TEST(other_schemes_are_named)
{
    struct err err = {0};

    assert_int_equal(url_check("ftp://h/", &err), -1);
    assert_string_equal(err.msg,
                        "'ftp://h/': the scheme 'ftp' is not supported; write "
                        "http://, https://, grpc://, grpcs:// or null://");
}

/* A line break would end the request line early. */
TEST(line_breaks_are_refused)
{
    struct err err = {0};

    assert_int_equal(url_check("http://h/\r\nx-injected: 1", &err), -1);
    assert_string_equal(err.msg, "'http://h/??x-injected: 1' is not a URL; "
                                 "write http://host:port/path");
}

/* n is the length of the part that is put in. */
TEST(lengths_are_bounded)
{
    static const struct {
        const char *before;
        size_t n;
        const char *after;
        int want;
    } cases[] = {
        {"http://", 255, "/", 0},   {"http://", 256, "/", -1},
        {"http://[", 255, "]/", 0}, {"http://[", 256, "]/", -1},
        {"http://h/", 2046, "", 0}, {"http://h/", 2047, "", -1},
        {"http://h?", 2045, "", 0}, {"http://h?", 2046, "", -1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        char middle[2100];
        char text[2200];

        memset(middle, 'x', cases[i].n);
        middle[cases[i].n] = '\0';
        snprintf(text, sizeof(text), "%s%s%s", cases[i].before, middle,
                 cases[i].after);
        assert_int_equal(url_check(text, &err), cases[i].want);
    }
}

TEST(proxies)
{
    static const char *const good[] = {
        "http://h",
        "http://h:1/",
        "h:3128",
        "h",
        "me:pass@h:1",
        "https://me@h",
        "socks4://h",
        "socks4a://h:1080",
        "SOCKS5://me:p%40ss@h",
        "socks5h://[::1]:1",
        "http://[fe80::1%25eth0]:1",
    };
    static const char *const bad[] = {
        "",
        "pigeon://me:pass@h",
        "http://",
        "http://me:pass@",
        "http://h:0",
        "http://h:65536",
        "me:pa/ss@h",
        "http://h:1x",
        "http://a b",
        "http://a[b",
        "http://h:1\n",
        "://h",
        "http://me:p@ss@h:1",
        "http://[zz]:1",
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        struct err err = {0};

        assert_int_equal(url_check_proxy(good[i], &err), 0);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err err = {0};

        assert_int_equal(url_check_proxy(bad[i], &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_null(strstr(err.msg, "pa"));
    }
}

TEST(places)
{
    static const char *const bad[] = {"",       "h",       "h:",    "h:0",
                                      ":80",    "h:80/",   "h:x",   "[::1]",
                                      "::1:80", "me@h:80", "a b:1", "h:1:2"};
    struct err err = {0};
    struct url url;

    assert_int_equal(url_check_place("h:80", &err), 0);
    assert_int_equal(url_parse_place("[::1]:8000", &url, &err), 0);
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.port, "8000");
    for (size_t i = 0; i < COUNT(bad); i++) {
        err = (struct err){0};
        if (url_check_place(bad[i], &err) != -1)
            fail_msg("'%s' is a place", bad[i]);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

TEST(origins)
{
    static const struct {
        const char *a;
        const char *b;
        bool is_same;
    } cases[] = {
        {"http://h/", "http://h:80/v1?a=b", true},
        {"https://h/", "https://H:443/", true},
        {"http://[::1]:80/", "http://[::1]/", true},
        {"http://h:1/", "http://h:2/", false},
        {"http://h/", "https://h/", false},
        {"http://h:443/", "https://h/", false},
        {"http://h/", "http://g/", false},
        {"http://h/", "http://h.g/", false},
        {"http://localhost/", "http://127.0.0.1/", false},
        {"grpc://h:1", "http://h:1/", false},
        {"grpc://h:1", "grpc://h:1/a.B/C", true},
        {"http://h/", "h", false},
        {"h", "h", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        if (url_same_origin(cases[i].a, cases[i].b) != cases[i].is_same ||
            url_same_origin(cases[i].b, cases[i].a) != cases[i].is_same)
            fail_msg("%s, %s", cases[i].a, cases[i].b);
    }
}
