/* What can be read of the server's host: below a root of our own making, from a
 * library of our own, and of this very process. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/prometheus.h"
#include "loadgen/observe/meter.h"
#include "tests/support/keep.h"
#include "tests/support/metricsserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void put(const char *dir, const char *name, const char *text)
{
    struct err err = {0};
    char *path = tmpdir_path(dir);
    char *file = keepf("%s/%s", path, name);

    assert_int_equal(file_make_dir(path, &err), 0);
    assert_int_equal(file_replace(file, text, strlen(text), &err), 0);
}

/* Open a source by what a user writes; NULL if it cannot be. */
static void *opened(const char *text, bool is_memory, const char *root,
                    const struct target_settings *target,
                    const struct meter_ops **ops)
{
    struct meter_place place = {.root = root, .target = target};
    struct err err = {0};
    void *self;

    *ops = meter_find(text, is_memory, &place.arg, &err);
    assert_non_null(*ops);
    self = xcalloc(1, (*ops)->state_size);
    if ((*ops)->open(self, &place, &err) == 0)
        return self;
    assert_true(err.msg[0] != '\0');
    (*ops)->close(self);
    free(self);
    return NULL;
}

static void closed(const struct meter_ops *ops, void *self)
{
    ops->close(self);
    free(self);
}

/* Two packages, one of which wraps. */
TEST(packages_are_added_up)
{
    const char *root = tmpdir_path("");
    const struct meter_ops *ops;
    void *self;

    assert_null(opened("rapl", false, root, NULL, &ops));
    put("sys/class/powercap/intel-rapl:0", "energy_uj", "900\n");
    put("sys/class/powercap/intel-rapl:0", "max_energy_range_uj", "1000\n");
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "5\n");
    self = opened("rapl", false, tmpdir_path(""), NULL, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 0);
    put("sys/class/powercap/intel-rapl:0", "energy_uj", "950\n");
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "7\n");
    assert_int_equal(ops->read(self, 0), 52);
    put("sys/class/powercap/intel-rapl:0", "energy_uj", "20\n");
    assert_int_equal(ops->read(self, 0), 52 + 70);
    /* One that does not tell leaves the sum unknown, until it tells again. */
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "?\n");
    put("sys/class/powercap/intel-rapl:0", "energy_uj", "30\n");
    assert_int_equal(ops->read(self, 0), TIME_ABSENT);
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "17\n");
    assert_int_equal(ops->read(self, 0), 52 + 70 + 10 + 10);
    /* One that falls, and it is not known where it wraps, is lost for good. */
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "3\n");
    assert_int_equal(ops->read(self, 0), TIME_ABSENT);
    put("sys/class/powercap/intel-rapl:1", "energy_uj", "9\n");
    assert_int_equal(ops->read(self, 0), TIME_ABSENT);
    closed(ops, self);
}

/* Beside a package that can be read one that cannot, and then the platform,
 * which has both in it. */
TEST(packages_are_all_read_or_none)
{
    const struct meter_ops *ops;
    char *root;
    void *self;

    put("two/sys/class/powercap/intel-rapl:0", "energy_uj", "900\n");
    put("two/sys/class/powercap/intel-rapl:0", "name", "package-0\n");
    put("two/sys/class/powercap/intel-rapl:1", "energy_uj", "\n");
    root = tmpdir_path("two");
    assert_null(opened("rapl", false, root, NULL, &ops));
    put("two/sys/class/powercap/intel-rapl:1", "name", "psys\n");
    self = opened("rapl", false, root, NULL, &ops);
    assert_non_null(self);
    put("two/sys/class/powercap/intel-rapl:0", "energy_uj", "905\n");
    assert_int_equal(ops->read(self, 0), 5);
    closed(ops, self);
}

TEST(gpus_are_added_up)
{
    char *text = keepf("nvml %s", getenv("FAKE_NVML"));
    const struct meter_ops *ops;
    void *self = opened(text, false, "", NULL, &ops);
    int64_t first;

    assert_non_null(self);
    first = ops->read(self, 0);
    assert_int_equal(ops->read(self, 0) - first, 5000000);
    closed(ops, self);
    assert_null(opened("nvml /nowhere/libnone.so", false, "", NULL, &ops));
}

TEST(our_own_memory)
{
    char *text = keepf("pid %ld", (long)getpid());
    char *group = keepf("group %ld", (long)getpgrp());
    const struct meter_ops *ops;
    void *self = opened(text, true, "", NULL, &ops);

    assert_non_null(self);
    assert_true(ops->read(self, 0) > 100000);
    closed(ops, self);
    self = opened(group, true, "", NULL, &ops);
    assert_non_null(self);
    assert_true(ops->read(self, 0) > 100000);
    closed(ops, self);
    assert_null(opened("pid 0", true, "", NULL, &ops));
    assert_null(opened("pid x", true, "", NULL, &ops));
    assert_null(opened("group 1073741823", true, "", NULL, &ops));
}

/* Two of group 7 and one of another, with a name that tries to deceive. */
TEST(members_of_a_group)
{
    const struct meter_ops *ops;
    void *self;

    put("proc/10", "stat", "10 (a) S 1 7 7 0\n");
    put("proc/10", "status", "Name: a\nVmHWM:\t 9 kB\nVmRSS:\t 5 kB\n");
    put("proc/11", "stat", "11 (b) R 1 8) S 1 7 7 0\n");
    put("proc/11", "status", "Name: b\nVmRSS:\t 3 kB\n");
    put("proc/12", "stat", "12 (c) S 1 9 9 0\n");
    put("proc/12", "status", "Name: c\nVmRSS:\t 100 kB\n");
    self = opened("group 7", true, tmpdir_path(""), NULL, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 8 * 1024);
    closed(ops, self);
    self = opened("pid 10", true, tmpdir_path(""), NULL, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 9 * 1024);
    closed(ops, self);
}

TEST(a_cgroup_has_a_peak_or_not)
{
    const struct meter_ops *ops;
    void *self;

    assert_null(
        opened("cgroup /sys/fs/cgroup/x", true, tmpdir_path(""), NULL, &ops));
    put("sys/fs/cgroup/x", "memory.current", "123\n");
    self = opened("cgroup /sys/fs/cgroup/x", true, tmpdir_path(""), NULL, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 123);
    closed(ops, self);
    put("sys/fs/cgroup/x", "memory.peak", "456\n");
    self = opened("cgroup /sys/fs/cgroup/x", true, tmpdir_path(""), NULL, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 456);
    closed(ops, self);
}

TEST(a_name_without_a_unit_is_refused)
{
    const struct meter_ops *ops;
    struct err err = {0};
    const char *arg;

    assert_null(opened("series http://127.0.0.1:9/metrics node_power", false,
                       "", NULL, &ops));
    assert_null(opened("series http://127.0.0.1:9/metrics x_joules y", false,
                       "", NULL, &ops));
    assert_null(meter_find("pid 1", false, &arg, &err));
    assert_int_equal(err.code, ERR_CONFIG);
}

struct grown {
    struct counters counters;
    double by;
};

static void take_grown(void *arg, const struct prom_sample *sample)
{
    struct grown *g = arg;

    g->by += counters_grown(&g->counters, sample);
}

static double grown_by(struct grown *g, const char *page)
{
    g->by = 0;
    prom_read(page, strlen(page), take_grown, g);
    return g->by;
}

/* Two boards, of which one starts anew: what it had before is not taken away.
 */
TEST(a_counter_that_starts_anew)
{
    struct grown g = {0};

    assert_true(grown_by(&g, "j{i=\"0\"} 100\nj{i=\"1\"} 50\n") == 0);
    assert_true(grown_by(&g, "j{i=\"1\"} 60\nj{i=\"0\"} 120\n") == 30);
    assert_true(grown_by(&g, "j{i=\"0\"} 7\nj{i=\"1\"} 61\n") == 8);
    assert_true(grown_by(&g, "j{i=\"1\"} 63\n") == 2); /* one is missing */
    assert_true(grown_by(&g, "j{i=\"0\"} 9\nj{i=\"1\"} 63\nj{i=\"2\"} "
                             "1000\n") == 2); /* and one is new */
    assert_true(grown_by(&g, "j{i=\"2\"} 1001\n") == 1);
    counters_fini(&g.counters);
}

/* 50 W for 2 s, in two samples; and a counter of joules. */
TEST(what_others_measure)
{
    struct metricsserver server = metricsserver_start(
        "gpu_watts{i=\"0\"} 20\ngpu_watts{i=\"1\"} 30\nboard_joules_total 7\n",
        WAY_GOOD, tmpdir_path("log"));
    char *power = keepf("series  %s/metrics   gpu_watts ", server.url);
    char *energy = keepf("series %s/metrics board_joules_total", server.url);
    char *none = keepf("series %s/metrics other_joules", server.url);
    const struct meter_ops *ops;
    struct settings s;
    void *self;

    settings_init(&s);
    strlist_add(&s.target.urls, server.url);
    self = opened(power, false, "", &s.target, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, NS_PER_S), 0);
    assert_int_equal(ops->read(self, 3 * NS_PER_S), 100000000);
    closed(ops, self);
    self = opened(energy, false, "", &s.target, &ops);
    assert_non_null(self);
    assert_int_equal(ops->read(self, 0), 0); /* since it was opened */
    closed(ops, self);
    assert_null(opened(none, false, "", &s.target, &ops));
    settings_fini(&s);
    metricsserver_stop(&server);
}

/* A page with a number of samples, one per node. */
static char *nodes(const char *name, int n)
{
    struct buf page;
    char *text;

    buf_init(&page, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_addf(&page, "%s{node=\"%d\"} 2\n", name, i);
    text = xstrdup(buf_text(&page));
    buf_fini(&page);
    return text;
}

/* Counters are told apart, which has an end; power is added up. */
TEST(of_counters_there_may_be_so_many)
{
    static const struct {
        const char *name;
        bool is_read;
    } cases[] = {{"node_joules_total", false}, {"node_watts", true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *page = nodes(cases[i].name, COUNTERS_MAX + 1);
        struct metricsserver server =
            metricsserver_start(page, WAY_GOOD, tmpdir_path("many"));
        char *source = keepf("series %s/metrics %s", server.url, cases[i].name);
        const struct meter_ops *ops;
        struct settings s;
        void *self;

        settings_init(&s);
        strlist_add(&s.target.urls, server.url);
        self = opened(source, false, "", &s.target, &ops);
        assert_int_equal(self != NULL, cases[i].is_read);
        if (self)
            closed(ops, self);
        settings_fini(&s);
        metricsserver_stop(&server);
        free(page);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
