#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/read/reader.h"
#include "analyzer/read/salvage.h"
#include "analyzer/report/render/render_trackers.h"
#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/run_bins.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/mlperf_accuracy.h"
#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/report_html.h"
#include "cli/report_out.h"
#include "cli/study_report.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/manifest.h"
#include "common/recording/study_set.h"
#include "common/spec/prices.h"
#include "common/spec/slo.h"

#define MAX_BELOW ((size_t)64 << 10)

struct report_args {
    int require; /* 0: as recorded; else enum slo_require + 1 */
    struct strlist slo;
    struct output_args output; /* its formats are report_names */
    bool detailed;
    char *measure;
    int from;
    char *curve;
    char *profile;
    char *baseline;
    char *energy_file;
    char *accuracy_run;
    char *smallest;
    double co2_g_per_kwh;
    bool checklist;
    bool claim;
    struct cost_ask cost; /* its prices are read later */
    char *prices;
    char *machine;
    bool truth;
    char *truth_file;
    const char *again; /* see struct report_to */
};

static const struct report_ops *ops_of(const struct report_args *a)
{
    return report_find(report_names[a->output.format]);
}

/* Of a document; the other formats have none. */
static enum doc_format format_of(const struct report_args *a)
{
    return ops_of(a) == &report_text && !a->output.verbose ? DOC_AS_BRIEF
                                                           : ops_of(a)->format;
}

static const char *const require_names[] = {"recorded", "observed", "shown",
                                            NULL};
static const char *const from_names[] = {"due", "sent", NULL};

static int check_measure(const char *text, struct err *err)
{
    return measure_find(text) >= 0 ? 0 : measure_refuse(text, NULL, err);
}

/* A query is of several requests, and has no limit of its own. */
static int check_curve(const char *text, struct err *err)
{
    if (check_measure(text, err))
        return -1;
    return measure_find(text) == MEASURE_QUERY
               ? err_set(err, ERR_USAGE, "query has no curve; use e2e")
               : 0;
}

static int check_profile(const char *text, struct err *err)
{
    return profile_find(text) ? 0
                              : err_set(err, ERR_USAGE,
                                        "'%s' is not one of: vllm, sglang, "
                                        "aiperf, guidellm, inference-perf, "
                                        "mlperf",
                                        text);
}

#define AT(field) offsetof(struct report_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("slo", list, slo), .splits_commas = true, .check = slo_check_asked,
     .help = "judge by this objective instead of the recording's; 'CLASS/TERM' "
             "is for one class; can be repeated"},
    {FLAG("require", choice, require), .names = require_names,
     .initial = "recorded",
     .help = "how certain the verdict must be; observed: the measured values "
             "decide; shown: it must also be certain at 95%, and if it is not, "
             "the exit status is 4; recorded: "
             "as the run asked"},
    {FLAG("goodput", list, slo), .splits_commas = true,
     .takes_word = slo_is_like_limit, .check = slo_check_limit,
     .help = "limits that a request must meet to be good, in ms: ttft:200 "
             "tpot:50 e2el:5000"},
    {FLAG("curve", text, curve), .check = check_curve,
     .help = "show the share of requests that meet each of many limits of "
             "this measure, such as ttft (text and json)"},
    {FLAG("profile", text, profile), .check = check_profile,
     .help = "show what another tool would report, next to our numbers: "
             "vllm, sglang, aiperf, guidellm, inference-perf or mlperf (text "
             "and json)"},
    {FLAG("baseline", text, baseline),
     .help = "also show the ratio to this frozen baseline (text and md)"},
    {FLAG("checklist", switch, checklist),
     .help = "list what is needed to repeat the run; exit status 1 if "
             "anything is missing (text and json)"},
    {FLAG("claim", switch, claim),
     .help = "print one sentence to quote, with all conditions and, for a "
             "trial set, intervals"},
    {FLAG("usd-per-hour", number, cost.usd_per_hour),
     .help = "price of one replica per hour in USD, overriding the "
             "recording's"},
    {FLAG("replicas", count, cost.replicas),
     .help = "number of replicas of the server, for the cost"},
    {FLAG("usd-per-gb-egress", number, cost.usd_per_gb_egress),
     .help = "price in USD per GB (1e9 bytes) that the server sends, "
             "overriding the recording's"},
    {FLAG("usd-per-gb-month", number, cost.usd_per_gb_month),
     .help = "price of storage in USD per GB and month, overriding the "
             "recording's"},
    {FLAG("storage-gb", number, cost.storage_gb),
     .help = "GB stored for all replicas together, overriding the "
             "recording's"},
    {FLAG("prices", text, prices),
     .help = PRICES_HELP},
    {FLAG("machine", text, machine),
     .help = "with --prices: machine of one replica, overriding the "
             "recording's"},
    {FLAG("energy-file", text, energy_file),
     .help = "file with power measured elsewhere: lines of seconds since 1970 "
             "and watts"},
    {FLAG("co2-g-per-kwh", number, co2_g_per_kwh),
     .help = "CO2 emission of electricity in grams per kilowatt-hour, "
             "overriding the recording's"},
    {FLAG("accuracy-run", text, accuracy_run),
     .help = "recording of the accuracy run that belongs to this run under "
             "MLPerf's rules (default: one next to it with the same settings)"},
    {FLAG("smallest-difference", text, smallest),
     .help = "variants that differ by less than this share are not called "
             "different, overriding the recording's"},
    {FLAG("truth", switch, truth),
     .help = "compare with the times that the stub of this run logged (truth "
             "log)"},
    {FLAG("truth-file", text, truth_file),
     .help = "compare with this truth log"},
    {FLAG("format", choice, output.format), .names = report_names,
     .initial = "text",
     .help = "output format: text (short; -v for the whole report), json, "
             "full (the whole report and all JSON values), md "
             "(Markdown), bencher, github-smaller, github-bigger or llm-d "
             "(numbers for trackers of results), csv (one line per request), "
             "seconds (one line per second), hgrm or hlog (for HdrHistogram "
             "tools), vllm-json (keys of the vLLM benchmark)"},
    JSON_FLAG(""),
    SHOW_FLAGS,
    HTML_FLAG("", "; it needs no other file and no network"),
    MD_FLAG(""),
    JUNIT_FLAG("", "the verdict, SLO terms and trust checks"),
    {FLAG("svg", text, output.svg),
     .help = "print one chart as SVG instead of the report: spectrum, "
             "heatmap or rates of a run, curve of a search or sweep, trials; "
             "NAME=FILE writes it to a file, as PNG if the file "
             "ends in .png (requires rsvg-convert)"},
    {FLAG("detailed", switch, detailed),
     .help = "with --format vllm-json: also list the values of each request "
             "(ttfts, itls, ...)"},
    {FLAG("measure", text, measure), .check = check_measure,
     .help = "with --format hgrm: measure, such as ttft (default e2e)"},
    {FLAG("from", choice, from), .names = from_names, .initial = "due",
     .help = "with --format hgrm: count from the due time or from sending"},
};
/* clang-format on */

static const struct opt_block block = {"report", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* ---- the objective of the flags ---- */

/* NULL: there is no such class. */
static struct strlist *slo_of_class(struct settings *s, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];

        if (strlen(c->name) == len && strncmp(c->name, name, len) == 0)
            return &c->settings->slo;
    }
    return NULL;
}

/* Whose term it is. */
static struct strlist *owner(struct settings *s, const char *text)
{
    size_t len = slo_class_len(text);

    return len > 0 ? slo_of_class(s, text, len) : &s->slo;
}

/* Pauses and queries are of no class. */
static int check_class_term(const char *text, struct err *err)
{
    struct slo_term term;

    if (slo_parse_term(slo_after_class(text), &term, err))
        return -1;
    if (term.kind == SLO_QUANTILE && measure_is_pooled(term.measure))
        return err_set(err, ERR_USAGE,
                       "--slo: '%s': %s is measured over all requests; only "
                       "an SLO of the whole run can use it",
                       text, measure_name(term.measure));
    return 0;
}

static int ask_slo(struct settings *s, const struct strlist *terms,
                   struct err *err)
{
    for (size_t i = 0; i < terms->len; i++) {
        const char *text = terms->items[i];

        if (!owner(s, text))
            return err_set(err, ERR_USAGE,
                           "--slo: '%s': the recording has no class '%.*s'",
                           text, (int)slo_class_len(text), text);
        if (slo_class_len(text) > 0 && check_class_term(text, err))
            return -1;
    }
    for (size_t i = 0; i < terms->len; i++)
        strlist_fini(owner(s, terms->items[i]));
    for (size_t i = 0; i < terms->len; i++)
        strlist_add(owner(s, terms->items[i]),
                    slo_after_class(terms->items[i]));
    return 0;
}

/* What follows a report, in the same language. */
static enum doc_format format_below(const struct report_args *a)
{
    return format_of(a) == DOC_AS_MARKDOWN ? DOC_AS_MARKDOWN : DOC_AS_TEXT;
}

/* ---- one recording ---- */

/* What is asked for instead of the whole report; its exit status. */
static int print_asked(const struct summary *s, const struct report_args *a,
                       const struct recording *rec, struct err *err)
{
    if (a->checklist)
        return report_checklist(s, rec, format_of(a), err);
    return a->claim ? report_claim(s, rec, err)
                    : report_profile(s, a->profile, format_of(a), err);
}

static struct kept_hist wanted_hist(const struct report_args *a)
{
    return (struct kept_hist){
        .measure =
            a->measure ? (enum measure)measure_find(a->measure) : MEASURE_E2E,
        .view = a->from == FROM_SENT ? VIEW_SENT : VIEW_DUE,
    };
}

static int read_energy(struct summary *s, const struct recording *rec,
                       const char *path, struct err *err)
{
    const struct window window = summary_window(s);
    const struct metered_share share = summary_energy_share(s);

    return metered_read_file(&s->metered, path,
                             manifest_start_realtime_ns(&rec->manifest),
                             &window, &share, err);
}

static int sum_up(struct recording *rec, const struct report_args *a,
                  const struct summary_extras *extras, struct summary *s,
                  struct err *err)
{
    if (ask_slo(&rec->settings, &a->slo, err))
        return -1;
    if (cost_ask_apply(&a->cost, &rec->settings, err))
        return -1;
    if (a->require > 0)
        rec->settings.require = a->require - 1;
    if (a->co2_g_per_kwh > 0)
        rec->settings.cost.co2_g_per_kwh = a->co2_g_per_kwh;
    if (extras->curve)
        extras->curve->measure = (enum measure)measure_find(a->curve);
    if (summary_make_keeping(s, rec, NULL, extras, err) ||
        mlperf_link_accuracy(s, rec, a->accuracy_run, err))
        return -1;
    return a->energy_file ? read_energy(s, rec, a->energy_file, err) : 0;
}

/* What goes below it comes first: what cannot be had is said before a line is
 * printed. */
static int print_all(const struct summary *s, const struct kept_hist *kept,
                     struct recording *rec, const struct report_args *a,
                     struct err *err)
{
    const struct output_args plain = {.no_colour = a->output.no_colour};
    const struct report_ops *ops = ops_of(a);
    struct buf below;
    int rc = 0;

    buf_init(&below, MAX_BELOW);
    if (a->truth || a->truth_file)
        rc = report_add_truth(rec, a->truth_file, &below, err);
    if (rc == 0 && a->baseline)
        rc = report_add_against(rec->dir, a->baseline, format_below(a), &below,
                                err);
    if (rc == 0 && ops->render)
        rc = report_doc(run_doc(s),
                        &(struct report_to){.format = format_of(a),
                                            .output = &plain,
                                            .is_recorded = true,
                                            .command = "report",
                                            .words = rec->dir,
                                            .again = a->again},
                        exit_status_of_run(s), err);
    else if (rc == 0)
        rc = report_print_rows(s, kept, rec, ops, a->detailed, err)
                 ? -1
                 : exit_status_of_run(s);
    if (rc >= 0 && below.len > 0)
        rc = cli_print_report(&below, rc, err);
    buf_fini(&below);
    return rc;
}

/* Something else than the whole report. */
static bool asks_instead(const struct report_args *a)
{
    return a->profile || a->checklist || a->claim;
}

/* Without a manifest there is no verdict, whatever the flags ask for.  If the
 * table cannot be read either, `err` stays as it is. */
static int report_salvaged(const char *dir, const struct report_args *a,
                           struct err *err)
{
    const struct report_ops *ops = ops_of(a);
    const struct output_args files = {.md = a->output.md,
                                      .junit = a->output.junit};
    const char *why = manifest_loss(dir);
    struct salvage s = {0};
    int rc;

    if (!why || salvage_read(&s, dir, why, &(struct err){0})) {
        salvage_fini(&s);
        return -1;
    }
    *err = (struct err){0};
    if (!ops->render || asks_instead(a)) {
        salvage_fini(&s);
        return err_set(err, ERR_FORMAT,
                       "%s: manifest.json %s; only a report as text or json "
                       "is possible without it",
                       dir, why);
    }
    if (a->slo.len > 0)
        log_note("--slo is ignored: manifest.json %s, so the window is not "
                 "known",
                 why);
    if (a->output.html || a->output.svg)
        log_note("--html and --svg are ignored: manifest.json %s, so there is "
                 "no window to draw",
                 why);
    rc = report_doc(salvage_doc(&s),
                    &(struct report_to){
                        .format = format_of(a), .output = &files, .words = dir},
                    EXIT_INVALID, err);
    salvage_fini(&s);
    return rc;
}

static int report_one(const char *dir, const struct report_args *a,
                      struct err *err)
{
    struct kept_hist kept = wanted_hist(a);
    struct summary_extras extras = {.keep = &kept};
    struct recording rec;
    struct summary s = {0};
    int rc;

    if (recording_open(&rec, dir, err))
        return report_salvaged(dir, a, err);
    if (a->curve)
        extras.curve = xcalloc(1, sizeof(*extras.curve));
    if (a->output.html || a->output.svg)
        extras.bins = xcalloc(1, sizeof(*extras.bins));
    rc = sum_up(&rec, a, &extras, &s, err);
    if (rc == 0 && a->output.html)
        rc = report_html_run(&s, extras.bins, &rec, a->again, a->output.html,
                             err);
    if (rc == 0)
        rc = report_write_run(&s, &a->output, err);
    if (rc == 0 && a->output.svg)
        rc = report_svg_run(&s, extras.bins, &rec, a->output.svg, err);
    else if (rc == 0 && asks_instead(a))
        rc = print_asked(&s, a, &rec, err);
    else if (rc == 0)
        rc = print_all(&s, &kept, &rec, a, err);
    hist_fini(&kept.hist);
    summary_fini(&s);
    free(extras.curve);
    if (extras.bins)
        run_bins_fini(extras.bins);
    free(extras.bins);
    recording_close(&rec);
    return rc;
}

static int check_instead(const struct report_args *a, struct err *err)
{
    int asked = (a->profile != NULL) + a->checklist + a->claim;

    if (asked == 0)
        return 0;
    if (asked > 1 || a->curve || a->truth || a->truth_file)
        return err_set(err, ERR_USAGE,
                       "--profile, --checklist and --claim cannot be combined "
                       "with each other, --curve or --truth");
    if (!ops_of(a)->render || doc_is_for_trackers(ops_of(a)->format) ||
        a->output.junit || a->output.md)
        return err_set(err, ERR_USAGE,
                       "--profile, --checklist and --claim require --format "
                       "text, json or md, and write no other files");
    if (a->claim && a->output.format != 0)
        return err_set(err, ERR_USAGE, "--claim requires --format text");
    return 0;
}

/* Flags of one format. */
static int check_of_format(const struct report_args *a, struct err *err)
{
    const struct report_ops *ops = ops_of(a);

    if (a->output.verbose && a->output.format != 0)
        return err_set(err, ERR_USAGE, "--verbose requires --format text");
    if ((a->truth || a->truth_file) && a->output.format != 0)
        return err_set(err, ERR_USAGE, "--truth requires --format text");
    if ((a->measure || a->from != FROM_DUE) && !ops->render_hist)
        return err_set(err, ERR_USAGE,
                       "--measure and --from require --format hgrm");
    if (a->detailed && !ops->render_profile)
        return err_set(err, ERR_USAGE,
                       "--detailed requires --format vllm-json");
    return 0;
}

/* Do the flags go together? */
static int check_args(const struct report_args *a, struct err *err)
{
    struct kept_hist kept = wanted_hist(a);

    if (check_of_format(a, err) || check_instead(a, err))
        return -1;
    if (a->baseline &&
        (asks_instead(a) ||
         (a->output.format != 0 && format_below(a) != DOC_AS_MARKDOWN)))
        return err_set(err, ERR_USAGE,
                       "--baseline requires a full report as text or md; for "
                       "JSON "
                       "use 'tailgate baseline against'");
    if (a->curve && !ops_of(a)->render)
        return err_set(err, ERR_USAGE,
                       "--curve requires --format text or json");
    if (kept.view == VIEW_SENT && !measure_has_sent(kept.measure))
        return err_set(err, ERR_USAGE, "--from sent is not available for %s",
                       measure_name(kept.measure));
    return 0;
}

/* A kind of study: its name, its formats, the name of its recordings, and the
 * flags that its report supports in addition to --slo. */
struct study_words {
    const char *name;
    const char *formats;
    char below[STUDY_TEXT]; /* where in it they are */
    const char *part;
    bool has_price;
    bool has_claim;
    bool has_baseline;
};

static const struct study_words kinds[STUDY_KINDS] = {
    [STUDY_TRIALS] = {"trial set", "text, full, json, md and those of trackers",
                      "", "trial", true, true, true},
    [STUDY_PAIR] = {"pair", "text, full, json, md and those of trackers", "a/",
                    "trial", true, true, true},
    [STUDY_SWEEP] = {"sweep", "text, json, md and those of trackers", "",
                     "point", true, false, false},
    [STUDY_SEARCH] = {"search", "text, json, md and those of trackers", "",
                      "probe", false, false, false},
    [STUDY_VARIANTS] = {"study with variants",
                        "text, json, md and those of trackers", "", "point",
                        true, false, false},
};

static bool asks_price(const struct report_args *a)
{
    return a->cost.usd_per_hour > 0 || a->cost.replicas > 0 ||
           a->cost.usd_per_gb_egress > 0 || a->cost.usd_per_gb_month > 0 ||
           a->cost.storage_gb > 0 || a->prices;
}

/* A study has no requests of its own, no truth and no energy: its recordings
 * have. */
static bool asks_too_much(const struct report_args *a,
                          const struct study_words *w)
{
    return a->truth || a->truth_file || a->curve || a->profile ||
           a->checklist || a->energy_file || a->accuracy_run ||
           a->co2_g_per_kwh > 0 || (a->claim && !w->has_claim) ||
           (asks_price(a) && !w->has_price) ||
           (a->baseline && !w->has_baseline);
}

static int check_study(const char *dir, const struct report_args *a,
                       bool has_format, const struct study_words *w,
                       struct err *err)
{
    if (!has_format || asks_too_much(a, w))
        return err_set(err, ERR_USAGE,
                       "%s: a %s has no report with this format or these "
                       "flags, only --format %s; a single %s has one: tailgate "
                       "report %s/%s%s-1",
                       dir, w->name, w->formats, w->part, dir, w->below,
                       w->part);
    for (size_t i = 0; i < a->slo.len; i++) {
        if (slo_class_len(a->slo.items[i]) > 0)
            return err_set(err, ERR_USAGE,
                           "--slo: '%s': a class can only be judged for one "
                           "%s, such as %s/%s%s-1",
                           a->slo.items[i], w->part, dir, w->below, w->part);
    }
    return 0;
}

/* Those of variants lie one directory further down, and may be of any kind. */
static int words_of(const char *dir, enum study_kind kind,
                    struct study_words *w, struct err *err)
{
    struct variant_set set;
    int rc;

    *w = kinds[kind];
    if (kind != STUDY_VARIANTS)
        return 0;
    rc = variant_set_load(&set, dir, err);
    if (rc == 0) {
        w->part = kinds[set.of].part;
        snprintf(w->below, sizeof(w->below), "%s/",
                 set.n > 0 ? set.list[0].name : "NAME");
    }
    variant_set_fini(&set);
    return rc;
}

/* What it takes to repeat a set is what it takes to repeat one of it. */
static int report_first(const char *dir, const struct report_args *a,
                        struct err *err)
{
    char *path = study_trial_path(dir, 1);
    int rc = report_one(path, a, err);

    free(path);
    return rc;
}

/* A pair is refused by its reader. */
static int report_trials(const char *dir, const struct report_args *a,
                         const struct study_ask *ask, struct err *err)
{
    struct buf below;
    int rc = 0;

    if (a->claim)
        return report_claim_set(dir, ask->judge.slo, ask->judge.cost, err);
    buf_init(&below, MAX_BELOW);
    if (a->baseline)
        rc = report_add_against(dir, a->baseline, format_below(a), &below, err);
    if (rc == 0)
        rc = study_report(dir, STUDY_TRIALS, ask, err);
    if (rc >= 0 && below.len > 0)
        rc = cli_print_report(&below, rc, err);
    buf_fini(&below);
    return rc;
}

static int refuse_smallest(const char *dir, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "--smallest-difference requires a study with variants, and "
                   "%s is not one",
                   dir);
}

/* The report of one run has this warning; that of a study does not say what is
 * odd in its runs. */
static void warn_whole(const char *dir, enum study_kind kind,
                       const struct strlist *slo)
{
    struct study_recordings all = {0};
    struct manifest first = {0};
    struct settings s;

    if (slo->len == 0 || kind == STUDY_VARIANTS || kind == STUDY_PAIR)
        return;
    settings_init(&s);
    if (study_recordings_list(&all, dir, kind, &(struct err){0}) == 0 &&
        all.n > 0 &&
        manifest_load(&first, all.list[0].dir, &(struct err){0}) == 0 &&
        manifest_settings(&first, &s, &(struct err){0}) == 0)
        plan_warn_whole(&s, slo);
    settings_fini(&s);
    manifest_fini(&first);
    study_recordings_fini(&all);
}

static int report_study(const char *dir, const struct report_args *a,
                        struct err *err)
{
    const struct report_ops *ops = ops_of(a);
    const struct study_ask ask = {
        .judge = {.slo = a->slo.len > 0 ? &a->slo : NULL,
                  .cost = &a->cost,
                  .require = a->require,
                  .smallest = a->smallest},
        .format = format_of(a),
        .output = &a->output,
        .again = a->again,
    };
    bool has_format =
        ops->render && ops != &report_full && ops->format != DOC_AS_LLM_D;
    struct study_words words;
    enum study_kind kind;

    if (study_kind_at(dir, &kind, err))
        return -1;
    if (a->checklist && study_has_trial(dir, 1))
        return report_first(dir, a, err);
    if (kind == STUDY_TRIALS || kind == STUDY_PAIR)
        has_format = ops->render && ops->format != DOC_AS_LLM_D;
    if (a->smallest && kind != STUDY_VARIANTS)
        return refuse_smallest(dir, err);
    if (words_of(dir, kind, &words, err) ||
        check_study(dir, a, has_format, &words, err))
        return -1;
    warn_whole(dir, kind, &a->slo);
    return kind == STUDY_TRIALS || kind == STUDY_PAIR
               ? report_trials(dir, a, &ask, err)
               : study_report(dir, kind, &ask, err);
}

static int choose_format(struct report_args *a, struct err *err)
{
    if (!a->output.json)
        return 0;
    if (a->output.format != 0)
        return err_set(err, ERR_USAGE,
                       "--json cannot be combined with --format %s",
                       report_names[a->output.format]);
    while (report_find(report_names[a->output.format]) != &report_json)
        a->output.format++;
    return 0;
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    struct report_args *a = args;
    struct prices table = {0};
    const char *dir;
    struct buf again;
    int rc;

    if (words->len != 1)
        return err_set(err, ERR_USAGE, "report takes one recording, not %zu",
                       words->len);
    dir = words->items[0];
    if (choose_format(a, err) || check_args(a, err) ||
        study_check_lost(dir, err))
        return -1;
    if (a->smallest && !study_is_at(dir))
        return refuse_smallest(dir, err);
    a->cost.machine = a->machine;
    buf_init(&again, MAX_BELOW);
    report_again(&(struct opt_set){&block, a}, words, &again);
    a->again = buf_text(&again);
    if (cost_asked(&a->cost, &table, a->prices, err)) {
        buf_fini(&again);
        return -1;
    }
    rc = study_is_at(dir) ? report_study(dir, a, err) : report_one(dir, a, err);
    prices_fini(&table);
    buf_fini(&again);
    return rc;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_report = {
    .name = "report",
    .usage = "RECORDING [FLAGS]",
    .help = "recompute a report from a recording or a study",
    .answer = answer,
    .args_size = sizeof(struct report_args),
    .blocks = blocks,
};
