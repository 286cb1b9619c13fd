#include "analyzer/compare/fairness.h"

#include "analyzer/compare/finding.h"

const char *fairness_answer_name(enum fairness_answer answer)
{
    static const char *const names[] = {
        [FAIRNESS_PASSED] = "passed",
        [FAIRNESS_FAILED] = "failed",
        [FAIRNESS_UNKNOWN] = "unknown",
    };

    return names[answer];
}

static struct fairness_check passed(const char *says)
{
    return (struct fairness_check){
        .answer = FAIRNESS_PASSED, .says = says, .mend = ""};
}

static struct fairness_check failed(const char *says, const char *mend)
{
    return (struct fairness_check){
        .answer = FAIRNESS_FAILED, .says = says, .mend = mend};
}

static struct fairness_check unknown(const char *says, const char *mend)
{
    return (struct fairness_check){
        .answer = FAIRNESS_UNKNOWN, .says = says, .mend = mend};
}

static struct fairness_check baseline(const struct fairness_facts *f)
{
    if (!f->baseline_is_trusted)
        return failed("the baseline, the first side, may not be believed",
                      "do what the checks in its report advise, and run the "
                      "baseline again");
    if (f->baseline_breaks_slo)
        return failed("the baseline, the first side, breaks its objective: it "
                      "is easy to be better than that",
                      "take a load at which the baseline keeps its objective");
    if (f->baseline_trials < f->most_trials)
        return failed("the baseline, the first side, was measured less often "
                      "than another",
                      "run as many trials of the baseline as of the others");
    if (!f->is_declared)
        return unknown("what distinguishes the baseline is not declared",
                       "name the variable (--vary)");
    return passed("the first side is sound, measured as often as the others, "
                  "and what is varied is declared");
}

static struct fairness_check conditions(const struct fairness_facts *f)
{
    if (f->mismatches > 0)
        return failed("conditions differ that were not declared",
                      "run one side again under the conditions of the other");
    return passed("all conditions match but the declared one");
}

static struct fairness_check repeats(const struct fairness_facts *f)
{
    static const char mend[] =
        "run at least five trials a side, each with a server started anew "
        "(--trials 5 --restart CMD)";

    if (f->least_trials < FINDING_TRIALS)
        return failed("fewer than five trials a side: what is the same within "
                      "a launch does not show",
                      mend);
    if (f->is_one_launch)
        return unknown("trials of one process of the server: how much launches "
                       "differ is not known",
                       mend);
    return passed("at least five trials a side");
}

static struct fairness_check tail(const struct fairness_facts *f)
{
    if (!f->has_tail)
        return failed("nothing that is asked for shows a tail",
                      "ask for a high percentile as well (--on 'e2e p99')");
    return passed("a tail is among what is asked for");
}

static struct fairness_check deliverable(const struct fairness_facts *f)
{
    if (f->breaks_slo)
        return failed("a side breaks its objective: its throughput is not "
                      "deliverable",
                      "compare at a load at which every side keeps its "
                      "objective");
    if (!f->has_slo)
        return unknown("no objective was given: throughput may be bought with "
                       "latency",
                       "say what is good enough (--slo)");
    return passed("every side keeps its objective");
}

static struct fairness_check warmup(const struct fairness_facts *f)
{
    if (!f->has_warmup)
        return failed("a side has no warm-up: cold requests are in its numbers",
                      "give every run a warm-up (--warmup 10s)");
    if (f->is_warmup_too_short)
        return failed("most windows of a side begin before it is warm: cold "
                      "requests are in its numbers",
                      "give every run the longest warm-up that the reports "
                      "suggest (--warmup)");
    return passed("the warm-up is left out on every side");
}

static struct fairness_check quality(const struct fairness_facts *f)
{
    switch (f->quality) {
    case QUALITY_ALIKE:
        return passed("no difference of the checked answers is shown");
    case QUALITY_DIFFERS:
        return failed("the quality of the answers differs: speed may be bought "
                      "with it",
                      "compare variants that answer equally well, or say both "
                      "qualities with the claim (--on quality)");
    case QUALITY_CANNOT_TELL:
        return unknown("too few answers were checked to tell whether their "
                       "quality differs",
                       "check more answers: longer runs, or more trials");
    default:
        return unknown("nobody checked the answers on every side: speed may be "
                       "bought with quality",
                       "check the answers (--check) on every side");
    }
}

static struct fairness_check regime(const struct fairness_facts *f)
{
    if (f->is_mixed_loop)
        return failed("open and closed loops are mixed: a closed one asks a "
                      "slow server less often",
                      "take the same scenario on every side");
    if (f->is_overloaded)
        return failed("a side is overloaded: its latencies depend on how long "
                      "one looked",
                      "take a load that every side can take");
    return passed("one kind of loop, and no queue that grows through its "
                  "window");
}

static struct fairness_check client(const struct fairness_facts *f)
{
    if (f->warnings > 0)
        return failed("client, host or path differ",
                      "run all sides from one host with one version and the "
                      "same settings of the client");
    return passed("the same client on the same host");
}

static struct fairness_check trust(const struct fairness_facts *f)
{
    if (f->is_untrusted)
        return failed("a recording may not be believed",
                      "do what the checks in its report advise, and run it "
                      "again");
    return passed("every recording may be believed");
}

static const struct {
    const char *name;
    struct fairness_check (*ask)(const struct fairness_facts *f);
} rules[FAIRNESS_CHECKS] = {
    {"baseline", baseline},
    {"conditions", conditions},
    {"repeats", repeats},
    {"tail", tail},
    {"within the SLO", deliverable},
    {"warm-up", warmup},
    {"quality", quality},
    {"regime", regime},
    {"client", client},
    {"trust", trust},
};

void fairness_make(struct fairness *out, const struct fairness_facts *f)
{
    *out = (struct fairness){0};
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        struct fairness_check *check = &out->checks[i];

        *check = rules[i].ask(f);
        check->name = rules[i].name;
        out->failed += check->answer == FAIRNESS_FAILED;
        out->unknown += check->answer == FAIRNESS_UNKNOWN;
    }
}
