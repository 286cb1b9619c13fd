#include "cli/calibration_view.h"

#include "common/base/buf.h"
#include "common/base/units.h"
#include "common/spec/calibration.h"

static const char *show(int64_t ns, char out[static UNITS_TEXT])
{
    return ns >= 0 ? units_show_duration((double)ns, out) : "not known";
}

static void put_rate(const struct calibrated_transport *t, struct buf *out)
{
    static const char *const why[] = {
        [LIMIT_CLIENT] = "",
        [LIMIT_STUB] = " (the stub was the limit)",
        [LIMIT_SEARCH] = " (more was not tried)",
    };
    char rate[UNITS_TEXT];

    if (t->max_rate_rps > 0)
        buf_addf(out, "good for %s%s%s",
                 calibration_is_at_least(t) ? "at least " : "",
                 units_show_rate(t->max_rate_rps, rate), why[t->limit]);
    else
        buf_addf(out, "NOT trusted: %s", calibration_no_rate(t));
}

static void put_transport(const char *name,
                          const struct calibrated_transport *t, struct buf *out)
{
    char a[UNITS_TEXT];
    char b[UNITS_TEXT];

    buf_addf(out, "%-10s ", name);
    put_rate(t, out);
    buf_addf(out, "; %scalibrated %s%s\n", t->is_quick ? "quickly " : "",
             t->date, t->is_disturbed ? ", while others used the machine" : "");
    buf_addf(out, "           floor %s from due, ", show(t->floor_ns, a));
    buf_addf(out, "%s from sent\n", show(t->floor_sent_ns, a));
    buf_addf(out, "           lag at 1k/s p50 %s, p99 %s",
             show(t->lag_p50_ns, a), show(t->lag_p99_ns, b));
    buf_addf(out, "; with --spin 80us p50 %s, p99 %s\n",
             show(t->spin_lag_p50_ns, a), show(t->spin_lag_p99_ns, b));
}

void calibration_view(const struct calibration *c, struct buf *out)
{
    buf_addf(out, "host       %s, %lld CPUs, kernel %s, tailgate %s\n",
             c->place.host, (long long)c->place.cpus, c->place.kernel,
             c->place.version);
    for (int i = 0; i < CALIBRATED_COUNT; i++) {
        if (c->transports[i].date[0])
            put_transport(calibrated_names[i], &c->transports[i], out);
    }
    buf_adds(out, "note       client and stub shared the machine, so that this "
                  "is a lower bound\n");
}
