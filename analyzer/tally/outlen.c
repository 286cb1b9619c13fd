#include "analyzer/tally/outlen.h"

#include <math.h>

#include "analyzer/tally/notes.h"
#include "common/settings/settings.h"

const char *outlen_source_name(enum outlen_source source)
{
    static const char *const names[] = {
        [OUTLEN_NONE] = "none",
        [OUTLEN_SETTING] = "setting",
        [OUTLEN_DATA] = "data",
    };

    return names[source];
}

struct outlen outlen_check(const struct tokens *t,
                           const struct data_settings *data, bool has_lengths)
{
    struct outlen o = {.tolerance = data->output_tolerance,
                       .mean = token_mean(&t->output)};

    if (data->reference_output > 0) {
        o.source = OUTLEN_SETTING;
        o.reference = data->reference_output;
    } else if (has_lengths && t->output_asked.sum > 0) {
        o.source = OUTLEN_DATA;
        o.reference = token_mean(&t->output_asked);
    } else {
        return o;
    }
    if (o.mean < 0)
        return o;
    o.ratio = o.mean / o.reference;
    o.is_ok = fabs(o.ratio - 1) <= o.tolerance * (1 + 1e-12);
    return o;
}

bool outlen_note(const struct outlen *o, const struct tokens *t,
                 struct note *note)
{
    if (o->source == OUTLEN_NONE || o->is_ok || t->requests == 0)
        return false;
    *note = (struct note){
        .name = "output_drift",
        .count = t->output.sum,
        .of = llround(o->reference *
                      (double)(t->output.n > 0 ? t->output.n : t->requests)),
        .share = o->ratio,
        .text = o->mean < 0
                    ? "output tokens of the reference: nobody counts them"
                    : "output tokens of the reference: answers are cut short, "
                      "or padded, and this is other work",
    };
    return true;
}
