/* How fast traces are read: MB of CSV and of JSONL a second of CPU time, on one
 * core.  Each file is made where the program runs, read once to have it in
 * memory, then timed; medians, one line each. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/settings/settings.h"
#include "loadgen/trace/trace.h"

#define ROUNDS   7
#define MAX_TEXT ((size_t)256 << 20)
#define ROWS     1000000

static char path[64];

static void make_azure(struct buf *text)
{
    buf_adds(text, "TIMESTAMP,ContextTokens,GeneratedTokens\n");
    for (int i = 0; i < ROWS; i++)
        buf_addf(text, "2024-05-%02d %02d:%02d:%02d.%06d+00:00,%d,%d\n",
                 10 + i / 86400, i / 3600 % 24, i / 60 % 60, i % 60, i,
                 i * 31 % 7000, i * 17 % 900);
}

static void make_mooncake(struct buf *text)
{
    for (int i = 0; i < ROWS / 2; i++)
        buf_addf(text,
                 "{\"timestamp\": %d, \"input_length\": %d, "
                 "\"output_length\": %d, \"hash_ids\": [0, 1, 2, %d, %d, %d, "
                 "%d, %d]}\n",
                 i, 3600 + i % 480, i * 17 % 900, i, i + 1, i + 2, i + 3,
                 i + 4);
}

/* Rows of the file, damaged ones included; -1 if it cannot be read. */
static int64_t read_all(void)
{
    const struct trace_settings s = {.file = path, .time_scale = 1};
    struct trace t;
    struct err err = {0};
    const struct row *row;
    int rc = trace_open(&t, &s, &err);
    int64_t rows;

    if (rc == 0) {
        do
            rc = trace_next(&t, &row, &err);
        while (rc > 0);
    }
    rows = t.counts.rows + t.counts.damaged;
    trace_fini(&t);
    if (rc < 0) {
        fprintf(stderr, "trace: %s\n", err.msg);
        return -1;
    }
    return rows;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static int measure(const char *name, const struct buf *text)
{
    double mb_a_second[ROUNDS];
    int64_t rows = 0;
    struct err err = {0};

    snprintf(path, sizeof(path), "trace-bench.%d", (int)getpid());
    if (file_replace(path, text->data, text->len, &err)) {
        fprintf(stderr, "trace: %s\n", err.msg);
        return -1;
    }
    for (int i = -1; i < ROUNDS && rows >= 0; i++) {
        int64_t start_ns = clk_thread_cpu_ns();

        rows = read_all();
        if (i >= 0)
            mb_a_second[i] = (double)text->len / 1e6 /
                             ((double)(clk_thread_cpu_ns() - start_ns) / 1e9);
    }
    unlink(path);
    if (rows < 0)
        return -1;
    qsort(mb_a_second, ROUNDS, sizeof(mb_a_second[0]), by_value);
    printf("trace: %s, %lld rows, %.0f MB: %.0f MB/s (%.0f to %.0f)\n", name,
           (long long)rows, (double)text->len / 1e6, mb_a_second[ROUNDS / 2],
           mb_a_second[0], mb_a_second[ROUNDS - 1]);
    return 0;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*make)(struct buf *text);
    } cases[] = {{"azure csv", make_azure}, {"mooncake jsonl", make_mooncake}};
    int rc = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++) {
        struct buf text;

        buf_init(&text, MAX_TEXT);
        cases[i].make(&text);
        rc = measure(cases[i].name, &text);
        buf_fini(&text);
    }
    return rc ? 1 : 0;
}
