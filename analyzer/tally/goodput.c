#include "analyzer/tally/goodput.h"

#include "analyzer/tally/summary.h"

enum verdict goodput_believed(const struct summary *s, enum verdict answer)
{
    if (!s->trust.valid)
        return VERDICT_INVALID;
    if (answer == VERDICT_PASS && (s->integrity.was_killed || s->stopped_by))
        return VERDICT_UNDECIDED; /* what was left to come is not known */
    return answer;
}

enum verdict goodput_settled(const struct summary *s, enum verdict verdict)
{
    bool is_open = verdict == VERDICT_PASS || verdict == VERDICT_UNDECIDED;

    if (is_open && summary_is_overloaded(s))
        return VERDICT_FAIL; /* whatever it kept, it will not keep */
    if (verdict == VERDICT_PASS && s->aborted)
        return VERDICT_FAIL; /* it was not worth going on with */
    return verdict;
}

static void believe_tiers(const struct summary *s, struct tiers *t)
{
    for (size_t i = 0; i < t->len; i++) {
        struct tier_summary *tier = &t->items[i];

        tier->verdict =
            goodput_settled(s, goodput_believed(s, tier->judgement.verdict));
    }
}

static void take_cost(struct summary *s)
{
    bool has_output = s->has_tokens && tokens_have_output(&s->tokens);
    const struct delivered d = {
        .window_s = s->window_length_s,
        .good = s->good,
        .good_tokens = has_output ? (double)s->tokens.good_output : -1,
        .tokens = has_output ? s->output_tokens_per_s * s->window_length_s : -1,
    };

    s->cost = cost_of(&s->settings->cost, &d);
}

struct metered_share goodput_energy_share(const struct summary *s)
{
    bool has_output = s->has_tokens && tokens_have_output(&s->tokens);

    return (struct metered_share){
        .good = s->good,
        .tokens = has_output ? s->output_tokens_per_s * s->window_length_s : -1,
        .co2_g_per_kwh = s->settings->cost.co2_g_per_kwh,
    };
}

static void take_metered(struct summary *s)
{
    const struct metered_share share = goodput_energy_share(s);
    const struct window window = summary_window(s);

    metered_read(&s->metered, s->dir, &window, &share);
}

void goodput_take(struct summary *s, const struct tally *t,
                  const struct fluid *fluid, const struct tier_works *tiers)
{
    tiers_take(&s->tiers, tiers, s->window_length_s);
    believe_tiers(s, &s->tiers);
    for (size_t i = 0; i < s->n_classes; i++)
        believe_tiers(s, &s->classes[i].tiers);
    s->misses = t->misses;
    s->fluid = fluid_sum_up(fluid, s->window_length_s);
    take_cost(s);
    take_metered(s);
}
