/* What a search has recorded: it goes on from there, and answers for another
 * objective. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/madeserver.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void a_search_goes_on_from_its_results(void **state)
{
    struct madeserver m = madeserver_of(408, 20, 3);
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 130};
    struct search_answer a;
    struct search s;
    struct search again;

    (void)state;
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
static void values_may_have_lost_their_last_digits(void **state)
{
    (void)state;
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

static void recorded_probes_answer_or_say_what_is_missing(void **state)
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

    (void)state;
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

static void what_no_run_has_confirmed_is_an_estimate(void **state)
{
    struct madeserver m = madeserver_of(408, 20, 1);
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 130};
    struct search_answer a;
    struct search s;

    (void)state;
    madeserver_search(&m, &config, &s, &a);
    assert_int_equal(s.results[s.n - 1].step, SEARCH_CONFIRM);
    search_from_probes(&config, s.results, s.n, &a);
    assert_int_equal(a.outcome, SEARCH_FOUND);
    search_from_probes(&config, s.results, s.n - 1, &a);
    assert_int_equal(a.outcome, SEARCH_ESTIMATED);
    search_fini(&s);
}

/* It was cut when it was lost, and how a looser limit would have fared nobody
 * knows. */
static void what_ended_early_meets_nothing(void **state)
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

    (void)state;
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
static void what_was_lost_below_what_was_met_contradicts_it(void **state)
{
    static const struct {
        double ratio;
        bool is_lost;
        bool is_twisted;
    } rows[] = {{1.09, false, false},
                {1.11, false, true},
                {1.01, true, false},
                {1.03, true, true}};
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct search_result probes[4] = {{0}};
        struct search_answer a;

        for (size_t k = 0; k < COUNT(probes); k++) {
            bool is_low = k < 2;

            probes[k] = (struct search_result){
                .value = is_low ? 100 : 100 * rows[i].ratio,
                .ended_early = is_low && rows[i].is_lost,
                .n_terms = 1,
                .terms[0] = {.n = 1000, .misses = is_low ? 900 : 0}};
        }
        search_from_probes(&config, probes, COUNT(probes), &a);
        assert_int_equal(a.outcome == SEARCH_UNDECIDED, rows[i].is_twisted);
    }
}

/* Five in two hundred, where one in a hundred may miss, may be chance. */
static void a_confirmation_that_missed_is_not_rejected(void **state)
{
    static const int64_t misses[] = {2, 5};
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};

    (void)state;
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

static void no_probes_say_nothing(void **state)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo};
    struct search_answer a;

    (void)state;
    search_from_probes(&config, NULL, 0, &a);
    assert_int_equal(a.outcome, SEARCH_NOT_PROBED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_goes_on_from_its_results),
        cmocka_unit_test(values_may_have_lost_their_last_digits),
        cmocka_unit_test(recorded_probes_answer_or_say_what_is_missing),
        cmocka_unit_test(what_no_run_has_confirmed_is_an_estimate),
        cmocka_unit_test(what_ended_early_meets_nothing),
        cmocka_unit_test(what_was_lost_below_what_was_met_contradicts_it),
        cmocka_unit_test(a_confirmation_that_missed_is_not_rejected),
        cmocka_unit_test(no_probes_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
