/* Whatever the lines of a trace hold, in any format: a row that is taken has a
 * time and lengths that can be replayed, one that is not says why. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/trace/trace_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_row(const struct row *row)
{
    struct row copy = {0};

    must(row->time_ns >= 0 && row->time_ns < INT64_C(1) << 62);
    must(row->input >= 0 && row->input <= TRACE_MAX_TOKENS);
    must(row->output >= 0 && row->output <= TRACE_MAX_TOKENS);
    must(row->n_blocks <= row->cap_blocks);
    row_copy(&copy, row);
    must(copy.n_blocks == row->n_blocks);
    for (size_t i = 0; i < row->n_blocks; i++)
        must(copy.blocks[i] == row->blocks[i]);
    row_fini(&copy);
}

/* The rest of the text, line by line, by the format of the first. */
static void read_as(int format, const char *text, size_t len)
{
    const struct trace_settings s = {.format = format, .block_tokens = 16};
    const char *end = text + len;
    struct parser p;
    struct err err = {0};
    struct row row = {0};
    bool is_first = true;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        struct flaw flaw;

        if (is_first && parser_init(&p, &s, text, n, &err))
            break;
        if (parser_read(&p, text, n, &row, &flaw))
            check_row(&row);
        else
            must(flaw.what != NULL);
        is_first = false;
        text += stop ? n + 1 : n;
    }
    must(!is_first || err.code == ERR_CONFIG || len == 0);
    row_fini(&row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int format = TRACE_AUTO; format <= TRACE_JSONL; format++)
        read_as(format, (const char *)data, size);
    return 0;
}
