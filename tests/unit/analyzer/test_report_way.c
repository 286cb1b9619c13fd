/* Reports of what else there was: the way that requests went, statuses, large
 * counts, and a window with nothing in it. */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

static struct made_summary *made_new(void)
{
    struct made_summary *m = made_summary_bare("http://h/");

    m->s.scheduled = 1;
    return m;
}

TEST(statuses_other_than_200)
{
    struct made_summary *m = made_new();
    char *text = report_verbose(&m->s);
    json_t *json;

    assert_null(strstr(text, " status: "));
    m->s.statuses[0] = (struct status_count){302, 108};
    m->s.statuses[1] = (struct status_count){204, 7};
    m->s.n_statuses = 2;
    text = report_verbose(&m->s);
    assert_says(text, "\n           statuses: 302 x 108, 204 x 7\n");
    json = report_parsed(&m->s);
    assert_number_at(json, "requests/by_status/302", 108);
    made_summary_free(m);
}

TEST(large_counts_are_whole)
{
    struct made_summary *m = made_new();
    char *text;

    m->s.trust = (struct trust){.checks = {{.name = "unsent",
                                            .unit = "requests",
                                            .is_fatal = true,
                                            .value = 1234567,
                                            .limit = 0.5,
                                            .advice = "x"}},
                                .len = 1};
    text = report_verbose(&m->s);
    assert_says(text, " BAD  1234567  at most 0.5  requests  x\n");
    made_summary_free(m);
}

TEST(an_empty_window_says_so)
{
    struct made_summary *m = made_new();
    char *text = report_verbose(&m->s);

    assert_null(strstr(text, "nothing was due"));
    m->s.scheduled = 0;
    text = report_verbose(&m->s);
    assert_says(text, "; nothing was due in the window\n");
    made_summary_free(m);
}

TEST(a_trace_and_what_was_left_out)
{
    struct made_summary *m = made_new();
    struct load_settings *load = &m->settings.load;
    json_t *json = report_parsed(&m->s);
    char *text;

    assert_true(json_is_null(part_at(json, "trace")));
    load->scenario = SCENARIO_TRACE;
    load->trace.file = xstrdup("a\nb.csv");
    load->trace.time_scale = 4;
    m->s.has_trace = true;
    m->s.trace = (struct trace_seen){
        .format = "burstgpt", .rows = 90, .damaged = 1, .failed = 7, .tied = 8};
    text = report_verbose(&m->s);
    assert_says(text, "open loop, trace a?b.csv at 4 times its speed");
    assert_says(
        text, "\ntrace      burstgpt, rows 90, damaged lines skipped 1, failed "
              "requests skipped 7,\n"
              "           rows with the time of the previous row 8\n");
    load->trace.spread_ns = 1000000000;
    text = report_verbose(&m->s);
    assert_says(text, "times spread over 1s");
    assert_null(strstr(text, "previous row"));
    json = report_parsed(&m->s);
    assert_text_at(json, "trace/file", "a\nb.csv");
    assert_text_at(json, "trace/format", "burstgpt");
    assert_number_at(json, "trace/rows", 90);
    assert_number_at(json, "trace/damaged", 1);
    assert_number_at(json, "trace/failed", 7);
    assert_number_at(json, "trace/tied", 8);
    assert_number_at(json, "trace/time_scale", 4);
    assert_number_at(json, "trace/spread_s", 1);
    made_summary_free(m);
}

TEST(which_way_it_went)
{
    static const struct {
        const char *transport;
        const char *url;
        const char *proxy;
        const char *socket;
        bool http2;
        const char *want; /* NULL: no line */
    } cases[] = {
        {"native", "http://h/", NULL, NULL, false,
         "\ntransport  native, HTTP 1.1\n"},
        {"curl", "https://h/", NULL, NULL, true,
         "\ntransport  curl, HTTP 2, TLS\n"},
        {"curl", "HTTPS://h/", "http://u:planted@p:1", NULL, false,
         "\ntransport  curl, HTTP 1.1, TLS, proxy "
         "http://***@p:1\n"},
        {"curl", "http://h/", NULL, "/run/\033s", false,
         "\ntransport  curl, HTTP 1.1, unix socket /run/?s\n"},
        {"null", "null://", NULL, NULL, false, NULL},
        {NULL, "http://h/", NULL, NULL, false, NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = made_new();
        struct target_settings *t = &m->settings.target;
        char *text;
        json_t *json;
        const json_t *way;

        strlist_fini(&t->urls);
        strlist_add(&t->urls, cases[i].url);
        m->s.transport = cases[i].transport;
        t->proxy = cases[i].proxy ? xstrdup(cases[i].proxy) : NULL;
        t->unix_socket = cases[i].socket ? xstrdup(cases[i].socket) : NULL;
        t->http2 = cases[i].http2;
        text = report_verbose(&m->s);
        if (cases[i].want)
            assert_says(text, "%s", cases[i].want);
        else
            assert_null(strstr(text, "\ntransport "));
        text = report_rendered(&report_json, &m->s);
        assert_null(strstr(text, "planted"));
        json = json_loads(text, 0, NULL);
        way = json_object_get(json, "way");
        assert_int_equal(json_is_null(json_object_get(way, "transport")),
                         cases[i].transport == NULL);
        assert_int_equal(json_is_null(json_object_get(way, "proxy")),
                         cases[i].proxy == NULL);
        assert_int_equal(json_is_null(json_object_get(way, "unix_socket")),
                         cases[i].socket == NULL);
        assert_string_equal(json_string_value(json_object_get(way, "http")),
                            cases[i].http2 ? "2" : "1.1");
        json_decref(json);
        made_summary_free(m);
    }
}
