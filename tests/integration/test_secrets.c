/* A planted key, given in every way there is, reaches the server, which echoes
 * it, and nothing that tailgate writes. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/echoserver.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define KEY       "sk-planted-7d1f"
#define BASIC     "bWU6c2stcGxhbnRlZC03ZDFm" /* me:KEY */
#define MAX_WORDS 24
#define MAX_BYTES ((size_t)4 << 20)
#define RECORDED  (-1) /* the status is that of the recording */

/* One way; "%s" in a word is the server's URL, "%k" the file with the key, and
 * "%y" one with the settings. */
static const struct way {
    const char *words[4];
    const char *settings; /* of that file */
    const char *received; /* what the server must get */
} ways[] = {
    {{"%s", "--auth-env", "PLANTED_KEY"}, NULL, "Authorization: Bearer " KEY},
    {{"%s", "--auth-file", "%k"}, NULL, "Authorization: Bearer " KEY},
    {{"%s", "-H", "authorization: Bearer " KEY}, NULL, "Bearer " KEY},
    {{"%s", "-Hcookie: session=" KEY}, NULL, "session=" KEY},
    {{"%s", "--header=x-api-key:" KEY}, NULL, "x-api-key: " KEY},
    {{"%s", "-H", "referer: http://h/?token=" KEY}, NULL, "token=" KEY},
    {{"%s?a=b&api_key=" KEY}, NULL, "GET /?a=b&api_key=" KEY},
    {{"--url", "%s?sig=" KEY "#top"}, NULL, "GET /?sig=" KEY " "},
    {{"%s", "--set", "target.headers=x-auth-token: " KEY},
     NULL,
     "x-auth-token: " KEY},
    {{"--set=target.url=%s?token=" KEY}, NULL, "GET /?token=" KEY},
    {{"%y"},
     "target: {url: '%s', headers: {X-Session-Id: " KEY
     ", X-JWT-Assertion: " KEY ", X-Signature: " KEY ", Proxy-Credential: " KEY
     "}}\n",
     "Proxy-Credential: " KEY},
    {{"%y"}, "target: {url: '%s?access_token=" KEY "'}\n", "token=" KEY},
    {{"%y"}, "target: {url: '%s', auth_env: PLANTED_KEY}\n", "Bearer " KEY},
    {{"http://h.invalid/", "--proxy", "%p"}, NULL, "Basic " BASIC},
    {{"%y"},
     "target: {url: 'http://h.invalid/', proxy: '%p'}\n",
     "Basic " BASIC},
};

struct rig {
    struct echoserver server;
    char *log;
    char *key_file;
    char *settings_file;
    char *dir;
};

/* The text with its places filled in; owned by the caller. */
static char *fill(const char *text, const struct rig *rig)
{
    char *proxy =
        keepf("http://me:" KEY "@%s", rig->server.url + strlen("http://"));
    struct buf out;
    char *filled;

    buf_init(&out, 4096);
    for (; *text; text++) {
        if (text[0] != '%') {
            buf_add(&out, text, 1);
            continue;
        }
        text++;
        buf_adds(&out, *text == 's'   ? rig->server.url
                       : *text == 'k' ? rig->key_file
                       : *text == 'y' ? rig->settings_file
                                      : proxy);
    }
    filled = xstrdup(buf_text(&out));
    buf_fini(&out);
    return filled;
}

static void must_not_hold(const char *bytes, size_t len, const char *where)
{
    static const char *const planted[] = {KEY, BASIC};

    for (size_t i = 0; i < COUNT(planted); i++) {
        if (memmem(bytes, len, planted[i], strlen(planted[i])))
            fail_msg("%s holds %s: %.*s", where, planted[i], (int)len, bytes);
    }
}

static struct buf read_all(const char *path)
{
    struct err err = {0};
    struct buf bytes;

    buf_init(&bytes, MAX_BYTES);
    assert_int_equal(file_read(path, &bytes, &err), 0);
    return bytes;
}

/* Every file of it; returns how many. */
static int search_recording(const char *dir)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    int files = 0;

    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char *path = keepf("%s/%s", dir, entries[i]->d_name);
        struct buf bytes;

        if (entries[i]->d_name[0] != '.') {
            bytes = read_all(path);
            must_not_hold(buf_text(&bytes), bytes.len, path);
            buf_fini(&bytes);
            files++;
        }
        free(entries[i]);
    }
    free(entries);
    return files;
}

/* Run it and search what it says. */
static struct proc_result must_run(const char *const *argv, int status)
{
    struct proc_result r = proc_run(argv);

    if (status != RECORDED)
        proc_expect(&r, status);
    must_not_hold(r.out, strlen(r.out), "stdout");
    must_not_hold(r.err, strlen(r.err), "stderr");
    return r;
}

/* `tailgate COMMAND WORDS... MORE...` */
static struct proc_result run_way(const char *command,
                                  const struct strlist *words,
                                  const char *const *more, int status)
{
    const char *argv[MAX_WORDS] = {"tailgate", command};
    size_t n = 2;

    for (size_t i = 0; i < words->len; i++)
        argv[n++] = words->items[i];
    for (; *more; more++)
        argv[n++] = *more;
    assert_true(n < MAX_WORDS);
    return must_run(argv, status);
}

#define RUN_WAY(command, words, status, ...)                                   \
    run_way(command, words, (const char *const[]){__VA_ARGS__, NULL}, status)

static void search(const struct rig *rig, const struct strlist *words,
                   const char *transport)
{
    struct proc_result r;
    int status;

    r = RUN_WAY("run", words, RECORDED, "--transport", transport, "--rate",
                "200", "-n", "5", "--request-id", "-o", rig->dir, "--force");
    run_expect(&r, rig->dir, 1);
    status = r.status;
    assert_true(search_recording(rig->dir) >= 4);
    r = RUN_WAY("run", words, 1, "--transport", transport, "--show");
    assert_non_null(strstr(r.out, "HTTP/1.1 500 Echo"));
    assert_non_null(strstr(r.out, "Set-Cookie: (redacted)"));
    assert_null(strstr(r.out, "echo-cookie"));
    if (strcmp(transport, "native") != 0)
        return; /* what reads settings and recordings does not know which */
    RUN_WAY("validate", words, 0, "--transport", transport, "-c", "1");
    must_run(ARGS("report", "-v", rig->dir), status);
    must_run(ARGS("report", rig->dir, "--format", "json"), status);
}

/* No server listens any more. */
static void search_failure(const struct rig *rig, const struct strlist *words,
                           const char *transport)
{
    RUN_WAY("run", words, 3, "-c", "1", "--transport", transport, "-o",
            rig->dir, "--force", "--wait-ready", "1ms");
}

static void try_way(const struct way *way, const char *transport)
{
    struct rig rig = {.log = xstrdup(tmpdir_path("received")),
                      .dir = xstrdup(tmpdir_path("recording"))};
    struct strlist words = {0};
    struct buf received;
    char *text;

    unlink(rig.log);
    rig.server =
        echoserver_start(&(struct echo_setup){.status = 500, .log = rig.log});
    rig.key_file = xstrdup(tmpdir_write("key", KEY "\n", strlen(KEY) + 1));
    if (way->settings) {
        text = fill(way->settings, &rig);
        rig.settings_file = xstrdup(tmpdir_write("s.yaml", text, strlen(text)));
        free(text);
    }
    for (size_t i = 0; i < COUNT(way->words) && way->words[i]; i++) {
        text = fill(way->words[i], &rig);
        strlist_add(&words, text);
        free(text);
    }
    search(&rig, &words, transport);
    received = read_all(rig.log);
    assert_non_null(strstr(buf_text(&received), way->received));
    buf_fini(&received);
    echoserver_stop(&rig.server);
    search_failure(&rig, &words, transport);
    strlist_fini(&words);
    free(rig.log);
    free(rig.dir);
    free(rig.key_file);
    free(rig.settings_file);
}

TEST(a_planted_key_is_nowhere)
{
    static const char *const transports[] = {"native", "curl"};

    assert_int_equal(setenv("PLANTED_KEY", KEY, 1), 0);
    for (size_t t = 0; t < COUNT(transports); t++) {
        for (size_t i = 0; i < COUNT(ways); i++) {
            bool is_proxy = strstr(ways[i].received, "Basic") != NULL;

            /* Proxies are for libcurl; of the others it gets a header, a key
             * and a URL as the native transport does. */
            if (t == 0 ? is_proxy : !is_proxy && i % 3 != 0)
                continue;
            try_way(&ways[i], transports[t]);
        }
    }
}

/* What is wrong with the command line is said without it. */
TEST(messages_do_not_repeat_it)
{
    static const char *const cases[][5] = {
        {"tailgate", "run", "http://h:x/?key=sk-planted-7d1f"},
        {"tailgate", "run", "h:80/?key=sk-planted-7d1f"},
        {"tailgate", "run", "h/?key=sk-planted-7d1f"},
        {"tailgate", "run", "http://me:sk-planted-7d1f@h/"},
        {"tailgate", "run", "null://", "-H",
         "authorization Bearer sk-planted-7d1f"},
        {"tailgate", "run", "null://", "-H", "authorization=sk-planted-7d1f"},
        {"tailgate", "run", "null://", "--set",
         "headers.x-api-key=sk-planted-7d1f"},
        {"tailgate", "run", "null://", "--set", "x-api-key: sk-planted-7d1f"},
        {"tailgate", "run", "null://", "--set",
         "target.headers.a=sk-planted-7d1f"},
        {"tailgate", "run", "null://", "--proxy",
         "pigeon://me:sk-planted-7d1f@h:1"},
        {"tailgate", "run", "null://", "--proxy",
         "http://me:sk-planted-7d1f@h:99999"},
        {"tailgate", "run", "null://", "-cx", "--auth-env=sk-planted-7d1f"},
        {"tailgate", "run", "null://", "-c1", "--auth-env=sk-planted-7d1f"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *argv[6] = {NULL};
        struct proc_result r;

        for (size_t k = 0; k < COUNT(cases[i]); k++)
            argv[k] = cases[i][k];
        r = must_run(argv, 2);
        assert_true(strlen(r.err) > 0);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
