/* The server as it saw itself, for a person, beside what the client saw. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/units.h"

/* "running 12.3 (max 16)", after a comma unless it is the first. */
static void put_gauge(const char *name, double mean, double max,
                      const char **comma, struct buf *out)
{
    char text[UNITS_TEXT];

    if (mean < 0)
        return;
    buf_addf(out, "%s%s %s (max %.0f)", *comma, name,
             text_show_number(mean, 3, text), max);
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
             s->dialect ? s->dialect : "of no known kind");
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
    char present[UNITS_TEXT];
    char client[UNITS_TEXT];

    if (s->present_mean < 0)
        return;
    buf_addf(out,
             "           it counts %s requests at a time, the client has %s in "
             "flight\n",
             text_show_number(s->present_mean, 3, present),
             text_show_number(s->client_mean, 3, client));
}

static void put_number(double number, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, text_show_number(number, 6, text));
}

static void put_output(const struct summary *sum, struct buf *out)
{
    double generated = sum->server.generated_per_s;

    put_number(generated < 0 ? 0 : generated, out);
    buf_adds(out, " tokens/s of output");
    if (!sum->has_tokens)
        return;
    buf_adds(out, ", the client ");
    put_number(sum->output_tokens_per_s, out);
}

/* Of a run that asked for no output the prompts alone. */
static void put_tokens(const struct summary *sum, struct buf *out)
{
    const struct server_summary *s = &sum->server;
    bool has_output =
        s->generated_per_s > 0 || tokens_have_output(&sum->tokens);

    if (!(s->generated_per_s > 0) && !(s->prompt_per_s > 0))
        return;
    buf_adds(out, "           it counts ");
    if (has_output)
        put_output(sum, out);
    if (s->prompt_per_s >= 0) {
        buf_adds(out, has_output ? "; " : "");
        put_number(s->prompt_per_s, out);
        buf_addf(out, "%s/s of prompts", has_output ? "" : " tokens");
    }
    if (s->cached_share >= 0)
        buf_addf(out, ", %.3g%% of them cached", 100 * s->cached_share);
    buf_adds(out, "\n");
}

static void put_looks(const struct server_summary *s, struct buf *out)
{
    buf_addf(out, "           %lld look%s", (long long)s->looks,
             s->looks == 1 ? "" : "s");
    if (s->failed > 0)
        buf_addf(out, ", %lld of them failed", (long long)s->failed);
    if (s->is_partial)
        buf_adds(out, "; at the first of several servers or addresses alone");
    buf_adds(out, "\n");
}

void text_put_server(const struct summary *sum, struct buf *out)
{
    const struct server_summary *s = &sum->server;

    if (s->is_unknown)
        buf_addf(out,
                 "server     not available: %s has no metrics of a known "
                 "server\n",
                 s->url);
    if (!s->is_there)
        return;
    put_state(s, out);
    put_present(s, out);
    put_tokens(sum, out);
    put_looks(s, out);
}
