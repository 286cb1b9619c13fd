/* How many there were, and how many a second. */
#include "analyzer/tally/summary.h"

#include <string.h>

/* Nothing is sent, so no connection is used. */
static bool is_null(const struct settings *s)
{
    return strncmp(settings_url(s), "null:", 5) == 0;
}

/* The status, other than 200, that was seen most; 0: none was. */
static int most_frequent(const int64_t counts[static TALLY_STATUSES])
{
    int best = 0;

    for (int i = 1; i < TALLY_STATUSES; i++) {
        if (i != 200 && counts[i] > counts[best])
            best = i;
    }
    return best;
}

static void take_statuses(struct summary *s, const struct tally *t)
{
    int64_t left[TALLY_STATUSES];

    memcpy(left, t->status, sizeof(left));
    left[0] = 0;
    while (s->n_statuses < SUMMARY_STATUSES) {
        int status = most_frequent(left);

        if (status == 0)
            return;
        s->statuses[s->n_statuses++] =
            (struct status_count){.status = status, .count = left[status]};
        left[status] = 0;
    }
}

/* The verdict takes those that were never sent for unfinished: how they would
 * have ended nobody knows. */
static void take_counts(struct summary *s, const struct tally *t,
                        int64_t never_sent)
{
    for (int o = 0; o < OUTCOME_COUNT; o++)
        s->outcome[o] = t->outcome[o];
    s->outcome[OUTCOME_UNFINISHED] -= never_sent;
    s->outcome[OUTCOME_UNSENT] += never_sent;
    s->scheduled = t->due;
    s->unsent = s->outcome[OUTCOME_UNSENT];
    s->issued = s->scheduled - s->unsent;
    s->ok = t->outcome[OUTCOME_OK];
    s->failed = s->issued - s->ok;
    s->warmup_requests = t->before;
    s->cooldown_requests = t->after;
    s->good = t->good;
    s->fresh_connections = t->fresh;
    if (!is_null(s->settings))
        s->reused_connections = t->reused;
    s->retried = t->retried;
}

static void take_rates(struct summary *s, const struct tally *t)
{
    double length = s->window_length_s;

    s->attainment = tally_attainment(t, &s->attainment_ci95);
    if (!(length > 0))
        return;
    s->offered_rps = (double)t->due / length;
    s->throughput_rps = (double)t->ok_inside / length;
    s->goodput_rps = (double)t->good / length;
    s->bytes_in_per_s = t->bytes_in / length;
    s->bytes_out_per_s = t->bytes_out / length;
}

void summary_count(struct summary *s, const struct tally *t, int64_t never_sent)
{
    take_counts(s, t, never_sent);
    take_statuses(s, t);
    take_rates(s, t);
}
