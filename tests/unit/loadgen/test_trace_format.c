/* Lines of every format of traces, good and damaged. */
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/trace/trace_format.h"
#include "tests/support/test.h"

#define AZURE "TIMESTAMP,ContextTokens,GeneratedTokens"
#define BURSTGPT                                                               \
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"

/* 2023-11-16 18:17:03 UTC */
#define THEN (INT64_C(1700158623) * NS_PER_S)

static struct parser make(const struct trace_settings *s, const char *first)
{
    struct parser p;
    struct err err = {0};

    if (parser_init(&p, s, first, strlen(first), &err))
        fail_msg("%s: %s", first, err.msg);
    return p;
}

static bool read_line(const struct parser *p, const char *line, struct row *row,
                      struct flaw *flaw)
{
    return parser_read(p, line, strlen(line), row, flaw);
}

static char when[] = "when";
static char in[] = "in";
static char out[] = "out";
static char ids[] = "ids";

/* ---- which format it is ---- */

TEST(the_first_line_tells_the_format)
{
    static const struct {
        const char *line;
        const char *want;
    } cases[] = {
        {AZURE, "azure"},
        {"TIMESTAMP,NumImages,ContextTokens,GeneratedTokens", "azure"},
        {BURSTGPT, "burstgpt"},
        {"Timestamp,Session ID,Elapsed time,Model,Request tokens,"
         "Response tokens,Total tokens,Log Type",
         "burstgpt"},
        {"{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 5, "
         "\"hash_ids\": [1]}",
         "mooncake"},
        {"{\"chat_id\": 1, \"parent_chat_id\": -1, \"timestamp\": 0.5, "
         "\"input_length\": 10, \"output_length\": 5, \"type\": \"text\", "
         "\"turn\": 1, \"hash_ids\": [1]}",
         "bailian"},
        {"user,timestamp,output_length,input_length", "csv"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trace_settings s = {.format = TRACE_AUTO};
        struct parser p = make(&s, cases[i].line);

        assert_string_equal(p.format.name, cases[i].want);
    }
}

TEST(an_unknown_first_line_is_refused)
{
    static const struct {
        struct trace_settings s;
        const char *line;
        const char *want;
    } cases[] = {
        {{.format = TRACE_AUTO}, "a,b,c", "the format cannot be detected"},
        {{.format = TRACE_AUTO}, "{\"timestamp\": 1}", "cannot be detected"},
        {{.format = TRACE_AUTO},
         "{\"hash_ids\": [1], \"timestamp\": 1.5}",
         "cannot be detected"},
        {{.format = TRACE_AUTO}, "{\"timestamp\"", "cannot be detected"},
        {{.format = TRACE_AZURE},
         "TIMESTAMP,GeneratedTokens",
         "no column 'ContextTokens'"},
        {{.format = TRACE_CSV},
         "timestamp,input_length",
         "no column 'output_length'"},
        {{.format = TRACE_AUTO},
         "TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens",
         "two columns 'ContextTokens'"},
        {{.format = TRACE_AUTO, .time = when},
         "x,input_length,output_length",
         "no column 'when'"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct parser p;
        struct err err = {0};

        assert_int_equal(parser_init(&p, &cases[i].s, cases[i].line,
                                     strlen(cases[i].line), &err),
                         -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, cases[i].want));
    }
}

/* ---- good lines ---- */

static const struct trace_settings own_csv = {.time = when,
                                              .input = in,
                                              .output = out,
                                              .blocks = ids,
                                              .unit = UNIT_MS,
                                              .block_tokens = 64};
static const struct trace_settings any;

static const struct {
    const struct trace_settings *s;
    const char *header;
    const char *line;
    int64_t time_ns;
    int64_t input;
    int64_t output;
    size_t n_blocks;
} good[] = {
    {&any, AZURE, "2023-11-16 18:17:03.9799600,4808,10", THEN + 979960000, 4808,
     10, 0},
    {&any, AZURE, "2023-11-16T18:17:03.9799600Z,3,1", THEN + 979960000, 3, 1,
     0},
    {&any, AZURE, "2023-11-16 18:17:03+00:00,3,1", THEN, 3, 1, 0},
    {&any, AZURE, "2023-11-16 19:17:03.5+01:00,3,1", THEN + 500000000, 3, 1, 0},
    {&any, AZURE, "2023-11-16 16:47:03-01:30,3,1", THEN, 3, 1, 0},
    {&any, AZURE, "1970-01-01 00:00:00,0,0", 0, 0, 0, 0},
    {&any, AZURE, "2024-02-29 00:00:00,1,1", INT64_C(1709164800) * NS_PER_S, 1,
     1, 0},
    {&any, BURSTGPT, "5,ChatGPT,472,18,490,Conversation log", 5 * NS_PER_S, 472,
     18, 0},
    {&any, BURSTGPT, "5.25,\"GPT-4, turbo \"\"x\"\"\",472.0,18,490,API log",
     5250000000, 472, 18, 0},
    {&any, "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens",
     "2023-11-16 18:17:03,2,7,9", THEN, 7, 9, 0},
    {&own_csv, "id,out,in,ids,when", "x, 3 ,\"4\",[1 2 3],1.5", 1500000, 4, 3,
     3},
    {&own_csv, "id,out,in,when", "x,3,4,2", 2 * NS_PER_MS, 4, 3, 0},
    {&own_csv, "{\"when\"", "{\"when\": 2, \"in\": 4, \"out\": 3}",
     2 * NS_PER_MS, 4, 3, 0},
    {&own_csv, "{}",
     "{\"when\": \"2023-11-16T18:17:03Z\", \"in\": 4, \"out\": 3.0, "
     "\"ids\": [-5, 6]}",
     THEN, 4, 3, 2},
    {&any, "{\"timestamp\": 0, \"hash_ids\": []}",
     "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, "
     "\"hash_ids\": [46, 47, 2353]}",
     27482 * NS_PER_MS, 6955, 52, 3},
    {&any, "{\"chat_id\": 1, \"timestamp\": 0, \"hash_ids\": []}",
     "{\"chat_id\": 159, \"parent_chat_id\": 55, \"timestamp\": 61.114, "
     "\"input_length\": 521, \"output_length\": 132, \"type\": \"text\", "
     "\"turn\": 2, \"hash_ids\": [1089, 1090]}",
     61114 * NS_PER_MS, 521, 132, 2},
};

TEST(good_lines_are_rows)
{
    struct row row = {0};

    for (size_t i = 0; i < COUNT(good); i++) {
        struct parser p = make(good[i].s, good[i].header);
        struct flaw flaw;

        if (!read_line(&p, good[i].line, &row, &flaw))
            fail_msg("%s: %s", good[i].line, flaw.what);
        assert_int_equal(row.time_ns, good[i].time_ns);
        assert_int_equal(row.input, good[i].input);
        assert_int_equal(row.output, good[i].output);
        assert_int_equal(row.n_blocks, good[i].n_blocks);
    }
    row_fini(&row);
}

TEST(blocks_are_of_the_formats_size)
{
    static const struct {
        int format;
        int64_t want;
    } cases[] = {{TRACE_MOONCAKE, 512}, {TRACE_BAILIAN, 16}, {TRACE_JSONL, 64}};
    const char *line = "{\"timestamp\": 1, \"input_length\": 100, "
                       "\"output_length\": 1, \"hash_ids\": [7, 8, 9]}";
    struct row row = {0};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trace_settings s = {.format = cases[i].format,
                                   .block_tokens = 64};
        struct parser p = make(&s, line);
        struct flaw flaw;

        assert_true(read_line(&p, line, &row, &flaw));
        assert_int_equal(row.block_tokens, cases[i].want);
        assert_int_equal(row.n_blocks, 3);
        assert_int_equal(row.blocks[2], 9);
    }
    row_fini(&row);
}

/* ---- damaged ones ---- */

static const struct {
    int format;
    const char *line;
    const char *column; /* NULL: the line as a whole */
    const char *what;
} bad[] = {
    {TRACE_AZURE, "2023-11-16 18:17:03,4808", NULL, "fewer fields"},
    {TRACE_AZURE, "2023-11-16 18:17:03,-1,1", "ContextTokens", "negative"},
    {TRACE_AZURE, "2023-11-16 18:17:03,1,-1", "GeneratedTokens", "negative"},
    {TRACE_AZURE, "2023-11-16 18:17:03,1,x", "GeneratedTokens", "not a length"},
    {TRACE_AZURE, "2023-11-16 18:17:03,1.5,1", "ContextTokens", "not a length"},
    {TRACE_AZURE, "2023-11-16 18:17:03,,1", "ContextTokens", "not a length"},
    {TRACE_AZURE, "2023-11-16 18:17:03,99999999999999999999,1", "ContextTokens",
     "not a length"},
    {TRACE_AZURE, "2023-11-16 18:17:03,3000001,1", "ContextTokens",
     "more than"},
    {TRACE_AZURE, "2023-13-16 18:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-02-29 18:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2100-02-29 18:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-04-31 18:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-11-16 24:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-11-16 18:17:03.,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-11-16 18:17:03+1:00,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "2023-11-16 18:17,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "1969-11-16 18:17:03,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "\"2023-11-16 18:17:03,1,1", NULL, "a quote"},
    {TRACE_AZURE, AZURE, "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "-5,1,1", "TIMESTAMP", "not a time"},
    {TRACE_AZURE, "99999999999999999999,1,1", "TIMESTAMP", "not a time"},
    {TRACE_MOONCAKE, "{\"timestamp\": 1, \"input_length\": 1", NULL,
     "not a JSON object"},
    {TRACE_MOONCAKE, "[1]", NULL, "not a JSON object"},
    {TRACE_MOONCAKE, "{\"timestamp\": 1, \"output_length\": 1}", "input_length",
     "missing"},
    {TRACE_MOONCAKE,
     "{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}",
     "timestamp", "not a time"},
    {TRACE_MOONCAKE,
     "{\"timestamp\": 1, \"input_length\": -1, \"output_length\": 1}",
     "input_length", "negative"},
    {TRACE_MOONCAKE,
     "{\"timestamp\": 1, \"input_length\": \"1\", \"output_length\": 1}",
     "input_length", "not a length"},
    {TRACE_MOONCAKE,
     "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, "
     "\"hash_ids\": [1, \"x\"]}",
     "hash_ids", "not a list"},
};

TEST(a_damaged_line_says_why)
{
    struct row row = {0};

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct trace_settings s = {.format = bad[i].format};
        struct parser p = make(&s, AZURE);
        struct flaw flaw;

        if (read_line(&p, bad[i].line, &row, &flaw))
            fail_msg("taken: %s", bad[i].line);
        if (bad[i].column)
            assert_string_equal(flaw.column, bad[i].column);
        else
            assert_null(flaw.column);
        assert_int_equal(strncmp(flaw.what, bad[i].what, strlen(bad[i].what)),
                         0);
    }
    row_fini(&row);
}
