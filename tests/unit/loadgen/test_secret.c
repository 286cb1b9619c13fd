#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/prepare/target.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* The secrets of a target with this URL, proxy and header. */
static struct strlist secrets_of(const char *url, const char *proxy,
                                 const char *line)
{
    struct target item = {.text = url};
    struct targets ts = {.items = &item, .len = 1};
    struct target_settings s = {0};
    struct strlist secrets = {0};

    s.proxy = proxy ? xstrdup(proxy) : NULL;
    strlist_add(&ts.headers, "x-team: nobody");
    if (line)
        strlist_add(&ts.headers, line);
    secrets_find(&ts, &s, &secrets);
    strlist_fini(&ts.headers);
    free(s.proxy);
    return secrets;
}

TEST(what_comes_back_is_crossed_out)
{
    static const struct {
        const char *url;
        const char *proxy;
        const char *line;
        const char *said;
        const char *want;
    } cases[] = {
        {"http://h/", NULL, NULL, "nobody there", "nobody there"},
        {"http://h/", NULL, "Authorization: Bearer sk-123", "bad key sk-123!",
         "bad key ******!"},
        {"http://h/", NULL, "Authorization: Bearer sk-123",
         "got 'Bearer sk-123', want Bearer",
         "got 'Bearer ******', want Bearer"},
        {"http://h/", NULL, "authorization: bearer sk-123", "a bearer",
         "a bearer"},
        {"http://h/", NULL, "Authorization: Basic YWJjZA==", "YWJjZA is wrong",
         "****** is wrong"},
        {"http://h/", NULL, "cookie: session=abcdef; b=12345",
         "session abcdef of 12345", "session ****** of *****"},
        {"http://h/", NULL, "authorization: Digest u=\"me\", r=\"abcdef\"",
         "<abcdef>", "<******>"},
        {"http://h/", NULL, "x-api-key: abcd", "abcd abc", "**** abc"},
        {"http://h/", NULL, "x-api-key: abc", "abc", "abc"}, /* too short */
        {"http://h/?sig=abcdef&a=shown", NULL, NULL, "no /?sig=abcdef&a=shown",
         "no /?sig=******&a=shown"},
        {"http://h/?sig=ab%2Fcdef", NULL, NULL, "ab/cdef, ab%2Fcdef",
         "*******, *********"},
        {"http://h/", "http://me:pa%20ss@p:1", NULL, "me, 'pa ss', me:pa%20ss",
         "me, '*****', **********"},
        {"http://h/", "http://me:abcd@p", NULL, "Basic bWU6YWJjZA==!",
         "Basic ************!"},
        {"http://h/", "u:abcde@p", NULL, "dTphYmNkZQ", "**********"},
        {"http://h/", "me:abcdef@p", NULL, "bWU6YWJjZGVm", "************"},
        {"http://h/?key=abcd", NULL, "x-api-key: abcdefgh", "abcdefgh abcd",
         "******** ****"},
        {"http://h/", NULL, "x-api-key: abcdefgh", "cut off: abcdef",
         "cut off: ******"},
        {"http://h/", NULL, "x-api-key: ****", "**** is no key, ****",
         "**** is no key, ****"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct strlist secrets =
            secrets_of(cases[i].url, cases[i].proxy, cases[i].line);
        struct failures f = {0};

        failures_note(&f, 1, 0, cases[i].said, cases[i].said,
                      strlen(cases[i].said));
        secrets_redact_failures(&secrets, &f);
        assert_string_equal(f.kinds[0].text, cases[i].want);
        assert_memory_equal(f.kinds[0].body, cases[i].want,
                            strlen(cases[i].want));
        strlist_fini(&secrets);
    }
}

TEST(exchanges_are_shown_without_secrets)
{
    static const struct {
        const char *bytes;
        const char *want;
    } cases[] = {
        {"", ""},
        {"GET /?key=x HTTP/1.1\r\nAuthorization: Bearer x\r\nA: b\r\n\r\nbody",
         "GET /?key=* HTTP/1.1\r\nAuthorization: (redacted)\r\nA: b\r\n\r\n"
         "body"},
        {"HTTP/1.1 200 OK\r\nSet-Cookie: x\r\n\r\nCookie: as it is\r\n",
         "HTTP/1.1 200 OK\r\nSet-Cookie: (redacted)\r\n\r\nCookie: as it is"
         "\r\n"},
        {"HTTP/1.1 200 OK\nSet-Cookie: x\n y\nA: b\n\n",
         "HTTP/1.1 200 OK\nSet-Cookie: (redacted)\r\nA: b\n\n"},
        {"HTTP/1.1 103 Hints\r\nset-cookie: x\r\n\r\nHTTP/1.1 200 OK\r\n"
         "set-cookie: y\r\n\r\n",
         "HTTP/1.1 103 Hints\r\nset-cookie: (redacted)\r\n\r\nHTTP/1.1 200 OK"
         "\r\nset-cookie: (redacted)\r\n\r\n"},
        {"CONNECT h:443 HTTP/1.1\r\nProxy-Authorization: x\r\n\r\nGET / HTTP/2"
         "\r\nauthorization: x\r\n\r\nbody: y",
         "CONNECT h:443 HTTP/1.1\r\nProxy-Authorization: (redacted)\r\n\r\n"
         "GET / HTTP/2\r\nauthorization: (redacted)\r\n\r\nbody: y"},
        {"HTTP/1.1 400 No\r\n\r\nyou sent sk-planted",
         "HTTP/1.1 400 No\r\n\r\nyou sent **********"},
        {"HTTP/1.1 200 OK\r\nX-Echo: sk-planted\r\nSet-Cook",
         "HTTP/1.1 200 OK\r\nX-Echo: **********\r\nSet-Cook"},
        {"SSH-2.0-x\r\n", "SSH-2.0-x\r\n"},
    };
    struct strlist secrets =
        secrets_of("http://h/", NULL, "x-api-key: sk-planted");

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf bytes;
        struct buf out;

        buf_init(&bytes, 1000);
        buf_init(&out, 1000);
        buf_adds(&bytes, cases[i].bytes);
        secrets_redact_http(&secrets, &bytes, &out);
        assert_string_equal(buf_text(&out), cases[i].want);
        buf_fini(&bytes);
        buf_fini(&out);
    }
    strlist_fini(&secrets);
}

TEST(keys_are_read)
{
    static const struct {
        const char *env;  /* value of SECRET_TEST; NULL: not from there */
        const char *file; /* content; NULL: not from there */
        const char *want;
        const char *wrong;
    } cases[] = {
        {"sk-1", NULL, "Authorization: Bearer sk-1", NULL},
        {"Basic abc=", NULL, "Authorization: Basic abc=", NULL},
        {NULL, "sk-2\r\n", "Authorization: Bearer sk-2", NULL},
        {NULL, "a\nb\n", NULL,
         "target.auth_file must contain one line with a key"},
        {NULL, " \n", NULL,
         "target.auth_file must contain one line with a key"},
        {"", NULL, NULL,
         "target.auth_env: the variable 'SECRET_TEST' is not set"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct target_settings s = {0};
        struct strlist lines = {0};
        struct err err = {0};
        int rc;

        if (cases[i].env) {
            assert_int_equal(setenv("SECRET_TEST", cases[i].env, 1), 0);
            s.auth_env = xstrdup("SECRET_TEST");
        }
        if (cases[i].file)
            s.auth_file = xstrdup(
                tmpdir_write("key", cases[i].file, strlen(cases[i].file)));
        rc = secret_add_header(&s, &lines, &err);
        assert_int_equal(rc, cases[i].wrong ? -1 : 0);
        assert_string_equal(err.msg, cases[i].wrong ? cases[i].wrong : "");
        assert_int_equal(lines.len, cases[i].want ? 1 : 0);
        if (cases[i].want)
            assert_string_equal(lines.items[0], cases[i].want);
        strlist_fini(&lines);
        free(s.auth_env);
        free(s.auth_file);
    }
}

/* Somebody who gives the key instead of its place is not quoted. */
TEST(a_key_for_a_name_is_not_repeated)
{
    struct target_settings s = {0};
    struct strlist lines = {0};
    struct err err = {0};

    s.auth_env = xstrdup("sk-planted");
    assert_int_equal(secret_add_header(&s, &lines, &err), -1);
    assert_string_equal(err.msg,
                        "target.auth_env must be the name of a variable");
    free(s.auth_env);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
