#include "analyzer/studies/server_time_parts.h"

#include <stdlib.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"

static const struct server_parts nothing = {PARTS_NONE, -1, -1, -1};

const char *parts_from_name(enum parts_from from)
{
    static const char *const names[] = {"", "truth", "metrics"};

    return names[from];
}

/* ---- the truth log ---- */

struct sums {
    struct window window; /* in the stub's clock */
    double queue_ns;
    double work_ns;
    double batch;
    double n;
};

static void add(struct sums *s, const struct truth *row)
{
    if (!window_holds(&s->window, row->arrival) || row->start == TIME_ABSENT ||
        row->finish == TIME_ABSENT)
        return;
    s->queue_ns += (double)(row->start - row->arrival);
    s->work_ns += (double)(row->finish - row->start);
    s->batch += (double)row->batch;
    s->n++;
}

static bool read_truth(struct sums *s, const char *path)
{
    struct err ignored = {0}; /* a log that is damaged says as much as it can */
    struct tgr_reader *reader;
    const void *data;
    size_t n;

    if (tgr_open(&reader, path, &schema_truth, &ignored))
        return false;
    while (tgr_next(reader, &data, &n, &ignored) > 0) {
        const struct truth *rows = data;

        for (size_t i = 0; i < n; i++)
            add(s, &rows[i]);
    }
    tgr_close(reader);
    return s->n > 0;
}

static struct server_parts from_truth(const struct recording *rec,
                                      const struct summary *s)
{
    int64_t start_ns = manifest_start_monotonic_ns(&rec->manifest);
    struct window window = summary_window(s);
    struct sums sums = {
        .window = {window.start_ns + start_ns, window.end_ns + start_ns}};
    char *path = xasprintf("%s/truth.tgr", rec->dir);
    bool is_known = read_truth(&sums, path);

    free(path);
    if (!is_known)
        return nothing;
    return (struct server_parts){PARTS_TRUTH, sums.queue_ns / sums.n,
                                 sums.work_ns / sums.n, sums.batch / sums.n};
}

/* ---- what the server says ---- */

static struct server_parts from_metrics(const struct server_summary *server)
{
    if (!server->is_there ||
        (server->queue_mean_ns < 0 && server->running_mean < 0))
        return nothing;
    return (struct server_parts){PARTS_METRICS, server->queue_mean_ns, -1,
                                 server->running_mean};
}

struct server_parts parts_read(const struct recording *rec,
                               const struct summary *s)
{
    struct server_parts parts = from_truth(rec, s);

    return parts.from != PARTS_NONE ? parts : from_metrics(&s->server);
}

/* ---- of several ---- */

static double mean_of(double sum, double n)
{
    return n > 0 ? sum / n : -1;
}

struct server_parts parts_mean(const struct server_parts *list, size_t n)
{
    double sum[3] = {0};
    double known[3] = {0};
    struct server_parts mean = nothing;

    for (size_t i = 0; i < n; i++) {
        const double x[] = {list[i].queue_ns, list[i].work_ns, list[i].batch};

        if (list[i].from != PARTS_NONE)
            mean.from = list[i].from;
        for (int k = 0; k < 3; k++) {
            sum[k] += x[k] >= 0 ? x[k] : 0;
            known[k] += x[k] >= 0;
        }
    }
    mean.queue_ns = mean_of(sum[0], known[0]);
    mean.work_ns = mean_of(sum[1], known[1]);
    mean.batch = mean_of(sum[2], known[2]);
    return mean;
}
