#include "analyzer/read/completeness.h"

#include <stdbool.h>

#include "analyzer/read/reader.h"
#include "common/base/err.h"
#include "common/measure/measure.h"
#include "common/settings/settings.h"

static bool is_offline(const struct recording *rec)
{
    return rec->settings.load.scenario == SCENARIO_OFFLINE;
}

/* ---- the window ---- */

/* What the rows of a killed run show. */
struct seen {
    int64_t reached_ns;
    int64_t warmup_end_ns; /* due time of the last request of the warm-up */
    bool is_past_warmup;   /* there are later requests */
};

static int read_rows(struct seen *seen, struct recording *rec, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            /* If all are due at once, their ends show how far the run got. */
            int64_t ns = is_offline(rec) ? rows[i].end : rows[i].due;
            int64_t at_ns = ns == TIME_ABSENT || ns == INT64_MAX ? 0 : ns + 1;

            if (at_ns > seen->reached_ns)
                seen->reached_ns = at_ns;
            if (facts_last_seq(&rows[i]) >= rec->settings.load.warmup_requests)
                seen->is_past_warmup = true;
            else if (at_ns > seen->warmup_end_ns)
                seen->warmup_end_ns = at_ns;
        }
    }
    return rc ? rc : recording_rewind(rec, err);
}

static int64_t or_never(int64_t ns)
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
        e->end_ns = or_never(rec->end.window_end_ns);
        if (has_count)
            e->start_ns = or_never(rec->end.window_start_ns);
    } else {
        if (read_rows(&seen, rec, err))
            return -1;
        e->due_end_ns = seen.reached_ns;
        if (has_count)
            e->start_ns = seen.is_past_warmup ? seen.warmup_end_ns : INT64_MAX;
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

/* ---- the requests ---- */

int64_t completeness_expected(const struct tally *t,
                              const struct client *client,
                              const struct recording *rec)
{
    bool is_open = scenario_is_open(rec->settings.load.scenario);
    int64_t expected = 0;

    if (rec->has_end)
        return rec->end.scheduled;
    for (int i = 0; i < t->n_sequences; i++) {
        int64_t places = tally_places(t, i);
        int64_t seen =
            t->n_sequences > 1 && !is_open ? client_scheduled(client, i) : 0;

        expected += seen > places ? seen : places;
    }
    if ((t->n_sequences == 1 || is_open) &&
        client_scheduled_in_all(client) > expected)
        expected = client_scheduled_in_all(client);
    if (is_offline(rec) && rec->settings.load.requests > expected)
        return rec->settings.load.requests; /* all were due at once */
    return expected;
}

int64_t completeness_never_sent(const struct tally *t,
                                const struct client *client,
                                const struct recording *rec)
{
    int64_t expected = completeness_expected(t, client, rec);
    int64_t cap = rec->settings.client.max_in_flight;
    int64_t sent = t->rows + cap;

    if (rec->has_end || !is_offline(rec) || cap <= 0)
        return 0;
    if (sent < client_scheduled_in_all(client))
        sent = client_scheduled_in_all(client);
    return expected > sent ? expected - sent : 0;
}

int completeness_check_surplus(const struct tally *t, int64_t events,
                               const struct client *client,
                               const struct recording *rec, struct err *err)
{
    int64_t expected = completeness_expected(t, client, rec);

    if (t->rows > expected)
        return err_set(
            err, ERR_FORMAT,
            "%s/requests.tgr has %lld requests but the run had %lld: "
            "some are duplicates or belong to another run",
            rec->dir, (long long)t->rows, (long long)expected);
    /* Lost requests may have left their events behind. */
    if (rec->has_end && t->rows == expected && events > t->events)
        return err_set(err, ERR_FORMAT,
                       "%s/events.tgr has %lld content events but the requests "
                       "have %lld: some are duplicates or belong to another "
                       "run",
                       rec->dir, (long long)events, (long long)t->events);
    return 0;
}
