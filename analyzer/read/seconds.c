#include "analyzer/read/seconds.h"

#include <stdlib.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/tally.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

/* Four months. */
#define MAX_SECONDS 10000000

/* Histograms of all measures of a second in base64. */
#define MAX_TEXT ((size_t)4 << 20)

struct slot {
    int64_t last_row;    /* in the recording; -1: no request is due in it */
    int64_t flight;      /* requests sent in it minus those that ended; after
                            the first reading: requests in flight at its end */
    struct second *open; /* NULL: not begun, or rendered */
    char *text;          /* NULL: not rendered */
};

struct reading {
    const struct seconds_ask *ask;
    struct slot *slots;
    int64_t n;
    int64_t first; /* second of the run of slot 0 */
    int64_t row;   /* number of the next row */
    int64_t done;  /* slots that were put */
};

/* For a time before the end of the range. */
static struct slot *slot_of(const struct reading *r, int64_t ns)
{
    int64_t at = ns / NS_PER_S - r->first;

    return &r->slots[ns < 0 || at < 0 ? 0 : at];
}

/* ---- the first reading ---- */

static int look_ahead(struct reading *r, const struct facts *f, struct err *err)
{
    int64_t end_ns = r->ask->range.end_ns;

    (void)err;
    if (window_holds(&r->ask->range, f->due))
        slot_of(r, f->due)->last_row = r->row;
    if (f->sent != TIME_ABSENT && f->sent < end_ns)
        slot_of(r, f->sent)->flight++;
    if (f->sent != TIME_ABSENT && f->end != TIME_ABSENT && f->end < end_ns)
        slot_of(r, f->end)->flight--;
    return 0;
}

/* ---- the second reading ---- */

static struct second *open_slot(const struct reading *r, struct slot *slot)
{
    const struct window *range = &r->ask->range;
    int64_t start = (r->first + (slot - r->slots)) * NS_PER_S;
    struct second *s = slot->open;

    if (s)
        return s;
    s = slot->open = xcalloc(1, sizeof(*s));
    s->start_ns = start > range->start_ns ? start : range->start_ns;
    s->end_ns =
        start + NS_PER_S < range->end_ns ? start + NS_PER_S : range->end_ns;
    return s;
}

static void second_free(struct second *s)
{
    if (!s)
        return;
    for (int m = 0; m < MEASURE_COUNT; m++)
        hist_fini(&s->hist[m]);
    free(s);
}

static void add_row(const struct seconds_ask *ask, struct second *s,
                    const struct facts *f)
{
    s->scheduled += facts_n(f);
    s->measured += window_holds(&ask->window, f->due) ? facts_n(f) : 0;
    s->issued += facts_issued(f);
    s->ok += f->outcome == OUTCOME_OK;
    s->failed += facts_issued(f) && f->outcome != OUTCOME_OK;
    s->good += good_is(good_limits_of(ask->good, f), f);
    if (facts_count(f->output_tokens) > 0)
        s->tokens += f->output_tokens;
    s->bytes_in += (double)f->bytes_in;
    s->bytes_out += (double)f->bytes_out;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (ask->measures & UINT32_C(1) << m)
            tally_add_value(&s->hist[m], (enum measure)m, f);
    }
}

static int render(const struct reading *r, struct slot *slot, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_TEXT);
    open_slot(r, slot)->in_flight = slot->flight;
    rc = r->ask->render(slot->open, &out, err);
    if (rc == 0)
        slot->text = xstrdup(buf_text(&out));
    second_free(slot->open);
    slot->open = NULL;
    buf_fini(&out);
    return rc;
}

/* Put all complete seconds, in order; seconds without rows are empty. */
static int put_ready(struct reading *r, struct err *err)
{
    int rc = 0;

    while (rc == 0 && r->done < r->n) {
        struct slot *slot = &r->slots[r->done];

        if (!slot->text && slot->last_row >= 0)
            return 0;
        if (!slot->text)
            rc = render(r, slot, err);
        if (rc == 0)
            rc = r->ask->put(slot->text, err);
        free(slot->text);
        slot->text = NULL;
        r->done++;
    }
    return rc;
}

static int fill(struct reading *r, const struct facts *f, struct err *err)
{
    struct slot *slot;

    if (!window_holds(&r->ask->range, f->due))
        return 0;
    slot = slot_of(r, f->due);
    if (f->outcome >= 0 && f->outcome < OUTCOME_COUNT)
        add_row(r->ask, open_slot(r, slot), f);
    if (r->row != slot->last_row)
        return 0;
    if (render(r, slot, err))
        return -1;
    return put_ready(r, err);
}

/* ---- both readings ---- */

static int read_rows(struct reading *r, struct recording *rec,
                     int (*see)(struct reading *r, const struct facts *f,
                                struct err *err),
                     struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc = recording_rewind(rec, err);

    r->row = 0;
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        rc = 0;
        for (size_t i = 0; rc == 0 && i < n; i++, r->row++)
            rc = see(r, &rows[i], err);
    }
    return rc;
}

static int begin(struct reading *r, struct err *err)
{
    const struct window *range = &r->ask->range;

    if (range->end_ns <= range->start_ns)
        return 0;
    r->first = range->start_ns / NS_PER_S;
    r->n = (range->end_ns - 1) / NS_PER_S - r->first + 1;
    if (r->n > MAX_SECONDS) {
        r->n = 0;
        return err_set(err, ERR_FORMAT,
                       "the run has more than %d seconds: too many to list",
                       MAX_SECONDS);
    }
    r->slots = xcalloc((size_t)r->n, sizeof(*r->slots));
    for (int64_t i = 0; i < r->n; i++)
        r->slots[i].last_row = -1;
    return 0;
}

int seconds_read(struct recording *rec, const struct seconds_ask *ask,
                 struct err *err)
{
    struct reading r = {.ask = ask};
    int rc = begin(&r, err);

    if (rc == 0 && r.n > 0)
        rc = read_rows(&r, rec, look_ahead, err);
    for (int64_t i = 1; i < r.n; i++)
        r.slots[i].flight += r.slots[i - 1].flight;
    if (rc == 0)
        rc = put_ready(&r, err);
    if (rc == 0 && r.n > 0)
        rc = read_rows(&r, rec, fill, err);
    for (int64_t i = r.done; i < r.n; i++) {
        second_free(r.slots[i].open);
        free(r.slots[i].text);
    }
    free(r.slots);
    return rc;
}
