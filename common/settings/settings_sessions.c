/* What makes a run one of sessions, and what does not go with them. */
#include "common/settings/settings.h"

#include "common/base/err.h"

static bool wants_sessions(const struct settings *s)
{
    return s->load.turns || s->data.turns == TURNS_SESSION;
}

void settings_choose_sessions(struct settings *s)
{
    struct load_settings *load = &s->load;
    bool has_arrivals = load->scenario == SCENARIO_SERVER ||
                        (load->scenario == SCENARIO_AUTO &&
                         load->rate_rps > 0 && !load->trace.file);

    if (wants_sessions(s) && has_arrivals)
        load->scenario = SCENARIO_SESSIONS;
}

static int check_others(const struct settings *s, struct err *err)
{
    if (!wants_sessions(s))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "%s: sessions arrive at a rate (--rate); the %s scenario "
                   "has none",
                   s->load.turns ? "load.turns" : "data.turns",
                   scenario_names[s->load.scenario]);
}

/* A turn's prompt is made, or the next of its conversation. */
static int check_prompts(const struct data_settings *d, struct err *err)
{
    if (d->turns == TURNS_SESSION && !d->file)
        return err_set(err, ERR_CONFIG,
                       "data.turns: session goes with data.file (--data)");
    if (d->file && d->turns != TURNS_SESSION)
        return err_set(err, ERR_CONFIG,
                       "data.file: sessions take conversations (--turns "
                       "session), or prompts that are made");
    if (d->cache_hit_rate > 0)
        return err_set(err, ERR_CONFIG,
                       "data.cache_hit_rate: what turns of a session send "
                       "again is what was said before");
    if (d->accuracy)
        return err_set(err, ERR_CONFIG,
                       "data.accuracy: each sample is sent once; not in "
                       "sessions");
    if (d->cache_check)
        return err_set(err, ERR_CONFIG,
                       "data.cache_check: prompts of sessions are never of one "
                       "length; not in sessions");
    if (d->prompts == PROMPT_IDS)
        return err_set(err, ERR_CONFIG,
                       "data.prompts: the token ids of answers are not known, "
                       "so sessions are text");
    return 0;
}

/* A session that the warm-up began is not over with it. */
static int check_warmup(const struct settings *s, struct err *err)
{
    if (s->load.warmup_requests > 0)
        return err_set(err, ERR_CONFIG,
                       "load.warmup_requests: sessions warm up for a time "
                       "(load.warmup)");
    if (s->warmup.len > 0)
        return err_set(err, ERR_CONFIG,
                       "warmup_data: not in sessions, which outlast the "
                       "warm-up");
    return 0;
}

int settings_check_sessions(const struct settings *s, struct err *err)
{
    if (s->data.history == HISTORY_RECORDED && s->data.turns != TURNS_SESSION)
        return err_set(err, ERR_CONFIG,
                       "data.history: recorded goes with data.turns session");
    if (s->load.scenario != SCENARIO_SESSIONS)
        return check_others(s, err);
    if (!wants_sessions(s))
        return err_set(err, ERR_CONFIG,
                       "load.turns: the sessions scenario needs the turns of "
                       "one (--session-turns)");
    if (s->load.seeds == SEEDS_MLPERF)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf is a schedule of requests, not of "
                       "sessions");
    return check_warmup(s, err) || check_prompts(&s->data, err) ? -1 : 0;
}
