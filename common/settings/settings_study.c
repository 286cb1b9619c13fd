/* The options of many runs, and what contradicts itself in them. */
#include <math.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/units.h"
#include "common/settings/settings.h"

#define AT(field)        offsetof(struct settings, study.field)
#define SEARCH_AT(field) offsetof(struct settings, search.field)
#define SWEEP_AT(field)  offsetof(struct settings, sweep.field)

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
     .is_command = true,
     .help = "shell command that starts the server anew, before each trial"},
};

const struct opt_block block_study = {"study", study,
                                      sizeof(study) / sizeof(study[0])};

static const char *const vary_names[] = {
    [VARY_RATE] = "rate",
    [VARY_CONCURRENCY] = "concurrency",
    NULL,
};

/* A load; 0 is what was not given, and is written as nothing. */
static int parse_load(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    if (opt_number.parse(field, opt, text, err))
        return -1;
    return *(const double *)field > 0
               ? 0
               : err_set(err, ERR_CONFIG, "must be above 0");
}

static void print_load(const void *field, const struct opt *opt,
                       struct buf *out)
{
    if (*(const double *)field > 0)
        opt_number.print(field, opt, out);
}

static const struct opt_type opt_load = {"NUMBER", OPT_SCALAR, parse_load,
                                         print_load};

static const struct opt search[] = {
    {.key = "by",
     .flag = "by",
     .type = &opt_choice,
     .offset = SEARCH_AT(by),
     .names = vary_names,
     .initial = "rate",
     .help = "what to search the most of: requests a second, or clients of a "
             "closed loop"},
    {.key = "start",
     .flag = "start",
     .type = &opt_load,
     .offset = SEARCH_AT(start),
     .help = "a guess to begin with; else load.rate, else a light load"},
    {.key = "least",
     .flag = "least",
     .type = &opt_number,
     .offset = SEARCH_AT(least),
     .help = "no lower value is probed"},
    {.key = "most",
     .flag = "most",
     .type = &opt_load,
     .offset = SEARCH_AT(most),
     .help = "no higher value is probed"},
    {.key = "tolerance",
     .flag = "tolerance",
     .type = &opt_share,
     .offset = SEARCH_AT(tolerance),
     .initial = "4%",
     .help = "how near is near enough, as a share of the estimate"},
    {.key = "probe",
     .flag = "probe",
     .type = &opt_duration,
     .offset = SEARCH_AT(probe_ns),
     .is_positive = true,
     .help = "window of a probe near the boundary (20s, or what it needs)"},
    {.key = "confirm",
     .flag = "confirm",
     .type = &opt_duration,
     .offset = SEARCH_AT(confirm_ns),
     .is_positive = true,
     .help = "window of the run that confirms (90s, or what it needs; 20s at "
             "the client's limit)"},
    {.key = "no_confirm",
     .flag = "no-confirm",
     .type = &opt_switch,
     .offset = SEARCH_AT(no_confirm),
     .help = "leave it at the estimate, without that run"},
    {.key = "budget",
     .flag = "budget",
     .type = &opt_duration,
     .offset = SEARCH_AT(budget_ns),
     .is_positive = true,
     .help = "time for everything; what is known by then is the answer"},
};

const struct opt_block block_search = {"search", search,
                                       sizeof(search) / sizeof(search[0])};

/* "stub.max_batch=1,2,4..16". */
static int check_vary(const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text ||
        !memchr(text, '.', (size_t)(equals - text)))
        return err_set(err, ERR_CONFIG,
                       "'%s': expected a setting and its values, such as "
                       "stub.max_batch=1,2,4..16",
                       text);
    return numlist_check(equals + 1, err);
}

static const char *const order_names[] = {
    [ORDER_RANDOM] = "random",
    [ORDER_GIVEN] = "given",
    NULL,
};

static const struct opt sweep[] = {
    {.key = "rates",
     .flag = "rates",
     .type = &opt_text,
     .offset = SWEEP_AT(rates),
     .check = numlist_check,
     .help = "rates to run at: 10,20,40..200, where .. goes on by the last "
             "difference"},
    {.key = "concurrencies",
     .flag = "concurrencies",
     .type = &opt_text,
     .offset = SWEEP_AT(concurrencies),
     .check = numlist_check,
     .help = "the same for the clients of a closed loop"},
    {.key = "vary",
     .flag = "vary",
     .type = &opt_text,
     .offset = SWEEP_AT(vary),
     .check = check_vary,
     .help = "the same for any setting that is a number: "
             "stub.max_batch=1,2,4..16"},
    {.key = "repeats",
     .flag = "repeats",
     .type = &opt_count,
     .offset = SWEEP_AT(repeats),
     .is_positive = true,
     .initial = "1",
     .help = "runs at each value, each with a seed of its own"},
    {.key = "order",
     .flag = "order",
     .type = &opt_choice,
     .offset = SWEEP_AT(order),
     .names = order_names,
     .initial = "random",
     .help = "in which they are made; random ones by load.seed, so that what "
             "drifts does not look like the load"},
};

const struct opt_block block_sweep = {"sweep", sweep,
                                      sizeof(sweep) / sizeof(sweep[0])};

/* What is varied is given once. */
static int check_sweep(const struct sweep_settings *s, struct err *err)
{
    if ((s->rates != NULL) + (s->concurrencies != NULL) + (s->vary != NULL) > 1)
        return err_set(err, ERR_CONFIG,
                       "sweep.%s: one of rates, concurrencies and vary is "
                       "enough",
                       s->vary ? "vary" : "concurrencies");
    return s->repeats > STUDY_MAX_TRIALS
               ? err_set(err, ERR_CONFIG, "sweep.repeats: at most %d",
                         STUDY_MAX_TRIALS)
               : 0;
}

/* Of clients there is no half. */
static int check_whole(const struct search_settings *s, struct err *err)
{
    const struct {
        const char *key;
        double value;
    } loads[] = {{"start", s->start}, {"least", s->least}, {"most", s->most}};

    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        if (s->by == VARY_CONCURRENCY &&
            loads[i].value != floor(loads[i].value))
            return err_set(err, ERR_CONFIG,
                           "search.%s: %g is no number of clients",
                           loads[i].key, loads[i].value);
    }
    return 0;
}

static int check_search(const struct search_settings *s, struct err *err)
{
    if (check_whole(s, err))
        return -1;
    if (s->tolerance <= 0)
        return err_set(err, ERR_CONFIG, "search.tolerance: must be above 0");
    if (s->most > 0 && s->least > s->most)
        return err_set(err, ERR_CONFIG, "search.least: above search.most");
    if (s->start > 0 &&
        ((s->most > 0 && s->start > s->most) || s->start < s->least))
        return err_set(err, ERR_CONFIG,
                       "search.start: not between search.least and "
                       "search.most");
    return 0;
}

int settings_check_study(const struct settings *s, struct err *err)
{
    if (s->study.trials > STUDY_MAX_TRIALS)
        return err_set(err, ERR_CONFIG, "study.trials: at most %d",
                       STUDY_MAX_TRIALS);
    if (s->study.restart && s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "study.restart: not beside a stub, which is started "
                       "anew for each trial anyway");
    return check_search(&s->search, err) || check_sweep(&s->sweep, err) ? -1
                                                                        : 0;
}
