/* What the host says of itself: the kernel's texts, and where they lie. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "loadgen/observe/host.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(ticks_and_those_that_were_stolen)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t ticks;
        int64_t steal;
    } cases[] = {
        {"cpu  10 20 30 400 5 6 7 80 9 9\ncpu0 1 2 3 4 5 6 7 8 9 9\n", true,
         558, 80},
        {"cpu 0 0 0 0 0 0 0 0\n", true, 0, 0},
        {"cpu  1 2 3 4 5 6 7 8", true, 36, 8},
        {"cpu0 1 2 3 4 5 6 7 8 9 9\n", false, 0, 0},
        {"cpu  1 2 3 4 5 6 7\ncpu0 1", false, 0, 0},
        {"cpu  1 2 3 -4 5 6 7 8\n", false, 0, 0},
        {"cpu  4611686018427387903 1 0 0 0 0 0 0\n", false, 0, 0},
        {"cpu  99999999999999999999 1 0 0 0 0 0 0\n", false, 0, 0},
        {"", false, 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ticks = -1;
        int64_t steal = -1;

        assert_int_equal(host_parse_stat(cases[i].text, &ticks, &steal),
                         cases[i].ok);
        assert_int_equal(ticks, cases[i].ok ? cases[i].ticks : -1);
        assert_int_equal(steal, cases[i].ok ? cases[i].steal : -1);
    }
}

TEST(our_cgroup_with_the_cpu_controller)
{
    static const struct {
        const char *text;
        const char *want; /* NULL: none */
    } cases[] = {
        {"0::/user.slice/a.scope\n", "/user.slice/a.scope"},
        {"0::/\n", "/"},
        {"0::/odd:name,cpu:x\n", "/odd:name,cpu:x"},
        {"5:memory:/m\n4:cpu,cpuacct:/c\n0::/u\n", "/cpu/c"},
        {"0::/u\n4:cpuacct,cpu:/c\n", "/cpu/c"}, /* version 1 holds it */
        {"3:cpuset:/s\n2:cpuacct:/a\n0::/u\n", "/u"},
        {"1:name=systemd:/\n", NULL},
        {"1:cpu:/", "/cpu/"},
        {"0:\n:\nx\n", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[64];

        assert_int_equal(host_parse_cgroup(cases[i].text, path, sizeof(path)),
                         cases[i].want != NULL);
        if (cases[i].want)
            assert_string_equal(path, cases[i].want);
    }
}

TEST(a_path_too_long_is_none)
{
    char path[8];

    assert_true(host_parse_cgroup("0::/234567\n", path, sizeof(path)));
    assert_false(host_parse_cgroup("0::/2345678\n", path, sizeof(path)));
}

TEST(throttling_of_either_version)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n", 1500000},
        {"nr_periods 1\nnr_throttled 3\nthrottled_time 1500\n", 1500},
        {"throttled_usec 0", 0},
        {"usage_usec 9\nuser_usec 8\n", TIME_ABSENT}, /* no cpu controller */
        {"xthrottled_usec 7\nthrottled_usecs 7\n", TIME_ABSENT},
        {"throttled_usec -1\n", TIME_ABSENT},
        {"throttled_usec 4611686018427387903\n", TIME_ABSENT},
        {"throttled_usec\n", TIME_ABSENT},
        {"", TIME_ABSENT},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(host_parse_throttled(cases[i].text), cases[i].want);
}

TEST(pressure_on_some_task)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"some avg10=0.00 avg60=0.0 avg300=0.0 total=42\nfull total=7\n",
         42000},
        {"some avg10=0.00\nfull avg10=0.00 total=7\n", TIME_ABSENT},
        {"full avg10=0.00 total=7\n", TIME_ABSENT},
        {"some total=x\n", TIME_ABSENT},
        {"", TIME_ABSENT},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(host_parse_pressure(cases[i].text), cases[i].want);
}

/* ---- the files ---- */

/* Make a file below the root, and the directories on the way. */
static void put(const char *root, const char *name, const char *text)
{
    char *path = keepf("%s/%s", root, name);
    FILE *f;

    mkdir(root, 0777);
    for (char *p = path + strlen(root); (p = strchr(p + 1, '/'));) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct observation read_below(const char *root)
{
    struct observation seen = {0};
    struct host h;

    host_init(&h, root);
    host_read(&h, &seen);
    host_fini(&h);
    return seen;
}

TEST(a_host_that_tells_nothing)
{
    struct observation seen = read_below(tmpdir_path("nowhere"));

    assert_int_equal(seen.host_ticks, TIME_ABSENT);
    assert_int_equal(seen.host_steal, TIME_ABSENT);
    assert_int_equal(seen.throttled, TIME_ABSENT);
    assert_int_equal(seen.pressure, TIME_ABSENT);
    assert_int_not_equal(seen.asleep, TIME_ABSENT); /* a clock, no file */
}

/* The nearest cgroup that tells. */
TEST(cgroups_are_looked_up_to_the_root)
{
    static const struct {
        const char *name;
        const char *cgroup;
        const char *file; /* that has throttled_usec 5 */
        int64_t want;
    } cases[] = {
        {"own", "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.stat", 5000},
        {"above", "0::/a/b\n", "sys/fs/cgroup/a/cpu.stat", 5000},
        {"container", "0::/docker/x\n", "sys/fs/cgroup/cpu.stat", 5000},
        {"root", "0::/\n", "sys/fs/cgroup/cpu.stat", 5000},
        {"v1", "1:cpu:/x\n", "sys/fs/cgroup/cpu/x/cpu.stat", 5000},
        {"v1root", "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.stat", 5000},
        {"beside", "0::/a/b\n", "sys/fs/cgroup/a/c/cpu.stat", TIME_ABSENT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *root = tmpdir_path(cases[i].name);
        struct observation seen;

        put(root, "proc/self/cgroup", cases[i].cgroup);
        put(root, "proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\n");
        put(root, "proc/pressure/cpu", "some avg10=0.00 total=9\n");
        put(root, cases[i].file, "usage_usec 1\nthrottled_usec 5\n");
        seen = read_below(root);
        assert_int_equal(seen.throttled, cases[i].want);
        assert_int_equal(seen.host_ticks, 36);
        assert_int_equal(seen.host_steal, 8);
        assert_int_equal(seen.pressure, 9000);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
