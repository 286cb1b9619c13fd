/* The options of what requests carry. */
#include "common/settings/settings.h"

#include "common/base/err.h"
#include "common/base/units.h"
#include "common/spec/dist.h"
#include "common/wire/tensor.h"

#define AT(field) offsetof(struct settings, data.field)

const char *const prompt_names[] = {"auto", "text", "ids", NULL};
const char *const data_format_names[] = {
    [DATA_AUTO] = "auto",
    [DATA_JSONL] = "jsonl",
    [DATA_CSV] = "csv",
    [DATA_TEXT] = "text",
    [DATA_SHAREGPT] = "sharegpt",
    [DATA_TENSORS] = "tensors",
    NULL,
};
const char *const data_select_names[] = {
    [SELECT_PERMUTATION] = "permutation",
    [SELECT_REPLACEMENT] = "replacement",
    [SELECT_ORDER] = "order",
    NULL,
};
static const char *const turns_names[] = {
    [TURNS_FIRST] = "first",
    [TURNS_ALL] = "all",
    [TURNS_SESSION] = "session",
    NULL,
};
static const char *const history_names[] = {
    [HISTORY_SERVER] = "server", [HISTORY_RECORDED] = "recorded", NULL};
static const char *const unique_names[] = {[UNIQUE_AUTO] = "auto",
                                           [UNIQUE_TRUE] = "true",
                                           [UNIQUE_FALSE] = "false",
                                           NULL};

static int check_prefix(const char *text, struct err *err)
{
    int64_t tokens;

    if (units_parse_count(text, &tokens, err))
        return -1;
    if (tokens > DIST_MAX_TOKENS)
        return err_set(err, ERR_CONFIG, "'%s' is more than 3,000,000 tokens",
                       text);
    return 0;
}

static int check_reference(const char *text, struct err *err)
{
    double tokens;

    if (units_parse_number(text, &tokens, err))
        return -1;
    if (tokens < 0)
        return err_set(err, ERR_CONFIG, "'%s' is no length of an answer", text);
    return 0;
}

static const struct opt opts[] = {
    {.key = "file",
     .flag = "data",
     .type = &opt_text,
     .offset = AT(file),
     .path = OPT_PATH,
     .help = "send what this file holds: JSONL, CSV, text, ShareGPT, tensors; "
             "may be compressed (gz, zst)"},
    {.key = "format",
     .flag = "data-format",
     .type = &opt_choice,
     .offset = AT(format),
     .names = data_format_names,
     .initial = "auto",
     .help = "jsonl, csv, text, sharegpt, tensors; auto: by its first bytes "
             "and its name"},
    {.key = "prompt",
     .flag = "prompt-field",
     .type = &opt_text,
     .offset = AT(prompt),
     .help = "field with the prompt (prompt, text, messages, input_ids, ...)"},
    {.key = "output",
     .flag = "output-field",
     .type = &opt_text,
     .offset = AT(output),
     .help = "field with the tokens to ask for (output_tokens, max_tokens, "
             "...)"},
    {.key = "label",
     .flag = "label-field",
     .type = &opt_text,
     .offset = AT(label),
     .help = "field with the right answer (label, answer, ...)"},
    {.key = "turns",
     .flag = "turns",
     .type = &opt_choice,
     .offset = AT(turns),
     .names = turns_names,
     .initial = "first",
     .help = "of a conversation: its first question, all up to its last "
             "answer, or (session) each question in a turn of its own"},
    {.key = "history",
     .flag = "history",
     .type = &opt_choice,
     .offset = AT(history),
     .names = history_names,
     .initial = "server",
     .help = "answers that later turns of a session carry: the server's own, "
             "or those of the data set"},
    {.key = "select",
     .flag = "select",
     .type = &opt_choice,
     .offset = AT(select),
     .names = data_select_names,
     .initial = "permutation",
     .help = "permutation: each sample once, then again in another order; "
             "replacement: any at any time; order: as in the file"},
    {.key = "limit",
     .flag = "data-limit",
     .type = &opt_count,
     .offset = AT(limit),
     .is_positive = true,
     .help = "use so many samples: the first in order, else of a shuffle"},
    {.key = "unique",
     .flag = "unique",
     .type = &opt_choice,
     .offset = AT(unique),
     .names = unique_names,
     .initial = "auto",
     .help = "no two prompts alike, nor like those of another run: a word of "
             "the nonce before each"},
    {.flag = "repeat-prompts",
     .type = &opt_switch,
     .offset = AT(repeats),
     .help = "send prompts as they are: --unique false"},
    {.key = "shared_prefix",
     .flag = "shared-prefix",
     .type = &opt_count,
     .offset = AT(shared_prefix),
     .initial = "0",
     .check = check_prefix,
     .help = "tokens before every prompt that are the same for all"},
    {.key = "cache_hit_rate",
     .flag = "cache-hit-rate",
     .type = &opt_share,
     .offset = AT(cache_hit_rate),
     .initial = "0%",
     .help = "share of requests that begin with a prompt that was sent before"},
    {.key = "accuracy",
     .flag = "accuracy",
     .type = &opt_switch,
     .offset = AT(accuracy),
     .help = "send each sample once, in order, as it is, and keep the answers "
             "in answers.jsonl"},
    {.key = "cache_check",
     .flag = "cache-check",
     .type = &opt_switch,
     .offset = AT(cache_check),
     .help = "does the server cache answers? half of the requests repeat one "
             "prompt, the others are new and as long; no SLO is judged"},
    {.key = "input_tokens",
     .flag = "input-len",
     .type = &opt_text,
     .offset = AT(input_tokens),
     .path = OPT_PATH_AT,
     .initial = "256",
     .check = dist_check_lengths,
     .help = "tokens of a prompt: 256, 'uniform 100 400', 'lognormal 512 256', "
             "'empirical @FILE'"},
    {.key = "output_tokens",
     .flag = "output-len",
     .type = &opt_text,
     .offset = AT(output_tokens),
     .path = OPT_PATH_AT,
     .initial = "128",
     .check = dist_check_lengths,
     .help = "tokens to ask for in an answer"},
    {.key = "reference_output_tokens",
     .flag = "reference-output-len",
     .type = &opt_number,
     .offset = AT(reference_output),
     .initial = "0",
     .check = check_reference,
     .help = "mean length that answers should have, in tokens; a report warns "
             "of another; 0: what the data set says, if it does"},
    {.key = "output_tolerance",
     .flag = "output-tolerance",
     .type = &opt_share,
     .offset = AT(output_tolerance),
     .initial = "10%",
     .help = "by how much of it the mean may be off"},
    {.key = "documents",
     .flag = "documents",
     .type = &opt_text,
     .offset = AT(documents),
     .initial = "16",
     .check = dist_check_counts,
     .help = "documents to rank in a request (rerank), each as long as a "
             "prompt"},
    {.key = "prompts",
     .flag = "prompts",
     .type = &opt_choice,
     .offset = AT(prompts),
     .names = prompt_names,
     .initial = "auto",
     .help = "words, or token ids; auto: ids where the API takes them"},
    {.key = "tensors",
     .flag = "tensor",
     .type = &opt_list,
     .offset = AT(tensors),
     .check = tensor_check,
     .help = "an input of the model, 'x FP32 1x16'; repeats (what the server "
             "says)"},
    {.key = "binary",
     .flag = "binary-tensors",
     .type = &opt_switch,
     .offset = AT(binary),
     .help = "tensors as raw bytes behind the JSON (KServe v2)"},
    {.key = "typed",
     .flag = "typed-tensors",
     .type = &opt_switch,
     .offset = AT(typed),
     .help = "tensors as lists of their type, not as raw bytes (gRPC)"},
    {.key = "first_id",
     .flag = "first-id",
     .type = &opt_count,
     .offset = AT(first_id),
     .initial = "1000",
     .help = "token ids are drawn from here ..."},
    {.key = "last_id",
     .flag = "last-id",
     .type = &opt_count,
     .offset = AT(last_id),
     .initial = "9999",
     .help = "... to here"},
    {.key = "nonce",
     .flag = "nonce",
     .type = &opt_seed,
     .offset = AT(nonce),
     .initial = "0",
     .help = "prompts are made from it; 0: a new one for each run"},
};

const struct opt_block block_data = {"data", opts,
                                     sizeof(opts) / sizeof(opts[0])};

/* ---- what follows from the rest ---- */

struct claim {
    const char *key;
    bool is_made;
};

/* The first key of those that were given; NULL: none. */
static const char *first_of(const struct claim *claims, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (claims[i].is_made)
            return claims[i].key;
    }
    return NULL;
}

static int resolve_unique(struct data_settings *d, struct err *err)
{
    if (!d->repeats)
        return 0;
    if (d->unique == UNIQUE_TRUE)
        return err_set(err, ERR_CONFIG,
                       "data.unique: not beside --repeat-prompts");
    d->unique = UNIQUE_FALSE;
    return 0;
}

/* What belongs to a file is said of one, and a trace says itself what prompts
 * are like. */
static int check_data(const struct data_settings *d, int scenario,
                      struct err *err)
{
    const struct claim of_file[] = {{"prompt", d->prompt != NULL},
                                    {"output", d->output != NULL},
                                    {"label", d->label != NULL},
                                    {"limit", d->limit > 0},
                                    {"accuracy", d->accuracy}};
    const struct claim not_of_trace[] = {
        {"file", d->file != NULL}, {"cache_hit_rate", d->cache_hit_rate > 0}};
    const char *key = first_of(of_file, 5);

    if (!d->file && key)
        return err_set(err, ERR_CONFIG, "data.%s: goes with data.file (--data)",
                       key);
    key = first_of(not_of_trace, 2);
    if (scenario == SCENARIO_TRACE && key)
        return err_set(err, ERR_CONFIG,
                       "data.%s: a trace says itself what prompts are like",
                       key);
    return 0;
}

/* Each sample once: that says how many, in which order, and until when. */
static int resolve_accuracy(struct data_settings *d,
                            const struct load_settings *load, struct err *err)
{
    const struct claim others[] = {
        {"load.stages, load.shape or load.rate_table", load->stages.len > 0},
        {"load.duration", load->duration_ns > 0},
        {"load.warmup", load->warmup_ns > 0},
        {"load.warmup_requests", load->warmup_requests > 0},
        {"load.cooldown", load->cooldown_ns > 0},
        {"load.requests", load->requests > 0},
        {"load.min_duration", load->min_duration_ns > 0},
        {"load.min_requests", load->min_requests > 0},
        {"load.scenario multi-stream", load->scenario == SCENARIO_MULTI_STREAM},
        {"data.select replacement", d->select == SELECT_REPLACEMENT},
        {"data.cache_hit_rate", d->cache_hit_rate > 0}};
    const char *other = first_of(others, sizeof(others) / sizeof(others[0]));

    if (!d->accuracy)
        return 0;
    if (other)
        return err_set(err, ERR_CONFIG,
                       "data.accuracy: each sample is sent once; not beside %s",
                       other);
    d->select = SELECT_ORDER;
    if (d->unique == UNIQUE_AUTO)
        d->unique = UNIQUE_FALSE;
    return 0;
}

/* One half repeats, the other does not: nothing else may decide about that. */
static int check_cache_check(const struct data_settings *d,
                             const struct load_settings *load, struct err *err)
{
    const struct claim others[] = {
        {"data.unique false", d->unique == UNIQUE_FALSE},
        {"data.cache_hit_rate", d->cache_hit_rate > 0},
        {"data.accuracy", d->accuracy},
        {"a file of tensors", d->file && d->format == DATA_TENSORS},
        {"load.stop decided", load->stop == STOP_DECIDED},
        {"a trace", load->scenario == SCENARIO_TRACE}};
    const char *other = first_of(others, sizeof(others) / sizeof(others[0]));

    if (d->cache_check && other)
        return err_set(err, ERR_CONFIG,
                       "data.cache_check: compares one prompt with new ones of "
                       "its length; not beside %s",
                       other);
    return 0;
}

int settings_resolve_data(struct settings *s, struct err *err)
{
    struct data_settings *d = &s->data;

    if (resolve_unique(d, err) || check_data(d, s->load.scenario, err) ||
        check_cache_check(d, &s->load, err))
        return -1;
    return resolve_accuracy(d, &s->load, err);
}
