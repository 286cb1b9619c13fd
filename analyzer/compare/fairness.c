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

static struct fairness_check answer(enum fairness_answer answer,
                                    const char *says, const char *mend)
{
    return (struct fairness_check){
        .answer = answer, .says = says, .mend = mend};
}

static struct fairness_check passed(const char *says)
{
    return answer(FAIRNESS_PASSED, says, "");
}

static struct fairness_check failed(const char *says, const char *mend)
{
    return answer(FAIRNESS_FAILED, says, mend);
}

static struct fairness_check unknown(const char *says, const char *mend)
{
    return answer(FAIRNESS_UNKNOWN, says, mend);
}

static struct fairness_check baseline(const struct fairness_facts *f)
{
    if (!f->baseline_is_trusted)
        return failed("the baseline (the first side) cannot be trusted",
                      "do what the checks in its report advise, and run the "
                      "baseline again");
    if (f->baseline_breaks_slo)
        return failed("the baseline (the first side) misses its SLO, so it is "
                      "easy to beat",
                      "take a load at which the baseline keeps its objective");
    if (f->baseline_trials < f->max_trials)
        return failed("the baseline (the first side) has fewer trials than "
                      "another side",
                      "run as many trials of the baseline as of the others");
    if (!f->is_declared)
        return unknown("the varied condition is not declared",
                       "name the variable (--vary)");
    return passed("the first side can be trusted, has as many trials as the "
                  "others, and the varied condition is declared");
}

static struct fairness_check conditions(const struct fairness_facts *f)
{
    if (f->mismatches > 0)
        return failed("conditions differ that were not declared as varied",
                      "run one side again under the conditions of the other");
    return passed("all conditions match except the declared one");
}

static struct fairness_check repeats(const struct fairness_facts *f)
{
    static const char mend[] =
        "run at least five trials a side, each with a server started anew "
        "(--trials 5 --restart CMD)";

    if (f->min_trials < FINDING_TRIALS)
        return failed("fewer than five trials per side: differences between "
                      "launches do not show",
                      mend);
    if (f->is_one_launch)
        return unknown("all trials used one server process: how much launches "
                       "differ is unknown",
                       mend);
    return passed("at least five trials per side");
}

static struct fairness_check tail(const struct fairness_facts *f)
{
    if (!f->has_tail)
        return failed("none of the requested quantities shows the tail",
                      "ask for a high percentile as well (--on 'e2e p99')");
    return passed("a requested quantity shows the tail");
}

static struct fairness_check deliverable(const struct fairness_facts *f)
{
    if (f->breaks_slo)
        return failed("a side misses its SLO: its throughput is not "
                      "deliverable",
                      "compare at a load at which every side keeps its "
                      "objective");
    if (!f->has_slo)
        return unknown(
            "no SLO was given: throughput may have been gained at the "
            "cost of latency",
            "say what is good enough (--slo)");
    return passed("every side meets its SLO");
}

static struct fairness_check warmup(const struct fairness_facts *f)
{
    if (!f->has_warmup)
        return failed(
            "a side has no warm-up: its numbers include cold requests",
            "give every run a warm-up (--warmup 10s)");
    if (f->is_warmup_too_short)
        return failed("most windows of a side begin before the server is warm: "
                      "its numbers include cold requests",
                      "give every run the longest warm-up that the reports "
                      "suggest (--warmup)");
    return passed("the warm-up is excluded on every side");
}

static struct fairness_check quality(const struct fairness_facts *f)
{
    switch (f->quality) {
    case QUALITY_ALIKE:
        return passed("the checked answers show no difference in quality");
    case QUALITY_DIFFERS:
        return failed("the quality of the answers differs: speed may have been "
                      "gained at its cost",
                      "compare variants that answer equally well, or say both "
                      "qualities with the claim (--on quality)");
    case QUALITY_CANNOT_TELL:
        return unknown("too few answers were checked to tell whether their "
                       "quality differs",
                       "check more answers: longer runs, or more trials");
    default:
        return unknown("the answers were not checked on every side: speed may "
                       "have been gained at the cost of quality",
                       "check the answers (--check) on every side");
    }
}

static struct fairness_check regime(const struct fairness_facts *f)
{
    if (f->is_mixed_loop)
        return failed("open and closed loops are mixed: a closed loop sends "
                      "fewer requests to a slow server",
                      "take the same scenario on every side");
    if (f->is_overloaded)
        return failed(
            "a side is overloaded: its latencies depend on the length "
            "of the window",
            "take a load that every side can take");
    return passed("one kind of loop, and no queue that grows throughout a "
                  "window");
}

static struct fairness_check client(const struct fairness_facts *f)
{
    if (f->warnings > 0)
        return failed("client, host or network path differ",
                      "run all sides from one host with one version and the "
                      "same settings of the client");
    return passed("the same client on the same host");
}

static struct fairness_check trust(const struct fairness_facts *f)
{
    if (f->is_untrusted)
        return failed("a recording cannot be trusted",
                      "do what the checks in its report advise, and run it "
                      "again");
    return passed("every recording can be trusted");
}

static const struct {
    const char *name;
    struct fairness_check (*check)(const struct fairness_facts *f);
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

        *check = rules[i].check(f);
        check->name = rules[i].name;
        out->failed += check->answer == FAIRNESS_FAILED;
        out->unknown += check->answer == FAIRNESS_UNKNOWN;
    }
}
