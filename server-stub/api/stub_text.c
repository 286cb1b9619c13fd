#include "server-stub/api/stub_text.h"

#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/text/json.h"
#include "server-stub/front/call.h"

/* A word up to this length is one token; a longer one has a token per four
 * bytes. */
#define WHOLE_WORD      7
#define BYTES_PER_TOKEN 4

/* Maximum length of an answer. */
#define MAX_OUTPUT (INT64_C(1) << 20)

/* The same if each event repeats the text: half a gigabyte in total. */
#define MAX_REPEATED (INT64_C(1) << 14)

static int64_t word_tokens(size_t len)
{
    if (len <= WHOLE_WORD)
        return len > 0;
    return (int64_t)(len + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
}

static int64_t string_tokens(const json_t *text)
{
    const char *at = json_string_value(text);
    size_t left = json_string_length(text);
    size_t word = 0;
    int64_t tokens = 0;

    for (; left > 0; left--, at++) {
        if (!*at || !strchr(" \n\t\r", *at)) {
            word++;
            continue;
        }
        tokens += word_tokens(word);
        word = 0;
    }
    return tokens + word_tokens(word);
}

static bool is_one_prompt(const json_t *prompt)
{
    return json_is_string(prompt) || json_is_integer(json_array_get(prompt, 0));
}

int64_t text_prompts(const struct json_t *prompt)
{
    return is_one_prompt(prompt) ? 1 : (int64_t)json_array_size(prompt);
}

int64_t text_prompt_tokens(const struct json_t *prompt)
{
    int64_t tokens = 0;
    const json_t *item;
    size_t i;

    if (json_is_string(prompt))
        return string_tokens(prompt);
    if (is_one_prompt(prompt))
        return (int64_t)json_array_size(prompt);
    json_array_foreach(prompt, i, item)
    {
        tokens += json_is_string(item) ? string_tokens(item)
                                       : (int64_t)json_array_size(item);
    }
    return tokens;
}

bool text_read_bounds(const struct json_t *json, const char *max_key,
                      const char *min_key, struct call *call)
{
    int64_t asked = json_get_int(json, max_key, 0);
    int64_t min = json_get_int(json, min_key, 0);

    call->asked_tokens = asked > 0 ? asked : 0;
    call->min_tokens = min > 0 ? min : 0;
    if (asked > MAX_OUTPUT || min > MAX_OUTPUT)
        call->why = "too many tokens for the stub";
    else if (asked > 0 && min > asked)
        call->why = "the minimum is above the maximum of tokens";
    return !call->why;
}

bool text_is_short_enough(struct call *call)
{
    if (call->asked_tokens <= MAX_REPEATED && call->min_tokens <= MAX_REPEATED)
        return true;
    call->why = "too many tokens for events that repeat the text";
    return false;
}

void text_put_words(struct buf *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        buf_adds(out, " tok");
}

void text_put_ids(struct buf *out, int64_t first, int64_t n)
{
    for (long long id = first; id < first + n; id++)
        buf_addf(out, "%s%lld", id > first ? "," : "", id);
}

bool text_is_last(const struct call *call, int64_t n)
{
    return n > 0 && call->sent_tokens + n >= call->job.output_tokens;
}

const char *text_reason(const struct call *call, const char *at_length,
                        const char *by_itself)
{
    bool is_as_long =
        call->asked_tokens > 0 && call->job.output_tokens >= call->asked_tokens;

    if (fault_has(&call->faults, FAULT_WRONG_FINISH))
        return "abort";
    return is_as_long ? at_length : by_itself;
}

long long text_reported(const struct call *call, int64_t produced)
{
    return produced + call->faults.param[FAULT_WRONG_USAGE];
}

bool text_gives_usage(const struct call *call)
{
    return !fault_has(&call->faults, FAULT_NO_USAGE);
}
