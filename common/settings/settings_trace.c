/* The options of a trace that is replayed. */
#include "common/settings/settings.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/units.h"

#define AT(field) offsetof(struct settings, load.trace.field)

const char *const trace_format_names[] = {
    [TRACE_AUTO] = "auto",         [TRACE_AZURE] = "azure",
    [TRACE_BURSTGPT] = "burstgpt", [TRACE_MOONCAKE] = "mooncake",
    [TRACE_BAILIAN] = "bailian",   [TRACE_CSV] = "csv",
    [TRACE_JSONL] = "jsonl",       NULL,
};

static const char *const unit_names[] = {
    [UNIT_S] = "s", [UNIT_MS] = "ms", [UNIT_US] = "us", [UNIT_NS] = "ns", NULL};

int settings_check_scale(const char *text, struct err *err)
{
    double scale;

    if (units_parse_number(text, &scale, err))
        return -1;
    if (!(scale >= 1e-6 && scale <= 1e6))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not between a millionth and a million; 4 is "
                       "four times as fast",
                       text);
    return 0;
}

static const struct opt opts[] = {
    {.key = "file",
     .flag = "trace",
     .type = &opt_text,
     .offset = AT(file),
     .path = OPT_PATH,
     .help = "send what this trace of requests says, when it says so; may be "
             "compressed (gz, zst)"},
    {.key = "format",
     .flag = "trace-format",
     .type = &opt_choice,
     .offset = AT(format),
     .names = trace_format_names,
     .initial = "auto",
     .help = "azure, burstgpt, mooncake, bailian; csv and jsonl: by the names "
             "of columns; auto: as the first line says"},
    {.key = "time_scale",
     .flag = "time-scale",
     .type = &opt_number,
     .offset = AT(time_scale),
     .initial = "1",
     .check = settings_check_scale,
     .help = "4: four times as fast as it was"},
    {.key = "from",
     .flag = "from",
     .type = &opt_duration,
     .offset = AT(from_ns),
     .initial = "0s",
     .help = "begin so long after the trace's first row, in its own time ..."},
    {.key = "to",
     .flag = "to",
     .type = &opt_duration,
     .offset = AT(to_ns),
     .is_positive = true,
     .help = "... and end so long after it"},
    {.key = "spread",
     .flag = "spread",
     .type = &opt_duration,
     .offset = AT(spread_ns),
     .initial = "0s",
     .help = "times in the trace come in steps of this: spread rows over the "
             "step"},
    {.key = "strict",
     .flag = "strict",
     .type = &opt_switch,
     .offset = AT(strict),
     .help = "a damaged line is an error; else it is counted and left out"},
    {.key = "time",
     .flag = "time-column",
     .type = &opt_text,
     .offset = AT(time),
     .help = "of csv and jsonl: name of the column (timestamp)"},
    {.key = "input",
     .flag = "input-column",
     .type = &opt_text,
     .offset = AT(input),
     .help = "with the tokens of the prompt (input_length)"},
    {.key = "output",
     .flag = "output-column",
     .type = &opt_text,
     .offset = AT(output),
     .help = "with the tokens of the answer (output_length)"},
    {.key = "blocks",
     .flag = "blocks-column",
     .type = &opt_text,
     .offset = AT(blocks),
     .help = "with ids of blocks of the prompt; the same ids, the same "
             "beginning (hash_ids)"},
    {.key = "unit",
     .flag = "time-unit",
     .type = &opt_choice,
     .offset = AT(unit),
     .names = unit_names,
     .initial = "s",
     .help = "of times that are numbers: s, ms, us, ns"},
    {.key = "block_tokens",
     .flag = "block-tokens",
     .type = &opt_count,
     .offset = AT(block_tokens),
     .is_positive = true,
     .initial = "512",
     .help = "tokens that one id of a block stands for"},
};

const struct opt_block block_trace = {"trace", opts,
                                      sizeof(opts) / sizeof(opts[0])};

/* ---- what goes together ---- */

#define MAX_VALUE 65536

/* Does the option have its default? */
static bool is_unsaid(const struct opt_set *set, const struct opt *opt)
{
    const char *initial = opt->initial               ? opt->initial
                          : opt->type == &opt_switch ? "false"
                                                     : "";
    struct buf text;
    bool is_same;

    buf_init(&text, MAX_VALUE);
    opt_print(set, opt, &text);
    is_same = strcmp(buf_text(&text), initial) == 0;
    buf_fini(&text);
    return is_same;
}

/* Without a trace nothing may be said of one. */
static int refuse_all(struct settings *s, struct err *err)
{
    struct opt_set set = settings_set(s, BLOCK_TRACE);

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];

        if (!is_unsaid(&set, opt))
            return err_set(err, ERR_CONFIG, "trace.%s: goes with %s", opt->key,
                           s->load.trace.file ? "load.scenario trace"
                                              : "trace.file");
    }
    return 0;
}

/* The formats that have names have names for their columns too. */
static int check_columns(const struct trace_settings *t, struct err *err)
{
    bool is_own = t->format == TRACE_AUTO || t->format == TRACE_CSV ||
                  t->format == TRACE_JSONL;
    const char *named = t->time     ? "time"
                        : t->input  ? "input"
                        : t->output ? "output"
                        : t->blocks ? "blocks"
                                    : NULL;

    if (named && !is_own)
        return err_set(err, ERR_CONFIG,
                       "trace.%s: goes with the formats csv and jsonl, not %s",
                       named, trace_format_names[t->format]);
    return 0;
}

/* The file says everything that a rate or clients would. */
int settings_check_trace(struct settings *s, struct err *err)
{
    const struct load_settings *load = &s->load;

    if (load->scenario != SCENARIO_TRACE)
        return refuse_all(s, err);
    if (!load->trace.file)
        return err_set(err, ERR_CONFIG,
                       "trace.file: the trace scenario needs a file "
                       "(--trace)");
    if (load->rate_rps > 0 || load->clients > 0)
        return err_set(err, ERR_CONFIG,
                       "load.%s: a trace says itself when requests are due; "
                       "trace.time_scale makes it faster",
                       load->rate_rps > 0 ? settings_rate_key(load)
                                          : "clients");
    if (load->trace.to_ns > 0 && load->trace.to_ns <= load->trace.from_ns)
        return err_set(err, ERR_CONFIG, "trace.to: not after trace.from");
    return check_columns(&load->trace, err);
}
