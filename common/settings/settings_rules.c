/* Constraints between settings: the columns `requires`, `conflicts` and
 * `scenarios` of the option tables, and rules about single values. */
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"

#define MAX_TEXT 512

/* The same columns for one value of a setting, or for a list of the file. */
static const struct rule {
    const char *subject; /* a condition, as in struct opt */
    const char *requires;
    const char *conflicts;
    unsigned scenarios;
} rules[] = {
    {"load.scenario: trace", .requires = "trace.file"},
    {"load.scenario: offline", .requires = "load.requests or data.accuracy"},
    {"load.scenario: sessions",
     .requires = "load.turns or data.turns: session"},
    {"data.turns: session", .requires = "data.file",
     .scenarios = FOR(SESSIONS)},
    {"data.prompts: ids", .scenarios = ALL_BUT(SESSIONS)},
    {"cost.memory_of: stub", .requires = "stub"},
    {"cost.memory_of: server", .requires = "server.start"},
    {CLASSES_WARMUP, .requires = "load.warmup or load.warmup_requests",
     .conflicts = "classes", .scenarios = ALL_BUT_BOTH(TRACE, SESSIONS)},
};

static bool holds(struct settings *s, const char *condition)
{
    const char *colon = strstr(condition, ": ");
    enum settings_block block;
    const struct opt *opt =
        settings_find(condition, strcspn(condition, ":"), &block);
    struct opt_set set;
    struct buf value;
    bool is_one = false;
    char *copy;
    char *rest;
    const char *one;

    if (strcmp(condition, "stub") == 0)
        return s->has_stub;
    if (strcmp(condition, "classes") == 0)
        return s->classes.len > 0;
    if (strcmp(condition, CLASSES_WARMUP) == 0)
        return s->warmup.len > 0;
    if (!opt)
        abort(); /* a condition without such an option is a bug in the table */
    set = settings_set(s, block);
    if (!colon)
        return opt_is_given(&set, opt);
    buf_init(&value, MAX_TEXT);
    opt_print(&set, opt, &value);
    rest = copy = xstrdup(colon + 2); /* "a|b|c" */
    while ((one = strsep(&rest, "|")))
        is_one |= strcmp(buf_text(&value), one) == 0;
    buf_fini(&value);
    free(copy);
    return is_one;
}

/* "load.arrival: gamma", "trace.format: auto, csv or jsonl", "data.file
 * (--data)": the flag is shown where it differs from the key. */
static void put_condition(const char *condition, struct buf *out)
{
    enum settings_block block;
    const struct opt *opt = settings_find(condition, strlen(condition), &block);

    if (strcmp(condition, "stub") == 0) {
        buf_adds(out, "the block 'stub' of a settings file");
        return;
    }
    for (const char *at = condition; *at; at++) {
        if (*at == '|')
            buf_adds(out, strchr(at + 1, '|') ? ", " : " or ");
        else
            buf_add(out, at, 1);
    }
    if (opt && opt->flag &&
        opt_by_flag_as_key(settings_blocks[block], opt->key) != opt)
        buf_addf(out, " (--%s)", opt->flag);
}

/* The next of a list, which is cut there. */
static char *next(char **rest, const char *between)
{
    char *first = *rest;
    char *end = first ? strstr(first, between) : NULL;

    *rest = end ? end + strlen(between) : NULL;
    if (end)
        *end = '\0';
    return first;
}

/* Does one of the alternatives "a or b" hold?  If not, they are in `out`. */
static bool some_holds(struct settings *s, char *list, struct buf *out)
{
    bool is_first = true;
    const char *one;

    while ((one = next(&list, " or "))) {
        if (holds(s, one))
            return true;
        buf_adds(out, is_first ? "requires " : " or ");
        put_condition(one, out);
        is_first = false;
    }
    return false;
}

/* "; with load.rate the scenario is server": for a scenario that was not
 * given. */
static void put_origin(const struct load_settings *load, struct buf *out)
{
    const char *name = scenario_names[load->scenario];

    if (load->scenario == SCENARIO_CLOSED)
        buf_addf(out, "; without load.rate the scenario is %s", name);
    else if (load->scenario == SCENARIO_TRACE)
        buf_addf(out, "; with trace.file the scenario is %s", name);
    else if (load->scenario == SCENARIO_SESSIONS)
        buf_addf(out, "; with %s the scenario is %s",
                 load->turns ? "load.turns" : "data.turns: session", name);
    else
        buf_addf(out, "; with load.%s the scenario is %s",
                 settings_rate_key(load), name);
}

/* "requires load.scenario: server or sessions, not closed"; if many are
 * allowed, "cannot be combined with load.scenario: closed". */
static void put_scenarios(unsigned scenarios, const struct load_settings *load,
                          struct buf *out)
{
    int n = 0;
    int k = 0;
    bool is_short; /* few enough to list */

    for (int i = SCENARIO_SERVER; i <= SCENARIO_SESSIONS; i++)
        n += (scenarios >> i & 1) != 0;
    is_short = n <= 4;
    if (!is_short)
        buf_addf(out, "cannot be combined with load.scenario: %s",
                 scenario_names[load->scenario]);
    else
        buf_adds(out, "requires load.scenario: ");
    for (int i = SCENARIO_SERVER; is_short && i <= SCENARIO_SESSIONS; i++) {
        if (scenarios >> i & 1) {
            buf_addf(out, "%s%s",
                     k == 0       ? ""
                     : k == n - 1 ? " or "
                                  : ", ",
                     scenario_names[i]);
            k++;
        }
    }
    if (load->is_scenario_found)
        put_origin(load, out);
    else if (is_short)
        buf_addf(out, ", not %s", scenario_names[load->scenario]);
}

/* The first constraint that is not met goes to `out`; false: all are met. */
static bool find_unmet(struct settings *s, const struct rule *rule,
                       struct buf *out)
{
    char *copies[] = {xstrdup(rule->requires ? rule->requires : ""),
                      xstrdup(rule->conflicts ? rule->conflicts : "")};
    char *rest = rule->requires ? copies[0] : NULL;
    bool is_met = !rule->scenarios || rule->scenarios >> s->load.scenario & 1;
    char *one;

    buf_reset(out);
    if (!is_met)
        put_scenarios(rule->scenarios, &s->load, out);
    while (is_met && (one = next(&rest, ", "))) {
        buf_reset(out);
        is_met = some_holds(s, one, out);
    }
    rest = rule->conflicts ? copies[1] : NULL;
    while (is_met && (one = next(&rest, ", "))) {
        if (!holds(s, one))
            continue;
        buf_reset(out);
        buf_adds(out, "cannot be combined with ");
        put_condition(one, out);
        is_met = false;
    }
    free(copies[0]);
    free(copies[1]);
    return !is_met;
}

/* "load.rate"; the value of a choice is shown, too: "load.stop: decided". */
static void put_subject(const struct opt_set *set, const struct opt *opt,
                        struct buf *out)
{
    const char *block = set->block->name;

    if (opt->key)
        buf_addf(out, "%s%s%s", block ? block : "", block ? "." : "", opt->key);
    else
        buf_addf(out, "--%s", opt->flag);
    if (opt->key && opt->type == &opt_choice) {
        buf_adds(out, ": ");
        opt_print(set, opt, out);
    }
}

void settings_each_unmet(const struct settings *settings, bool is_lenient,
                         settings_unmet_fn *found, void *arg)
{
    struct settings *s = (struct settings *)settings; /* is only read */
    struct buf unmet;
    struct buf subject;

    buf_init(&unmet, MAX_TEXT);
    buf_init(&subject, MAX_TEXT);
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);

        for (size_t i = 0; i < set.block->len; i++) {
            const struct opt *opt = &set.block->opts[i];
            const struct rule rule = {NULL, opt->requires, opt->conflicts,
                                      opt->scenarios};

            if (opt->is_lenient != is_lenient || !opt_is_given(&set, opt) ||
                !find_unmet(s, &rule, &unmet))
                continue;
            buf_reset(&subject);
            put_subject(&set, opt, &subject);
            found(arg, buf_text(&subject), buf_text(&unmet));
        }
    }
    for (size_t i = 0; !is_lenient && i < sizeof(rules) / sizeof(rules[0]);
         i++) {
        if (holds(s, rules[i].subject) && find_unmet(s, &rules[i], &unmet))
            found(arg, rules[i].subject, buf_text(&unmet));
    }
    buf_fini(&subject);
    buf_fini(&unmet);
}

static void refuse(void *arg, const char *subject, const char *unmet)
{
    struct err *err = arg;

    if (!err->code)
        err_set(err, ERR_CONFIG, "%s %s", subject, unmet);
}

int settings_check_rules(const struct settings *s, struct err *err)
{
    struct err first = {0};

    settings_each_unmet(s, false, refuse, &first);
    if (!first.code)
        return 0;
    *err = first;
    return -1;
}
