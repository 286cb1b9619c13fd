#include "analyzer/read/extent.h"

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/read/reader.h"
#include "common/measure/measure.h"
#include "common/settings/settings.h"

/* How far a run had got for this row to be there.  Where all are due at once,
 * their ends tell. */
static int64_t reached_ns(const struct settings *s, const struct facts *f)
{
    int64_t at_ns = s->load.scenario == SCENARIO_OFFLINE ? f->end : f->due;

    return at_ns == TIME_ABSENT || at_ns == INT64_MAX ? 0 : at_ns + 1;
}

/* What rows tell. */
struct seen {
    int64_t reached_ns;
    int64_t warmup_end_ns; /* after the last of so many requests */
    bool is_past_it;       /* and there are others */
};

static void see(struct seen *seen, const struct settings *s,
                const struct facts *f)
{
    int64_t at_ns = reached_ns(s, f);

    if (at_ns > seen->reached_ns)
        seen->reached_ns = at_ns;
    if (facts_last_seq(f) >= s->load.warmup_requests)
        seen->is_past_it = true;
    else if (at_ns > seen->warmup_end_ns)
        seen->warmup_end_ns = at_ns;
}

static int read_rows(struct seen *seen, struct recording *rec, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++)
            see(seen, &rec->settings, &rows[i]);
    }
    return rc ? rc : recording_rewind(rec, err);
}

static int64_t if_there(int64_t ns)
{
    return ns > 0 ? ns : INT64_MAX;
}

int extent_find(struct extent *e, struct recording *rec, struct err *err)
{
    const struct load_settings *load = &rec->settings.load;
    bool has_count = load->warmup_requests > 0;
    int64_t longest_ns = load_longest_ns(load);
    struct seen seen = {0};

    *e = (struct extent){.start_ns = load->warmup_ns, .end_ns = INT64_MAX};
    if (rec->has_end) {
        e->due_end_ns = rec->end.due_end_ns;
        e->end_ns = if_there(rec->end.window_end_ns);
        if (has_count)
            e->start_ns = if_there(rec->end.window_start_ns);
    } else {
        if (read_rows(&seen, rec, err))
            return -1;
        e->due_end_ns = seen.reached_ns;
        if (has_count)
            e->start_ns = seen.is_past_it ? seen.warmup_end_ns : INT64_MAX;
    }
    if (longest_ns > 0 && e->end_ns - longest_ns > e->start_ns)
        e->end_ns = e->start_ns + longest_ns;
    return 0;
}

struct window extent_window(const struct extent *e)
{
    struct window w = {.start_ns = e->start_ns, .end_ns = e->due_end_ns};

    if (w.start_ns == INT64_MAX)
        w.start_ns = w.end_ns;
    if (w.end_ns > e->end_ns)
        w.end_ns = e->end_ns;
    if (w.end_ns < w.start_ns)
        w.end_ns = w.start_ns;
    return w;
}
