#include <stdio.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/foreign_flags.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"
#include "tests/support/test.h"

struct fields {
    char *text;
    bool on;
    bool other;
    int64_t duration;
    double rate;
    int64_t count;
    int64_t size;
    int64_t bound;
    int64_t pause;
    uint64_t seed;
    int port;
    int choice;
    struct strlist list;
    struct strlist split;
    struct strmap map;
    struct strmap headers;
};

static int check_no_x(const char *text, struct err *err)
{
    return strchr(text, 'x') ? err_set(err, ERR_CONFIG, "'%s' has an x", text)
                             : 0;
}

static const char *const colours[] = {"red", "green", "blue", NULL};

#define AT(field) .offset = offsetof(struct fields, field)

static const struct opt opts[] = {
    {.key = "text",
     .flag = "text",
     .letter = 't',
     .type = &opt_text,
     AT(text),
     .check = check_no_x,
     .help = "a text"},
    {.key = "on",
     .flag = "on",
     .letter = 'o',
     .type = &opt_switch,
     AT(on),
     .help = "a switch"},
    {.key = "other",
     .flag = "other",
     .letter = 'p',
     .type = &opt_switch,
     AT(other),
     .initial = "true",
     .help = "another"},
    {.key = "duration",
     .flag = "duration",
     .letter = 'd',
     .type = &opt_duration,
     AT(duration),
     .initial = "2s",
     .help = "a time"},
    {.key = "rate",
     .flag = "rate",
     .aliases = "rps request-frequency",
     .type = &opt_rate,
     AT(rate),
     .help = "a rate"},
    {.key = "count",
     .flag = "count",
     .letter = 'n',
     .type = &opt_count,
     AT(count),
     .help = "a count"},
    {.key = "size",
     .flag = "size",
     .type = &opt_size,
     AT(size),
     .initial = "64k",
     .help = "a size"},
    {.key = "bound",
     .flag = "bound",
     .type = &opt_count,
     AT(bound),
     .takes_auto = true,
     .initial = "auto",
     .help = "a bound"},
    {.key = "pause",
     .flag = "pause",
     .type = &opt_duration,
     AT(pause),
     .takes_auto = true,
     .help = "a pause"},
    {.key = "seed",
     .flag = "seed",
     .type = &opt_seed,
     AT(seed),
     .help = "a seed"},
    {.key = "port",
     .flag = "port",
     .type = &opt_port,
     AT(port),
     .help = "a port"},
    {.key = "colour",
     .flag = "colour",
     .type = &opt_choice,
     AT(choice),
     .names = colours,
     .initial = "green",
     .help = "a colour"},
    {.key = "list",
     .flag = "item",
     .type = &opt_list,
     AT(list),
     .check = check_no_x,
     .help = "items"},
    {.key = "split",
     .flag = "split",
     .type = &opt_list,
     AT(split),
     .splits_commas = true,
     .help = "more"},
    {.key = "map",
     .flag = "label",
     .type = &opt_map,
     AT(map),
     .separator = '=',
     .help = "labels"},
    {.key = "headers",
     .flag = "header",
     .letter = 'H',
     .type = &opt_map,
     AT(headers),
     .separator = ':',
     .help = "headers"},
};

static const struct opt_block block = {NULL, opts, COUNT(opts)};

/* A second flag of the same list, which takes words without an x. */
static bool has_no_x(const char *word)
{
    return !strchr(word, 'x') && word[0] != '-';
}

static int check_short(const char *text, struct err *err)
{
    return strlen(text) > 1 ? err_set(err, ERR_CONFIG, "'%s' is long", text)
                            : 0;
}

static const struct opt more_opts[] = {
    {.key = "list",
     .flag = "list",
     .type = &opt_list,
     AT(list),
     .help = "a list"},
    {.flag = "more",
     .type = &opt_list,
     AT(list),
     .takes_word = has_no_x,
     .check = check_short,
     .help = "more of it"},
};

static const struct opt_block more_block = {NULL, more_opts, COUNT(more_opts)};

/* Flags that are not in the tables of settings: those of `run`. */
static const char *const of_commands[] = {
    "out",           "quiet",      "json",     "html",
    "listen-linger", "wait-ready", "start-at", "show"};

struct fixture {
    struct fields f;
    struct opt_set set;
    struct strlist words;
    struct err err;
};

static void begin(struct fixture *x)
{
    *x = (struct fixture){.set = {&block, &x->f}};
    memset(&x->f, 0xee, sizeof(x->f)); /* init must not look at it */
    opt_init(&x->set);
}

static void end(struct fixture *x)
{
    opt_fini(&x->set);
    opt_fini(&x->set);
    strlist_fini(&x->words);
}

static int parse(struct fixture *x, const char *const *argv)
{
    return opt_parse_argv(&x->set, 1, argv, &x->words, &x->err);
}

TEST(defaults_are_set)
{
    struct fixture x;

    begin(&x);
    assert_null(x.f.text);
    assert_false(x.f.on);
    assert_true(x.f.other);
    assert_int_equal(x.f.duration, 2 * NS_PER_S);
    assert_true(x.f.rate == 0);
    assert_int_equal(x.f.size, 65536);
    assert_int_equal(x.f.bound, OPT_AUTO);
    assert_int_equal(x.f.pause, 0);
    assert_int_equal(x.f.choice, 1);
    assert_int_equal(x.f.list.len, 0);
    end(&x);
}

TEST(every_kind_has_its_flag)
{
    static const char *const argv[] = {"word",
                                       "--text",
                                       "hello",
                                       "--on",
                                       "--other=false",
                                       "-d5s",
                                       "--rate",
                                       "2/m",
                                       "-n",
                                       "10k",
                                       "--size",
                                       "1MiB",
                                       "--seed",
                                       "18446744073709551615",
                                       "--port",
                                       "65535",
                                       "--colour",
                                       "blue",
                                       "--item",
                                       "a,b",
                                       "--item=c=d",
                                       "--split",
                                       "a, b,c",
                                       "--label",
                                       "k=v=w",
                                       "-H",
                                       "a: b:c",
                                       "-",
                                       "--split=d",
                                       "--header",
                                       " x-y :z",
                                       NULL};
    struct fixture x;

    begin(&x);
    assert_int_equal(parse(&x, argv), 0);
    assert_string_equal(x.f.text, "hello");
    assert_true(x.f.on && !x.f.other);
    assert_int_equal(x.f.duration, 5 * NS_PER_S);
    assert_true(x.f.rate == 2.0 / 60);
    assert_int_equal(x.f.count, 10000);
    assert_int_equal(x.f.size, 1 << 20);
    assert_true(x.f.seed == UINT64_MAX);
    assert_int_equal(x.f.port, 65535);
    assert_int_equal(x.f.choice, 2);
    assert_int_equal(x.f.list.len, 2);
    assert_string_equal(x.f.list.items[0], "a,b");
    assert_int_equal(x.f.split.len, 4);
    assert_string_equal(x.f.split.items[1], "b");
    assert_string_equal(strmap_get(&x.f.map, "k"), "v=w");
    assert_string_equal(strmap_get(&x.f.headers, "a"), "b:c");
    assert_string_equal(strmap_get(&x.f.headers, "x-y"), "z");
    assert_int_equal(x.words.len, 2);
    assert_string_equal(x.words.items[0], "word");
    assert_string_equal(x.words.items[1], "-");
    end(&x);
}

/* Other tools call them so. */
TEST(aliases_are_accepted)
{
    static const struct {
        const char *argv[3];
        double want;
    } cases[] = {
        {{"--rps", "5"}, 5},
        {{"--request-frequency=7"}, 7},
        {{"--rate", "9"}, 9},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture x;

        begin(&x);
        assert_int_equal(parse(&x, cases[i].argv), 0);
        assert_true(x.f.rate == cases[i].want);
        end(&x);
    }
}

static char *in_brackets(const char *text)
{
    return xasprintf("[%s]", text);
}

static int check_bracket(const char *text, struct err *err)
{
    return text[0] == '[' ? 0 : err_set(err, ERR_CONFIG, "no bracket");
}

/* ... before it is checked, of a scalar and of a list. */
TEST(texts_are_completed)
{
    static const struct opt completed[] = {
        {.key = "text",
         .flag = "text",
         .type = &opt_text,
         AT(text),
         .complete = in_brackets,
         .check = check_bracket},
        {.key = "list",
         .flag = "list",
         .type = &opt_list,
         AT(list),
         .complete = in_brackets,
         .check = check_bracket},
    };
    static const struct opt_block own = {NULL, completed, COUNT(completed)};
    static const char *const argv[] = {"--text", "a", "--list=b", NULL};
    struct fixture x;

    *(&x) = (struct fixture){.set = {&own, &x.f}};
    opt_init(&x.set);
    assert_int_equal(parse(&x, argv), 0);
    assert_string_equal(x.f.text, "[a]");
    assert_string_equal(x.f.list.items[0], "[b]");
    end(&x);
}

/* The table names flags of `run`, and none that it has is in it. */
TEST(flags_of_other_tools_lead_to_ours)
{
    for (size_t i = 0; i < n_foreign_flags; i++) {
        const struct foreign_flag *f = &foreign_flags[i];
        bool is_ours = false;
        bool has_use = !f->use;

        assert_ptr_equal(foreign_flag_find(f->name), f); /* no duplicates */
        assert_true(f->use || f->note);
        for (int b = 0; b <= BLOCK_COST; b++) {
            for (size_t k = 0; k < settings_blocks[b]->len; k++) {
                const struct opt *opt = &settings_blocks[b]->opts[k];

                is_ours |= b != BLOCK_SWEEP && opt->flag &&
                           strcmp(opt->flag, f->name) == 0;
                is_ours |= f->name[1] == '\0' && opt->letter == f->name[0];
                has_use |=
                    opt->flag && f->use && strcmp(opt->flag, f->use) == 0;
            }
        }
        for (size_t k = 0; k < COUNT(of_commands); k++)
            has_use |= f->use && strcmp(of_commands[k], f->use) == 0;
        if (is_ours || !has_use)
            fail_msg("--%s%s", f->name, is_ours ? " exists" : " leads nowhere");
    }
}

TEST(short_switches_go_together)
{
    static const char *const argv[] = {"-opd3s", "-otabc", NULL};
    struct fixture x;

    begin(&x);
    x.f.other = false;
    assert_int_equal(parse(&x, argv), 0);
    assert_true(x.f.on && x.f.other);
    assert_int_equal(x.f.duration, 3 * NS_PER_S);
    assert_string_equal(x.f.text, "abc");
    end(&x);
}

TEST(flags_replace_lists_and_merge_maps)
{
    static const char *const argv[] = {"--item",  "new", "--item", "newer",
                                       "--label", "b=9", NULL};
    struct fixture x;

    begin(&x);
    assert_int_equal(
        opt_assign(&x.set, opt_by_key(&block, "list"), "old", &x.err), 0);
    assert_int_equal(
        opt_assign(&x.set, opt_by_key(&block, "map"), "a=1", &x.err), 0);
    assert_int_equal(
        opt_assign(&x.set, opt_by_key(&block, "map"), "b=2", &x.err), 0);
    assert_int_equal(parse(&x, argv), 0);
    assert_int_equal(x.f.list.len, 2);
    assert_string_equal(x.f.list.items[0], "new");
    assert_string_equal(strmap_get(&x.f.map, "a"), "1");
    assert_string_equal(strmap_get(&x.f.map, "b"), "9");
    end(&x);
}

static const struct {
    const char *argv[4];
    const char *want;
} refused[] = {
    {{"--rat", "5"}, "unknown flag '--rat'; did you mean '--rate'?"},
    {{"--rat=5"}, "unknown flag '--rat'; did you mean '--rate'?"},
    {{"--bananas"}, "unknown flag '--bananas'"},
    {{"--=5"}, "unknown flag '--'"},
    {{"-Z"}, "unknown flag '-Z'"},
    {{"-oZ"}, "unknown flag '-Z'"},
    {{"-oz"}, "unknown flag '-z' (hey and oha); use --duration"},
    {{"--vus=5"}, "unknown flag '--vus'"}, /* there is no --concurrency */
    {{"--tag", "a"}, "unknown flag '--tag' (k6); use --label"},
    {{"--latency"},
     "unknown flag '--latency' (wrk); percentiles are always reported"},
    {{"--artifact-dir"}, "unknown flag '--artifact-dir'"},
    {{"--frequency"}, "unknown flag '--frequency'"}, /* not all of an alias */
    {{"--rate"}, "--rate requires a value (RATE)"},
    {{"-d"}, "--duration requires a value (DURATION)"},
    {{"--label"}, "--label requires a value (KEY=VALUE)"},
    {{"--rate", "-5"},
     "--rate: '-5' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"--rate="}, "--rate: '' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"-d5"}, "--duration: '5' is not a duration; write 500ms, 2s or 1h30m"},
    {{"-n", "x"}, "--count: 'x' is not a count; write 1000, 10k or 1M"},
    {{"-n", "auto"}, "--count: 'auto' is not a count; write 1000, 10k or 1M"},
    {{"--bound", "-1"}, "--bound: '-1' is not a count; write 1000, 10k or 1M"},
    {{"--bound", "Auto"},
     "--bound: 'Auto' is not a count; write 1000, 10k or 1M"},
    {{"--size", "1.5"}, "--size: '1.5' is not a size; write 512, 64k or 1MiB"},
    {{"--on=yes"}, "--on: 'yes' is neither true nor false"},
    {{"--seed", "-1"},
     "--seed: '-1' is not a seed; write a whole number, 0 or more"},
    {{"--seed", "18446744073709551616"},
     "--seed: '18446744073709551616' is not a seed; write a whole number, 0 or "
     "more"},
    {{"--seed", "1x"},
     "--seed: '1x' is not a seed; write a whole number, 0 or more"},
    {{"--port", "65536"}, "--port: '65536' is not a port (0 to 65535)"},
    {{"--port", " 5"}, "--port: ' 5' is not a port (0 to 65535)"},
    {{"--colour", "pink"}, "--colour: 'pink' is not one of: red, green, blue"},
    {{"--label", "novalue"}, "--label: 'novalue' must have the form key=value"},
    {{"--label", "=v"}, "--label: '=v' must have the form key=value"},
    {{"-H", "novalue"}, "--header: 'novalue' must have the form key:value"},
    {{"-t", "xyz"}, "--text: 'xyz' has an x"},
    {{"--item", "ok", "--item=x"}, "--item: 'x' has an x"},
};

TEST(wrong_command_lines_are_refused)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct fixture x;

        begin(&x);
        assert_int_equal(parse(&x, refused[i].argv), -1);
        assert_int_equal(x.err.code, ERR_USAGE);
        assert_string_equal(x.err.msg, refused[i].want);
        end(&x);
    }
}

/* What print writes, parse reads back. */
TEST(printed_values_are_read_back)
{
    static const struct {
        const char *key;
        const char *text;
    } cases[] = {
        {"text", "any = thing"}, {"on", "true"},
        {"on", "false"},         {"duration", "1500us"},
        {"rate", "0.125/s"},     {"count", "12345"},
        {"size", "1048576"},     {"seed", "18446744073709551615"},
        {"port", "80"},          {"colour", "red"},
        {"bound", "auto"},       {"bound", "0"},
        {"bound", "77"},         {"pause", "auto"},
        {"pause", "3s"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct opt *opt = opt_by_key(&block, cases[i].key);
        struct fixture x;
        struct buf out;

        begin(&x);
        buf_init(&out, 100);
        assert_int_equal(opt_assign(&x.set, opt, cases[i].text, &x.err), 0);
        opt_print(&x.set, opt, &out);
        assert_string_equal(buf_text(&out), cases[i].text);
        buf_fini(&out);
        end(&x);
    }
    assert_null(opt_by_key(&block, "none"));
}

TEST(auto_can_be_said_and_taken_back)
{
    static const struct {
        const char *argv[5];
        int64_t bound;
        int64_t pause;
    } cases[] = {
        {{"--bound", "5", "--pause=2s"}, 5, 2 * NS_PER_S},
        {{"--bound=auto", "--pause", "auto"}, OPT_AUTO, OPT_AUTO},
        {{"--bound=5", "--bound", "auto"}, OPT_AUTO, 0},
        {{"--pause=auto", "--pause", "0s"}, OPT_AUTO, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture x;

        begin(&x);
        assert_int_equal(parse(&x, cases[i].argv), 0);
        assert_int_equal(x.f.bound, cases[i].bound);
        assert_int_equal(x.f.pause, cases[i].pause);
        end(&x);
    }
}

/* The same flag in two sets goes to the first; each set has its own struct. */
TEST(sets_are_searched_in_order)
{
    static const char *const argv[] = {"-n", "5", "--seed", "9", NULL};
    struct fixture a;
    struct fixture b;
    struct opt_set sets[2];

    begin(&a);
    begin(&b);
    sets[0] = a.set;
    sets[1] = b.set;
    assert_int_equal(opt_parse_argv(sets, 2, argv, &a.words, &a.err), 0);
    assert_int_equal(a.f.count, 5);
    assert_int_equal(b.f.count, 0);
    end(&a);
    end(&b);
}

TEST(the_help_lists_flags_in_wrapped_lines)
{
    static const struct opt wide = {
        .flag = "a-rather-long-name",
        .type = &opt_duration,
        .initial = "2s",
        .help = "a text that is so long that it does not fit into one line; "
                "not in the short list"};
    static const char *const lines[] = {
        "  -t, --text TEXT             a text\n",
        "  -o, --on                    a switch\n",
        "      --rate RATE             a rate (also --rps, "
        "--request-frequency)\n",
        "  -d, --duration DURATION     a time (default 2s)\n",
        "      --colour red|green|blue\n"
        "                              a colour (default green)\n",
        "      --label KEY=VALUE       labels\n",
        "      --bound N               a bound (default auto)\n",
        "  -H, --header 'KEY: VALUE'   headers\n",
        "      --a-rather-long-name DURATION\n"
        "                              a text that is so long that it does "
        "not fit into\n"
        "                              one line (default 2s)\n",
    };
    struct buf out;

    buf_init(&out, 10000);
    for (size_t i = 0; i < block.len; i++)
        opt_print_flag(&block.opts[i], false, &out);
    opt_print_flag(&wide, true, &out);
    for (size_t i = 0; i < COUNT(lines); i++)
        assert_non_null(strstr(buf_text(&out), lines[i]));
    buf_fini(&out);
}

TEST(two_flags_of_a_list_add_up)
{
    static const struct {
        const char *argv[8];
        const char *want; /* the list, then the words */
    } cases[] = {
        {{"--more", "a", "b", "x", "c"}, "a b | x c"},
        {{"--more", "a", "--list", "x"}, "a x | "},
        {{"--list", "x", "--more", "a", "b"}, "x a b | "},
        {{"--more=a", "b", "--more", "c"}, "a b c | "},
        {{"--more", "a", "--", "b"}, "a | b"},
        {{"--more", " a  b", "c d", "x"}, "a b c d | x"},
        {{"w"}, "old | w"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fields f;
        struct opt_set set = {&more_block, &f};
        struct strlist words = {0};
        struct err err = {0};
        char got[64] = "";
        size_t at = 0;

        opt_init(&set);
        strlist_add(&f.list, "old"); /* from a file */
        assert_int_equal(opt_parse_argv(&set, 1, cases[i].argv, &words, &err),
                         0);
        for (size_t k = 0; k < f.list.len; k++)
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%s ",
                                   f.list.items[k]);
        at += (size_t)snprintf(got + at, sizeof(got) - at, "| ");
        for (size_t k = 0; k < words.len; k++)
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%s",
                                   k ? " " : "", words.items[k]);
        assert_string_equal(got, cases[i].want);
        strlist_fini(&words);
        opt_fini(&set);
    }
}

/* As a shell takes them, so that the same command line can be given again. */
TEST(flags_that_were_given_are_put)
{
    static const struct {
        const char *argv[12];
        const char *want;
    } cases[] = {
        {{"word"}, ""},
        {{"--text", "plain/path.csv", "-o"}, " --text plain/path.csv --on"},
        {{"--text", "two words"}, " --text 'two words'"},
        {{"--text", "it's"}, " --text 'it'\\''s'"},
        {{"--duration", "2s", "--colour", "red"}, " --colour red"},
        {{"--split", "a < 1,b", "--seed", "5"},
         " --split 'a < 1' --split b"}, /* seed is left out */
    };
    static const char *const but[] = {"seed", NULL};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fields f;
        struct opt_set set = {&block, &f};
        struct strlist words = {0};
        struct err err = {0};
        struct buf got;

        buf_init(&got, 1024);
        opt_init(&set);
        assert_int_equal(opt_parse_argv(&set, 1, cases[i].argv, &words, &err),
                         0);
        opt_put_given(&set, but, &got);
        assert_string_equal(buf_text(&got), cases[i].want);
        buf_fini(&got);
        strlist_fini(&words);
        opt_fini(&set);
    }
}

/* A word that is meant for a flag and wrong is the flag's fault. */
TEST(a_word_may_be_wrong)
{
    static const char *const argv[] = {"--more", "a", "bb", NULL};
    struct fields f;
    struct opt_set set = {&more_block, &f};
    struct strlist words = {0};
    struct err err = {0};

    opt_init(&set);
    assert_int_equal(opt_parse_argv(&set, 1, argv, &words, &err), -1);
    assert_string_equal(err.msg, "--more: 'bb' is long");
    strlist_fini(&words);
    opt_fini(&set);
}
