/* What the benchmarks want of a summary.json, a line each: name and value.
 * Usage: bench_summary FILE */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/text/json.h"

static const struct {
    const char *name;
    const char *path[4];
} numbers[] = {
    {"requests", {"requests", "ok"}},
    {"failed", {"requests", "failed"}},
    {"unsent", {"requests", "unsent"}},
    {"connections", {"requests", "opened_connection"}},
    {"events", {"tokens", "streams", "events"}},
    {"coalesced_share", {"tokens", "streams", "coalesced_share"}},
    {"seconds", {"window", "length_s"}},
    {"rate", {"throughput_rps"}},
    {"offered", {"offered_rps"}},
    {"e2e_p50_ms", {"measures", "e2e", "p50_ms"}},
    {"e2e_p99_ms", {"measures", "e2e", "p99_ms"}},
    {"lag_p50_ms", {"measures", "lag", "p50_ms"}},
    {"lag_p99_ms", {"measures", "lag", "p99_ms"}},
};

static void print_numbers(const json_t *summary)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const json_t *value = summary;

        for (size_t k = 0; numbers[i].path[k]; k++)
            value = json_object_get(value, numbers[i].path[k]);
        if (json_is_number(value))
            printf("%s %.9g\n", numbers[i].name, json_number_value(value));
    }
}

/* Of the CPU time, by the hypervisor. */
static void print_steal(const json_t *check)
{
    const char *name = json_string_value(json_object_get(check, "name"));

    if (name && strcmp(name, "steal") == 0)
        printf("steal_percent %.9g\n",
               json_number_value(json_object_get(check, "value")));
}

static void print_failed_checks(const json_t *trust)
{
    const char *between = "";
    const json_t *check;
    size_t i;

    printf("failed_checks ");
    json_array_foreach(json_object_get(trust, "checks"), i, check)
    {
        if (json_is_true(json_object_get(check, "ok")))
            continue;
        printf("%s%s", between,
               json_string_value(json_object_get(check, "name")));
        between = ", ";
    }
    printf("%s\n", *between ? "" : "none");
}

static void print_checks(const json_t *summary)
{
    const json_t *trust = json_object_get(summary, "trust");
    const json_t *check;
    size_t i;

    json_array_foreach(json_object_get(trust, "checks"), i, check)
    {
        print_steal(check);
    }
    print_failed_checks(trust);
}

/* Of each term, by its place: what was measured, and its interval. */
static void print_terms(const json_t *slo)
{
    const json_t *term;
    size_t i;

    json_array_foreach(slo, i, term)
    {
        const json_t *interval = json_object_get(term, "ci90_ms");

        printf("slo_%zu %.9g %.9g %.9g\n", i + 1,
               json_number_value(json_object_get(term, "measured_ms")),
               json_number_value(json_array_get(interval, 0)),
               json_number_value(json_array_get(interval, 1)));
    }
}

int main(int argc, char **argv)
{
    struct err err = {0};
    json_t *summary = NULL;

    if (argc != 2 || json_read_file(argv[1], &summary, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    print_numbers(summary);
    print_checks(summary);
    print_terms(json_object_get(summary, "slo"));
    json_decref(summary);
    return 0;
}
