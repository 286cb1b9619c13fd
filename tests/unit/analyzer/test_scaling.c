/* Scaling studies from tables of timings: the printed digits of the rubric,
 * what is excluded, refused, flagged and guessed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/verdict/cost.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "tests/support/golden.h"
#include "tests/support/keep.h"
#include "tests/support/near.h"
#include "tests/support/scaled.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void printed(double x, const char *format, const char *want)
{
    char text[64];

    snprintf(text, sizeof(text), format, x);
    assert_string_equal(text, want);
}

/* ---- tables whose digits are known ---- */

static const char fixed_job[] = "workers,seconds,usd_per_hour,quality\n"
                                "1,3600,1,0.871\n"
                                "2,1880,2,0.871\n"
                                "4,1010,4,0.871\n"
                                "8,560,8,0.871\n"
                                "16,340,16,0.870\n"
                                "32,250,32,0.871\n";

static void assert_scaled(const char *golden, const struct scaling *s)
{
    char *text = scaled_text(s);
    char *name;

    /* The directory differs each time. */
    while ((name = strstr(text, "/t.csv")) != NULL) {
        char *path = name;

        while (path[-1] != ' ' && path[-1] != '(')
            path--;
        memmove(path, name + 1, strlen(name + 1) + 1);
    }
    assert_golden(golden, text);
}

static void assert_scaled_brief(const char *name, const struct scaling *s)
{
    struct doc *d = scaling_doc(s);
    struct buf out;

    buf_init(&out, 1 << 20);
    doc_put(d, DOC_AS_BRIEF, &out);
    assert_golden(name, buf_text(&out));
    buf_fini(&out);
}

TEST(a_fixed_job)
{
    static const char *const want[][6] = {
        /* speedup, efficiency, quality, $/run, $/item, items/$ */
        {"1.00", "1.000", "0.871", "1.00", "8.333e-07", "1200000"},
        {"1.91", "0.957", "0.871", "1.04", "8.704e-07", "1148936"},
        {"3.56", "0.891", "0.871", "1.12", "9.352e-07", "1069307"},
        {"6.43", "0.804", "0.871", "1.24", "1.037e-06", "964286"},
        {"10.59", "0.662", "0.870", "1.51", "1.259e-06", "794118"},
        {"14.40", "0.450", "0.871", "2.22", "1.852e-06", "540000"},
    };
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.work = 1200000;
    s = scaled_study(fixed_job, ask);
    assert_int_equal(s->n, COUNT(want));
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        printed(p->speedup.value, "%.2f", want[i][0]);
        printed(p->efficiency.value, "%.3f", want[i][1]);
        printed(p->quality, "%.3f", want[i][2]);
        printed(p->usd, "%.2f", want[i][3]);
        printed(p->usd_per_unit, "%.3e", want[i][4]);
        printed(p->units_per_usd, "%.0f", want[i][5]);
    }
    assert_scaled("scaling-fixed.txt", s);
    assert_scaled_brief("scaling-fixed.brief.txt", s);
    assert_int_equal(s->n_flags, 0);
    assert_int_equal(exit_status_of(scaling_conclusion(s), 0), 0);
    scaled_free(s);
}

static const char repeated[] = "workers,mean_seconds,std_seconds,runs\n"
                               "1,1.0047,0.0091,5\n"
                               "2,0.5343,0.0098,5\n"
                               "4,0.3032,0.0034,5\n"
                               "8,0.1884,0.0039,5\n"
                               "16,0.1392,0.0026,5\n"
                               "32,0.1189,0.0026,5\n"
                               "64,0.1140,0.0022,5\n";

TEST(repeated_timings)
{
    static const char *const want[][3] = {
        {"1.00", "1.000", "ok"},    {"1.88", "0.940", "ok"},
        {"3.31", "0.828", "ok"},    {"5.33", "0.667", "below"},
        {"7.22", "0.451", "below"}, {"8.45", "0.264", "below"},
        {"8.81", "0.138", "below"},
    };
    struct scaling *s = scaled_study(repeated, scaled_usual);

    assert_int_equal(s->n, COUNT(want));
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        printed(p->speedup.value, "%.2f", want[i][0]);
        printed(p->efficiency.value, "%.3f", want[i][1]);
        assert_int_equal(p->is_below, strcmp(want[i][2], "below") == 0);
    }
    assert_int_equal(s->verdict.first_below, 8);
    assert_int_equal(s->verdict.recommended_k, 4);
    assert_true(s->verdict.is_shown);
    /* 1.0047 +- 2.776445 * 0.0091 / sqrt(5) */
    assert_range(&s->points[0].time_s, 0.9934009, 1.0159991, 1e-6);
    assert_scaled("scaling-repeated.txt", s);
    assert_int_equal(s->bend.cause, BEND_COMMUNICATION);
    scaled_free(s);
}

/* S = T(1) / T(K): relative errors 0.01 / sqrt(5) and 0.02 / sqrt(5) add by
 * squares to 0.01; Welch's freedom is 25 / (1/4 + 16/4) = 5.882. */
TEST(interval_of_a_ratio)
{
    struct scaling *s = scaled_study("workers,seconds,std,runs\n"
                                     "1,100,1,5\n"
                                     "2,60,1.2,5\n",
                                     scaled_usual);
    double reach = 2.4589; /* t of 0.975 with 5.882 degrees of freedom */

    assert_range(&s->points[1].speedup, 100.0 / 60 * exp(-reach * 0.01),
                 100.0 / 60 * exp(reach * 0.01), 1e-5);
    assert_false(s->points[0].speedup.has_range); /* 1 by definition */
    scaled_free(s);
}

/* Rows of the same K are runs. */
TEST(a_row_a_run)
{
    struct scaling *s = scaled_study("# made by hand\n"
                                     "k, seconds, work, quality\n"
                                     "2, 6, 10, 0.8\n"
                                     "1, 9, 10, 0.5\n"
                                     "1, 11, 10, 0.7\n"
                                     "1, 10, 10,\n"
                                     "2, 8, 10, 0.8\n",
                                     scaled_usual);

    assert_int_equal(s->n, 2);
    assert_int_equal(s->points[0].k, 1);
    assert_near(s->points[0].mean_s, 10, 1e-12);
    assert_near(s->points[0].std_s, 1, 1e-12);
    assert_near(s->points[0].quality, 0.6, 1e-12);
    assert_near(s->points[1].std_s, sqrt(2), 1e-12);
    assert_true(s->items[1].is_present);
    assert_true(s->items[3].is_present);
    assert_false(s->items[2].is_present);
    scaled_free(s);
}

/* A value that some runs lack is the mean over the others; that of more answers
 * counts for more. */
TEST(means_are_over_the_runs_that_have_the_value)
{
    struct scaling *s =
        scaled_study("k, seconds, joules, p99_ms, quality, quality_n\n"
                     "1, 10, , 30, 0.5, 100\n"
                     "1, 10, 4, , 0.9, 300\n"
                     "1, 10, 6, 50, , 1000\n",
                     scaled_usual);

    assert_near(s->points[0].joules, 5, 1e-12);
    assert_near(s->points[0].p99_ms, 40, 1e-12);
    assert_near(s->points[0].quality, 0.8, 1e-12);
    assert_near(s->points[0].quality_n, 400, 1e-12);
    scaled_free(s);
}

/* ---- quality ---- */

/* The row with the largest speedup and efficiency is worse: never ranked. */
TEST(a_degraded_row_is_never_recommended)
{
    static const char head[] = "workers,seconds,usd_per_hour,quality\n";
    static const struct {
        const char *rows;
        int64_t recommended;
        int64_t cheapest;
        bool excludes;
    } cases[] = {
        {"1,100,1,0.871\n2,52,2,0.871\n4,26,4,0.860\n", 2, 1, true},
        {"1,100,1,0.871\n2,40,2,0.860\n4,28,4,0.871\n", 4, 1, true},
        {"1,100,1,0.871\n2,40,2,0.866\n4,28,4,0.871\n", 4, 2, false},
        {"1,100,1,0.871\n2,40,2,0.100\n4,25,4,0.0\n", 1, 1, true},
        {"1,100,1,0.871\n2,52,2,\n4,26,4,0.871\n", 4, 1, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *csv = keepf("%s%s", head, cases[i].rows);
        struct scaling *s = scaled_study(csv, scaled_usual);
        char *text = scaled_text(s);

        assert_int_equal(s->verdict.recommended_k, cases[i].recommended);
        assert_int_equal(s->verdict.cheapest_k, cases[i].cheapest);
        assert_int_equal(strstr(text, "EXCLUDED") != NULL, cases[i].excludes);
        assert_int_equal(exit_status_of(scaling_conclusion(s), 0),
                         cases[i].recommended == 1);
        scaled_free(s);
    }
}

TEST(the_known_table_degraded)
{
    char *csv = xstrdup(fixed_job);
    struct scaling *s;

    strrchr(csv, '7')[0] = '6';
    strrchr(csv, '1')[0] = '0';
    s = scaled_study(csv, scaled_usual);
    assert_int_equal(s->verdict.recommended_k, 8);
    assert_scaled("scaling-degraded.txt", s);
    scaled_free(s);
    free(csv);
}

/* Newcombe's interval of 0.9 - 0.9 with 1,000 answers each is about +- 0.028:
 * within 0.05, not within 0.01, and 0.8 is shown to be worse. */
TEST(non_inferiority)
{
    static const struct {
        double share;
        double n;
        double tolerance;
        enum quality_verdict want;
    } cases[] = {
        {0.9, 1000, 0.05, QUALITY_HELD},
        {0.9, 1000, 0.01, QUALITY_NOT_SHOWN},
        {0.9, 1e6, 0.01, QUALITY_HELD},
        {0.8, 1000, 0.05, QUALITY_DRIFTED},
        {0.95, 1000, 0.001, QUALITY_HELD}, /* better is not inferior */
        {0.9, NAN, 0.001, QUALITY_HELD},
        {0.898, NAN, 0.001, QUALITY_DRIFTED},
        {NAN, 1000, 0.05, QUALITY_UNKNOWN},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct quality_check g =
            quality_judge((struct quality_of){0.9, 1e6},
                          (struct quality_of){cases[i].share, cases[i].n},
                          cases[i].tolerance);

        assert_int_equal(g.verdict, cases[i].want);
        assert_int_equal(g.drift.has_range,
                         !isnan(cases[i].n) && !isnan(cases[i].share));
    }
}

/* What is not shown to hold is not ranked, and how many could show it is said:
 * about 2.093^2 (0.9 * 0.1 + 0.9 * 0.1) / 0.01^2 = 7,885. */
TEST(too_few_answers)
{
    struct scaling *s =
        scaled_study("workers,seconds,quality,quality_n\n"
                     "1,100,0.9,500\n2,52,0.9,500\n",
                     (struct scale_ask){
                         .threshold = 0.7, .tolerance = 0.01, .unit = "item"});

    assert_int_equal(s->points[1].quality_check.verdict, QUALITY_NOT_SHOWN);
    assert_near(s->points[1].quality_check.needed, 7885, 120);
    assert_int_equal(s->verdict.recommended_k, 1);
    scaled_says(s, "which is not shown to hold");
    scaled_free(s);
}

/* This number of answers shows it, and a tenth less does not; also where all
 * are right or wrong, and none where it is worse. */
TEST(answers_that_could_show_it)
{
    static const double shares[] = {0, 0.5, 0.87, 0.99, 1};

    for (size_t i = 0; i < COUNT(shares); i++) {
        struct quality_of x = {shares[i], 20};
        struct quality_check g = quality_judge(x, x, 0.005);

        assert_int_equal(g.verdict, QUALITY_NOT_SHOWN);
        x.n = g.needed;
        assert_int_equal(quality_judge(x, x, 0.005).verdict, QUALITY_HELD);
        x.n = g.needed * 0.9;
        assert_int_equal(quality_judge(x, x, 0.005).verdict, QUALITY_NOT_SHOWN);
    }
    assert_true(isnan(quality_judge((struct quality_of){0.9, 50},
                                    (struct quality_of){0.89, 50}, 0.005)
                          .needed));
}

/* ---- flags, guesses and the rest ---- */

static bool is_flagged(const struct scaling *s, const char *name)
{
    for (size_t i = 0; i < s->n_flags; i++) {
        if (strcmp(s->flags[i].name, name) == 0)
            return true;
    }
    return false;
}

TEST(red_flags)
{
    static const struct {
        const char *csv;
        bool too_good;
        bool superlinear;
        bool equal;
        bool no_bend;
    } cases[] = {
        {"workers,seconds\n1,8\n2,4\n4,2\n8,1\n", true, false, true, true},
        {"workers,seconds\n1,8\n2,3.9\n4,2.4\n", true, true, false, false},
        {"workers,seconds\n1,8\n2,4.07\n4,2.6\n", true, false, false, false},
        {"workers,seconds\n1,8\n2,4.2\n4,2.2\n", false, false, false, true},
        {"workers,seconds\n1,8\n2,4.3\n4,2.6\n", false, false, false, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scaling *s = scaled_study(cases[i].csv, scaled_usual);

        assert_int_equal(is_flagged(s, "efficiency of 0.98 or more"),
                         cases[i].too_good);
        assert_int_equal(is_flagged(s, "superlinear speedup"),
                         cases[i].superlinear);
        assert_int_equal(is_flagged(s, "a speedup equal to K"), cases[i].equal);
        assert_int_equal(is_flagged(s, "a curve without a bend"),
                         cases[i].no_bend);
        scaled_free(s);
    }
}

TEST(what_bends_it)
{
    static const struct {
        const char *csv;
        enum bend_cause want;
    } cases[] = {
        {repeated, BEND_COMMUNICATION},
        {fixed_job, BEND_COMMUNICATION},
        /* wide at every K but the first */
        {"workers,seconds,std,runs\n1,100,1,5\n2,58,6,5\n4,33,5,5\n8,20,4,5\n",
         BEND_STRAGGLER},
        /* as wide at K = 1: the machine, not its workers */
        {"workers,seconds,std,runs\n1,100,12,5\n2,53,6,5\n4,29,3,5\n"
         "8,19,2,5\n16,14,2,5\n",
         BEND_COMMUNICATION},
        /* a quarter is lost at K = 2, and no more later */
        {"workers,seconds,std,runs\n1,100,1,5\n2,66,1,5\n4,34,0.5,5\n"
         "8,17.5,0.3,5\n",
         BEND_IMBALANCE},
        {"workers,seconds\n1,8\n2,4\n4,2\n", BEND_NONE},
        {"workers,seconds\n1,8\n2,5\n", BEND_UNCLEAR},
        /* neither smooth, nor wide, nor early */
        {"workers,seconds,std,runs\n1,100,1,5\n2,51,0.5,5\n4,48,0.5,5\n"
         "8,14,0.1,5\n16,13,0.1,5\n",
         BEND_UNCLEAR},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scaling *s = scaled_study(cases[i].csv, scaled_usual);

        if (s->bend.cause != cases[i].want)
            print_message("%zu: %s: %s\n", i, bend_cause_name(s->bend.cause),
                          s->bend.evidence);
        assert_int_equal(s->bend.cause, cases[i].want);
        assert_true(s->bend.evidence[0]);
        scaled_free(s);
    }
}

TEST(an_slo_that_is_missed)
{
    struct scaling *s =
        scaled_study("workers,seconds,slo_met,p99_ms\n"
                     "1,100,yes,40\n2,52,yes,41\n4,27,no,90\n8,14,yes,50\n",
                     scaled_usual);

    assert_int_equal(s->verdict.efficient_k, 8);
    assert_int_equal(s->verdict.recommended_k, 8);
    scaled_free(s);
    s = scaled_study("workers,seconds,slo_met\n1,100,yes\n2,52,no\n",
                     scaled_usual);
    assert_int_equal(s->verdict.efficient_k, 2);
    assert_int_equal(s->verdict.recommended_k, 1);
    assert_int_equal(exit_status_of(scaling_conclusion(s), 0), 1);
    scaled_free(s);
}

/* 1e6 tokens in 10 s at 2e9 FLOPs each on two workers of 2e14: a half. */
TEST(energy_and_model_flops)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.flops_per_token = 2e9;
    ask.peak_flops = 2e14;
    s = scaled_study("workers,seconds,tokens,joules,work\n"
                     "1,18,1e6,900,300\n2,10,1e6,1200,300\n",
                     ask);
    assert_near(s->points[1].mfu, 0.5, 1e-12);
    assert_near(s->points[1].joules_per_unit, 4, 1e-12);
    assert_int_equal(s->verdict.thriftiest_k, 1);
    assert_scaled("scaling-energy.txt", s);
    scaled_free(s);
}

/* 4e5 uncached prompt tokens and 6e5 of output are computed alike. */
TEST(model_flops_count_prompts_and_output)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.flops_per_token = 2e9;
    ask.peak_flops = 2e14;
    s = scaled_study("workers,seconds,prompt_tokens,output_tokens\n"
                     "1,18,4e5,6e5\n2,10,4e5,6e5\n",
                     ask);
    assert_near(s->points[1].tokens, 1e6, 1e-6);
    assert_near(s->points[1].mfu, 0.5, 1e-12);
    scaled_free(s);
}

/* At K = 2 a unit takes 4 J, at K = 1 3 J: a third more. */
TEST(energy_is_a_gate_if_asked)
{
    static const struct {
        double tolerance;
        int64_t recommended;
    } cases[] = {{0, 2}, {0.2, 1}, {0.4, 2}};
    struct scale_ask ask = scaled_usual;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scaling *s;

        ask.energy_tolerance = cases[i].tolerance;
        s = scaled_study("workers,seconds,joules,work\n"
                         "1,18,900,300\n2,10,1200,300\n",
                         ask);
        assert_int_equal(s->verdict.recommended_k, cases[i].recommended);
        assert_near(s->points[1].energy_ratio, 4.0 / 3, 1e-12);
        scaled_free(s);
    }
    /* Unknown energy does not pass. */
    ask.energy_tolerance = 0.4;
    struct scaling *s = scaled_study("workers,seconds\n1,18\n2,10\n", ask);

    assert_int_equal(s->verdict.recommended_k, 0);
    scaled_says(s, "NO K keeps quality, efficiency, energy and SLO");
    scaled_says(s, "the energy per unit of work is unknown in 2 of 2 rows");
    scaled_free(s);
}

/* The cheapest within it need not be the fastest, nor be efficient. */
TEST(the_cheapest_within_a_deadline)
{
    static const struct {
        double deadline_s;
        int64_t fits;
        int64_t k;
    } cases[] = {
        {4000, 6, 1}, {1880, 5, 2}, {600, 3, 8}, {300, 1, 32}, {100, 0, 0}};
    struct scale_ask ask = scaled_usual;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scaling *s;

        ask.deadline_s = cases[i].deadline_s;
        s = scaled_study(fixed_job, ask);
        assert_int_equal(s->verdict.deadline.fits, cases[i].fits);
        assert_int_equal(s->verdict.deadline.k, cases[i].k);
        assert_int_equal(exit_status_of(scaling_conclusion(s), 0),
                         cases[i].fits > 0 ? 0 : 1);
        if (cases[i].fits == 0)
            scaled_says(s, "none: the fastest, K = 32, takes 250 s");
        scaled_free(s);
    }
}

/* Without a price there is no cheapest; a latency can be limited instead; what
 * does not hold quality is not chosen. */
TEST(deadlines_without_price_or_on_latency)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.deadline_s = 60;
    s = scaled_study("workers,seconds\n1,100\n2,55\n", ask);
    assert_int_equal(s->verdict.deadline.fits, 1);
    assert_int_equal(s->verdict.deadline.k, 0);
    scaled_says(s, "the cheapest is unknown");
    scaled_free(s);
    ask.deadline_s = 0.2;
    ask.deadline_on = DEADLINE_P99;
    ask.usd_per_hour = 1;
    s = scaled_study("workers,seconds,p99_ms,quality\n"
                     "1,100,300,0.9\n2,55,150,0.5\n4,30,120,0.9\n",
                     ask);
    assert_int_equal(s->verdict.deadline.fits, 1);
    assert_int_equal(s->verdict.deadline.k, 4);
    scaled_free(s);
}

/* 2 GB at 0.1 USD; 730 GB for an hour at 0.02 USD a month: 0.02 USD. */
TEST(storage_and_egress_are_part_of_the_price)
{
    const struct cost_ask cost = {
        .usd_per_gb_egress = 0.1, .usd_per_gb_month = 0.02, .storage_gb = 730};
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.usd_per_hour = 1;
    ask.cost = &cost;
    s = scaled_study("workers,seconds,egress_gb\n1,3600,2\n2,1800,2\n", ask);
    assert_near(s->points[0].usd_egress, 0.2, 1e-12);
    assert_near(s->points[0].usd_storage, 0.02, 1e-12);
    assert_near(s->points[0].usd, 1.22, 1e-12);
    assert_near(s->points[1].usd, 1.21, 1e-12);
    scaled_free(s);
}

TEST(the_claim_is_one_sentence)
{
    static const char *const parts[] = {
        "Strong scaling of 1200000 items, measured at 6 K from 1 to 32",
        "8 workers take 560 s, a speedup of 6.429 and an efficiency of 0.8036",
        "against T(1) = 3600 s",
        "no interval: there are no repeats",
        "the largest K with an efficiency of at least 0.7",
        "a quality within 0.005 of that at K = 1",
        "1.244 USD per run",
        "which does not state server, model and data",
        "warm-up not known to be excluded.",
    };
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.work = 1200000;
    s = scaled_study(fixed_job, ask);
    for (size_t i = 0; i < COUNT(parts); i++)
        scaled_says(s, parts[i]);
    scaled_free(s);
    s = scaled_study("workers,seconds\n1,100\n2,90\n", scaled_usual);
    scaled_says(s, "2 workers take 90 s, a speedup of 1.111");
    scaled_says(s, "there is no K above 1 with an efficiency of at least 0.7");
    scaled_free(s);
}

/* The communication of the table that repeated_timings() reads was planted:
 * 0.01 log2(K + 1) s next to 0.04 + 0.96 / K, with 2 % of noise. */
TEST(communication_of_repeated_timings)
{
    struct scaling *s = scaled_study(repeated, scaled_usual);
    const struct uncertain *alpha = &s->comm.term_s[COMM_ALPHA];

    assert_true(s->comm.is_fitted);
    assert_near(alpha->value, 0.01, 0.001);
    assert_true(alpha->range.low > 0 && alpha->range.low < 0.01);
    assert_near(s->comm.term_s[COMM_PARALLEL].value, 0.96, 0.02);
    assert_near(s->points[6].communication_s / s->points[6].computation_s, 1.06,
                0.01);
    assert_true(s->comm.peak_k.value > 50 && s->comm.peak_k.value < 75);
    scaled_says(s, "more workers stop helping at K = 62");
    scaled_free(s);
}

TEST(measured_communication)
{
    struct scaling *s = scaled_study("workers,seconds,comm_seconds\n"
                                     "1,100,\n2,52,2\n4,29,4\n8,18.5,6\n",
                                     scaled_usual);

    assert_true(s->comm.is_measured);
    assert_near(s->comm.term_s[COMM_ALPHA].value, 2, 1e-9);
    assert_near(s->points[2].communication_s / s->points[2].computation_s, 0.16,
                1e-12);
    scaled_says(s, "fitted to the column comm_seconds");
    scaled_free(s);
}

/* A short run costs little, and not nothing. */
TEST(fractions_of_a_cent)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.usd_per_hour = 0.8;
    s = scaled_study("workers,seconds,work\n1,3.6,10\n2,1.8,10\n", ask);
    assert_near(s->points[0].usd, 0.0008, 1e-12);
    scaled_says(s, " 0.0008000 USD");
    scaled_free(s);
}

/* One so large that it bounds no ratio leaves it without an interval, and takes
 * no longer than another. */
TEST(absurd_spreads)
{
    static const char *const firsts[] = {"10,5e14", "1e-12,1e15"};

    for (size_t i = 0; i < COUNT(firsts); i++) {
        char *csv = keepf("workers,seconds,std,runs\n"
                          "1,%s,5\n2,6,2,5\n4,4,0.3,5\n",
                          firsts[i]);
        struct scaling *s = scaled_study(csv, scaled_usual);

        assert_false(s->points[1].speedup.has_range);
        assert_false(s->points[1].efficiency.has_range);
        assert_true(isfinite(s->points[0].time_s.range.low));
        scaled_free(s);
    }
}

TEST(capacities)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.regime = SCALE_CAPACITY;
    ask.unit = "request";
    ask.usd_per_hour = 3.6;
    s = scaled_study("replicas,capacity_rps\n1,50\n2,90\n4,150\n", ask);
    assert_near(s->points[2].efficiency.value, 0.75, 1e-12);
    assert_near(s->points[2].usd_per_unit, 4 * 3.6 / 3600 / 150, 1e-12);
    assert_scaled("scaling-capacity.txt", s);
    assert_true(isnan(s->points[2].usd)); /* of no run */
    scaled_free(s);
}

TEST(json_has_it_all)
{
    struct scaling *s = scaled_study(repeated, scaled_usual);
    struct buf out;
    json_t *json;

    buf_init(&out, 1 << 20);
    doc_put(scaling_doc(s), DOC_AS_JSON, &out);
    json = json_loads(buf_text(&out), 0, NULL);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "answer")),
                        "scales");
    assert_int_equal(json_array_size(json_object_get(json, "points")), 7);
    assert_int_equal(json_array_size(json_object_get(json, "checklist")), 6);
    assert_true(json_is_null(json_object_get(json, "gustafson")));
    assert_near(json_real_value(json_object_get(json_object_get(json, "amdahl"),
                                                "serial_fraction")),
                s->law.serial.value, 1e-12);
    json_decref(json);
    buf_fini(&out);
    scaled_free(s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
