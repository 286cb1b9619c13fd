/* The options of many runs, and what contradicts itself in them. */
#include "common/err.h"
#include "common/settings.h"

#define AT(field) offsetof(struct settings, study.field)

static const struct opt study[] = {
    {.key = "trials",
     .flag = "trials",
     .type = &opt_count,
     .offset = AT(trials),
     .is_positive = true,
     .initial = "1",
     .help = "make this many independent runs, each with a seed of its own"},
    {.key = "settle",
     .flag = "settle",
     .type = &opt_duration,
     .offset = AT(settle_ns),
     .initial = "1s",
     .help = "between two of them, how long to leave the server alone"},
    {.key = "restart",
     .flag = "restart",
     .type = &opt_text,
     .offset = AT(restart),
     .help = "shell command that starts the server anew, before each trial"},
};

const struct opt_block block_study = {"study", study,
                                      sizeof(study) / sizeof(study[0])};

int settings_check_study(const struct settings *s, struct err *err)
{
    if (s->study.trials > STUDY_MAX_TRIALS)
        return err_set(err, ERR_CONFIG, "study.trials: at most %d",
                       STUDY_MAX_TRIALS);
    if (s->study.restart && s->study.trials < 2)
        return err_set(err, ERR_CONFIG,
                       "study.restart: goes with two or more trials");
    if (s->study.restart && s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "study.restart: not beside a stub, which is started "
                       "anew for each trial anyway");
    return 0;
}
