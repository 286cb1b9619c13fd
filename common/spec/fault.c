#include "common/spec/fault.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

#define MAX_ENDLESS (INT64_C(64) << 20)
#define MAX_LENGTH  (INT64_C(1) << 20)

/* How the parameter of a kind is read; NULL: it has none. */
typedef int parse_param(const char *text, int64_t *value, struct err *err);

static const struct {
    const char *name;
    parse_param *parse;
} kinds[FAULT_KINDS] = {
    [FAULT_STATUS] = {"status", units_parse_count},
    [FAULT_INBAND] = {"inband", NULL},
    [FAULT_RESET] = {"reset", NULL},
    [FAULT_HANG] = {"hang", units_parse_duration},
    [FAULT_TRUNCATED] = {"truncated", NULL},
    [FAULT_MALFORMED] = {"malformed", NULL},
    [FAULT_EMPTY] = {"empty", NULL},
    [FAULT_DOUBLE_DONE] = {"double-done", NULL},
    [FAULT_NO_DONE] = {"no-done", NULL},
    [FAULT_ROLE_FIRST] = {"role-first", NULL},
    [FAULT_BUNDLE] = {"bundle", units_parse_count},
    [FAULT_BURST] = {"burst", NULL},
    [FAULT_NO_USAGE] = {"no-usage", NULL},
    [FAULT_SLOW_ACCEPT] = {"slow-accept", units_parse_duration},
    [FAULT_NO_EVENTS] = {"no-events", NULL},
    [FAULT_WRONG_TYPE] = {"wrong-type", NULL},
    [FAULT_COALESCED] = {"coalesced", units_parse_count},
    [FAULT_ENDLESS] = {"endless", units_parse_size},
    [FAULT_WRONG_USAGE] = {"wrong-usage", units_parse_count},
    [FAULT_WRONG_FINISH] = {"wrong-finish", NULL},
    [FAULT_LENGTH] = {"length", units_parse_count},
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

    for (int k = 0; k < FAULT_KINDS; k++) {
        if (strcmp(kinds[k].name, word) != 0)
            continue;
        f->kind = (enum fault_kind)k;
        if ((kinds[k].parse != NULL) != (value != NULL))
            return err_set(err, ERR_CONFIG, "fault '%s' %s", word,
                           value ? "takes no value" : "needs a value");
        return value ? kinds[k].parse(value, &f->param, err) : 0;
    }
    return err_set(err, ERR_CONFIG, "no fault '%s'", word);
}

static int parse_from_1(const char *text, int64_t *value, struct err *err)
{
    if (units_parse_count(text, value, err))
        return -1;
    return *value > 0 ? 0
                      : err_set(err, ERR_CONFIG, "requests are counted from 1");
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
                   "'%s' is no condition of a fault; write p=1%%, n=7, "
                   "every=100, from=10s or to=12s",
                   word);
}

/* Of HTTP or of gRPC, and not a good one. */
static bool is_status(int64_t status)
{
    return (status >= 300 && status <= 599) || (status >= 1 && status <= 16);
}

static int check_values(const struct fault *f, struct err *err)
{
    if (f->kind == FAULT_STATUS && !is_status(f->param))
        return err_set(err, ERR_CONFIG,
                       "fault 'status': 300 to 599, or 1 to 16 of gRPC");
    if (f->kind == FAULT_BUNDLE && f->param < 1)
        return err_set(err, ERR_CONFIG, "fault 'bundle': at least 1 token");
    if (f->kind == FAULT_COALESCED && f->param < 1)
        return err_set(err, ERR_CONFIG, "fault 'coalesced': at least 1 event");
    if (f->kind == FAULT_ENDLESS && (f->param < 1 || f->param > MAX_ENDLESS))
        return err_set(err, ERR_CONFIG,
                       "fault 'endless': from 1 byte to 64 MiB");
    if (f->kind == FAULT_LENGTH && (f->param < 1 || f->param > MAX_LENGTH))
        return err_set(err, ERR_CONFIG, "fault 'length': 1 to 1M tokens");
    if (f->from_ns >= f->to_ns)
        return err_set(err, ERR_CONFIG, "fault '%s': 'from' is not before 'to'",
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
              : err_set(err, ERR_CONFIG, "an empty fault");
    while (rc == 0 && (word = str_next_word(&rest)))
        rc = read_condition(word, fault, err);
    if (rc == 0)
        rc = check_values(fault, err);
    free(copy);
    return rc;
}

int fault_check(const char *text, struct err *err)
{
    struct fault fault;

    return fault_parse(text, &fault, err);
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

static bool holds(const struct fault *f, int64_t nth, int64_t since_ns)
{
    if (f->nth > 0 && nth != f->nth)
        return false;
    if (f->every > 0 && nth % f->every != 0)
        return false;
    return since_ns >= f->from_ns && since_ns < f->to_ns;
}

struct fault_set fault_draw(const struct fault_plan *plan, int64_t nth,
                            int64_t since_ns, struct rng *rng)
{
    struct fault_set set = {0};

    for (size_t i = 0; i < plan->len; i++) {
        const struct fault *f = &plan->faults[i];
        bool hits = f->share >= 1 || rng_uniform(rng) <= f->share;

        if (!hits || !holds(f, nth, since_ns))
            continue;
        set.kinds |= UINT32_C(1) << f->kind;
        set.param[f->kind] = f->param;
    }
    return set;
}
