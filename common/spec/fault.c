#include "common/spec/fault.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

typedef int parse_param(const char *text, int64_t *value, struct err *err);

/* The parameter of each kind: how it is parsed (NULL: it has none) and its
 * range.  A status can also be one of gRPC, 1 to 16. */
static const struct {
    const char *name;
    parse_param *parse;
    int64_t min;
    int64_t max; /* 0: none */
    const char *range;
} kinds[FAULT_KINDS] = {
    [FAULT_STATUS] = {"status", units_parse_count, 300, 599,
                      "300 to 599, or 1 to 16 for gRPC"},
    [FAULT_INBAND] = {.name = "inband"},
    [FAULT_RESET] = {.name = "reset"},
    [FAULT_HANG] = {.name = "hang", .parse = units_parse_duration},
    [FAULT_TRUNCATED] = {.name = "truncated"},
    [FAULT_MALFORMED] = {.name = "malformed"},
    [FAULT_EMPTY] = {.name = "empty"},
    [FAULT_DOUBLE_DONE] = {.name = "double-done"},
    [FAULT_NO_DONE] = {.name = "no-done"},
    [FAULT_ROLE_FIRST] = {.name = "role-first"},
    [FAULT_BUNDLE] = {"bundle", units_parse_count, 1, 0, "1 token or more"},
    [FAULT_BURST] = {.name = "burst"},
    [FAULT_NO_USAGE] = {.name = "no-usage"},
    [FAULT_SLOW_ACCEPT] = {.name = "slow-accept",
                           .parse = units_parse_duration},
    [FAULT_NO_EVENTS] = {.name = "no-events"},
    [FAULT_WRONG_TYPE] = {.name = "wrong-type"},
    [FAULT_COALESCED] = {"coalesced", units_parse_count, 1, 0,
                         "1 event or more"},
    [FAULT_ENDLESS] = {"endless", units_parse_size, 1, INT64_C(64) << 20,
                       "1 byte to 64 MiB"},
    [FAULT_WRONG_USAGE] = {.name = "wrong-usage", .parse = units_parse_count},
    [FAULT_WRONG_FINISH] = {.name = "wrong-finish"},
    [FAULT_LENGTH] = {"length", units_parse_count, 1, INT64_C(1) << 20,
                      "1 to 1M tokens"},
};

const char *fault_name(enum fault_kind kind)
{
    return kinds[kind].name;
}

/* "name=value" cut in two; the value is NULL without '='. */
static char *cut_value(char *word)
{
    char *equals = strchr(word, '=');

    if (!equals)
        return NULL;
    *equals = '\0';
    return equals + 1;
}

static int read_kind(char *word, struct fault *f, struct err *err)
{
    const char *value = cut_value(word);
    struct suggest suggestion = {.word = word};
    char hint[64];

    for (int k = 0; k < FAULT_KINDS; k++) {
        if (strcmp(kinds[k].name, word) != 0)
            continue;
        f->kind = (enum fault_kind)k;
        if ((kinds[k].parse != NULL) != (value != NULL))
            return err_set(err, ERR_CONFIG, "fault '%s' %s", word,
                           value ? "takes no value" : "requires a value");
        return value ? kinds[k].parse(value, &f->param, err) : 0;
    }
    for (int k = 0; k < FAULT_KINDS; k++)
        suggest_consider(&suggestion, kinds[k].name);
    return err_set(err, ERR_CONFIG, "unknown fault '%s'%s", word,
                   suggest_text(&suggestion, "", hint, sizeof(hint)));
}

static int parse_from_1(const char *text, int64_t *value, struct err *err)
{
    if (units_parse_count(text, value, err))
        return -1;
    return *value > 0 ? 0
                      : err_set(err, ERR_CONFIG,
                                "the number of a request is 1 or more");
}

static int read_condition(char *word, struct fault *f, struct err *err)
{
    const char *value = cut_value(word);

    if (value && strcmp(word, "p") == 0)
        return units_parse_share(value, &f->share, err);
    if (value && strcmp(word, "n") == 0)
        return parse_from_1(value, &f->nth, err);
    if (value && strcmp(word, "every") == 0)
        return parse_from_1(value, &f->every, err);
    if (value && strcmp(word, "from") == 0)
        return units_parse_duration(value, &f->from_ns, err);
    if (value && strcmp(word, "to") == 0)
        return units_parse_duration(value, &f->to_ns, err);
    return err_set(err, ERR_CONFIG,
                   "'%s' is not a condition of a fault; write p=1%%, n=7, "
                   "every=100, from=10s or to=12s",
                   word);
}

static int check_values(const struct fault *f, struct err *err)
{
    int64_t max = kinds[f->kind].max;
    bool is_grpc = f->kind == FAULT_STATUS && f->param >= 1 && f->param <= 16;

    if (!is_grpc && (f->param < kinds[f->kind].min || (max && f->param > max)))
        return err_set(err, ERR_CONFIG, "fault '%s' must be %s",
                       fault_name(f->kind), kinds[f->kind].range);
    if (f->from_ns >= f->to_ns)
        return err_set(err, ERR_CONFIG,
                       "fault '%s': 'from' must be before 'to'",
                       fault_name(f->kind));
    return 0;
}

int fault_parse(const char *text, struct fault *fault, struct err *err)
{
    char *copy = xstrdup(text);
    char *rest = copy;
    char *word = str_next_word(&rest);
    int rc;

    *fault = (struct fault){.share = 1, .to_ns = INT64_MAX};
    rc = word ? read_kind(word, fault, err)
              : err_set(err, ERR_CONFIG, "the fault is empty");
    while (rc == 0 && (word = str_next_word(&rest)))
        rc = read_condition(word, fault, err);
    if (rc == 0)
        rc = check_values(fault, err);
    free(copy);
    return rc;
}

int fault_check(const char *text, struct err *err)
{
    return fault_parse(text, &(struct fault){0}, err);
}

int fault_plan_parse(const struct strlist *texts, struct fault_plan *plan,
                     struct err *err)
{
    *plan = (struct fault_plan){0};
    if (texts->len > FAULT_MAX)
        return err_set(err, ERR_CONFIG, "more than %d faults", FAULT_MAX);
    for (size_t i = 0; i < texts->len; i++) {
        if (fault_parse(texts->items[i], &plan->faults[i], err))
            return -1;
        plan->len++;
    }
    return 0;
}

struct fault_set fault_draw(const struct fault_plan *plan, int64_t nth,
                            int64_t since_ns, struct rng *rng)
{
    struct fault_set set = {0};

    for (size_t i = 0; i < plan->len; i++) {
        const struct fault *f = &plan->faults[i];
        bool hits = f->share >= 1 || rng_uniform(rng) <= f->share;

        if (!hits || (f->nth > 0 && nth != f->nth) ||
            (f->every > 0 && nth % f->every != 0) || since_ns < f->from_ns ||
            since_ns >= f->to_ns)
            continue;
        set.kinds |= UINT32_C(1) << f->kind;
        set.param[f->kind] = f->param;
    }
    return set;
}
