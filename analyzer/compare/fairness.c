#include "analyzer/compare/fairness.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/compare/finding.h"

#define MORE_TRIALS                                                            \
    "run at least five trials per side, with a restart of the server before "  \
    "each (--trials 5 --restart CMD)"

enum situation {
    BASELINE_UNTRUSTED,
    BASELINE_MISSES,
    BASELINE_SHORT,
    UNDECLARED,
    MISMATCHED,
    UNLABELLED,
    FEW_TRIALS,
    ONE_LAUNCH,
    NO_TAIL,
    MISSES_SLO,
    NO_SLO,
    NO_WARMUP,
    SHORT_WARMUP,
    SAME_QUALITY,
    OTHER_QUALITY,
    UNCLEAR_QUALITY,
    MIXED_LOOPS,
    OVERLOADED,
    OTHER_CLIENT,
    UNTRUSTED,
    OTHERWISE,
    SITUATIONS,
};

/* For each check the first row that applies counts. */
static const struct {
    const char *name;
    enum situation situation;
    enum fairness_answer answer;
    const char *says;
    const char *mend;
} rows[] = {
    {"baseline", BASELINE_UNTRUSTED, FAIRNESS_FAILED,
     "the baseline (the first side) cannot be trusted",
     "do what the checks in its report advise, and run the baseline again"},
    {"baseline", BASELINE_MISSES, FAIRNESS_FAILED,
     "the baseline (the first side) misses its SLO, so it is easy to beat",
     "take a load at which the baseline keeps its objective"},
    {"baseline", BASELINE_SHORT, FAIRNESS_FAILED,
     "the baseline (the first side) has fewer trials than another side",
     "run as many trials of the baseline as of the others"},
    {"baseline", UNDECLARED, FAIRNESS_UNKNOWN,
     "the varied condition is not declared", "name the variable (--vary)"},
    {"baseline", OTHERWISE, FAIRNESS_PASSED,
     "the first side can be trusted, has as many trials as the others, and the "
     "varied condition is declared",
     ""},
    {"conditions", MISMATCHED, FAIRNESS_FAILED,
     "some differ that were not declared as varied",
     "run one side again under the conditions of the other"},
    {"conditions", UNLABELLED, FAIRNESS_UNKNOWN,
     "labelled on no side, so it is unknown whether these match: ",
     "label every run (--label hardware=... --label precision=... --label "
     "model=...)"},
    {"conditions", OTHERWISE, FAIRNESS_PASSED,
     "all conditions match except the declared one", ""},
    {"repeats", FEW_TRIALS, FAIRNESS_FAILED,
     "fewer than five trials per side: differences between server starts do "
     "not show",
     MORE_TRIALS},
    {"repeats", ONE_LAUNCH, FAIRNESS_UNKNOWN,
     "all trials used one server process: how much server starts differ is "
     "unknown",
     MORE_TRIALS},
    {"repeats", OTHERWISE, FAIRNESS_PASSED, "at least five trials per side",
     ""},
    {"tail", NO_TAIL, FAIRNESS_FAILED,
     "none of the requested quantities shows the tail",
     "ask for a high percentile as well (--on 'e2e p99')"},
    {"tail", OTHERWISE, FAIRNESS_PASSED, "a requested quantity shows the tail",
     ""},
    {"within the SLO", MISSES_SLO, FAIRNESS_FAILED,
     "a side misses its SLO: its throughput is not deliverable",
     "compare at a load at which every side keeps its objective"},
    {"within the SLO", NO_SLO, FAIRNESS_UNKNOWN,
     "no SLO was given: throughput may have been gained at the cost of latency",
     "set an SLO (--slo)"},
    {"within the SLO", OTHERWISE, FAIRNESS_PASSED, "every side meets its SLO",
     ""},
    {"warm-up", NO_WARMUP, FAIRNESS_FAILED,
     "a side has no warm-up: its numbers include cold requests",
     "give every run a warm-up (--warmup 10s)"},
    {"warm-up", SHORT_WARMUP, FAIRNESS_FAILED,
     "most windows of a side begin before the server is warm: its numbers "
     "include cold requests",
     "give every run the longest warm-up that the reports suggest (--warmup)"},
    {"warm-up", OTHERWISE, FAIRNESS_PASSED,
     "the warm-up is excluded on every side", ""},
    {"quality", SAME_QUALITY, FAIRNESS_PASSED,
     "the checked answers show no difference in quality", ""},
    {"quality", OTHER_QUALITY, FAIRNESS_FAILED,
     "the quality of the answers differs: speed may have been gained at its "
     "cost",
     "compare variants that answer equally well, or say both qualities with "
     "the claim (--on quality)"},
    {"quality", UNCLEAR_QUALITY, FAIRNESS_UNKNOWN,
     "too few answers were checked to tell whether their quality differs",
     "check more answers: longer runs, or more trials"},
    {"quality", OTHERWISE, FAIRNESS_UNKNOWN,
     "the answers were not checked on every side: speed may have been gained "
     "at the cost of quality",
     "check the answers (--check) on every side"},
    {"regime", MIXED_LOOPS, FAIRNESS_FAILED,
     "open and closed loops are mixed: a closed loop sends fewer requests to a "
     "slow server",
     "take the same scenario on every side"},
    {"regime", OVERLOADED, FAIRNESS_FAILED,
     "a side is overloaded: its latencies depend on the length of the window",
     "take a load that every side can take"},
    {"regime", OTHERWISE, FAIRNESS_PASSED,
     "one kind of loop, and no queue that grows throughout a window", ""},
    {"client", OTHER_CLIENT, FAIRNESS_FAILED,
     "client, host or network path differ",
     "run all sides from one host with one version and the same settings of "
     "the client"},
    {"client", OTHERWISE, FAIRNESS_PASSED, "the same client on the same host",
     ""},
    {"trust", UNTRUSTED, FAIRNESS_FAILED, "a recording cannot be trusted",
     "do what the checks in its report advise, and run it again"},
    {"trust", OTHERWISE, FAIRNESS_PASSED, "every recording can be trusted", ""},
};

const char *fairness_answer_name(enum fairness_answer answer)
{
    static const char *const names[] = {
        [FAIRNESS_PASSED] = "passed",
        [FAIRNESS_FAILED] = "failed",
        [FAIRNESS_UNKNOWN] = "unknown",
    };

    return names[answer];
}

void fairness_make(struct fairness *out, const struct fairness_facts *f)
{
    const bool applies[SITUATIONS] = {
        [BASELINE_UNTRUSTED] = !f->baseline_is_trusted,
        [BASELINE_MISSES] = f->baseline_breaks_slo,
        [BASELINE_SHORT] = (f->baseline_trials < f->max_trials),
        [UNDECLARED] = !f->is_declared,
        [MISMATCHED] = (f->mismatches > 0),
        [UNLABELLED] =
            f->lacks_hardware || f->lacks_precision || f->lacks_model,
        [FEW_TRIALS] = (f->min_trials < FINDING_TRIALS),
        [ONE_LAUNCH] = f->is_one_launch,
        [NO_TAIL] = !f->has_tail,
        [MISSES_SLO] = f->breaks_slo,
        [NO_SLO] = !f->has_slo,
        [NO_WARMUP] = !f->has_warmup,
        [SHORT_WARMUP] = f->is_warmup_too_short,
        [SAME_QUALITY] = f->quality == QUALITY_ALIKE,
        [OTHER_QUALITY] = f->quality == QUALITY_DIFFERS,
        [UNCLEAR_QUALITY] = f->quality == QUALITY_CANNOT_TELL,
        [MIXED_LOOPS] = f->is_mixed_loop,
        [OVERLOADED] = f->is_overloaded,
        [OTHER_CLIENT] = (f->warnings > 0),
        [UNTRUSTED] = f->is_untrusted,
        [OTHERWISE] = true,
    };
    const struct {
        const char *name;
        bool is_lacking;
    } labels[] = {{"hardware", f->lacks_hardware},
                  {"precision", f->lacks_precision},
                  {"model", f->lacks_model}};
    char lacks[64] = "";
    size_t n = 0;

    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        size_t len = strlen(lacks);

        if (labels[i].is_lacking)
            snprintf(lacks + len, sizeof(lacks) - len, "%s%s",
                     len > 0 ? ", " : "", labels[i].name);
    }
    *out = (struct fairness){0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!applies[rows[i].situation] ||
            (n > 0 && strcmp(out->checks[n - 1].name, rows[i].name) == 0))
            continue;
        out->checks[n] = (struct fairness_check){.name = rows[i].name,
                                                 .answer = rows[i].answer,
                                                 .mend = rows[i].mend};
        snprintf(out->checks[n++].says, FAIRNESS_SAYS, "%s%s", rows[i].says,
                 rows[i].situation == UNLABELLED ? lacks : "");
        out->failed += rows[i].answer == FAIRNESS_FAILED;
        out->unknown += rows[i].answer == FAIRNESS_UNKNOWN;
    }
}
