/* The load and the data in one line of text. */
#include "common/settings/settings.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/text/units.h"
#include "common/text/url.h"

const char *settings_url(const struct settings *s)
{
    return s->target.urls.len > 0 ? s->target.urls.items[0] : "";
}

bool settings_uses_tls(const struct settings *s)
{
    return url_is_tls(settings_url(s));
}

void settings_describe_path(const char *path, struct buf *out)
{
    printable_add(path, out);
}

/* "open loop, poisson 50/s". */
static void describe_rate(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];
    char off[UNITS_TEXT];

    buf_addf(out, "open loop, %s ", arrival_names[load->arrival]);
    if (load->arrival == ARRIVAL_GAMMA)
        buf_addf(out, "(cv %g) ", load->cv);
    if (load->shape) {
        buf_adds(out, load->shape);
    } else if (load->rate_table) {
        buf_adds(out, "as in ");
        settings_describe_path(load->rate_table, out);
        if (load->table_speed != 1)
            buf_addf(out, " at %s times its speed",
                     units_print_number(load->table_speed, text));
        buf_addf(out, ", %s on average", units_show_rate(load->rate_rps, text));
    } else if (load->stages.len == 0) {
        buf_adds(out, units_print_rate(load->rate_rps, text));
    } else {
        for (size_t i = 0; i < load->stages.len; i++)
            buf_addf(out, "%s%s", i ? ", then " : "", load->stages.items[i]);
    }
    if (load->burst_on_ns > 0)
        buf_addf(out, " in bursts (%s on, %s off)",
                 units_print_duration(load->burst_on_ns, text),
                 units_print_duration(load->burst_off_ns, off));
    if (load->exact)
        buf_adds(out, ", exact count");
    if (load->seeds == SEEDS_MLPERF)
        buf_addf(out, ", LoadGen's schedule of seed %llu",
                 (unsigned long long)load->schedule_seed);
}

static void describe_loop(const struct load_settings *load, struct buf *out)
{
    const struct trace_settings *t = &load->trace;
    char text[UNITS_TEXT];
    switch (load->scenario) {
    case SCENARIO_CLOSED:
        buf_addf(out, "closed loop, %lld client%s", (long long)load->clients,
                 load->clients == 1 ? "" : "s");
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
        break;
    case SCENARIO_SESSIONS:
        buf_adds(out, "closed loop inside sessions, which arrive in an ");
        describe_rate(load, out);
        if (load->turns)
            buf_addf(out, ", turns %s", load->turns);
        if (load->think)
            buf_addf(out, ", think %s", load->think);
        break;
    default:
        describe_rate(load, out);
    }
}

void settings_describe_load(const struct load_settings *load, struct buf *out)
{
    const struct {
        const char *before;
        int64_t ns;
        const char *after;
    } times[] = {
        {", at least ", load->min_duration_ns, ""},
        {", at most ", load->max_duration_ns, ""},
        {" after ", load->warmup_ns, " of warm-up"},
    };
    char text[UNITS_TEXT];

    describe_loop(load, out);
    if (load->requests > 0)
        buf_addf(out, ", %lld requests", (long long)load->requests);
    if (load->duration_ns > 0) /* that of a trace is exact */
        buf_addf(out, ", window %s",
                 load->scenario == SCENARIO_TRACE
                     ? units_show_duration((double)load->duration_ns, text)
                     : units_print_duration(load->duration_ns, text));
    if (load->min_requests > 0)
        buf_addf(out, ", at least %lld requests",
                 (long long)load->min_requests);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (times[i].ns > 0)
            buf_addf(out, "%s%s%s", times[i].before,
                     units_print_duration(times[i].ns, text), times[i].after);
    }
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
        buf_addf(out, ", %.4g%% start with an earlier prompt",
                 100 * d->cache_hit_rate);
    if (d->shared_prefix > 0)
        buf_addf(out, ", after %lld tokens that all prompts share",
                 (long long)d->shared_prefix);
}
