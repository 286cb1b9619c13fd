/* What a search has recorded: it goes on from there, answers for another
 * objective, and is reported. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/search/search_read.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "tests/support/golden.h"
#include "tests/support/madeserver.h"
#include "tests/support/test.h"

TEST(a_search_goes_on_from_its_results)
{
    struct madeserver m = madeserver_of(408, 20, 3);
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 130};
    struct search_answer a;
    struct search s;
    struct search again;

    madeserver_search(&m, &config, &s, &a);
    search_init(&again, &config);
    for (size_t i = 0; i < s.n; i++) {
        struct search_ask ask;

        search_next(&again, &ask);
        assert_int_equal(ask.step, s.results[i].step);
        assert_true(ask.value == s.results[i].value);
        assert_int_equal(ask.window_ns, s.results[i].window_ns);
        search_feed(&again, &s.results[i]);
    }
    search_fini(&again);
    search_fini(&s);
}

/* The file has fewer digits, and that changes nothing of the answer. */
TEST(values_may_have_lost_their_last_digits)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct madeserver m = madeserver_of(1e6, 0, seed);
        struct slo slo = madeserver_slo(1);
        struct search_config config = {.slo = &slo, .start = 130};
        struct search_answer a;
        struct search s;

        m.client = 1000 + 10 * (double)seed;
        m.disturbed = 0.1;
        madeserver_search(&m, &config, &s, &a);
        for (size_t i = 0; i < s.n; i++)
            s.results[i].value *= 1 - 1e-9;
        search_answer(&s, &a);
        assert_int_not_equal(a.outcome, SEARCH_GOES_ON);
        search_fini(&s);
    }
}

/* ---- recorded probes under another objective ---- */

/* As if the limit were another one: the misses are those of a server with
 * another capacity. */
static void recount(struct search *s, struct madeserver *other)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *old = &s->results[i];
        struct search_ask ask = {.step = old->step,
                                 .value = old->value,
                                 .warmup_ns = old->warmup_ns,
                                 .window_ns = old->window_ns};
        struct search_result r;

        madeserver_run(other, s, &ask, &r);
        s->results[i] = r;
    }
}

TEST(recorded_probes_answer_or_say_what_is_missing)
{
    static const struct {
        double capacity;
        enum search_outcome outcome;
        const char *why;
    } rows[] = {
        {410, SEARCH_FOUND, "confirmed at"},
        {395, SEARCH_FOUND, "interval"},
        {1e6, SEARCH_NOT_PROBED, "probes above"},
        {20, SEARCH_NOT_PROBED, "probes below"},
        {190, SEARCH_NOT_PROBED, "too few probes between"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct madeserver m = madeserver_of(408, 20, i + 1);
        struct madeserver other = madeserver_of(rows[i].capacity, 20, i + 11);
        struct slo slo = madeserver_slo(1);
        struct search_config config = {.slo = &slo, .start = 130};
        struct search_answer a;
        struct search s;

        other.answer_s = 0.1;
        madeserver_search(&m, &config, &s, &a);
        recount(&s, &other);
        search_from_probes(&config, s.results, s.n, &a);
        assert_int_equal(a.outcome, rows[i].outcome);
        assert_non_null(strstr(a.why, rows[i].why));
        if (a.outcome == SEARCH_FOUND)
            assert_true(fabs(a.capacity / rows[i].capacity - 1) < 0.05);
        else
            assert_true(!(a.missing.low > rows[i].capacity) &&
                        !(a.missing.high < rows[i].capacity));
        search_fini(&s);
    }
}

TEST(what_no_run_has_confirmed_is_an_estimate)
{
    struct madeserver m = madeserver_of(408, 20, 1);
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 130};
    struct search_answer a;
    struct search s;

    madeserver_search(&m, &config, &s, &a);
    assert_int_equal(s.results[s.n - 1].step, SEARCH_CONFIRM);
    search_from_probes(&config, s.results, s.n, &a);
    assert_int_equal(a.outcome, SEARCH_FOUND);
    search_from_probes(&config, s.results, s.n - 1, &a);
    assert_int_equal(a.outcome, SEARCH_ESTIMATED);
    search_fini(&s);
}

/* It was cut when it was lost, and how a looser limit would have fared is not
 * known. */
TEST(what_ended_early_meets_nothing)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};
    struct search_result probes[2] = {
        {.value = 100, .requests = 1100, .n_terms = 1, .terms[0] = {.n = 1000}},
        {.value = 280,
         .requests = 1200,
         .n_terms = 1,
         .terms[0] = {.n = 1000}}};
    struct search_answer a;

    search_from_probes(&config, probes, 2, &a);
    assert_true(a.at_least == 280);
    probes[1].ended_early = true;
    search_from_probes(&config, probes, 2, &a);
    assert_true(a.at_least == 100);
    assert_true(a.probes == 2 && a.requests == 2300); /* spent all the same */
    probes[1].terms[0].misses = 500;
    search_from_probes(&config, probes, 2, &a);
    assert_true(a.at_least == 100 && a.at_most == 280);
}

/* Two that were lost within seconds, and two higher ones that were met: 10 %
 * are between them where the lower one was just missed, and 2 % where it was
 * lost. */
TEST(what_was_lost_below_what_was_met_contradicts_it)
{
    static const struct {
        double ratio;
        bool is_lost;
        bool contradicts;
    } rows[] = {{1.09, false, false},
                {1.11, false, true},
                {1.01, true, false},
                {1.03, true, true}};
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct search_result probes[4] = {{0}};
        struct search_answer a;

        for (size_t k = 0; k < COUNT(probes); k++) {
            bool is_low = k < 2;

            probes[k] = (struct search_result){
                .value = is_low ? 100 : 100 * rows[i].ratio,
                .warmup_ns = 2 * NS_PER_S,
                .window_ns = 10 * NS_PER_S,
                .ended_early = is_low && rows[i].is_lost,
                .n_terms = 1,
                .terms[0] = {.n = 1000, .misses = is_low ? 900 : 0}};
        }
        search_from_probes(&config, probes, COUNT(probes), &a);
        assert_int_equal(a.outcome == SEARCH_UNDECIDED, rows[i].contradicts);
    }
}

/* Five in two hundred, where one in a hundred may miss, may be chance. */
TEST(a_confirmation_that_missed_is_not_rejected)
{
    static const int64_t misses[] = {2, 5};
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};

    for (size_t i = 0; i < COUNT(misses); i++) {
        struct search_result probe = {.step = SEARCH_CONFIRM,
                                      .value = 100,
                                      .asked_ns = 1,
                                      .window_ns = 1,
                                      .n_terms = 1};
        struct search_answer a;

        probe.terms[0] = (struct search_counts){.n = 200, .misses = misses[i]};
        search_from_probes(&config, &probe, 1, &a);
        assert_true(a.confirmed == 100);
        assert_int_equal(a.confirmed_met, i == 0);
        assert_string_equal(search_confirmed_how(&a),
                            i == 0 ? "confirmed" : "not rejected");
    }
}

/* What an overloaded server met, it would not have met for longer. */
TEST(an_overloaded_probe_is_missed)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};

    for (int k = 0; k < 3; k++) { /* neither, the probe, the confirmation */
        struct search_result probes[2] = {
            {.value = 100, .asked_ns = 1, .window_ns = 1, .n_terms = 1}};
        struct search_answer a;

        probes[0].terms[0] = (struct search_counts){.n = 1000};
        probes[1] = probes[0];
        probes[1].value = 200;
        probes[1].step = k == 2 ? SEARCH_CONFIRM : SEARCH_PROBE;
        probes[1].is_overloaded = k > 0;
        assert_int_equal(search_is_met(&slo, &probes[1]), k == 0);
        search_from_probes(&config, probes, 2, &a);
        assert_true(a.met_to == (k == 0 ? 200 : 100));
        assert_true(a.at_least == (k == 0 ? 200 : 100));
        assert_true(isnan(a.confirmed));
        if (k == 0)
            assert_true(isnan(a.missed_from) && isnan(a.at_most));
        else
            assert_true(a.missed_from == 200 && a.at_most == 200);
    }
}

TEST(no_probes_say_nothing)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};
    struct search_answer a;

    search_from_probes(&config, NULL, 0, &a);
    assert_int_equal(a.outcome, SEARCH_NOT_PROBED);
}

/* ---- what is said of each outcome ---- */

/* The search as its reader would have it, without the runs behind it. */
static struct search_summary summary_of(const struct search *s,
                                        const struct search_answer *a)
{
    struct search_summary said = {.title = xstrdup("made: http://h/"),
                                  .has_rate =
                                      s->config.by != SEARCH_CONCURRENCY,
                                  .terms.slo = *s->config.slo,
                                  .answer = *a,
                                  .n = s->n};

    said.probes = xcalloc(s->n, sizeof(*said.probes));
    for (size_t i = 0; i < s->n; i++)
        study_set_add(&said.set,
                      s->results[i].step == SEARCH_CONFIRM ? POINT_CONFIRM
                                                           : POINT_PROBE,
                      s->results[i].value);
    for (size_t i = 0; i < s->n; i++)
        said.probes[i] = (struct search_probe){.at = &said.set.points[i],
                                               .result = s->results[i]};
    return said;
}

static void expect_said(const struct search_summary *said, const char *outcome,
                        int status, const char *what)
{
    json_t *json = doc_json_of(search_doc(said));
    const json_t *capacity = json_object_get(
        json, said->has_rate ? "capacity_rps" : "capacity_clients");
    char *text = doc_text_of(search_doc(said));

    assert_string_equal(json_string_value(json_object_get(json, "outcome")),
                        outcome);
    assert_int_equal(
        exit_status_of(search_conclusion(said),
                       said->is_of_others ? 0 : said->set.stopped_by),
        status);
    if (!strstr(text, what))
        fail_msg("'%s' is not in: %s", what, text);
    assert_int_equal(json_is_null(capacity), isnan(said->answer.capacity));
    assert_int_equal(json_array_size(json_object_get(json, "probes")), said->n);
    json_decref(json);
    free(text);
}

/* A search, and what is to be said of it. */
struct outcome_row {
    struct madeserver server;
    struct search_config config;
    double client;   /* what the client can do; 0: anything */
    double flapping; /* chance that a probe misses all */
    const char *outcome;
    int status;
    const char *what;
};

static void expect_outcome(const struct outcome_row *row)
{
    struct madeserver m = row->server;
    struct slo slo = madeserver_slo(1);
    struct search_config config = row->config;
    struct search_summary said;
    struct search_answer a;
    struct search s;

    config.slo = &slo;
    m.client = row->client;
    m.flapping = row->flapping;
    madeserver_search(&m, &config, &s, &a);
    said = summary_of(&s, &a);
    expect_said(&said, row->outcome, row->status, row->what);
    said.set.stopped_by = 2;
    expect_said(&said, row->outcome, 130,
                "interrupted by signal 2; --resume continues it");
    said.is_of_others = true;
    expect_said(&said, row->outcome, row->status, "by another SLO");
    search_summary_fini(&said);
    search_fini(&s);
}

TEST(outcomes_are_said)
{
    const struct outcome_row rows[] = {
        {madeserver_of(408, 20, 1),
         {.start = 130},
         0,
         0,
         "found",
         0,
         "; confirmed at "},
        {madeserver_of(5.5, 0, 1),
         {.by = SEARCH_CONCURRENCY},
         0,
         0,
         "found",
         0,
         "capacity   5 clients"},
        {madeserver_of(1e-9, 0, 1),
         {.start = 100},
         0,
         0,
         "never",
         1,
         "capacity   none: "},
        {madeserver_of(1e6, 0, 1),
         {.start = 100},
         1000,
         0,
         "client limit",
         4,
         ": the client is the limit"},
        {madeserver_of(1e6, 0, 1),
         {.start = 50, .max = 100, .no_confirm = true},
         0,
         0,
         "at least",
         0,
         "at least 100/s, the highest load allowed"},
        {madeserver_of(408, 20, 1),
         {.start = 130, .budget_ns = (int64_t)35e9},
         0,
         0,
         "budget",
         4,
         "the time is over: a longer --budget narrows the interval and "
         "confirms"},
        {madeserver_of(1e5, 0, 1),
         {.start = 3000},
         0,
         0.4,
         "undecided",
         4,
         "probes contradict each other"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_outcome(&rows[i]);
}

/* A probe that was ended early, and one that measured nothing. */
TEST(remarks_on_probes)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};
    struct search_result probes[2] = {
        {.value = 100,
         .ended_early = true,
         .n_terms = 1,
         .terms[0] = {.n = 1000, .misses = 900}},
        {.value = 50, .discarded = "nothing measured", .n_terms = 1}};
    struct search s = {.config = config, .results = probes, .n = 2};
    struct search_summary said;
    struct search_answer a;

    search_from_probes(&config, probes, 2, &a);
    said = summary_of(&s, &a);
    assert_golden_doc("search-remarks", search_doc(&said));
    search_summary_fini(&said);
}
