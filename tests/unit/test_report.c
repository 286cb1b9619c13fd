/* Reports render the summary: every number of it, and none of their own. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/report/report.h"
#include "analyzer/summary.h"
#include "common/buf.h"
#include "common/clk.h"
#include "common/settings.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/support/rows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- a summary in which no two numbers are alike ---- */

struct made {
    struct settings settings;
    struct summary s;
    int64_t next;
};

/* The next number that was not used before. */
static int64_t fresh(struct made *m)
{
    return m->next += 101;
}

static void fill_counts(struct made *m)
{
    struct summary *s = &m->s;

    s->scheduled = fresh(m);
    s->issued = fresh(m);
    s->unsent = fresh(m);
    s->ok = fresh(m);
    s->failed = fresh(m);
    s->warmup_requests = fresh(m);
    s->good = fresh(m);
    s->fresh_connections = fresh(m);
    s->reused_connections = fresh(m);
    s->retried = fresh(m);
    for (int o = 0; o < OUTCOME_COUNT; o++)
        s->outcome[o] = fresh(m);
    s->stopped_by = fresh(m);
    s->threads = fresh(m);
    m->settings.client.max_in_flight = fresh(m);
    s->rtt_floor_ns = fresh(m) * NS_PER_US;
    s->segments = fresh(m);
    s->retransmits = fresh(m);
    s->integrity.lost_requests = fresh(m);
    s->integrity.was_killed = true;
    s->damage.skipped_bytes = (uint64_t)fresh(m);
    s->damage.cut_off_bytes = (uint64_t)fresh(m);
}

static void fill_rates(struct made *m)
{
    struct summary *s = &m->s;

    s->window_start_s = (double)fresh(m);
    s->window_length_s = (double)fresh(m);
    s->warmup_s = (double)fresh(m);
    s->offered_rps = (double)fresh(m);
    s->throughput_rps = (double)fresh(m);
    s->goodput_rps = (double)fresh(m);
    s->bytes_in_per_s = (double)fresh(m) / 100; /* in whole bytes */
    s->bytes_out_per_s = (double)fresh(m) / 100;
    s->attainment = (double)fresh(m) / 1e5;
    s->attainment_ci95.low = (double)fresh(m) / 1e5;
    s->attainment_ci95.high = (double)fresh(m) / 1e5;
}

static void fill_spread(struct made *m, struct spread *p)
{
    p->n = fresh(m);
    p->failed = fresh(m);
    p->out_of_range = fresh(m);
    p->mean_ns = (double)fresh(m);
    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        p->quantile_ns[i] = fresh(m);
    p->max_ns = fresh(m);
}

static void fill_judgement(struct made *m)
{
    struct judgement *j = &m->s.judgement;

    m->s.slo = slo_of("e2e p50 < 9s,errors < 9%,good >= 9%,goodput >= 9/s");
    j->len = m->s.slo.len;
    for (size_t i = 0; i < j->len; i++) {
        j->terms[i] = (struct term_judgement){
            .term = &m->s.slo.terms[i],
            .verdict = VERDICT_UNDECIDED,
            .measured_ns = fresh(m) * NS_PER_US,
            .measured = (double)fresh(m) / 1e5,
            .n_effective = (double)fresh(m),
            .more_needed = i == 0 ? fresh(m) : 0,
            .why = i == 0 ? NULL : "depends on unfinished requests",
        };
    }
}

static void fill_trust(struct made *m)
{
    struct trust *t = &m->s.trust;

    t->len = 2;
    t->checks[0] = (struct check){.name = "lag",
                                  .unit = "ms",
                                  .ok = true,
                                  .value = (double)fresh(m) / 10,
                                  .limit = (double)fresh(m) / 10,
                                  .advice = ""};
    t->checks[1] = (struct check){.name = "samples",
                                  .unit = "effective",
                                  .is_minimum = true,
                                  .value = (double)fresh(m) / 10,
                                  .limit = (double)fresh(m) / 10,
                                  .advice = "run longer"};
}

/* Two of them with different starts have no number in common. */
static struct made *made_new(int64_t start)
{
    struct made *m = xcalloc(1, sizeof(*m));

    m->next = start;
    settings_init(&m->settings);
    m->settings.name = xstrdup("checkout");
    m->settings.target.method = xstrdup("GET");
    strlist_add(&m->settings.target.urls, "http://host/");
    m->settings.load.scenario = SCENARIO_SERVER;
    m->settings.load.rate_rps = (double)fresh(m);
    m->settings.load.duration_ns = fresh(m);
    m->settings.load.seed = (uint64_t)fresh(m);
    m->s.settings = &m->settings;
    fill_counts(m);
    fill_rates(m);
    fill_judgement(m);
    fill_trust(m);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            fill_spread(m, &m->s.spread[i][v]);
    }
    m->s.verdict = VERDICT_UNDECIDED;
    return m;
}

static void made_free(struct made *m)
{
    settings_fini(&m->settings);
    free(m);
}

static char *rendered(const struct report_ops *ops, const struct summary *s)
{
    struct buf out;
    char *text;

    buf_init(&out, 1 << 20);
    ops->render(s, &out);
    assert_false(out.overflowed);
    text = xstrdup(buf_text(&out));
    buf_fini(&out);
    return text;
}

/* ---- text ---- */

static bool is_label(const char *number)
{
    /* e2e; percentiles and the 95 % interval; the limits of the SLO */
    static const char *const labels[] = {"2",  "50", "90",   "95",
                                         "99", "9",  "99.9", "0"};

    for (size_t i = 0; i < COUNT(labels); i++) {
        if (strcmp(labels[i], number) == 0)
            return true;
    }
    return false;
}

/* Every number in the text that is no label. */
static struct strlist numbers_in(const char *text)
{
    struct strlist list = {0};

    while (*(text += strcspn(text, "0123456789"))) {
        size_t len = strspn(text, "0123456789.");
        char *number = xstrndup(text, len);

        if (!is_label(number))
            strlist_add(&list, number);
        free(number);
        text += len;
    }
    return list;
}

static bool holds(const struct strlist *list, const char *item)
{
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

/* Change every number of the summary, and every number of the text changes. */
static void text_has_no_number_of_its_own(void **state)
{
    struct made *a = made_new(10000);
    struct made *b = made_new(50050);
    char *text_a = rendered(&report_text, &a->s);
    char *text_b = rendered(&report_text, &b->s);
    struct strlist in_a = numbers_in(text_a);
    struct strlist in_b = numbers_in(text_b);

    (void)state;
    assert_true(in_a.len > 60);
    assert_int_equal(in_a.len, in_b.len);
    for (size_t i = 0; i < in_a.len; i++) {
        if (holds(&in_b, in_a.items[i]))
            print_error("%s stands in both\n", in_a.items[i]);
        assert_false(holds(&in_b, in_a.items[i]));
    }
    strlist_fini(&in_a);
    strlist_fini(&in_b);
    free(text_a);
    free(text_b);
    made_free(a);
    made_free(b);
}

static void assert_says(const char *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void assert_says(const char *text, const char *fmt, ...)
{
    char *want;
    va_list ap;

    va_start(ap, fmt);
    want = xvasprintf(fmt, ap);
    va_end(ap);
    if (!strstr(text, want))
        print_error("'%s' is not in:\n%s", want, text);
    assert_non_null(strstr(text, want));
    free(want);
}

static void text_says_what_it_counts(void **state)
{
    struct made *m = made_new(10000);
    const struct summary *s = &m->s;
    char *text = rendered(&report_text, s);

    (void)state;
    assert_says(text, "checkout: GET http://host/\n");
    assert_says(text, "%lld scheduled = %lld issued + %lld unsent\n",
                (long long)s->scheduled, (long long)s->issued,
                (long long)s->unsent);
    assert_says(text, "%lld issued = %lld ok + %lld failed",
                (long long)s->issued, (long long)s->ok, (long long)s->failed);
    assert_says(text, "timeout %lld", (long long)s->outcome[OUTCOME_TIMEOUT]);
    assert_says(text, "%lld good", (long long)s->good);
    assert_says(text, "%lld opened a connection, %lld reused one (",
                (long long)s->fresh_connections,
                (long long)s->reused_connections);
    assert_says(text, ", %lld were sent again", (long long)s->retried);
    assert_null(strstr(text, "INSECURE"));
    assert_says(text, "offered %.6g/s", s->offered_rps);
    assert_says(text, "throughput %.6g/s", s->throughput_rps);
    assert_says(text, "goodput %.6g/s", s->goodput_rps);
    assert_says(text, "attainment %.6g%%", 100 * s->attainment);
    assert_says(text, "interval %.6g%% to %.6g%%)",
                100 * s->attainment_ci95.low, 100 * s->attainment_ci95.high);
    assert_says(text, "signal %lld", (long long)s->stopped_by);
    assert_says(text, "about %lld more requests needed",
                (long long)s->judgement.terms[0].more_needed);
    assert_says(text, "client     %lld threads, at most %lld in flight\n",
                (long long)s->threads,
                (long long)m->settings.client.max_in_flight);
    assert_says(text, ", %lld of %lld segments sent again\n",
                (long long)s->retransmits, (long long)s->segments);
    assert_says(text, "%llu bytes skipped, %llu cut off",
                (unsigned long long)s->damage.skipped_bytes,
                (unsigned long long)s->damage.cut_off_bytes);
    free(text);
    made_free(m);
}

/* A row of the table, with what cannot be given in words. */
static void text_says_why_a_number_is_missing(void **state)
{
    struct made *m = made_new(10000);
    struct spread *p = &m->s.spread[MEASURE_E2E][VIEW_DUE];
    char *text;

    (void)state;
    *p = (struct spread){.n = 60, .failed = 7, .mean_ns = HIST_BEYOND};
    p->quantile_ns[0] = 12300000;
    p->quantile_ns[1] = HIST_BEYOND;
    p->quantile_ns[2] = HIST_BEYOND;
    p->quantile_ns[3] = HIST_TOO_FEW;
    p->quantile_ns[4] = HIST_OUT_OF_RANGE;
    p->max_ns = HIST_BEYOND;
    m->s.spread[MEASURE_CONNECT][VIEW_DUE].n = 0;
    text = rendered(&report_text, &m->s);
    assert_says(text, "%-17s %8d %7d %8s %8s %8s %8s %8s %8s %8s\n",
                "e2e from due", 60, 7, "failed", "12.3ms", "failed", "failed",
                "n small", "> 1h", "failed");
    assert_null(strstr(text, "\nconnect"));
    assert_non_null(strstr(text, "\nclient lag"));
    free(text);
    made_free(m);
}

static void text_opens_with_the_verdict(void **state)
{
    static const struct {
        enum verdict verdict;
        const char *want;
    } cases[] = {
        {VERDICT_NONE, "verdict    none"},
        {VERDICT_PASS, "verdict    PASS"},
        {VERDICT_FAIL, "verdict    FAIL"},
        {VERDICT_UNDECIDED, "verdict    UNDECIDED"},
        {VERDICT_INVALID, "verdict    INVALID"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(10000);
        char *text;

        m->s.verdict = cases[i].verdict;
        m->s.trust.valid = cases[i].verdict != VERDICT_INVALID;
        text = rendered(&report_text, &m->s);
        assert_says(text, "%s", cases[i].want);
        assert_int_equal(strstr(text, "NOT trusted") != NULL,
                         cases[i].verdict == VERDICT_INVALID);
        assert_int_equal(strstr(text, "not deliverable") != NULL,
                         cases[i].verdict == VERDICT_FAIL);
        free(text);
        made_free(m);
    }
}

/* Above every number that was measured: the verdict, then what failed, each in
 * a line of its own.  What passed is one line at the end. */
static void text_says_first_why_a_run_is_invalid(void **state)
{
    struct made *m = made_new(10000);
    struct trust *t = &m->s.trust;
    const char *verdict;
    const char *lag;
    char *text;

    (void)state;
    m->s.verdict = VERDICT_INVALID;
    t->checks[0] = (struct check){.name = "lag p99",
                                  .unit = "ms",
                                  .is_fatal = true,
                                  .value = 12.5,
                                  .limit = 2,
                                  .advice = "free its CPU"};
    t->checks[2] = (struct check){.name = "unsent", .ok = true, .advice = ""};
    t->checks[3] = (struct check){.name = "steal", .ok = true, .advice = ""};
    t->len = 4;
    text = rendered(&report_text, &m->s);
    verdict = strstr(text, "\nverdict    INVALID");
    lag = strstr(text, "\n  lag p99        BAD  12.5 ms (at most 2): free its "
                       "CPU\n");
    assert_true(verdict && lag && verdict < lag);
    assert_says(text, "\n  samples        note ");
    assert_says(text, " effective (at least ");
    assert_true(lag < strstr(text, "measured"));
    assert_true(lag < strstr(text, "scheduled"));
    assert_says(text, "\nchecks     NOT trusted; passed: unsent, steal\n");
    free(text);
    made_free(m);
}

/* ---- JSON ---- */

static json_t *parsed(const struct summary *s)
{
    char *text = rendered(&report_json, s);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    assert_non_null(json);
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
    return json;
}

/* "a/b/c"; keys hold dots. */
static const json_t *at(const json_t *json, const char *path)
{
    const char *start = path;

    while (json && *start) {
        size_t len = strcspn(start, "/");
        char *key = xstrndup(start, len);

        json = json_is_array(json)
                   ? json_array_get(json, strtoul(key, NULL, 10))
                   : json_object_get(json, key);
        free(key);
        start += len + (start[len] == '/');
    }
    if (!json)
        print_error("no %s\n", path);
    assert_non_null(json);
    return json;
}

static void assert_number(const json_t *json, const char *path, double want)
{
    const json_t *value = at(json, path);

    assert_true(json_is_number(value));
    if (fabs(json_number_value(value) - want) > 1e-9 * fabs(want))
        print_error("%s: %.17g, want %.17g\n", path, json_number_value(value),
                    want);
    assert_true(fabs(json_number_value(value) - want) <= 1e-9 * fabs(want));
}

static void assert_text(const json_t *json, const char *path, const char *want)
{
    assert_true(json_is_string(at(json, path)));
    assert_string_equal(json_string_value(at(json, path)), want);
}

static void json_has_every_count_and_rate(void **state)
{
    struct made *m = made_new(10000);
    const struct summary *s = &m->s;
    json_t *json = parsed(s);
    const struct {
        const char *path;
        double want;
    } cases[] = {
        {"schema", 1},
        {"window/start_s", s->window_start_s},
        {"window/length_s", s->window_length_s},
        {"window/warmup_s", s->warmup_s},
        {"requests/scheduled", (double)s->scheduled},
        {"requests/issued", (double)s->issued},
        {"requests/unsent", (double)s->unsent},
        {"requests/ok", (double)s->ok},
        {"requests/failed", (double)s->failed},
        {"requests/by_outcome/timeout", (double)s->outcome[OUTCOME_TIMEOUT]},
        {"requests/by_outcome/in-band error",
         (double)s->outcome[OUTCOME_INBAND]},
        {"requests/good", (double)s->good},
        {"requests/opened_connection", (double)s->fresh_connections},
        {"requests/reused_connection", (double)s->reused_connections},
        {"requests/reuse",
         (double)s->reused_connections /
             (double)(s->fresh_connections + s->reused_connections)},
        {"requests/retried", (double)s->retried},
        {"offered_rps", s->offered_rps},
        {"throughput_rps", s->throughput_rps},
        {"goodput_rps", s->goodput_rps},
        {"attainment", s->attainment},
        {"attainment_ci95/0", s->attainment_ci95.low},
        {"attainment_ci95/1", s->attainment_ci95.high},
        {"trust/checks/0/value", s->trust.checks[0].value},
        {"trust/checks/1/limit", s->trust.checks[1].limit},
        {"network/rtt_floor_ms", (double)s->rtt_floor_ns / 1e6},
        {"network/segments", (double)s->segments},
        {"network/retransmits", (double)s->retransmits},
        {"client/threads", (double)s->threads},
        {"client/max_in_flight", (double)m->settings.client.max_in_flight},
        {"slo/0/measured_ms", (double)s->judgement.terms[0].measured_ns / 1e6},
        {"slo/1/measured", s->judgement.terms[1].measured},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_number(json, cases[i].path, cases[i].want);
    assert_null(json_object_get(at(json, "requests/by_outcome"), "ok"));
    assert_null(json_object_get(at(json, "requests/by_outcome"), "unsent"));
    json_decref(json);
    made_free(m);
}

static void check_spread(const json_t *o, const struct spread *p)
{
    assert_number(o, "n", (double)p->n);
    assert_number(o, "failed", (double)p->failed);
    assert_number(o, "mean_ms", p->mean_ns / 1e6);
    assert_number(o, "p50_ms", (double)p->quantile_ns[0] / 1e6);
    assert_number(o, "p90_ms", (double)p->quantile_ns[1] / 1e6);
    assert_number(o, "p95_ms", (double)p->quantile_ns[2] / 1e6);
    assert_number(o, "p99_ms", (double)p->quantile_ns[3] / 1e6);
    assert_number(o, "p99.9_ms", (double)p->quantile_ns[4] / 1e6);
    assert_number(o, "max_ms", (double)p->max_ns / 1e6);
    assert_number(o, "out_of_range", (double)p->out_of_range);
}

static void json_has_every_measure(void **state)
{
    static const struct {
        const char *name;
        enum measure measure;
        bool has_ok;
        bool has_sent;
    } cases[] = {
        {"e2e", MEASURE_E2E, true, true},
        {"service", MEASURE_SERVICE, true, false},
        {"connect", MEASURE_CONNECT, false, false},
        {"tls", MEASURE_TLS, false, false},
        {"lag", MEASURE_LAG, false, false},
        {"ttfb", MEASURE_TTFB, true, true},
        {"ttft", MEASURE_TTFT, true, true},
    };
    struct made *m = made_new(10000);
    json_t *json = parsed(&m->s);

    (void)state;
    assert_int_equal(json_object_size(at(json, "measures")), COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const json_t *o = at(at(json, "measures"), cases[i].name);
        const struct spread *p = m->s.spread[cases[i].measure];

        check_spread(o, &p[VIEW_DUE]);
        if (cases[i].has_ok)
            check_spread(at(o, "ok"), &p[VIEW_OK]);
        if (cases[i].has_sent)
            check_spread(at(o, "sent"), &p[VIEW_SENT]);
    }
    json_decref(json);
    made_free(m);
}

static void json_gives_null_and_a_reason(void **state)
{
    struct made *m = made_new(10000);
    struct spread *p = &m->s.spread[MEASURE_E2E][VIEW_DUE];
    json_t *json;
    const json_t *e2e;

    (void)state;
    p->mean_ns = HIST_BEYOND;
    p->quantile_ns[2] = HIST_OUT_OF_RANGE;
    p->quantile_ns[3] = HIST_TOO_FEW;
    p->quantile_ns[4] = HIST_BEYOND;
    p->max_ns = HIST_EMPTY;
    json = parsed(&m->s);
    e2e = at(json, "measures/e2e");
    assert_true(json_is_null(at(e2e, "p99_ms")));
    assert_text(e2e, "p99_note", "n too small");
    assert_true(json_is_null(at(e2e, "p95_ms")));
    assert_text(e2e, "p95_note", "out of range");
    assert_true(json_is_null(at(e2e, "p99.9_ms")));
    assert_text(e2e, "p99.9_note", "beyond failures");
    assert_true(json_is_null(at(e2e, "mean_ms")));
    assert_text(e2e, "mean_note", "beyond failures");
    assert_true(json_is_null(at(e2e, "max_ms")));
    assert_text(e2e, "max_note", "no samples");
    assert_null(json_object_get(e2e, "p50_note"));
    assert_true(json_is_null(at(json, "slo/0/met")));
    assert_text(json, "slo/1/met_note", "depends on unfinished requests");
    assert_non_null(strstr(json_string_value(at(json, "slo/0/met_note")),
                           "more requests needed"));
    assert_true(json_is_null(at(json, "overloaded")));
    assert_true(json_is_string(at(json, "overloaded_note")));
    json_decref(json);
    made_free(m);
}

static void json_says_the_verdict(void **state)
{
    static const char *const names[] = {"none", "pass", "fail", "undecided",
                                        "invalid"};

    (void)state;
    for (int v = 0; v < (int)COUNT(names); v++) {
        struct made *m = made_new(10000);
        json_t *json;

        m->s.verdict = (enum verdict)v;
        m->s.trust.valid = v != VERDICT_INVALID;
        m->s.judgement.terms[1].verdict = VERDICT_PASS;
        m->s.judgement.terms[2].verdict = VERDICT_FAIL;
        json = parsed(&m->s);
        assert_text(json, "verdict", names[v]);
        assert_text(json, "scenario", "server");
        assert_text(json, "slo/0/term", "e2e p50 < 9s");
        assert_true(json_is_true(at(json, "slo/1/met")));
        assert_true(json_is_false(at(json, "slo/2/met")));
        assert_true(json_is_true(at(json, "interrupted")));
        assert_int_equal(json_is_true(at(json, "trust/valid")),
                         v != VERDICT_INVALID);
        assert_text(json, "trust/checks/0/name", "lag");
        assert_true(json_is_true(at(json, "trust/checks/0/ok")));
        assert_text(json, "trust/checks/1/advice", "run longer");
        assert_text(json, "trust/checks/0/bound", "at most");
        assert_text(json, "trust/checks/1/bound", "at least");
        assert_true(json_is_false(at(json, "trust/checks/0/fatal")));
        json_decref(json);
        made_free(m);
    }
}

/* ---- a run in which nothing happened ---- */

static void a_run_without_verification_says_so(void **state)
{
    struct made *m = made_new(10000);
    json_t *json;
    char *text;

    (void)state;
    m->settings.target.insecure = true;
    text = rendered(&report_text, &m->s);
    json = parsed(&m->s);
    assert_says(text, "INSECURE: the server's certificate was not verified\n");
    assert_true(json_is_true(at(json, "client/insecure")));
    json_decref(json);
    free(text);
    made_free(m);
}

static void an_empty_run_can_be_rendered(void **state)
{
    struct settings settings;
    struct summary s = {.settings = &settings, .threads = 1};
    json_t *json;
    char *text;

    (void)state;
    settings_init(&settings);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        for (int v = 0; v < VIEW_COUNT; v++) {
            struct spread *p = &s.spread[i][v];

            p->mean_ns = HIST_EMPTY;
            p->max_ns = HIST_EMPTY;
            for (int q = 0; q < SUMMARY_QUANTILES; q++)
                p->quantile_ns[q] = HIST_EMPTY;
        }
    }
    text = rendered(&report_text, &s);
    assert_says(text, "0 scheduled = 0 issued + 0 unsent\n");
    assert_null(strstr(text, "attainment"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "network"));
    assert_says(text, "\nclient     1 thread\n");
    json = parsed(&s);
    assert_true(json_is_null(at(json, "network/rtt_floor_ms")));
    assert_text(json, "network/rtt_floor_ms_note", "not known");
    assert_true(json_is_null(at(json, "network/segments")));
    assert_true(json_is_null(at(json, "network/retransmits")));
    assert_true(json_is_null(at(json, "client/max_in_flight")));
    assert_text(json, "client/max_in_flight_note", "not known");
    assert_true(json_is_null(at(json, "requests/reuse")));
    assert_text(json, "requests/reuse_note", "no samples");
    assert_true(json_is_false(at(json, "client/insecure")));
    assert_true(json_is_null(at(json, "attainment")));
    assert_text(json, "attainment_note", "no samples");
    assert_true(json_is_null(at(json, "attainment_ci95")));
    assert_text(json, "measures/e2e/p50_note", "no samples");
    assert_true(json_is_false(at(json, "interrupted")));
    assert_int_equal(json_array_size(at(json, "slo")), 0);
    json_decref(json);
    free(text);
    settings_fini(&settings);
}

/* ---- a run that was cut for its errors ---- */

static void an_aborted_run_says_why(void **state)
{
    static const struct {
        enum verdict verdict;
        enum verdict judged;
        const char *line;
    } cases[] = {
        {VERDICT_NONE, VERDICT_NONE, "verdict    none: no SLO was given"},
        {VERDICT_FAIL, VERDICT_FAIL, "verdict    FAIL: the SLO is missed"},
        {VERDICT_FAIL, VERDICT_PASS, "verdict    FAIL: the run was aborted"},
        {VERDICT_INVALID, VERDICT_FAIL, "verdict    INVALID"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings settings;
        struct summary s = {.settings = &settings,
                            .verdict = cases[i].verdict,
                            .judgement = {.verdict = cases[i].judged},
                            .aborted = "errors > 5%: \x1b[2J"};
        json_t *json;
        char *text;

        settings_init(&settings);
        text = rendered(&report_text, &s);
        assert_says(text, "%s", cases[i].line);
        assert_says(text, "\n           ABORTED errors > 5%%: ?[2J\n");
        json = parsed(&s);
        assert_text(json, "aborted", s.aborted);
        json_decref(json);
        s.aborted = NULL;
        json = parsed(&s);
        assert_true(json_is_null(at(json, "aborted")));
        json_decref(json);
        free(text);
        settings_fini(&settings);
    }
}

static void formats_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; report_names[i]; i++) {
        assert_non_null(report_find(report_names[i]));
        assert_string_equal(report_find(report_names[i])->name,
                            report_names[i]);
    }
    assert_ptr_equal(report_find("json"), &report_json);
    assert_null(report_find("xml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_no_number_of_its_own),
        cmocka_unit_test(text_says_what_it_counts),
        cmocka_unit_test(text_says_why_a_number_is_missing),
        cmocka_unit_test(text_opens_with_the_verdict),
        cmocka_unit_test(text_says_first_why_a_run_is_invalid),
        cmocka_unit_test(json_has_every_count_and_rate),
        cmocka_unit_test(json_has_every_measure),
        cmocka_unit_test(json_gives_null_and_a_reason),
        cmocka_unit_test(json_says_the_verdict),
        cmocka_unit_test(a_run_without_verification_says_so),
        cmocka_unit_test(an_empty_run_can_be_rendered),
        cmocka_unit_test(an_aborted_run_says_why),
        cmocka_unit_test(formats_are_found_by_name),
    };

    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
