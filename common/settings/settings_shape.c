/* What a rate that changes comes to: stages, whichever way they were given. */
#include "common/settings/settings.h"

#include <math.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/spec/load_shape.h"
#include "common/spec/load_stage.h"
#include "common/spec/rate_table.h"

/* The key that says how the rate changes; NULL: it does not. */
static const char *shape_key(const struct load_settings *load)
{
    if (load->shape)
        return "shape";
    if (load->rate_table)
        return "rate_table";
    return load->stages.len > 0 ? "stages" : NULL;
}

const char *settings_rate_key(const struct load_settings *load)
{
    const char *key = shape_key(load);

    return key ? key : "rate";
}

static int check_keys(const struct load_settings *load, const char *key,
                      struct err *err)
{
    int ways = (load->shape ? 1 : 0) + (load->rate_table ? 1 : 0) +
               (load->stages.len > 0 ? 1 : 0);

    if (load->table_speed != 1 && !load->rate_table)
        return err_set(err, ERR_CONFIG,
                       "load.table_speed: goes with load.rate_table");
    if (ways > 1)
        return err_set(err, ERR_CONFIG,
                       "load.%s: one of stages, shape and rate_table, not "
                       "several",
                       key);
    if (ways > 0 &&
        (load->rate_rps > 0 || load->duration_ns > 0 || load->burst_on_ns > 0))
        return err_set(err, ERR_CONFIG,
                       "load.%s: instead of rate, duration and bursts, not "
                       "beside them",
                       key);
    return 0;
}

static int make_stages(struct load_settings *load, struct err *err)
{
    if (load->shape)
        return load_shape_expand(load->shape, &load->stages, err);
    if (load->rate_table)
        return ratetable_read(load->rate_table, load->table_speed,
                              &load->stages, err);
    return 0;
}

/* The window is as long as all of them, and the rate is their mean. */
static int add_up(struct load_settings *load, struct err *err)
{
    double requests = 0;

    for (size_t i = 0; i < load->stages.len; i++) {
        struct load_stage stage;

        if (load_stage_parse(load->stages.items[i], &stage, err))
            return -1;
        if (stage.length_ns > INT64_MAX / 2 - load->duration_ns)
            return err_set(err, ERR_CONFIG, "too long in all");
        load->duration_ns += stage.length_ns;
        requests +=
            (stage.from_rps + stage.to_rps) / 2 * (double)stage.length_ns / 1e9;
    }
    load->rate_rps = requests / ((double)load->duration_ns / 1e9);
    if (!(load->rate_rps > 0))
        return err_set(err, ERR_CONFIG, "no load at all");
    return 0;
}

int settings_resolve_shape(struct load_settings *load, struct err *err)
{
    const char *key = shape_key(load);

    if (check_keys(load, key, err))
        return -1;
    if (key && (make_stages(load, err) || add_up(load, err)))
        return err_context(err, "load.%s", key);
    return 0;
}

void settings_describe_path(const char *path, struct buf *out)
{
    printable_add(path, out);
}

static void describe_table(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, "as in ");
    settings_describe_path(load->rate_table, out);
    if (load->table_speed != 1)
        buf_addf(out, " at %s times its speed",
                 units_print_number(load->table_speed, text));
    buf_addf(out, ", %s on average", units_show_rate(load->rate_rps, text));
}

static void describe_shape(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];

    if (load->shape)
        buf_adds(out, load->shape);
    else if (load->rate_table)
        describe_table(load, out);
    else if (load->stages.len == 0)
        buf_adds(out, units_print_rate(load->rate_rps, text));
    else
        for (size_t i = 0; i < load->stages.len; i++)
            buf_addf(out, "%s%s", i ? ", then " : "", load->stages.items[i]);
}

void settings_describe_rate(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];
    char off[UNITS_TEXT];

    buf_addf(out, "open loop, %s ", arrival_names[load->arrival]);
    if (load->arrival == ARRIVAL_GAMMA)
        buf_addf(out, "(cv %g) ", load->cv);
    describe_shape(load, out);
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
