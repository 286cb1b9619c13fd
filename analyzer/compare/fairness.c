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

static enum fairness_answer passes(bool ok)
{
    return ok ? FAIRNESS_PASSED : FAIRNESS_FAILED;
}

static enum fairness_answer baseline(const struct fairness_facts *f)
{
    if (!f->baseline_is_sound || f->baseline_trials < f->most_trials)
        return FAIRNESS_FAILED;
    return f->is_declared ? FAIRNESS_PASSED : FAIRNESS_UNKNOWN;
}

static enum fairness_answer conditions(const struct fairness_facts *f)
{
    return passes(f->mismatches == 0);
}

static enum fairness_answer repeats(const struct fairness_facts *f)
{
    if (f->least_trials < FINDING_TRIALS)
        return FAIRNESS_FAILED;
    return f->is_one_launch ? FAIRNESS_UNKNOWN : FAIRNESS_PASSED;
}

static enum fairness_answer tail(const struct fairness_facts *f)
{
    return passes(f->has_tail);
}

static enum fairness_answer deliverable(const struct fairness_facts *f)
{
    if (f->breaks_slo)
        return FAIRNESS_FAILED;
    return f->has_slo ? FAIRNESS_PASSED : FAIRNESS_UNKNOWN;
}

static enum fairness_answer warmup(const struct fairness_facts *f)
{
    return passes(f->has_warmup);
}

static enum fairness_answer quality(const struct fairness_facts *f)
{
    if (f->quality == QUALITY_DIFFERS)
        return FAIRNESS_FAILED;
    return f->quality == QUALITY_ALIKE ? FAIRNESS_PASSED : FAIRNESS_UNKNOWN;
}

static enum fairness_answer regime(const struct fairness_facts *f)
{
    return passes(!f->is_mixed_loop && !f->is_overloaded);
}

static enum fairness_answer client(const struct fairness_facts *f)
{
    return passes(f->warnings == 0);
}

static enum fairness_answer trust(const struct fairness_facts *f)
{
    return passes(!f->is_untrusted);
}

static const struct {
    const char *name;
    enum fairness_answer (*ask)(const struct fairness_facts *f);
    const char *says[3]; /* by enum fairness_answer */
    const char *mend;
} rules[FAIRNESS_CHECKS] = {
    {"baseline",
     baseline,
     {"the first side is sound, measured as often as the others, and what is "
      "varied is declared",
      "the first side breaks its objective, may not be believed, or was "
      "measured less often than another",
      "what distinguishes the baseline is not declared"},
     "measure the baseline as carefully as the rest, and name the variable "
     "(--vary)"},
    {"conditions",
     conditions,
     {"all conditions match but the declared one",
      "conditions differ that were not declared", ""},
     "run one side again under the conditions of the other"},
    {"repeats",
     repeats,
     {"at least five trials a side",
      "fewer than five trials a side: what is the same within a launch does "
      "not show",
      "trials of one process of the server: how much launches differ is not "
      "known"},
     "run at least five trials a side, each with a server started anew "
     "(--trials 5 --restart CMD)"},
    {"tail",
     tail,
     {"a tail is among what is asked for",
      "nothing that is asked for shows a tail", ""},
     "ask for a high percentile as well (--on 'e2e p99')"},
    {"within the SLO",
     deliverable,
     {"every side keeps its objective",
      "a side breaks its objective: its throughput is not deliverable",
      "no objective was given: throughput may be bought with latency"},
     "compare at a load at which every side keeps its objective (--slo)"},
    {"warm-up",
     warmup,
     {"the warm-up is left out on every side",
      "a side has no warm-up: cold requests are in its numbers", ""},
     "give every run a warm-up (--warmup 10s)"},
    {"quality",
     quality,
     {"no difference of the checked answers is shown",
      "the quality of the answers differs",
      "nobody checked the answers, or too few: speed may be bought with "
      "quality"},
     "check the answers (--check) on every side"},
    {"regime",
     regime,
     {"one kind of loop, and no queue that grows through its window",
      "open and closed loops are mixed, or a side is overloaded", ""},
     "take the same scenario, at a load that every side can take"},
    {"client",
     client,
     {"the same client on the same host", "client, host or path differ", ""},
     "run all sides from one host with one version and the same settings of "
     "the client"},
    {"trust",
     trust,
     {"every recording may be believed", "a recording may not be believed", ""},
     "do what the checks in its report advise, and run it again"},
};

void fairness_make(struct fairness *out, const struct fairness_facts *f)
{
    *out = (struct fairness){0};
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        enum fairness_answer answer = rules[i].ask(f);

        out->checks[i] = (struct fairness_check){
            .name = rules[i].name,
            .answer = answer,
            .says = rules[i].says[answer],
            .mend = answer == FAIRNESS_PASSED ? "" : rules[i].mend,
        };
        out->failed += answer == FAIRNESS_FAILED;
        out->unknown += answer == FAIRNESS_UNKNOWN;
    }
}
