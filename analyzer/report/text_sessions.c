/* Sessions, for a person: what became of them, and what later turns cost. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

static void put_quantiles(const char *name, const int64_t ns[TURN_QUANTILES],
                          struct buf *out)
{
    char text[UNITS_TEXT];

    for (int i = 0; i < TURN_QUANTILES; i++)
        buf_addf(out, "%s%s %s %s", i ? "," : ", ", i ? "" : name,
                 turn_quantile_name[i], text_show_ns((double)ns[i], text));
}

static void put_turns(const char *name, const struct turn_summary *t,
                      bool is_streamed, struct buf *out)
{
    if (t->n == 0)
        return;
    buf_addf(out, "           %s turns: %lld", name, (long long)t->n);
    if (is_streamed)
        put_quantiles("ttft", t->ttft_ns, out);
    put_quantiles("e2e", t->e2e_ns, out);
    if (t->cached_share >= 0)
        buf_addf(out, ", %.3g%% of prompt tokens cached",
                 100 * t->cached_share);
    buf_adds(out, "\n");
}

void text_put_sessions(const struct summary *s, struct buf *out)
{
    const struct session_summary *c = &s->sessions;

    if (!c->is_there)
        return;
    buf_addf(
        out,
        "sessions   %lld begun = %lld finished + %lld broken + %lld cut by "
        "the end (whole run)\n",
        (long long)c->begun, (long long)c->finished, (long long)c->broken,
        (long long)c->cut);
    if (c->turns_mean >= 0)
        buf_addf(out, "           %.4g turns each on average\n", c->turns_mean);
    put_turns("first", &c->kinds[TURN_FIRST], s->is_streamed, out);
    put_turns("later", &c->kinds[TURN_LATER], s->is_streamed, out);
}
