/* Reports quote what the client is known to be good for. */
#include <jansson.h>
#include <stdio.h>

#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

/* What the client is known to be good for, in the client's line. */
TEST(text_quotes_the_calibration)
{
    static const struct {
        enum calibration_standing standing;
        double rate;
        enum calibration_limit limit;
        double used;
        const char *transport;
        const char *url;
        const char *want;
    } cases[] = {
        {CALIBRATION_NONE, 0, LIMIT_CLIENT, -1, "native", "http://h/",
         "in-flight limit 7\n"},
        {CALIBRATION_STALE, 0, LIMIT_CLIENT, -1, "native", "http://h/",
         " calibration: stale: another host\n"},
        {CALIBRATED, 120e3, LIMIT_CLIENT, 0.042, "native", "http://h/",
         " calibration: reliable up to 120000/s, of which this run used 4.2%, "
         "transport native,\n"
         "             measured on 2026-11-16\n"},
        {CALIBRATED, 9500, LIMIT_STUB, 1.3, "native", "http://h/",
         " calibration: reliable up to at least 9500/s, of which this run used "
         "130%,\n"
         "             transport native, measured on 2026-11-16\n"},
        {CALIBRATED, 9500, LIMIT_CLIENT, 0.5, "native", "https://h/",
         " reliable up to 9500/s, of which this run used 50%,\n"
         "             transport native without TLS, measured on 2026-11-16\n"},
        {
            CALIBRATED,
            9500,
            LIMIT_CLIENT,
            0.5,
            "tls",
            "https://h/",
            " reliable up to 9500/s, of which this run used 50%, transport "
            "tls,\n"
            "             measured on 2026-11-16\n",
        },
        {
            CALIBRATED,
            9500,
            LIMIT_CLIENT,
            0.5,
            "http2",
            "http://h/",
            " reliable up to 9500/s, of which this run used 50%,\n"
            "             transport http2 with TLS, measured on 2026-11-16\n",
        },
        {CALIBRATED, 0, LIMIT_CLIENT, -1, "native", "http://h/",
         " the client was unreliable at every rate tried, transport native,\n"
         "             measured on 2026-11-16\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = made_summary_bare(cases[i].url);
        char *text;

        m->s.calibration = (struct calibration_stamp){
            .standing = cases[i].standing,
            .stale = "another host",
            .of = {.date = "2026-11-16T10:11:12Z",
                   .max_rate_rps = cases[i].rate,
                   .limit = cases[i].limit},
        };
        snprintf(m->s.calibration.transport, sizeof(m->s.calibration.transport),
                 "%s", cases[i].transport);
        m->s.calibration_used = cases[i].used;
        text = report_verbose(&m->s);
        assert_says(text, "%s", cases[i].want);
        made_summary_free(m);
    }
}

/* A quote of a look that was short, or not alone, says so. */
TEST(the_text_says_how_it_was_found)
{
    struct made_summary *m = made_summary_bare("http://h/");
    char *text;

    m->s.calibration = (struct calibration_stamp){
        .standing = CALIBRATED,
        .transport = "native",
        .of = {.date = "2026-11-16T10:11:12Z",
               .is_quick = true,
               .is_disturbed = true,
               .max_rate_rps = 9500,
               .limit = LIMIT_CLIENT},
    };
    m->s.calibration_used = 0.5;
    text = report_verbose(&m->s);
    assert_says(text, " reliable up to 9500/s, of which this run used 50%%, "
                      "transport native,\n");
    assert_says(text, " measured on 2026-11-16 (quick) while other processes "
                      "used the machine\n");
    made_summary_free(m);
}

static json_t *quoted(const struct summary *s)
{
    json_t *json = report_parsed(s);
    json_t *c = json_incref(json_object_get(json, "calibration"));

    return c;
}

static const char *note_of(const json_t *c)
{
    return json_string_value(json_object_get(c, "note"));
}

TEST(json_has_it_or_why_not)
{
    struct made_summary *m = made_summary_bare("http://h/");
    struct summary *s = &m->s;
    json_t *c = quoted(s);

    assert_true(json_is_null(c));
    json_decref(c);

    s->calibration = (struct calibration_stamp){.standing = CALIBRATION_STALE,
                                                .stale = "another host"};
    c = quoted(s);
    assert_true(json_is_null(json_object_get(c, "max_rate_rps")));
    assert_true(json_is_null(json_object_get(c, "used")));
    assert_string_equal(note_of(c), "stale: another host");
    json_decref(c);

    s->calibration = (struct calibration_stamp){
        .standing = CALIBRATED,
        .transport = "curl",
        .of = {.date = "2026-11-16T10:11:12Z", .max_rate_rps = 12345}};
    s->calibration_used = 0.25;
    c = quoted(s);
    assert_true(json_real_value(json_object_get(c, "max_rate_rps")) == 12345);
    assert_true(json_real_value(json_object_get(c, "used")) == 0.25);
    assert_true(json_is_false(json_object_get(c, "is_at_least")));
    assert_non_null(note_of(c));
    json_decref(c);

    s->calibration.of.max_rate_rps = 0;
    s->calibration_used = -1;
    c = quoted(s);
    assert_true(json_is_null(json_object_get(c, "used")));
    assert_string_equal(note_of(c), "not even the lowest rate was trusted");
    json_decref(c);
    made_summary_free(m);
}
