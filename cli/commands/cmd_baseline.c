/* baseline: seal the measurement that later ones are divided by. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/studies/baseline.h"
#include "cli/cli.h"
#include "cli/report_html.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define MAX_TEXT     ((size_t)16 << 20)
#define DEFAULT_NAME "baseline"

struct baseline_args {
    char *out;
    char *name;
    char *memory;
    double quality_margin;
    struct output_args output;
};

#define AT(field) offsetof(struct baseline_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("out", text, out), .letter = 'o',
     .help = "freeze: file to create; an existing one is never overwritten"},
    {FLAG("name", text, name),
     .help = "freeze: name of the baseline in reports"},
    {FLAG("memory", text, memory),
     .help = "freeze: recording in which the server's memory was measured (run "
             "--memory-of); its times are not used"},
    {FLAG("quality-margin", share, quality_margin), .initial = "1%",
     .help = "freeze: with several configurations, how far below the best "
             "quality a configuration may be"},
    OUTPUT_FLAGS("against: ", ),
};
/* clang-format on */

static const struct opt_block block = {"baseline", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* Recordings that are not fit for a baseline, or a file that was altered: exit
 * status 4. */
static int refuse(const char *why)
{
    log_error("%s", why);
    return EXIT_INVALID;
}

static int freeze(const struct baseline_args *a, const struct strlist *dirs,
                  struct err *err)
{
    const struct baseline_ask ask = {
        .dirs = dirs,
        .memory = a->memory,
        .name = a->name ? a->name : DEFAULT_NAME,
        .quality_margin = a->quality_margin,
    };
    char why[BASELINE_WHY] = "";
    struct baseline b = {0};
    struct buf out;
    int rc;

    if (!a->out)
        return err_set(err, ERR_USAGE,
                       "freeze requires the file to write (-o FILE)");
    if (dirs->len == 0)
        return err_set(err, ERR_USAGE,
                       "freeze requires at least one trial set");
    buf_init(&out, MAX_TEXT);
    rc = baseline_freeze(&b, &ask, why, err);
    if (rc == 0)
        rc = baseline_save(&b, a->out, err);
    else if (rc > 0)
        rc = refuse(why);
    if (rc == 0) {
        doc_put(baseline_doc(&b), DOC_AS_TEXT, &out);
        rc = cli_print_report(&out, EXIT_YES, err);
    }
    buf_fini(&out);
    baseline_fini(&b);
    return rc;
}

static int compare_with(const struct baseline *b, const struct strlist *words,
                        const struct baseline_args *args, struct err *err)
{
    const struct opt_set flags = {&block, (void *)args};
    struct report_to to = {.output = &args->output,
                           .command = "baseline against"};
    struct against a = {0};
    int rc = report_format(&args->output, report_plain_names, &to.format, err);

    if (rc == 0)
        rc = against_make(&a, b, words->items[1], err);
    if (rc == 0)
        rc = report_made(against_doc(&a), &to, &flags, words, 0, err);
    against_fini(&a);
    return rc;
}

enum verb { VERB_SHOW, VERB_CHECK, VERB_AGAINST, VERB_FREEZE };

static int use(enum verb verb, const struct baseline_args *a,
               const struct strlist *words, struct err *err)
{
    size_t want = verb == VERB_AGAINST ? 2 : 1;
    char why[BASELINE_WHY] = "";
    struct baseline b = {0};
    struct buf out;
    int rc;

    if (words->len != want)
        return err_set(err, ERR_USAGE,
                       want == 2 ? "against takes a baseline and a recording"
                                 : "show and check take one baseline");
    buf_init(&out, MAX_TEXT);
    rc = baseline_load(&b, words->items[0], why, err);
    if (rc > 0)
        rc = refuse(why);
    if (rc == 0 && verb == VERB_AGAINST) {
        rc = compare_with(&b, words, a, err);
    } else if (rc == 0 && verb == VERB_SHOW) {
        doc_put(baseline_doc(&b), DOC_AS_TEXT, &out);
    } else if (rc == 0) {
        /* The recordings may be missing: everything sealed is in the file. */
        size_t bad = baseline_check_files(&b, &out);

        buf_addf(&out,
                 "recordings %zu of %zu files are unchanged since they were "
                 "sealed\n",
                 b.n_files - bad, b.n_files);
        buf_addf(&out, "baseline   %s: unchanged since it was sealed (%.12s)\n",
                 b.name, b.seal);
    }
    if (rc == 0)
        rc = cli_print_report(&out, EXIT_YES, err);
    buf_fini(&out);
    baseline_fini(&b);
    return rc;
}

static const char *const verbs[] = {
    [VERB_SHOW] = "show",
    [VERB_CHECK] = "check",
    [VERB_AGAINST] = "against",
    [VERB_FREEZE] = "freeze",
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int dispatch(void *args, const struct strlist *words, struct err *err)
{
    const struct baseline_args *a = args;
    struct strlist rest = {0};
    struct suggest s = {0};
    char hint[64];

    if (words->len == 0)
        return err_set(err, ERR_USAGE,
                       "baseline requires one of freeze, show, check, against");
    rest = (struct strlist){words->items + 1, words->len - 1};
    for (size_t i = 0; i < N_VERBS; i++) {
        if (strcmp(words->items[0], verbs[i]) == 0)
            return i == VERB_FREEZE ? freeze(a, &rest, err)
                                    : use((enum verb)i, a, &rest, err);
    }
    s.word = words->items[0];
    for (size_t i = 0; i < N_VERBS; i++)
        suggest_consider(&s, verbs[i]);
    return err_set(
        err, ERR_USAGE,
        "baseline: '%s' is not one of freeze, show, check, against%s", s.word,
        suggest_text(&s, "", hint, sizeof(hint)));
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_baseline = {
    .name = "baseline",
    .usage = "freeze SET... -o FILE | show FILE | check FILE | against FILE "
             "RECORDING",
    .help = "seal a measurement as the baseline of later ones",
    .answer = dispatch,
    .args_size = sizeof(struct baseline_args),
    .blocks = blocks,
};
