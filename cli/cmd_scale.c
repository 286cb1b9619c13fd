#include <stdlib.h>

#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/verdict/cost.h"
#include "cli/cli.h"
#include "cli/report_html.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/prices.h"
#include "common/spec/slo.h"

#define MAX_OUTPUT ((size_t)16 << 20)

struct scale_args {
    bool strong;
    bool weak;
    bool capacity;
    double threshold;
    double tolerance;
    int64_t work;
    char *unit;
    double usd_per_hour;
    char *prices;
    char *machine;
    int64_t flops_per_token;
    int64_t peak_flops;
    struct strlist slo;
    int64_t warmup_trials;
    char *baseline;
    bool json;
    char *html;
    char *svg;
};

#define AT(field) offsetof(struct scale_args, field)

static const struct opt opts[] = {
    {.flag = "strong",
     .type = &opt_switch,
     .offset = AT(strong),
     .help = "strong scaling: the same job at each K (ideal: S(K) = K)"},
    {.flag = "weak",
     .type = &opt_switch,
     .offset = AT(weak),
     .help = "weak scaling: K times the job at K (ideal: T(K) = T(1))"},
    {.flag = "capacity",
     .type = &opt_switch,
     .offset = AT(capacity),
     .help = "compare capacities instead of times: capacity(K) / (K x "
             "capacity(1))"},
    {.flag = "efficiency",
     .type = &opt_share,
     .offset = AT(threshold),
     .initial = "0.7",
     .help = "smallest efficiency at which more workers pay off"},
    {.flag = "tolerance",
     .type = &opt_share,
     .offset = AT(tolerance),
     .initial = "0.005",
     .help = "accepted loss of quality compared with K = 1"},
    {.flag = "work",
     .type = &opt_count,
     .offset = AT(work),
     .help =
         "units of work of the job at K = 1, if the input does not contain it"},
    {.flag = "unit",
     .type = &opt_text,
     .offset = AT(unit),
     .help = "name of a unit of work (default: unit; request for recordings "
             "and capacities)"},
    {.flag = "usd-per-hour",
     .type = &opt_number,
     .offset = AT(usd_per_hour),
     .help = "price of one worker per hour in USD, if the input does not "
             "contain it"},
    {.flag = "prices",
     .type = &opt_text,
     .offset = AT(prices),
     .help = PRICES_HELP "; for a CSV by its column 'machine' or --machine"},
    {.flag = "machine",
     .type = &opt_text,
     .offset = AT(machine),
     .help = "with --prices: machine of one worker, overriding the input"},
    {.flag = "flops-per-token",
     .type = &opt_count,
     .offset = AT(flops_per_token),
     .help = "with --peak-flops: FLOPs per token, for the model FLOPs "
             "utilisation at each K"},
    {.flag = "peak-flops",
     .type = &opt_count,
     .offset = AT(peak_flops),
     .help = "peak FLOPs per second of one worker"},
    {.flag = "slo",
     .type = &opt_list,
     .offset = AT(slo),
     .splits_commas = true,
     .check = slo_check_term,
     .help = "judge recordings by this objective instead of their own; can be "
             "repeated"},
    {.flag = "warmup-trials",
     .type = &opt_count,
     .offset = AT(warmup_trials),
     .help = "ignore the first N trials of each set"},
    {.flag = "baseline",
     .type = &opt_text,
     .offset = AT(baseline),
     .help = "sealed baseline to cite, and to compare with if there is no K = "
             "1 (tailgate baseline freeze)"},
    {.flag = "html",
     .type = &opt_text,
     .offset = AT(html),
     .help = "also write a page with charts to this file"},
    {.flag = "svg",
     .type = &opt_text,
     .offset = AT(svg),
     .help =
         "print the chart 'scaling' as SVG instead of the report; NAME=FILE "
         "writes it to a file, as PNG if the file ends in .png"},
    {.flag = "json",
     .type = &opt_switch,
     .offset = AT(json),
     .help = "print JSON instead of text"},
};

static const struct opt_block block = {"scale", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static int check(const struct scale_args *a, const struct strlist *words,
                 struct err *err)
{
    if (words->len == 0)
        return err_set(err, ERR_USAGE,
                       "scale requires a CSV of timings, or directories of "
                       "recordings");
    if (a->strong + a->weak + a->capacity != 1)
        return err_set(
            err, ERR_USAGE,
            "scale requires one of --strong (the same job at each K), "
            "--weak (K times the job) and --capacity");
    if ((a->flops_per_token > 0) != (a->peak_flops > 0))
        return err_set(err, ERR_USAGE,
                       "--flops-per-token and --peak-flops require each other");
    return 0;
}

static struct scale_ask ask_of(const struct scale_args *a,
                               const struct strlist *words)
{
    return (struct scale_ask){
        .sources = words,
        .regime = a->strong ? SCALE_STRONG
                  : a->weak ? SCALE_WEAK
                            : SCALE_CAPACITY,
        .threshold = a->threshold,
        .tolerance = a->tolerance,
        .work = (double)a->work,
        .unit = a->unit,
        .slo = a->slo.len > 0 ? &a->slo : NULL,
        .warmup_trials = a->warmup_trials,
        .baseline = a->baseline,
        .usd_per_hour = a->usd_per_hour,
        .flops_per_token = (double)a->flops_per_token,
        .peak_flops = (double)a->peak_flops,
    };
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    const struct scale_args *a = args;
    struct scale_ask ask = ask_of(a, words);
    struct cost_ask cost = {.machine = a->machine,
                            .usd_per_hour = a->usd_per_hour};
    struct prices table = {0};
    struct report_to to = {.format = a->json ? DOC_AS_JSON : DOC_AS_TEXT,
                           .html = a->html,
                           .svg = a->svg,
                           .command = a->strong ? "scale --strong"
                                      : a->weak ? "scale --weak"
                                                : "scale --capacity"};
    struct scaling *s;
    struct buf shown;
    int rc;

    if (check(a, words, err) || cost_asked(&cost, &table, a->prices, err))
        return -1;
    cost.usd_per_hour = 0; /* the price in the input comes first: ask_of() */
    ask.cost = &cost;
    s = xcalloc(1, sizeof(*s));
    buf_init(&shown, MAX_OUTPUT);
    for (size_t i = 0; i < words->len; i++)
        buf_addf(&shown, "%s%s", i > 0 ? " " : "", words->items[i]);
    to.words = buf_text(&shown);
    rc = scaling_make(s, &ask, err);
    if (rc == 0)
        rc = report_doc(scaling_doc(s), &to,
                        exit_status_of(scaling_conclusion(s), 0), err);
    buf_fini(&shown);
    scaling_fini(s);
    free(s);
    prices_fini(&table);
    return rc;
}

static int run(const char *const *argv, struct err *err)
{
    struct scale_args a;
    struct opt_set set = {&block, &a};

    return command_by_flags(&set, argv, answer, err);
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_scale = {
    .name = "scale",
    .usage = "CSV|RECORDING... --strong|--weak|--capacity [FLAGS]",
    .help =
        "show whether more workers pay off: speedup, efficiency, quality, cost",
    .run = run,
    .blocks = blocks,
};
