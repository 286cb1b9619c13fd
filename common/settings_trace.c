/* The options of a trace that is replayed. */
#include "common/settings.h"

#include "common/err.h"
#include "common/units.h"

#define AT(field) offsetof(struct settings, load.trace.field)

const char *const trace_format_names[] = {
    [TRACE_AUTO] = "auto",         [TRACE_AZURE] = "azure",
    [TRACE_BURSTGPT] = "burstgpt", [TRACE_MOONCAKE] = "mooncake",
    [TRACE_BAILIAN] = "bailian",   [TRACE_CSV] = "csv",
    [TRACE_JSONL] = "jsonl",       NULL,
};

static const char *const unit_names[] = {
    [UNIT_S] = "s", [UNIT_MS] = "ms", [UNIT_US] = "us", [UNIT_NS] = "ns", NULL};

static int check_scale(const char *text, struct err *err)
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
     .check = check_scale,
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
