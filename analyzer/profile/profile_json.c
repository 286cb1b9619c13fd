/* A profile for programs. */
#include <jansson.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/json_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/json.h"

static json_t *side(const struct profile_line *line, bool is_ours)
{
    json_t *o = json_object();

    json_put_ns(o, "mean", is_ours ? line->mean.ours : line->mean.theirs);
    for (int q = 0; q < PROFILE_QUANTILES; q++)
        json_put_ns(o, profile_quantile_name[q],
                    is_ours ? line->quantile[q].ours
                            : line->quantile[q].theirs);
    return o;
}

static json_t *time_line(const struct profile_line *line)
{
    json_t *o = json_object();
    json_t *theirs = json_null();

    if (line->is_theirs) {
        theirs = side(line, false);
        json_object_set_new(theirs, "n", json_integer(line->n));
        json_put_ns(theirs, "std", line->deviation);
    }
    json_object_set_new(o, "theirs", theirs);
    json_object_set_new(o, "ours", side(line, true));
    json_object_set_new(o, "why",
                        json_text_or_null(line->is_theirs ? line->why : NULL));
    return o;
}

static json_t *rate(const struct profile *p, enum profile_rate r)
{
    json_t *o = json_object();

    json_object_set_new(o, "theirs", json_number_or_null(p->rates[r].theirs));
    json_object_set_new(o, "ours", json_number_or_null(p->rates[r].ours));
    json_object_set_new(o, "why", json_text_or_null(p->ops->why_rate[r]));
    return o;
}

void profile_json(const struct profile *p, struct buf *out)
{
    static const char *const rate_keys[PROFILE_RATES] = {
        "requests_per_s", "output_tokens_per_s", "goodput_rps"};
    json_t *o = json_object();

    json_object_set_new(o, "profile", json_string(p->ops->name));
    json_object_set_new(o, "clock_starts", json_string(p->ops->start));
    json_object_set_new(o, "completed", json_integer(p->completed));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "ours_ok", json_integer(p->summary->ok));
    json_object_set_new(o, "ours_failed", json_integer(p->summary->failed));
    json_object_set_new(o, "ours_unsent", json_integer(p->summary->unsent));
    json_object_set_new(o, "duration_s", json_real(p->duration_s));
    json_object_set_new(o, "input_tokens", json_integer(p->input_tokens));
    json_object_set_new(o, "output_tokens", json_integer(p->output_tokens));
    for (int i = 0; i < PROFILE_TIMES; i++)
        json_object_set_new(o, profile_time_name[i], time_line(&p->lines[i]));
    for (int i = 0; i < PROFILE_RATES; i++)
        json_object_set_new(o, rate_keys[i], rate(p, (enum profile_rate)i));
    json_object_set_new(o, "note", json_text_or_null(p->ops->note));
    json_print(o, out);
    json_decref(o);
}
