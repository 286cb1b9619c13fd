#include "analyzer/verdict/settle.h"

#include "analyzer/tally/cohorts.h"
#include "analyzer/tally/summary.h"

bool summary_is_cut(const struct summary *s)
{
    return s->integrity.was_killed || s->integrity.lost_shards > 0 ||
           s->stopped_by != 0;
}

enum verdict verdict_after_trust(const struct summary *s, enum verdict answer)
{
    if (!s->trust.valid && (!s->trust.is_only_late || answer == VERDICT_NONE))
        return VERDICT_INVALID;
    if (answer == VERDICT_PASS && summary_is_cut(s))
        return VERDICT_UNDECIDED;
    return answer;
}

enum verdict verdict_after_load(const struct summary *s, enum verdict verdict)
{
    bool is_open = verdict == VERDICT_PASS || verdict == VERDICT_UNDECIDED;

    if (is_open && summary_is_overloaded(s))
        return VERDICT_FAIL;
    return verdict == VERDICT_PASS && s->aborted ? VERDICT_FAIL : verdict;
}

void settle_tiers(const struct summary *s, const struct tier_works *w,
                  struct tiers *t)
{
    for (size_t i = 0; i < t->len; i++) {
        struct judgement *j = &t->items[i].judgement;

        if (s->trust.is_only_late)
            judge_late_client(&w->items[i].tally, j);
        t->items[i].verdict =
            verdict_after_load(s, verdict_after_trust(s, j->verdict));
    }
}

bool summary_is_overloaded(const struct summary *s)
{
    return s->steady.load.state == LOAD_OVER;
}

enum conclusion summary_conclusion(const struct summary *s)
{
    if (s->verdict == VERDICT_INVALID)
        return CONCLUSION_INVALID;
    if (s->settings->require == REQUIRE_SHOWN && s->verdict != VERDICT_NONE &&
        !s->is_shown)
        return CONCLUSION_UNDECIDED;
    switch (s->verdict) {
    case VERDICT_UNDECIDED:
        return CONCLUSION_UNDECIDED;
    case VERDICT_FAIL:
        return CONCLUSION_NO;
    default:
        if (s->cache.finding == CACHE_UNDECIDED || s->integrity.was_killed ||
            s->integrity.lost_shards > 0)
            return CONCLUSION_UNDECIDED;
        return s->ok > 0 && !s->aborted && s->cache.finding != CACHE_OF_ANSWERS
                   ? CONCLUSION_YES
                   : CONCLUSION_NO;
    }
}
