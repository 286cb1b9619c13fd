#include "common/spec/abort_rule.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define MAX_OVER_S 3600

int abort_parse(const char *text, struct abort_rule *rule, struct err *err)
{
    char share[24];
    char over[8] = "over";
    char length[24] = "10s";
    char extra[2];
    int64_t over_ns;
    /* In the format a space matches any number of spaces, or none. */
    int n =
        sscanf(text, " errors > %23s %7s %23s %1s", share, over, length, extra);

    *rule = (struct abort_rule){0};
    if ((n != 1 && n != 3) || strcmp(over, "over") != 0)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not an abort rule; write 'errors > 50%%' or "
                       "'errors > 10%% over 30s'",
                       text);
    if (units_parse_share(share, &rule->share, err) ||
        units_parse_duration(length, &over_ns, err))
        return -1;
    rule->over_s = over_ns / NS_PER_S;
    if (rule->over_s < 1 || rule->over_s > MAX_OVER_S ||
        over_ns % NS_PER_S != 0)
        return err_set(err, ERR_CONFIG,
                       "over %s: the time must be whole seconds, from 1s to 1h",
                       length);
    if (rule->share >= 1)
        return err_set(err, ERR_CONFIG,
                       "errors > %s is never true; write a share below 100%%",
                       share);
    snprintf(rule->text, sizeof(rule->text), "errors > %s", share);
    return 0;
}

int abort_check(const char *text, struct err *err)
{
    return abort_parse(text, &(struct abort_rule){0}, err);
}

void abort_window_init(struct abort_window *w, const struct abort_rule *rule)
{
    *w = (struct abort_window){.rule = *rule};
    w->ring = xcalloc((size_t)rule->over_s, sizeof(*w->ring));
}

void abort_window_fini(struct abort_window *w)
{
    free(w->ring);
    *w = (struct abort_window){0};
}

/* An unused entry of the ring has the counts at the start, 0. */
struct abort_finding abort_window_add(struct abort_window *w,
                                      struct abort_counts so_far)
{
    struct abort_counts *oldest = &w->ring[w->n % w->rule.over_s];
    struct abort_finding f = {
        .ended = so_far.ended - oldest->ended,
        .failed = so_far.failed - oldest->failed,
    };
    /* A share equal to the limit does not exceed it, even after rounding. */
    double allowed = w->rule.share * (double)f.ended * (1 + 4 * DBL_EPSILON);

    *oldest = so_far;
    w->n++;
    f.seconds = w->n < w->rule.over_s ? w->n : w->rule.over_s;
    f.is_exceeded = f.ended >= ABORT_MIN && (double)f.failed > allowed;
    return f;
}

void abort_describe(const struct abort_rule *rule,
                    const struct abort_finding *finding,
                    char out[static ABORT_TEXT])
{
    snprintf(out, ABORT_TEXT, "%s: %.3g%% of %lld requests in %llds",
             rule->text, 100 * (double)finding->failed / (double)finding->ended,
             (long long)finding->ended, (long long)finding->seconds);
}
