#include "analyzer/verdict/stub_truth.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/text/units.h"

/* Maximum number of requests of a killed run, whose number is unknown. */
#define MAX_KILLED 100000000

/* What is kept of a row of the log, by its id. */
struct known {
    int64_t arrival_ns;
    int64_t finish_ns;
    int64_t sent_ns;
    bool has_faults;
};

struct log {
    int64_t start_ns;   /* of the run */
    int64_t max_id;     /* of its requests */
    struct known *rows; /* owned; arrival TIME_ABSENT: no such id */
    size_t len;
};

/* Rows whose time or id shows that they are of another run are ignored. */
static void keep(struct log *log, const struct truth *row)
{
    size_t id;

    if (row->id < 0 || row->id >= log->max_id || row->arrival < log->start_ns)
        return;
    id = (size_t)row->id;
    if (id >= log->len) {
        size_t len = id + 1 > 2 * log->len ? id + 1 : 2 * log->len;

        log->rows = xrealloc(log->rows, len, sizeof(*log->rows));
        for (size_t i = log->len; i < len; i++)
            log->rows[i].arrival_ns = TIME_ABSENT;
        log->len = len;
    }
    log->rows[id] =
        (struct known){row->arrival, row->finish, row->sent, row->faults != 0};
}

static int read_log(struct log *log, const char *path, struct err *err)
{
    struct tgr_reader *reader;
    const void *data;
    size_t n;
    int rc;

    if (tgr_open(&reader, path, &schema_truth, err))
        return -1;
    while ((rc = tgr_next(reader, &data, &n, err)) > 0) {
        const struct truth *rows = data;

        for (size_t i = 0; i < n; i++)
            keep(log, &rows[i]);
    }
    tgr_close(reader);
    return rc;
}

static int64_t positive(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

/* Times of the client count from the start of the run, those of the log do not.
 * The stub reads its clock after send() has returned, when the client may
 * already have the answer. */
static void compare(struct truth_report *t, const struct facts *f,
                    const struct known *k, int64_t start_ns)
{
    int64_t excess = f->last - f->due - (k->finish_ns - k->arrival_ns);
    int64_t back;

    t->matched++;
    if (excess < 0)
        t->negative++;
    if (excess < t->min_excess_ns)
        t->min_excess_ns = excess;
    hist_add(&t->part[TRUTH_EXCESS], positive(excess));
    hist_add(&t->part[TRUTH_THERE], k->arrival_ns - start_ns - f->due);
    if (k->sent_ns == TIME_ABSENT)
        return;
    back = f->last + start_ns - k->sent_ns;
    hist_add(&t->part[TRUTH_LATE], k->sent_ns - k->finish_ns);
    hist_add(&t->part[TRUTH_BACK], positive(back));
    if (!k->has_faults && f->sent != TIME_ABSENT)
        hist_add(&t->part[TRUTH_STUB],
                 positive(k->arrival_ns - start_ns - f->sent) +
                     positive(k->sent_ns - k->finish_ns));
}

static int join(struct truth_report *t, struct recording *rec,
                const struct log *log, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            int64_t seq = rows[i].seq;

            if (rows[i].outcome != OUTCOME_OK)
                continue;
            if (seq >= 0 && (size_t)seq < log->len &&
                log->rows[seq].arrival_ns != TIME_ABSENT &&
                log->rows[seq].finish_ns != TIME_ABSENT)
                compare(t, &rows[i], &log->rows[seq], log->start_ns);
            else
                t->unmatched++;
        }
    }
    return rc;
}

int truth_compare(struct truth_report *report, struct recording *rec,
                  const char *path, struct err *err)
{
    struct log log = {
        .start_ns = manifest_start_monotonic_ns(&rec->manifest),
        .max_id = rec->has_end ? rec->end.scheduled : MAX_KILLED,
    };
    int rc;

    *report = (struct truth_report){.min_excess_ns = INT64_MAX};
    rc = read_log(&log, path, err);
    if (rc == 0)
        rc = join(report, rec, &log, err);
    free(log.rows);
    return rc;
}

void truth_report_fini(struct truth_report *report)
{
    for (int p = 0; p < TRUTH_PARTS; p++)
        hist_fini(&report->part[p]);
}

void truth_print(const struct truth_report *t, struct buf *out)
{
    static const char *const names[TRUTH_PARTS] = {
        "measured - truth", "due -> arrival", "stub late", "sent -> received",
        "stub total"};
    static const double quantiles[] = {0.5, 0.9, 0.99};
    char text[UNITS_TEXT];

    buf_addf(out,
             "\ntruth      %lld requests matched, %lld without a match, %lld "
             "measured below the truth\n",
             (long long)t->matched, (long long)t->unmatched,
             (long long)t->negative);
    if (t->matched == 0) {
        buf_adds(out,
                 "           the log belongs to another run, or the client "
                 "sent no ids (--request-id)\n");
        return;
    }
    buf_addf(out, "           smallest difference (measured - truth) %s\n",
             units_show_duration((double)t->min_excess_ns, text));
    buf_addf(out, "%-17s %8s %8s %8s %8s\n", "", "p50", "p90", "p99", "max");
    for (int p = 0; p < TRUTH_PARTS; p++) {
        const struct hist *h = &t->part[p];

        buf_addf(out, "%-17s", names[p]);
        for (size_t q = 0; q < 3; q++)
            buf_addf(out, " %8s",
                     units_show_duration(
                         (double)hist_rank_quantile(h, quantiles[q]), text));
        buf_addf(out, " %8s\n", units_show_duration((double)h->max_ns, text));
    }
}
