/* What a terminal would obey goes through every text sink, and none of it comes
 * out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "cli/show_view.h"
#include "cli/starter.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "common/wire/api_names.h"
#include "loadgen/prepare/exchange.h"
#include "tests/support/corpus.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(unsafe_bytes_are_replaced)
{
    static const struct {
        const char *text;
        const char *kept;
        const char *want;
    } cases[] = {
        {"", "", ""},
        {"plain ~", "", "plain ~"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"a\n\tb", "\n\t", "a\n\tb"},
        {"a\n\tb", "\n", "a\n?b"},
        {"a\n\tb", "", "a??b"},
        {"\x1b[31m", "\n\t", "?[31m"},
        {"a\xc2\x9b"
         "b\xc2\xa0",
         "", "a??b\xc2\xa0"},
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xaf", "",
         "\xe2\x80\xa7???\xe2\x80\xaf"},
        {"\xe2\x81\xa5\xe2\x81\xa9\xe2\x81\xaa", "",
         "\xe2\x81\xa5???\xe2\x81\xaa"},
        {"\xff\xc3.\xe2\x82", "", "??.??"},
        {"\xed\x9f\xbf\xed\xa0\x80", "", "\xed\x9f\xbf???"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = xstrdup(cases[i].text);

        printable(text, strlen(text), cases[i].kept);
        assert_string_equal(text, cases[i].want);
        free(text);
    }
    for (size_t i = 0; i < corpus_len; i++) {
        char *text = xstrdup(corpus[i].text);

        printable(text, strlen(text), "\n\t");
        corpus_check(corpus[i].what, text);
        assert_true(strcmp(text, corpus[i].text) != 0);
        free(text);
    }
}

/* ---- the sinks; each shows the text, and returns what it showed ---- */

static char *take(struct buf *out)
{
    char *text = xstrdup(buf_text(out));

    buf_fini(out);
    return text;
}

static char *show_error(const char *text)
{
    struct err err = {0};

    err_set(&err, ERR_IO, "the server says %s", text);
    err_context(&err, "%s", text);
    assert_null(strchr(err.msg, '\n'));
    return xstrdup(err.msg);
}

static char *show_log(const char *text)
{
    const char *path = tmpdir_path("log");
    int old = dup(STDERR_FILENO);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    struct err err = {0};
    struct buf out;

    fflush(stderr);
    dup2(fd, STDERR_FILENO);
    close(fd);
    log_error("of the server: %s", text);
    log_note("model      %s, the only model of the server", text);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    buf_init(&out, 4096);
    assert_int_equal(file_read(path, &out, &err), 0);
    return take(&out);
}

static char *show_exchange(const char *text)
{
    struct exchange x = {.transport = "native", .kept = 1000};
    struct buf out;

    x.facts.outcome = OUTCOME_INBAND;
    x.why = xstrdup(text);
    buf_init(&x.sent.bytes, 1000);
    buf_init(&x.received.bytes, 1000);
    buf_adds(&x.received.bytes, text);
    buf_init(&out, 10000);
    show_view(&x, &out);
    exchange_fini(&x);
    return take(&out);
}

/* Everything in it that comes from elsewhere. */
static char *show_report(const char *text)
{
    struct settings settings;
    struct failure_kind kind = {.outcome = OUTCOME_INBAND, .count = 1};
    struct summary s = {.settings = &settings,
                        .aborted = text,
                        .failures = {.kinds = &kind, .len = 1}};
    char *shown;

    settings_init(&settings);
    settings.name = xstrdup(text);
    settings.target.model = xstrdup(text);
    strmap_put(&settings.conditions, text, text);
    s.outcome[OUTCOME_INBAND] = 1;
    s.issued = s.scheduled = 1;
    snprintf(kind.text, sizeof(kind.text), "%s", text);
    shown = report_verbose(&s);
    assert_non_null(strstr(shown, "    1  in-band error  "));
    settings_fini(&settings);
    return shown;
}

static char *show_starter(const char *text)
{
    struct settings s;
    struct buf out;

    settings_init(&s);
    strlist_add(&s.target.urls, "http://h/v1/completions");
    s.target.api = API_OPENAI_COMPLETIONS;
    s.target.model = xstrdup(text);
    buf_init(&out, 100000);
    starter_view(&s, NULL, &out);
    free(s.target.model);
    s.target.model = NULL;
    starter_view(&s, text, &out);
    settings_fini(&s);
    return take(&out);
}

static char *show_path(const char *text)
{
    struct buf out;

    buf_init(&out, 10000);
    settings_describe_path(text, &out);
    return take(&out);
}

static char *show_json(const char *text)
{
    json_t *json = json_pack("{so}", "text", json_bytes(text, strlen(text)));
    struct buf out;

    buf_init(&out, 10000);
    json_print(json, &out);
    json_print_value(json, &out);
    json_print_text(text, &out);
    json_decref(json);
    return take(&out);
}

TEST(nothing_gets_through_a_sink)
{
    static const struct {
        const char *name;
        char *(*show)(const char *text);
    } sinks[] = {
        {"error", show_error},     {"log", show_log},
        {"--show", show_exchange}, {"report", show_report},
        {"init", show_starter},    {"path", show_path},
        {"JSON", show_json},
    };

    for (size_t k = 0; k < COUNT(sinks); k++) {
        for (size_t i = 0; i <= corpus_len; i++) {
            char *shown =
                sinks[k].show(i < corpus_len ? corpus[i].text : CORPUS);

            corpus_check(sinks[k].name, shown);
            free(shown);
        }
    }
}

/* Escapes lose nothing: JSON says the same to its reader. */
TEST(json_means_the_same)
{
    static const char *const texts[] = {
        "\x1b[2J\x7f", "\xc2\x9b\xe2\x80\xae\xe2\x81\xa6",
        "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \\u009b \"q\" \n\t"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        json_t *json = json_pack("{ss}", "text", texts[i]);
        json_t *again;
        struct buf out;

        buf_init(&out, 10000);
        json_print(json, &out);
        again = json_loads(buf_text(&out), 0, NULL);
        assert_true(json_equal(json, again));
        json_decref(again);
        json_decref(json);
        buf_fini(&out);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
