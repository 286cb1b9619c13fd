#include "analyzer/studies/valid_runs.h"

#include <stdio.h>

#include "analyzer/tally/summary.h"
#include "common/settings/option.h"

static void name_check(const struct trust *trust, char why[static RUN_OBSTACLE])
{
    snprintf(why, RUN_OBSTACLE, "invalid");
    for (size_t i = 0; i < trust->len; i++) {
        const struct check *c = &trust->checks[i];

        if (c->ok || !c->is_fatal)
            continue;
        snprintf(why, RUN_OBSTACLE, "invalid: %s: %.3g %s, limit %.3g", c->name,
                 c->value, c->unit, c->limit);
        return;
    }
}

bool run_is_discarded(const struct summary *s, char why[static RUN_OBSTACLE])
{
    const struct integrity *found = &s->integrity;

    why[0] = '\0';
    if (found->was_killed)
        snprintf(why, RUN_OBSTACLE, "killed before its end");
    else if (found->lost_requests > 0)
        snprintf(why, RUN_OBSTACLE, "damaged: %lld requests are missing",
                 (long long)found->lost_requests);
    else if (found->lost_events > 0)
        snprintf(why, RUN_OBSTACLE, "damaged: %lld content events are missing",
                 (long long)found->lost_events);
    else if (s->stopped_by)
        snprintf(why, RUN_OBSTACLE, "interrupted");
    else if (!s->trust.valid)
        name_check(&s->trust, why);
    else if (s->scheduled == 0)
        snprintf(why, RUN_OBSTACLE, "no request was due in its window");
    return why[0] != '\0';
}

void run_obstacle(const struct summary *s, char why[static RUN_OBSTACLE])
{
    if (!run_is_discarded(s, why) && s->aborted)
        snprintf(why, RUN_OBSTACLE, "aborted before its end");
}

size_t valid_runs_needed(size_t asked)
{
    size_t half = (asked + 1) / 2;

    return asked > 1 && half < 2 ? 2 : half;
}

size_t valid_runs_repeats(int64_t given, size_t asked)
{
    if (given != OPT_AUTO)
        return (size_t)given;
    return asked < 2 ? 2 : asked;
}
