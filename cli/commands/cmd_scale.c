#include <stdlib.h>

#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/verdict/cost.h"
#include "cli/cli.h"
#include "cli/report_html.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/prices.h"
#include "common/spec/slo.h"

struct scale_args {
    bool strong;
    bool weak;
    bool capacity;
    double threshold;
    double tolerance;
    int64_t work;
    char *unit;
    struct cost_ask cost; /* its prices and machine are filled in later */
    char *prices;
    char *machine;
    int64_t deadline_ns;
    int deadline_on;
    double energy_tolerance;
    int64_t comm_bytes;
    int64_t params;
    int64_t flops_per_token;
    int64_t peak_flops;
    struct strlist slo;
    int64_t warmup_trials;
    char *baseline;
    struct output_args output;
};

#define AT(field) offsetof(struct scale_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("strong", switch, strong),
     .help = "strong scaling: the same job at each K (ideal: S(K) = K)"},
    {FLAG("weak", switch, weak),
     .help = "weak scaling: K times the job at K (ideal: T(K) = T(1))"},
    {FLAG("capacity", switch, capacity),
     .help = "compare capacities instead of times: capacity(K) / (K x "
             "capacity(1))"},
    {FLAG("efficiency", share, threshold), .initial = "0.7",
     .help = "smallest efficiency at which more workers pay off"},
    {FLAG("tolerance", share, tolerance), .initial = "0.005",
     .help = "accepted loss of quality compared with K = 1"},
    {FLAG("work", count, work),
     .help = "units of work of the job at K = 1, if the input does not "
             "contain it"},
    {FLAG("unit", text, unit),
     .help = "name of a unit of work (default: unit; request for recordings "
             "and capacities)"},
    {FLAG("usd-per-hour", number, cost.usd_per_hour),
     .help = "price of one worker per hour in USD, if the input does not "
             "contain it"},
    {FLAG("prices", text, prices),
     .help = PRICES_HELP "; for a CSV by its column 'machine' or --machine"},
    {FLAG("machine", text, machine),
     .help = "with --prices: machine of one worker, overriding the input"},
    {FLAG("usd-per-gb-egress", number, cost.usd_per_gb_egress),
     .help = "price in USD per GB (1e9 bytes) that the server sends; for a CSV "
             "by its column 'egress_gb'"},
    {FLAG("usd-per-gb-month", number, cost.usd_per_gb_month),
     .help = "price of storage in USD per GB and month (730 hours)"},
    {FLAG("storage-gb", number, cost.storage_gb),
     .help = "GB stored for all workers together, overriding the recordings'; "
             "for a CSV without a column 'storage_gb'"},
    {FLAG("deadline", duration, deadline_ns), .is_positive = true,
     .help = "find the cheapest K within this time; exit status 1 if there is "
             "no K within it"},
    {FLAG("deadline-on", choice, deadline_on), .names = scale_deadline_names,
     .initial = "time",
     .help = "what the deadline limits: time (T(K)), p50 or p99 (latency)"},
    {FLAG("energy-tolerance", share, energy_tolerance), .is_positive = true,
     .help = "accepted rise of the energy per unit of work compared with K = "
             "1; without it energy is not judged"},
    {FLAG("comm-bytes", size, comm_bytes), .is_positive = true,
     .help = "bytes that each worker sends in one job, to show the bandwidth"},
    {FLAG("params", count, params), .is_positive = true,
     .help = "with --peak-flops: number of parameters of the model, which "
             "computes 2 FLOPs per parameter and token"},
    {FLAG("flops-per-token", count, flops_per_token),
     .help = "with --peak-flops: FLOPs per token, for the model FLOPs "
             "utilisation at each K"},
    {FLAG("peak-flops", count, peak_flops),
     .help = "peak FLOPs per second of one worker"},
    {FLAG("slo", list, slo), .splits_commas = true, .check = slo_check_term,
     .help = "judge recordings by this objective instead of their own; can be "
             "repeated"},
    {FLAG("warmup-trials", count, warmup_trials),
     .help = "ignore the first N trials of each set"},
    {FLAG("baseline", text, baseline),
     .help = "sealed baseline to cite, and to compare with if there is no K = "
             "1 (tailgate baseline freeze)"},
    OUTPUT_FLAGS("", SVG_FLAG("scaling")),
};
/* clang-format on */

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
            "scale requires --strong (the same job on each number of workers), "
            "--weak (twice the job on twice the workers) or --capacity (the "
            "largest rate of each number of workers)");
    if (a->params > 0 && a->flops_per_token > 0)
        return err_set(err, ERR_USAGE,
                       "--params cannot be combined with --flops-per-token");
    if (a->params > 0 && !(a->peak_flops > 0))
        return err_set(err, ERR_USAGE, "--params requires --peak-flops");
    if ((a->params > 0 || a->flops_per_token > 0) != (a->peak_flops > 0))
        return err_set(err, ERR_USAGE,
                       "--flops-per-token and --peak-flops require each other");
    if (a->capacity && a->deadline_ns > 0 && a->deadline_on == DEADLINE_TIME)
        return err_set(err, ERR_USAGE,
                       "--deadline: a capacity has no time; use --deadline-on "
                       "p50 or p99");
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
        .usd_per_hour = a->cost.usd_per_hour,
        .flops_per_token =
            a->params > 0 ? 2 * (double)a->params : (double)a->flops_per_token,
        .peak_flops = (double)a->peak_flops,
        .deadline_s = (double)a->deadline_ns / 1e9,
        .deadline_on = (enum scale_deadline_on)a->deadline_on,
        .energy_tolerance = a->energy_tolerance,
        .comm_bytes = (double)a->comm_bytes,
    };
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    const struct scale_args *a = args;
    struct scale_ask ask = ask_of(a, words);
    struct cost_ask cost = a->cost;
    struct prices table = {0};
    struct report_to to = {.output = &a->output, .command = "scale"};
    struct scaling *s;
    int rc;

    cost.machine = a->machine;
    if (check(a, words, err) ||
        report_format(&a->output, report_plain_names, &to.format, err) ||
        cost_asked(&cost, &table, a->prices, err))
        return -1;
    cost.usd_per_hour = 0; /* the price in the input comes first: ask_of() */
    ask.cost = &cost;
    s = xcalloc(1, sizeof(*s));
    rc = scaling_make(s, &ask, err);
    if (rc == 0)
        rc = report_made(scaling_doc(s), &to, &(struct opt_set){&block, args},
                         words, exit_status_of(scaling_conclusion(s), 0), err);
    scaling_fini(s);
    free(s);
    prices_fini(&table);
    return rc;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_scale = {
    .name = "scale",
    .usage = "CSV|RECORDING... --strong|--weak|--capacity [FLAGS]",
    .help =
        "show whether more workers pay off: speedup, efficiency, quality, cost",
    .answer = answer,
    .args_size = sizeof(struct scale_args),
    .blocks = blocks,
};
