#include "analyzer/studies/valid_runs.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyzer/tally/summary.h"
#include "common/settings/option.h"

/* Only the first reason is kept. */
__attribute__((format(printf, 2, 3))) static void
give_reason(char why[static RUN_OBSTACLE], const char *fmt, ...)
{
    va_list args;

    if (why[0])
        return;
    va_start(args, fmt);
    vsnprintf(why, RUN_OBSTACLE, fmt, args);
    va_end(args);
}

bool run_is_discarded(const struct summary *s, char why[static RUN_OBSTACLE])
{
    why[0] = '\0';
    if (s->integrity.was_killed)
        give_reason(why, "killed before its end");
    if (s->integrity.lost_requests > 0)
        give_reason(why, "damaged: %lld requests are missing",
                    (long long)s->integrity.lost_requests);
    if (s->integrity.lost_events > 0)
        give_reason(why, "damaged: %lld content events are missing",
                    (long long)s->integrity.lost_events);
    if (s->stopped_by)
        give_reason(why, "interrupted");
    for (size_t i = 0; !s->trust.valid && i < s->trust.len; i++) {
        const struct check *c = &s->trust.checks[i];

        if (!c->ok && c->is_fatal)
            give_reason(why, "invalid: %s: %.3g %s, limit %.3g", c->name,
                        c->value, c->unit, c->limit);
    }
    if (!s->trust.valid)
        give_reason(why, "invalid");
    if (s->scheduled == 0)
        give_reason(why, "no request was due in its window");
    return why[0] != '\0';
}

void run_obstacle(const struct summary *s, char why[static RUN_OBSTACLE])
{
    run_is_discarded(s, why);
    if (s->aborted)
        give_reason(why, "aborted before its end");
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
