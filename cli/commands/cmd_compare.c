#include <stdlib.h>

#include "analyzer/compare/capacities.h"
#include "analyzer/compare/compare.h"
#include "analyzer/compare/compare_history.h"
#include "analyzer/report/doc.h"
#include "analyzer/verdict/cost.h"
#include "cli/cli.h"
#include "cli/report_html.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/spec/prices.h"
#include "common/spec/slo.h"
#include "common/text/units.h"

struct compare_args {
    struct strlist on;
    struct strlist vary;
    struct strlist slo;
    char *regression;
    char *history;
    char *prices;
    struct cost_ask cost; /* filled in from --prices */
    struct output_args output;
};

#define AT(field) offsetof(struct compare_args, field)

static int check_share(const char *text, struct err *err)
{
    double ignored;

    return units_parse_share(text, &ignored, err);
}

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("on", list, on), .splits_commas = true, .check = quantity_check,
     .help = "quantity to compare: 'ttft p99', completed, goodput, throughput, "
             "tokens, attainment, quality, errors, cost; can be repeated "
             "(default: the SLO's measures; without an SLO e2e p99, and "
             "throughput unless the load is an open loop)"},
    {FLAG("vary", list, vary),
     .help = "the one variable that differs: a key of conditions, or a setting "
             "such as load.rate"},
    {FLAG("regression", text, regression), .check = check_share,
     .help = "exit with 1 only if worse by more than this share (5%), with 4 "
             "if that is uncertain"},
    {FLAG("history", text, history),
     .help = "compare the recordings in this directory, in the order of their "
             "start; exit with 1 if the last change was for the worse"},
    {FLAG("prices", text, prices),
     .help = PRICES_HELP "; for the cost per thousand good requests"},
    {FLAG("slo", list, slo), .splits_commas = true, .check = slo_check_term,
     .help = "judge all sides by this objective instead of their own; can be "
             "repeated"},
    OUTPUT_FLAGS("", SVG_FLAG("compare")),
};
/* clang-format on */

static const struct opt_block block = {"compare", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static int check_sides(const struct compare_args *a,
                       const struct strlist *words, struct err *err)
{
    if (words->len < 2)
        return err_set(err, ERR_USAGE,
                       "compare requires at least two recordings, not %zu",
                       words->len);
    if (words->len > COMPARE_MAX_SIDES)
        return err_set(err, ERR_USAGE, "compare takes at most %d recordings",
                       COMPARE_MAX_SIDES);
    if (a->vary.len > 1)
        return err_set(
            err, ERR_USAGE,
            "--vary takes one variable: the effects of two cannot be "
            "told apart");
    if (a->regression && words->len > 2)
        return err_set(err, ERR_USAGE,
                       "--regression requires two recordings, not %zu",
                       words->len);
    return 0;
}

static void warn_of_same(const struct strlist *words)
{
    for (size_t i = 1; i < words->len; i++) {
        for (size_t k = 0; k < i; k++) {
            if (file_is_same(words->items[k], words->items[i]))
                log_note("warning: %s and %s are one directory: a recording "
                         "cannot differ from itself",
                         words->items[k], words->items[i]);
        }
    }
}

static int check_history(const struct compare_args *a,
                         const struct strlist *words, struct err *err)
{
    if (words->len > 0)
        return err_set(err, ERR_USAGE,
                       "--history cannot be combined with recordings: it takes "
                       "those in its directory");
    if (a->vary.len > 0)
        return err_set(err, ERR_USAGE,
                       "--history cannot be combined with --vary");
    if (a->on.len > 1)
        return err_set(err, ERR_USAGE,
                       "--history: --on takes one quantity only");
    return 0;
}

static int print_doc(struct doc *taken, const struct compare_args *a,
                     const struct strlist *words, int status, struct err *err)
{
    const struct opt_set flags = {&block, (void *)a};
    char *history = a->history ? xasprintf("--history %s", a->history) : NULL;
    struct report_to to = {
        .output = &a->output, .command = "compare", .words = history};
    int rc = report_made(taken, &to, &flags, words, status, err);

    free(history);
    return rc;
}

static int compare(const struct compare_args *a, const struct strlist *words,
                   double regression, struct err *err)
{
    const struct compare_ask ask = {
        .dirs = words,
        .on = &a->on,
        .vary = a->vary.len > 0 ? a->vary.items[0] : NULL,
        .slo = a->slo.len > 0 ? &a->slo : NULL,
        .regression = regression,
        .cost = &a->cost,
    };
    struct comparison *c = xcalloc(1, sizeof(*c));
    int rc = compare_make(c, &ask, err);

    if (rc == 0)
        rc = print_doc(compare_doc(c), a, words,
                       exit_status_of(compare_conclusion(c->answer), 0), err);
    compare_fini(c);
    free(c);
    return rc;
}

/* Searches have one number each. */
static int compare_searches(const struct compare_args *a,
                            const struct strlist *words, double regression,
                            struct err *err)
{
    const struct compare_ask ask = {
        .dirs = words,
        .vary = a->vary.len > 0 ? a->vary.items[0] : NULL,
        .slo = a->slo.len > 0 ? &a->slo : NULL,
        .regression = regression,
        .cost = &a->cost,
    };
    struct capacities c = {0};
    int rc = 0;

    if (a->on.len > 0)
        rc = err_set(
            err, ERR_USAGE,
            "--on cannot be used with searches, which are compared by their "
            "capacity");
    if (rc == 0)
        rc = capacities_make(&c, &ask, err);
    if (rc == 0)
        rc = print_doc(capacities_doc(&c), a, words,
                       exit_status_of(compare_conclusion(c.answer), 0), err);
    capacities_fini(&c);
    return rc;
}

static int history(const struct compare_args *a, const struct strlist *words,
                   double regression, struct err *err)
{
    const struct history_ask ask = {
        .dir = a->history,
        .on = &a->on,
        .slo = a->slo.len > 0 ? &a->slo : NULL,
        .regression = regression,
        .cost = &a->cost,
    };
    struct history h;
    int rc = history_make(&h, &ask, err);

    if (rc == 0)
        rc = print_doc(history_doc(&h), a, words,
                       exit_status_of(history_conclusion(&h), 0), err);
    history_fini(&h);
    return rc;
}

static int choose(const struct compare_args *a, const struct strlist *words,
                  struct err *err)
{
    double regression = -1;

    if (a->regression && units_parse_share(a->regression, &regression, err))
        return -1;
    if (a->history)
        return check_history(a, words, err)
                   ? -1
                   : history(a, words, regression, err);
    if (check_sides(a, words, err))
        return -1;
    warn_of_same(words);
    return capacities_are_at(words)
               ? compare_searches(a, words, regression, err)
               : compare(a, words, regression, err);
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    struct compare_args *a = args;
    struct prices table = {0};
    enum doc_format format;
    int rc;

    if (report_format(&a->output, report_plain_names, &format, err) ||
        cost_asked(&a->cost, &table, a->prices, err))
        return -1;
    rc = choose(a, words, err);
    prices_fini(&table);
    return rc;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_compare = {
    .name = "compare",
    .usage = "RECORDING RECORDING... | --history DIR [FLAGS]",
    .help = "check whether recordings are comparable, and how they differ",
    .answer = answer,
    .args_size = sizeof(struct compare_args),
    .blocks = blocks,
};
