#include "server-stub/api/stub_text.h"

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/json.h"
#include "server-stub/front/call.h"

/* A word of so many bytes is one token; of a longer one each has these. */
#define WHOLE_WORD      7
#define BYTES_PER_TOKEN 4

/* More is no request that anybody means. */
#define MAX_OUTPUT (INT64_C(1) << 20)

/* Half a gigabyte in all. */
#define MAX_REPEATED (INT64_C(1) << 14)

static int64_t word_tokens(size_t len)
{
    if (len <= WHOLE_WORD)
        return len > 0;
    return (int64_t)(len + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int64_t string_tokens(const json_t *text)
{
    const char *at = json_string_value(text);
    size_t left = json_string_length(text);
    size_t word = 0;
    int64_t tokens = 0;

    for (; left > 0; left--, at++) {
        if (!is_blank(*at)) {
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

bool text_read_bounds(const struct json_t *json, const char *most,
                      const char *least, struct call *call)
{
    int64_t asked = json_get_int(json, most, 0);
    int64_t min = json_get_int(json, least, 0);

    call->asked_tokens = asked > 0 ? asked : 0;
    call->min_tokens = min > 0 ? min : 0;
    if (asked > MAX_OUTPUT || min > MAX_OUTPUT)
        call->why = "more tokens than the stub makes";
    else if (asked > 0 && min > asked)
        call->why = "fewer tokens at most than at least";
    return !call->why;
}

bool text_is_short_enough(struct call *call)
{
    if (call->asked_tokens <= MAX_REPEATED && call->min_tokens <= MAX_REPEATED)
        return true;
    call->why = "more tokens than the stub repeats with each event";
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
