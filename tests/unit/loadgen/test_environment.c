/* What the client runs on, from a root of our own making. */
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "loadgen/observe/host.h"
#include "tests/support/keep.h"
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

TEST(files_become_texts)
{
    struct strmap map = {0};

    put("proc", "cpuinfo", "processor\t: 0\nmodel name\t: Abacus 9\nx: 1\n");
    put("proc", "meminfo", "MemTotal:       1024 kB\nMemFree: 3 kB\n");
    put("proc/self", "cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a", "cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/a/b", "memory.max", "max\n");
    put("sys/devices/system/clocksource/clocksource0", "current_clocksource",
        "hpet\n");
    environment_read(&map, tmpdir_path(""));
    assert_string_equal(strmap_get(&map, "cpu_model"), "Abacus 9");
    assert_string_equal(strmap_get(&map, "memory"), "1024 kB");
    assert_string_equal(strmap_get(&map, "cgroup_cpu"), "150000 100000");
    assert_string_equal(strmap_get(&map, "cgroup_memory"), "max");
    assert_string_equal(strmap_get(&map, "clock_source"), "hpet");
    assert_null(strmap_get(&map, "governor"));
    assert_non_null(strmap_get(&map, "libcurl"));
    assert_non_null(strmap_get(&map, "libevent"));
    strmap_fini(&map);
}

TEST(what_is_not_told_is_left_out)
{
    struct strmap map = {0};

    environment_read(&map, tmpdir_path("nowhere"));
    assert_null(strmap_get(&map, "cpu_model"));
    assert_null(strmap_get(&map, "cgroup_cpu"));
    assert_non_null(strmap_get(&map, "compiler"));
    strmap_fini(&map);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
