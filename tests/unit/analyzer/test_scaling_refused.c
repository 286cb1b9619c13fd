/* Tables that are no scaling of the kind that is declared, and files that are
 * no tables. */
#include <string.h>

#include "analyzer/scaling/scaling.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "tests/support/near.h"
#include "tests/support/scaled.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void is_refused(const char *csv, enum scale_regime regime,
                       const char *why)
{
    struct scale_ask ask = scaled_usual;
    struct scaling *s;

    ask.regime = regime;
    s = scaled_study(csv, ask);
    assert_int_equal(exit_status_of(scaling_conclusion(s), 0), 4);
    scaled_says(s, "REFUSED");
    scaled_says(s, why);
    scaled_free(s);
}

TEST(regimes_are_not_mixed)
{
    static const char grows[] = "workers,seconds,work\n1,10,100\n2,10.5,200\n"
                                "4,11,400\n";
    static const char stays[] = "workers,seconds,work\n1,10,100\n2,5.5,100\n"
                                "4,3,100\n";
    static const char odd[] = "workers,seconds,work\n1,10,100\n2,5.5,100\n"
                              "4,3,150\n";
    struct scale_ask weak = scaled_usual;
    struct scaling *s;

    is_refused(grows, SCALE_STRONG,
               "not strong scaling: K = 2 does 200 items, but the one job is "
               "100 (K = 1 does 100); that is weak scaling");
    is_refused(grows, SCALE_STRONG, "K = 4 does 400 items");
    is_refused(stays, SCALE_WEAK,
               "K = 4 does 100 items, but K times the job is 400 (K = 1 does "
               "100); that is strong scaling");
    is_refused(odd, SCALE_STRONG, "K = 4 does 150 items");
    weak.regime = SCALE_WEAK;
    s = scaled_study(grows, weak);
    assert_near(s->points[2].efficiency.value, 10.0 / 11, 1e-12);
    assert_near(s->points[2].speedup.value, 40.0 / 11, 1e-12);
    scaled_says(s, "Gustafson");
    scaled_free(s);
}

TEST(no_denominator)
{
    is_refused("workers,seconds\n2,10\n4,6\n", SCALE_STRONG,
               "K = 1 is missing");
    is_refused("workers,seconds\n1,10\n", SCALE_STRONG, "only K = 1");
    is_refused("workers,seconds,config\n1,10,a\n2,6,a\n2,5,b\n", SCALE_STRONG,
               "a curve must have one configuration");
}

/* The fastest at K = 1 that holds quality, whichever the others are of. */
TEST(the_strongest_baseline)
{
    struct scaling *s = scaled_study("workers,seconds,quality,config\n"
                                     "1,100,0.90,fp32\n"
                                     "1,50,0.90,fp16\n"
                                     "1,30,0.80,int4\n"
                                     "2,27,0.90,fp16\n",
                                     scaled_usual);

    assert_string_equal(s->points[0].config, "fp16");
    assert_near(s->points[1].speedup.value, 50.0 / 27, 1e-12);
    scaled_says(
        s, "baseline: 'fp16', the fastest of 3 at K = 1 that holds quality");
    scaled_free(s);
}

TEST(bad_tables)
{
    static const struct {
        const char *csv;
        const char *want;
    } cases[] = {
        {"workers,secnds\n1,2\n", "t.csv:1: unknown column 'secnds'; did you "
                                  "mean 'seconds'?"},
        {"workers,work\n1,2\n", "t.csv:1: no column 'seconds'"},
        {"seconds\n1\n", "t.csv:1: no column 'workers'"},
        {"k,workers,seconds\n1,1,2\n",
         "t.csv:1: columns 'k' and 'workers' have the same meaning"},
        {"workers,seconds\n1\n", "t.csv:2: fewer cells than columns"},
        {"workers,seconds\n1,2,3\n", "t.csv:2: more cells than columns"},
        {"workers,seconds\n1,2\n\n0,2\n",
         "t.csv:4: workers: '0' is not a whole number from 1"},
        {"workers,seconds\n1.5,2\n", "t.csv:2: workers: '1.5' is not"},
        {"workers,seconds\n1,0\n", "t.csv:2: seconds: '0' is not a number "
                                   "above 0"},
        {"workers,seconds\n1,nan\n", "t.csv:2: seconds: 'nan' is not"},
        {"workers,seconds\n1,inf\n", "t.csv:2: seconds: 'inf' is not"},
        {"workers,seconds\n1,1e300\n2,1e-300\n",
         "t.csv:2: seconds: '1e300' is out of range; a number is 0 or 1e-12 to "
         "1e15"},
        {"workers,seconds\n1,1e-300\n",
         "t.csv:2: seconds: '1e-300' is out of range"},
        {"workers,seconds\n1,2s\n", "t.csv:2: seconds: '2s' is not"},
        {"workers,seconds\n1,\n", "t.csv:2: no seconds"},
        {"workers,seconds,quality\n1,2,87\n",
         "t.csv:2: quality: '87' is not a share from 0 to 1"},
        {"workers,seconds,slo_met\n1,2,maybe\n",
         "t.csv:2: slo_met: 'maybe' is neither yes nor no"},
        {"workers,seconds,runs\n1,2,5\n1,3,5\n", "t.csv:3: K = 1 was given "
                                                 "twice"},
        {"workers,seconds,work\n1,2,5\n1,2,6\n",
         "t.csv:3: work: 6, but another run with the same K has 5"},
        {"workers,seconds,machine\n1,2,L4\n",
         "t.csv:2: machine 'L4' requires a price table"},
        {"workers,seconds,usd_per_hour,machine\n1,2,3,L4\n",
         "t.csv:2: machine cannot be combined with usd_per_hour"},
        {"workers,seconds\n", "t.csv: no rows with timings"},
        {"", "t.csv: no rows with timings"},
    };
    struct scale_ask ask = scaled_usual;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scaling s;
        struct strlist sources = {0};
        struct err err = {0};

        strlist_add(&sources,
                    tmpdir_write("t.csv", cases[i].csv, strlen(cases[i].csv)));
        ask.sources = &sources;
        assert_int_equal(scaling_make(&s, &ask, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        if (!strstr(err.msg, cases[i].want))
            print_message("%s\n", err.msg);
        assert_non_null(strstr(err.msg, cases[i].want));
        strlist_fini(&sources);
    }
}

/* A file that is no table of timings ends soon. */
TEST(a_table_has_so_many_points)
{
    struct strlist sources = {0};
    struct scale_ask ask = scaled_usual;
    struct err err = {0};
    struct scaling s;
    struct buf csv;

    buf_init(&csv, 1 << 20);
    buf_adds(&csv, "workers,seconds\n");
    for (int k = 1; k <= 2000; k++)
        buf_addf(&csv, "%d,1\n", k);
    strlist_add(&sources, tmpdir_write("t.csv", buf_text(&csv), csv.len));
    ask.sources = &sources;
    assert_int_equal(scaling_make(&s, &ask, &err), -1);
    assert_non_null(strstr(err.msg, "t.csv:1026: more than 1024 points"));
    strlist_fini(&sources);
    buf_fini(&csv);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
