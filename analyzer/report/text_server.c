/* The server as it saw itself, for a person, beside what the client saw. */
#include "analyzer/report/text_parts.h"

#include "analyzer/summary.h"
#include "common/buf.h"
#include "common/units.h"

/* "running 12.3 (max 16)", after a comma unless it is the first. */
static void put_gauge(const char *name, double mean, double max,
                      const char **comma, struct buf *out)
{
    if (mean < 0)
        return;
    buf_addf(out, "%s%s %.3g (max %.0f)", *comma, name, mean, max);
    *comma = ", ";
}

static void put_queue(const struct server_summary *s, const char **comma,
                      struct buf *out)
{
    char text[UNITS_TEXT];

    if (s->queue_mean_ns < 0)
        return;
    buf_addf(out, "%squeue %s a request", *comma,
             units_show_duration(s->queue_mean_ns, text));
    *comma = ", ";
}

static void put_cache(const struct server_summary *s, const char **comma,
                      struct buf *out)
{
    if (s->cache_max < 0)
        return;
    buf_addf(out, "%scache %.3g%%", *comma, 100 * s->cache_max);
    *comma = ", ";
}

static void put_state(const struct server_summary *s, struct buf *out)
{
    const char *comma = ": ";

    buf_addf(out, "server     %s",
             s->flavour ? s->flavour : "of no known kind");
    put_gauge("running", s->running_mean, s->running_max, &comma, out);
    put_gauge("waiting", s->waiting_mean, s->waiting_max, &comma, out);
    put_queue(s, &comma, out);
    put_cache(s, &comma, out);
    if (s->preemptions > 0)
        buf_addf(out, "%s%.0f preemptions", comma, s->preemptions);
    buf_adds(out, "\n");
}

/* Little's law says that both count the same, but for the network. */
static void put_present(const struct server_summary *s, struct buf *out)
{
    if (s->present_mean < 0)
        return;
    buf_addf(out,
             "           it counts %.3g requests at a time, the client has "
             "%.3g in flight\n",
             s->present_mean, s->client_mean);
}

static void put_tokens(const struct summary *sum, struct buf *out)
{
    const struct server_summary *s = &sum->server;

    if (!(s->generated_per_s > 0) && !(s->prompt_per_s > 0))
        return;
    buf_addf(out, "           it counts %.6g tokens/s of output",
             s->generated_per_s < 0 ? 0 : s->generated_per_s);
    if (sum->has_tokens)
        buf_addf(out, ", the client %.6g", sum->output_tokens_per_s);
    if (s->prompt_per_s >= 0)
        buf_addf(out, "; %.6g/s of prompts", s->prompt_per_s);
    if (s->cached_share >= 0)
        buf_addf(out, ", %.3g%% of them cached", 100 * s->cached_share);
    buf_adds(out, "\n");
}

static void put_looks(const struct server_summary *s, struct buf *out)
{
    buf_addf(out, "           %lld looks", (long long)s->looks);
    if (s->failed > 0)
        buf_addf(out, ", %lld of them failed", (long long)s->failed);
    if (s->is_partial)
        buf_adds(out, "; at the first of several servers or addresses alone");
    buf_adds(out, "\n");
}

void text_put_server(const struct summary *sum, struct buf *out)
{
    const struct server_summary *s = &sum->server;

    if (!s->is_there)
        return;
    put_state(s, out);
    put_present(s, out);
    put_tokens(sum, out);
    put_looks(s, out);
}
