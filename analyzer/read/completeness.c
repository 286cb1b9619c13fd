#include "analyzer/read/completeness.h"

#include <stdbool.h>

#include "analyzer/read/reader.h"
#include "common/base/err.h"

static bool is_offline(const struct recording *rec)
{
    return rec->settings.load.scenario == SCENARIO_OFFLINE;
}

int64_t completeness_expected(const struct tally *t,
                              const struct client *client,
                              const struct recording *rec)
{
    int64_t expected = 0;

    if (rec->has_end)
        return rec->end.scheduled;
    for (int i = 0; i < t->n_lanes; i++) {
        int64_t places = tally_places(t, i);
        int64_t seen = t->n_lanes > 1 ? client_scheduled(client, i)
                                      : client_scheduled_in_all(client);

        expected += seen > places ? seen : places;
    }
    if (is_offline(rec) && rec->settings.load.requests > expected)
        return rec->settings.load.requests; /* all were due, at once */
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
        return err_set(err, ERR_FORMAT,
                       "%s/requests.tgr: %lld requests where the run had %lld: "
                       "some are there twice, or another run's",
                       rec->dir, (long long)t->rows, (long long)expected);
    /* Requests that were lost may have left their events behind. */
    if (rec->has_end && t->rows == expected && events > t->events)
        return err_set(err, ERR_FORMAT,
                       "%s/events.tgr: %lld content events where the requests "
                       "have %lld: some are there twice, or another run's",
                       rec->dir, (long long)events, (long long)t->events);
    return 0;
}
