/* Settings in a line for people. */
#include "common/settings/settings.h"

#include <string.h>
#include <strings.h>

#include "common/base/units.h"
#include "common/base/url.h"

const char *settings_url(const struct settings *s)
{
    return s->target.urls.len > 0 ? s->target.urls.items[0] : "";
}

bool settings_uses_tls(const struct settings *s)
{
    return url_is_tls(settings_url(s));
}

static void describe_trace(const struct trace_settings *t, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, "open loop, trace ");
    settings_describe_path(t->file ? t->file : "", out);
    if (t->from_ns > 0)
        buf_addf(out, " from %s", units_print_duration(t->from_ns, text));
    if (t->to_ns > 0)
        buf_addf(out, " to %s", units_print_duration(t->to_ns, text));
    if (t->time_scale != 1)
        buf_addf(out, " at %s times its speed",
                 units_print_number(t->time_scale, text));
    if (t->spread_ns > 0)
        buf_addf(out, ", times spread over %s",
                 units_print_duration(t->spread_ns, text));
}

/* A trace ends where it ends, to the nanosecond. */
static const char *describe_window(const struct load_settings *load,
                                   char out[static UNITS_TEXT])
{
    return load->scenario == SCENARIO_TRACE
               ? units_show_duration((double)load->duration_ns, out)
               : units_print_duration(load->duration_ns, out);
}

/* Their arrivals do not wait; that the rest does comes first. */
static void describe_sessions(const struct load_settings *load, struct buf *out)
{
    buf_adds(out, "closed loop inside sessions, which arrive in an ");
    settings_describe_rate(load, out);
    if (load->turns)
        buf_addf(out, ", turns %s", load->turns);
    if (load->think)
        buf_addf(out, ", think %s", load->think);
}

static void describe_loop(const struct load_settings *load, struct buf *out)
{
    switch (load->scenario) {
    case SCENARIO_CLOSED:
        buf_addf(out, "closed loop, %lld clients", (long long)load->clients);
        if (load->think)
            buf_addf(out, " that think (%s)", load->think);
        break;
    case SCENARIO_SINGLE_STREAM:
        buf_adds(out, "single-stream, one request at a time");
        break;
    case SCENARIO_MULTI_STREAM:
        buf_addf(out, "multi-stream, one query of %lld requests at a time",
                 (long long)load->query_size);
        break;
    case SCENARIO_OFFLINE:
        buf_adds(out, "offline, all at once");
        break;
    case SCENARIO_TRACE:
        describe_trace(&load->trace, out);
        break;
    case SCENARIO_SESSIONS:
        describe_sessions(load, out);
        break;
    default:
        settings_describe_rate(load, out);
    }
}

void settings_describe_load(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];

    describe_loop(load, out);
    if (load->requests > 0)
        buf_addf(out, ", %lld requests", (long long)load->requests);
    if (load->duration_ns > 0)
        buf_addf(out, ", window %s", describe_window(load, text));
    if (load->min_requests > 0)
        buf_addf(out, ", at least %lld requests",
                 (long long)load->min_requests);
    if (load->min_duration_ns > 0)
        buf_addf(out, ", at least %s",
                 units_print_duration(load->min_duration_ns, text));
    if (load->max_duration_ns > 0)
        buf_addf(out, ", at most %s",
                 units_print_duration(load->max_duration_ns, text));
    if (load->warmup_ns > 0)
        buf_addf(out, " after %s of warm-up",
                 units_print_duration(load->warmup_ns, text));
    if (load->warmup_requests > 0)
        buf_addf(out, " after %lld requests of warm-up",
                 (long long)load->warmup_requests);
    if (load->cooldown_ns > 0)
        buf_addf(out, ", then %s of cool-down",
                 units_print_duration(load->cooldown_ns, text));
    buf_addf(out, ", seed %llu\n", (unsigned long long)load->seed);
}

void settings_describe_reuse(const struct data_settings *d, struct buf *out)
{
    if (d->cache_hit_rate > 0)
        buf_addf(out, ", %.4g%% begin with one that was sent before",
                 100 * d->cache_hit_rate);
    if (d->shared_prefix > 0)
        buf_addf(out, ", behind %lld tokens that are the same for all",
                 (long long)d->shared_prefix);
}
