#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/trace/unpack.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char f_name[] = "f";

static struct dataset *read_as(const struct data_settings *s, const char *text,
                               struct err *err)
{
    struct dataset *d;
    struct buf file;

    buf_init(&file, 100000);
    buf_adds(&file, text);
    dataset_read(&d, s, &file, err);
    buf_fini(&file);
    return d;
}

static struct dataset *good(int format, const char *text)
{
    const struct data_settings s = {.file = f_name, .format = format};
    struct err err = {0};
    struct dataset *d = read_as(&s, text, &err);

    if (!d)
        fail_msg("%s", err.msg);
    return d;
}

/* The field as it goes into a body. */
static void assert_field(const struct dataset *d, size_t item, const char *name,
                         const char *want)
{
    int column = dataset_column(d, name, strlen(name));
    const struct value *v = column >= 0 ? dataset_value(d, item, column) : NULL;

    if (!v) {
        fail_msg("no %s", name);
        return;
    }
    if (v->len != strlen(want) || memcmp(dataset_text(d, v), want, v->len) != 0)
        fail_msg("%s is %.*s, not %s", name, (int)v->len, dataset_text(d, v),
                 want);
}

/* ---- what is read ---- */

TEST(lines_of_json)
{
    struct dataset *d =
        good(DATA_AUTO, "\xef\xbb\xbf{\"prompt\":\"a\\n\\u00e4\",\"n\":-1.5,"
                        "\"max_tokens\":7,\"label\":3}\r\n"
                        "\n"
                        "  {\"deep\":{\"a\":[1]},\"prompt\":\"b\",\"n\":null}");

    assert_string_equal(d->format, "jsonl");
    assert_int_equal(d->n, 2);
    assert_true(d->forms[FORM_TEXT]);
    assert_false(d->forms[FORM_IDS]);
    assert_field(d, 0, "prompt", "a\\n\\u00e4"); /* as it stands */
    assert_field(d, 0, "n", "-1.5");
    assert_field(d, 0, "label", "3");
    assert_int_equal(d->items[0].output, 7);
    assert_int_equal(d->items[1].output, -1);
    assert_int_equal(d->items[1].line, 3);
    assert_field(d, 1, "deep", "{\"a\":[1]}");
    assert_null(dataset_value(d, 1, dataset_column(d, "n", 1)));
    dataset_free(d);
}

TEST(arrays_of_json)
{
    struct dataset *d =
        good(DATA_AUTO, "[\n {\"text\": \"a\"},\n\n {\"text\": \"b\"}\n]\n");

    assert_string_equal(d->format, "jsonl");
    assert_int_equal(d->n, 2);
    assert_int_equal(d->items[1].line, 4);
    assert_field(d, 1, "text", "b");
    dataset_free(d);
}

/* The key may be on any line of the first object, but must be its own. */
TEST(conversations_are_detected)
{
#define TURNS                                                                  \
    "\"conversations\": [\n {\"from\": \"human\", \"value\": \"q\"},\n"        \
    " {\"from\": \"gpt\", \"value\": \"a\"}\n]"
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"[{" TURNS "}]", "sharegpt"},
        {"[\n  {\n    \"id\": \"a\",\n    " TURNS "\n  }\n]\n", "sharegpt"},
        {"[{\"text\":\"\\\"conversations\\\"\",\"o\":{" TURNS "}}]", "jsonl"},
        {"[{\"text\":\"a\"},\n{\"text\":\"b\"," TURNS "}]", "jsonl"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct dataset *d = good(DATA_AUTO, cases[i].text);

        assert_string_equal(d->format, cases[i].want);
        dataset_free(d);
    }
}

TEST(token_ids)
{
    struct dataset *d = good(DATA_JSONL, "{\"input_ids\":[5, 6,7]}\n"
                                         "{\"input_ids\":[8]}\n");

    assert_true(d->forms[FORM_IDS]);
    assert_int_equal(d->items[0].input, 3);
    assert_int_equal(d->items[1].input, 1);
    dataset_free(d);
}

/* Where a text begins and where the last one ends. */
TEST(messages_of_a_chat)
{
    static const char text[] =
        "{\"messages\":[{\"role\":\"system\",\"content\":\"be\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"x\"}},{\"type\":\"text\",\"text\":\"what\"}]}"
        "]}";
    struct dataset *d = good(DATA_JSONL, text);
    const struct value *v = dataset_value(d, 0, d->role[ROLE_MESSAGES]);
    const char *at = dataset_text(d, v);

    assert_true(d->forms[FORM_MESSAGES]);
    assert_memory_equal(at + d->items[0].head, "be", 2);
    assert_memory_equal(at + d->items[0].tail - 4, "what\"", 5);
    dataset_free(d);
}

TEST(values_between_commas)
{
    struct dataset *d =
        good(DATA_CSV, "prompt,\"the, answer\",output_tokens\r\n"
                       "\"a, \"\"b\"\"\nc\",1,20\r\n"
                       "\r\n"
                       "plain \t,,\r\n"
                       "last,x,3");

    assert_int_equal(d->n, 3);
    assert_field(d, 0, "prompt", "a, \\\"b\\\"\\nc");
    assert_field(d, 0, "the, answer", "1");
    assert_int_equal(d->items[0].output, 20);
    assert_int_equal(d->items[1].line, 5);
    assert_field(d, 1, "prompt", "plain \\t");
    assert_field(d, 1, "the, answer", "");
    assert_int_equal(d->items[1].output, -1);
    assert_int_equal(d->items[2].output, 3);
    dataset_free(d);
}

TEST(lines_of_text)
{
    struct dataset *d = good(DATA_TEXT, "one \"1\"\r\n\n\\two\n\x01\n");

    assert_int_equal(d->n, 3);
    assert_field(d, 0, "prompt", "one \\\"1\\\"");
    assert_field(d, 1, "prompt", "\\\\two");
    assert_int_equal(d->items[1].line, 3);
    assert_field(d, 2, "prompt", "\\u0001");
    dataset_free(d);
}

static const char talks[] =
    "[{\"id\":\"a\",\"conversations\":[{\"from\":\"system\",\"value\":\"s\"},"
    "{\"from\":\"human\",\"value\":\"q1\"},{\"from\":\"gpt\",\"value\":\"a1\"},"
    "{\"from\":\"human\",\"value\":\"q2\"},{\"from\":\"gpt\",\"value\":\"a2\"}"
    "]},\n"
    "{\"id\":\"b\",\"conversations\":[{\"from\":\"gpt\",\"value\":\"x\"}]},\n"
    "{\"id\":\"c\",\"conversations\":[]},\n"
    "{\"id\":\"d\",\"conversations\":[{\"role\":\"user\",\"content\":\"q\"},"
    "{\"role\":\"assistant\",\"content\":\"a\"}]}]";

TEST(conversations)
{
    struct data_settings s = {.file = f_name};
    struct err err = {0};
    struct dataset *d = read_as(&s, talks, &err);

    assert_non_null(d);
    assert_string_equal(d->format, "sharegpt");
    assert_int_equal(d->n, 2);
    assert_int_equal(d->left_out, 2);
    assert_field(d, 0, "prompt", "q1");
    assert_field(d, 0, "label", "a1");
    assert_field(d, 0, "messages",
                 "[{\"role\":\"system\",\"content\":\"s\"},"
                 "{\"role\":\"user\",\"content\":\"q1\"}]");
    assert_field(d, 1, "id", "d");
    assert_field(d, 1, "prompt", "q");
    dataset_free(d);
    s.turns = TURNS_ALL;
    d = read_as(&s, talks, &err);
    assert_false(d->forms[FORM_TEXT]);
    assert_field(d, 0, "label", "a2");
    assert_field(d, 0, "messages",
                 "[{\"role\":\"system\",\"content\":\"s\"},"
                 "{\"role\":\"user\",\"content\":\"q1\"},"
                 "{\"role\":\"assistant\",\"content\":\"a1\"},"
                 "{\"role\":\"user\",\"content\":\"q2\"}]");
    dataset_free(d);
}

TEST(fields_that_were_named)
{
    static char names[][6] = {"q", "n", "right", "Q"};
    struct data_settings s = {.file = f_name,
                              .format = DATA_JSONL,
                              .prompt = names[0],
                              .output = names[1],
                              .label = names[2]};
    struct err err = {0};
    struct dataset *d = read_as(
        &s, "{\"prompt\":\"no\",\"q\":\"yes\",\"n\":\"4\",\"right\":\"r\"}",
        &err);

    assert_non_null(d);
    assert_string_equal(d->columns.items[d->role[ROLE_TEXT]], "q");
    assert_string_equal(d->columns.items[d->role[ROLE_LABEL]], "right");
    assert_int_equal(d->items[0].output, 4);
    dataset_free(d);
    s.prompt = names[3];
    assert_null(read_as(&s, "{\"q\":\"yes\"}", &err));
    assert_string_equal(err.msg, "data.prompt: f:1: has no field 'Q'");
}

/* A field that is a prompt elsewhere, and a table here. */
TEST(what_is_no_prompt_is_none)
{
    struct dataset *d = good(DATA_JSONL, "{\"input\":{\"x\":1}}");

    assert_int_equal(d->role[ROLE_TEXT], -1);
    dataset_free(d);
}

/* ---- what is refused ---- */

static const struct {
    int format;
    const char *text;
    const char *want;
} damaged[] = {
    {DATA_AUTO, "", "f: is empty"},
    {DATA_AUTO, "hello", "f: the format cannot be detected; set --data-format"},
    {DATA_TEXT, "\n\n", "f: contains no samples"},
    {DATA_TEXT, "a\n\xff\n", "f:2: not valid UTF-8"},
    {DATA_JSONL, "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"",
     "f:2: not valid JSON"},
    {DATA_JSONL, "{\"prompt\":\"a\"}\n\n{\"prompt\":}", "f:3: not valid JSON"},
    {DATA_JSONL, "{\"prompt\":\"a\"} 1", "f:1: text after the object"},
    {DATA_JSONL, "{\"prompt\":\"a\"}\n[1]\n", "f:2: not a JSON object"},
    {DATA_JSONL, "{\"prompt\":\"a\"}\nx\n", "f:2: not a JSON object"},
    {DATA_JSONL, "{\"prompt\":\"\xff\"}", "f:1: not valid JSON"},
    {DATA_JSONL, "{\"prompt\":\"a\",\"prompt\":\"b\"}",
     "f:1: a key occurs twice"},
    {DATA_JSONL, "{\"prompt\":\"a\"}\n{\"prompt\":2}",
     "f:2: prompt: not a text"},
    {DATA_JSONL, "{\"prompt\":\"\"}", "f:1: prompt: is empty"},
    {DATA_JSONL, "{\"input_ids\":[1,-2]}",
     "f:1: input_ids: not a list of token"},
    {DATA_JSONL, "{\"input_ids\":[]}", "f:1: input_ids: not a list of token"},
    {DATA_JSONL, "{\"input_ids\":\"1\"}",
     "f:1: input_ids: not a list of token"},
    {DATA_JSONL, "{\"messages\":{}}", "f:1: messages: not a list of messages"},
    {DATA_JSONL, "{\"messages\":[]}", "f:1: messages: no text in"},
    {DATA_JSONL, "{\"messages\":[{\"content\":\"a\"}]}",
     "f:1: messages: a message without a role"},
    {DATA_JSONL, "{\"prompt\":\"a\",\"max_tokens\":0}",
     "f:1: max_tokens: not a number of tokens"},
    {DATA_JSONL, "{\"prompt\":\"a\",\"max_tokens\":1.5}",
     "f:1: max_tokens: not a number of tokens"},
    {DATA_JSONL, "[{\"prompt\":\"a\"},\n{\"prompt\":\"b\"]",
     "f:2: not valid JSON"},
    {DATA_JSONL, "[{\"prompt\":\"a\"},\n{\"prompt\":\"b\"}",
     "f:2: not valid JSON"},
    {DATA_CSV, "prompt,n\na\n", "f:2: fewer fields than the first line"},
    {DATA_CSV, "prompt,n\n\"a\nb\",1\na,1,2\n", "f:4: more fields than"},
    {DATA_CSV, "prompt\n\"a\n", "f:2: a quote that does not end"},
    {DATA_CSV, "prompt\n\"a\"b\n", "f:2: text after a closing quote"},
    {DATA_CSV, "prompt,prompt\na,b\n", "f:1: there are two columns 'prompt'"},
    {DATA_CSV, "prompt\n", "f: contains no samples"},
    {DATA_CSV, "prompt\n\xc3(\n", "f:2: not valid UTF-8"},
    {DATA_CSV, "prompt,max_tokens\na,many\n", "f:2: max_tokens: not a number"},
    {DATA_SHAREGPT, "[{\"conversations\":[{\"from\":\"human\"}]}]",
     "f:1: conversations: a turn without from and value"},
    {DATA_SHAREGPT, "[{\"conversations\":3}]",
     "f:1: conversations: not an array"},
    {DATA_SHAREGPT, "[{\"conversations\":[]}]",
     "f: contains no samples with a question and an answer"},
};

TEST(damage_is_told_with_its_line)
{
    for (size_t i = 0; i < COUNT(damaged); i++) {
        const struct data_settings s = {.file = f_name,
                                        .format = damaged[i].format};
        struct err err = {0};
        struct dataset *d = read_as(&s, damaged[i].text, &err);

        if (d)
            fail_msg("'%s' was taken", damaged[i].text);
        assert_int_equal(err.code, ERR_CONFIG);
        if (strncmp(err.msg, damaged[i].want, strlen(damaged[i].want)) != 0)
            fail_msg("'%s': %s", damaged[i].text, err.msg);
    }
}

/* ---- files ---- */

static const char gz[] = "\037\213\010\000\000\000\000\000\002\003\313\317\113"
                         "\345\052\051\317\347\002\000\346\013\272\022\010\000"
                         "\000\000";
static const char zst[] = "\050\265\057\375\004\130\101\000\000\157\156\145\012"
                          "\164\167\157\012\346\246\016\100";

TEST(files_compressed_or_not)
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t len;
        const char *hash; /* begins so */
    } files[] = {
        {"a.txt", "one\ntwo\n", 8, "c3f9c8c283a2b1f2f1896f27a01cbe3c"},
        {"a.txt.gz", gz, sizeof(gz) - 1, "d78ea5238b81f167d67ea751d5e41a4b"},
        {"a.txt.zst", zst, sizeof(zst) - 1, ""},
    };

    for (size_t i = 0; i < COUNT(files); i++) {
        char path[200];
        struct data_settings s = {.file = path};
        struct err err = {0};
        struct dataset *d;

        snprintf(path, sizeof(path), "%s",
                 tmpdir_write(files[i].name, files[i].bytes, files[i].len));
        if (dataset_load(&d, &s, &err))
            fail_msg("%s", err.msg);
        assert_int_equal(d->n, 2);
        assert_string_equal(d->format, "text");
        assert_int_equal(strlen(d->sha256), 64);
        assert_memory_equal(d->sha256, files[i].hash, strlen(files[i].hash));
        dataset_free(d);
    }
}

TEST(files_that_are_none)
{
    char path[200];
    struct data_settings s = {.file = path, .format = DATA_TEXT};
    struct err err = {0};
    struct dataset *d;

    snprintf(path, sizeof(path), "%s", tmpdir_path("nowhere"));
    assert_int_equal(dataset_load(&d, &s, &err), -1);
    assert_non_null(strstr(err.msg, "nowhere: No such file"));
    err = (struct err){0};
    snprintf(path, sizeof(path), "%s", tmpdir_root());
    assert_int_equal(dataset_load(&d, &s, &err), -1);
    assert_non_null(strstr(err.msg, "is not a regular file"));
    err = (struct err){0}; /* which has no writer, and is not waited for */
    snprintf(path, sizeof(path), "%s", tmpdir_path("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(dataset_load(&d, &s, &err), -1);
    assert_non_null(strstr(err.msg, "is not a regular file"));
    err = (struct err){0};
    snprintf(path, sizeof(path), "%s",
             tmpdir_write("cut.gz", gz, sizeof(gz) - 6));
    assert_int_equal(dataset_load(&d, &s, &err), -1);
    assert_non_null(strstr(err.msg, "ends in the middle"));
    assert_null(d);
}

TEST(a_file_may_be_too_large)
{
    char path[200];
    char hash[SHA256_TEXT];
    struct err err = {0};
    struct buf file;

    snprintf(path, sizeof(path), "%s",
             tmpdir_write("a.gz", gz, sizeof(gz) - 1));
    buf_init(&file, 4); /* it unpacks to eight */
    assert_int_equal(slurp(path, &file, hash, &err), -1);
    assert_non_null(strstr(err.msg, "a data set must fit into memory"));
    buf_fini(&file);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
