/* Each note where it must speak up, and where it must not. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/tally/notes.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define FACT(name) offsetof(struct facts, name)

/* A stream with nothing odd about it: 512 tokens in, 128 out, 128 events from
 * 100 ms to 1 s. */
static struct facts plain_stream(void)
{
    struct facts f = row_ok(0, 0, 1000);

    f.first = 100 * NS_PER_MS;
    f.head = f.first;
    f.events = 128;
    f.stall = 10 * NS_PER_MS;
    f.prompt_asked = 512;
    f.prompt_tokens = 512;
    f.cached_tokens = 0;
    f.output_asked = 128;
    f.output_tokens = 128;
    f.token_source = TOKENS_USAGE;
    f.event_tokens = 128;
    f.first_tokens = 1;
    f.is_split = 1;
    f.finish = FINISH_LENGTH;
    return f;
}

static const struct note_inputs strict = {
    .is_length_forced = true,
    .cached_share = 0,
    .e2e_p99_ns = 1000 * NS_PER_MS,
    .tail_p99_ns = 0,
};

/* `odd` of a thousand requests have another value of a fact, or of two. */
struct notes_case {
    const char *want; /* "": none speaks */
    size_t fact;
    int64_t value;
    size_t fact2; /* 0: none */
    int64_t value2;
    int64_t odd;
};

static void set(struct facts *f, size_t fact, int64_t value)
{
    memcpy((char *)f + fact, &value, sizeof(value));
}

static struct notes made(const struct notes_case *c,
                         const struct note_inputs *in)
{
    struct oddities o = {0};
    struct notes notes;

    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = plain_stream();

        if (i < c->odd)
            set(&f, c->fact, c->value);
        if (i < c->odd && c->fact2)
            set(&f, c->fact2, c->value2);
        oddities_add(&o, &f);
    }
    notes_make(&o, in, &notes);
    return notes;
}

static const struct notes_case cases[] = {
    {"", FACT(finish), FINISH_LENGTH, 0, 0, 1000},
    {"finish_reason", FACT(finish), FINISH_CONTENT_FILTER, 0, 0, 1},
    {"finish_reason", FACT(finish), FINISH_OTHER, 0, 0, 1},
    {"finish_reason", FACT(finish), FINISH_NONE, 0, 0, 1},
    {"", FACT(finish), FINISH_NONE, 0, 0, 1000}, /* not known */
    {"", FACT(finish), FINISH_TOOL_CALLS, 0, 0, 1000},
    {"early_stop", FACT(finish), FINISH_STOP, 0, 0, 1},

    {"", FACT(output_asked), 200, 0, 0, 10}, /* 1 % of the requests */
    {"output_length", FACT(output_asked), 200, 0, 0, 11},
    {"output_length", FACT(output_asked), 100, 0, 0, 11},
    {"", FACT(output_asked), 120, 0, 0, 1000}, /* 6.7 % more */
    {"", FACT(output_asked), TIME_ABSENT, 0, 0, 1000},
    {"", FACT(output_asked), 0, 0, 0, 1000},

    {"", FACT(prompt_asked), 600, 0, 0, 10},
    {"prompt_length", FACT(prompt_asked), 600, 0, 0, 11},
    {"", FACT(prompt_asked), 500, 0, 0, 1000},
    {"", FACT(prompt_asked), TIME_ABSENT, 0, 0, 1000},

    {"", FACT(cached_tokens), 25, 0, 0, 1000}, /* 4.9 % */
    {"cached_prompts", FACT(cached_tokens), 26, 0, 0, 1000},
    {"cached_prompts", FACT(cached_tokens), 512, 0, 0, 51},
    {"", FACT(cached_tokens), TIME_ABSENT, 0, 0, 1000},

    {"burst", FACT(first), 999 * NS_PER_MS, FACT(coalesced), 126, 501},
    {"burst", FACT(first), 999 * NS_PER_MS, FACT(coalesced), 127, 1000},
    {"", FACT(first), 999 * NS_PER_MS, FACT(coalesced), 126, 500},
    {"burst", FACT(first), 999 * NS_PER_MS, FACT(coalesced), 112, 1000},
    {"", FACT(first), 999 * NS_PER_MS, FACT(coalesced), 111, 1000},
    {"", FACT(first), 970 * NS_PER_MS, FACT(coalesced), 126, 1000},

    {"token_counts", FACT(event_tokens), 120, 0, 0, 11},
    {"token_counts", FACT(event_tokens), 130, 0, 0, 11},
    {"", FACT(event_tokens), 120, 0, 0, 10},
    {"", FACT(event_tokens), 127, 0, 0, 1000}, /* the last has no text */
    {"", FACT(event_tokens), 100, FACT(is_split), 0, 1000},
    {"", FACT(event_tokens), 100, FACT(reasoning_tokens), 28, 1000},
    {"", FACT(event_tokens), 128, FACT(reasoning_tokens), 28, 1000},
};

TEST(notes_speak_of_what_is_odd)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct notes n = made(&cases[i], &strict);
        const char *got = n.len > 0 ? n.list[0].name : "";

        if (strcmp(got, cases[i].want) != 0 || n.len > 1)
            print_error("case %zu: %zu notes, '%s'\n", i, n.len, got);
        assert_string_equal(got, cases[i].want);
        assert_true(n.len <= 1);
        if (n.len == 0)
            continue;
        assert_true(n.list[0].count > 0 && n.list[0].of >= n.list[0].count);
        assert_true(n.list[0].share ==
                    (double)n.list[0].count / (double)n.list[0].of);
    }
}

/* No note where the SLO does not depend on it. */
TEST(whole_answers_have_no_first_token)
{
    const struct notes_case c = {.fact = FACT(events), .odd = 3};
    struct note_inputs in = strict;
    struct notes n;

    assert_int_equal(made(&c, &in).len, 0);
    in.limits_ttft = true;
    n = made(&c, &in);
    assert_int_equal(n.len, 1);
    assert_string_equal(n.list[0].name, "no_stream");
    assert_int_equal(n.list[0].count, 3);
    assert_int_equal(n.list[0].of, 1000);
    in.limits_ttft = true;
    assert_int_equal(made(&cases[0], &in).len, 0); /* all stream */
}

/* Three events at once are no burst: hardly a stream. */
TEST(a_short_stream_is_no_burst)
{
    struct oddities o = {0};
    struct facts f = plain_stream();
    struct notes n;

    f.first = f.last;
    f.events = 3;
    f.coalesced = 2;
    oddities_add(&o, &f);
    notes_make(&o, &strict, &n);
    assert_int_equal(n.len, 0);
    f.events = 4;
    f.coalesced = 3;
    oddities_add(&o, &f);
    notes_make(&o, &strict, &n);
    assert_int_equal(n.len, 1);
    assert_string_equal(n.list[0].name, "burst");
    assert_int_equal(n.list[0].of, 1);
}

/* Only who asked for it is told. */
TEST(some_notes_need_to_be_asked_for)
{
    const struct notes_case early = {"", FACT(finish), FINISH_STOP, 0, 0, 1000};
    const struct notes_case cached = {"", FACT(cached_tokens), 512, 0, 0, 1000};
    const struct note_inputs lax = {
        .cached_share = -1, .e2e_p99_ns = -1, .tail_p99_ns = -1};

    assert_int_equal(made(&early, &lax).len, 0);
    assert_int_equal(made(&cached, &lax).len, 0);
}

/* All prompts have 512 tokens. */
TEST(the_cache_finds_what_was_sent_before)
{
    static const struct {
        double share; /* of what was sent before */
        int64_t cached;
        const char *want;
    } caches[] = {
        {0, 25, ""},
        {0, 26, "cached_prompts"},
        {0.5, 256, ""},
        {0.5, 281, ""},
        {0.5, 282, "cached_prompts"},
        {0.5, 128, ""},
        {0.5, 127, "uncached_prompts"},
        {0.5, 0, "uncached_prompts"},
        {0.04, 0, ""}, /* too little to tell */
        {-1, 512, ""},
        {-1, 0, ""},
        {0.5, TIME_ABSENT, ""}, /* it does not count them */
    };

    for (size_t i = 0; i < COUNT(caches); i++) {
        const struct notes_case c = {
            "", FACT(cached_tokens), caches[i].cached, 0, 0, 1000};
        const struct note_inputs in = {.cached_share = caches[i].share,
                                       .e2e_p99_ns = -1,
                                       .tail_p99_ns = -1};
        struct notes n = made(&c, &in);

        if (n.len != (caches[i].want[0] != '\0') ||
            (n.len > 0 && strcmp(n.list[0].name, caches[i].want) != 0))
            fail_msg("%g: %lld", caches[i].share, (long long)caches[i].cached);
    }
}

/* Servers that speak of cached tokens only where there are some: here in every
 * second answer, of all of its prompt. */
TEST(who_says_nothing_found_nothing)
{
    static const struct {
        double share;
        const char *want;
    } shares[] = {
        {0.5, ""},
        {0.44, "cached_prompts"},
        {0.95, ""},
        {1.01, "uncached_prompts"},
    };
    struct oddities o = {0};

    for (int i = 0; i < 1000; i++) {
        struct facts f = plain_stream();

        f.cached_tokens = i % 2 ? f.prompt_tokens : TIME_ABSENT;
        oddities_add(&o, &f);
    }
    for (size_t i = 0; i < COUNT(shares); i++) {
        const struct note_inputs in = {.cached_share = shares[i].share,
                                       .e2e_p99_ns = -1,
                                       .tail_p99_ns = -1};
        struct notes n;

        notes_make(&o, &in, &n);
        assert_int_equal(n.len, shares[i].want[0] != '\0');
        if (n.len > 0)
            assert_string_equal(n.list[0].name, shares[i].want);
    }
}

TEST(a_long_tail_goes_by_p99)
{
    static const struct {
        int64_t tail_p99_ms;
        size_t want;
    } tails[] = {{0, 0}, {50, 0}, {51, 1}};

    for (size_t i = 0; i < COUNT(tails); i++) {
        const struct notes_case late = {"", FACT(end), 1100 * NS_PER_MS,
                                        0,  0,         20};
        struct note_inputs in = strict;
        struct notes n;

        in.tail_p99_ns = tails[i].tail_p99_ms * NS_PER_MS;
        n = made(&late, &in);
        assert_int_equal(n.len, tails[i].want);
        if (n.len == 0)
            continue;
        assert_string_equal(n.list[0].name, "tail");
        assert_int_equal(n.list[0].count, 20);
        assert_int_equal(n.list[0].of, 1000);
    }
}

/* Too few for a p99: one that is late is an accident. */
TEST(of_few_tails_most_must_be_long)
{
    static const struct {
        int late;
        int all;
        size_t want;
    } runs[] = {{1, 20, 0}, {10, 20, 0}, {11, 20, 1},
                {1, 1, 1},  {3, 298, 0}, {3, 299, 1}};

    for (size_t i = 0; i < COUNT(runs); i++) {
        struct oddities o = {0};
        struct note_inputs in = strict;
        struct notes n;

        in.tail_p99_ns = in.e2e_p99_ns;
        for (int j = 0; j < runs[i].all; j++) {
            struct facts f = plain_stream();

            if (j < runs[i].late)
                f.end = 1100 * NS_PER_MS;
            oddities_add(&o, &f);
        }
        notes_make(&o, &in, &n);
        assert_int_equal(n.len, runs[i].want);
    }
}

/* Plain HTTP has nothing to be odd about. */
TEST(other_answers_have_no_notes)
{
    struct oddities o = {0};
    struct note_inputs in = strict;
    struct notes n;

    in.tail_p99_ns = NS_PER_S;
    for (int i = 0; i < 100; i++) {
        struct facts f = row_ok(i, 0, 10);

        oddities_add(&o, &f);
    }
    notes_make(&o, &in, &n);
    assert_int_equal(n.len, 0);
}

/* A server that closes after each answer, told from a load that needs as many
 * connections as it has requests. */
TEST(connections_that_are_closed)
{
    static const struct {
        struct note_inputs in;
        int64_t fresh; /* of a thousand */
        bool speaks;
    } loads[] = {
        {{.keeps_connections = true, .in_flight_mean = 2}, 1000, true},
        {{.keeps_connections = true, .in_flight_mean = 2}, 901, true},
        {{.keeps_connections = true, .in_flight_mean = 2}, 900, false},
        {{.keeps_connections = true, .in_flight_mean = 400}, 1000, false},
        {{.keeps_connections = false, .in_flight_mean = 2}, 1000, false},
    };

    for (size_t i = 0; i < COUNT(loads); i++) {
        const struct notes_case c = {"", FACT(is_fresh), 1, 0,
                                     0,  loads[i].fresh};
        struct notes notes = made(&c, &loads[i].in);

        assert_int_equal(notes.len, loads[i].speaks);
        if (loads[i].speaks)
            assert_string_equal(notes.list[0].name, "connection_closed");
    }
}
