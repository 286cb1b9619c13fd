/* What a turn of a session carries: the bytes of its body. */
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/api/history.h"
#include "loadgen/schedule/session.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

static const char talks[] =
    "[{\"conversations\":[{\"from\":\"system\",\"value\":\"be \\\"kind\\\"\"},"
    "{\"from\":\"human\",\"value\":\"q0\"},{\"from\":\"gpt\",\"value\":\"r0\"},"
    "{\"from\":\"human\",\"value\":\"lost\"},"
    "{\"from\":\"human\",\"value\":\"q1\\n\"},{\"from\":\"gpt\",\"value\":"
    "\"r1\"},{\"from\":\"human\",\"value\":\"unanswered\"}]}]";

struct rig {
    struct settings settings;
    struct dataset *data;
    struct api api;
    struct session session;
    struct facts facts; /* of its last turn */
    struct buf body;
};

static void set(struct rig *rig, const char *assignment)
{
    struct err err = {0};

    if (settings_assign(&rig->settings, assignment, &err))
        fail_msg("%s", err.msg);
}

static void load_talks(struct rig *rig)
{
    struct err err = {0};
    struct buf file;

    buf_init(&file, sizeof(talks));
    buf_adds(&file, talks);
    if (dataset_read(&rig->data, &rig->settings.data, &file, &err))
        fail_msg("%s", err.msg);
    buf_fini(&file);
    rig->settings.data.loaded = rig->data;
}

static void rig_set_up(struct rig *rig, const char *url)
{
    memset(rig, 0, sizeof(*rig));
    settings_init(&rig->settings);
    strlist_add(&rig->settings.target.urls, url);
    set(rig, "load.rate=5");
    set(rig, "target.model=m");
    set(rig, "data.input_tokens=2");
    set(rig, "data.output_tokens=3");
    set(rig, "data.unique=false");
    buf_init(&rig->body, 100000);
    buf_init(&rig->session.past, SESSION_MAX_PAST);
    rig->session.n_turns = SESSION_MAX_TURNS;
}

static int rig_try(struct rig *rig, struct err *err)
{
    return settings_resolve(&rig->settings, err) ||
                   api_init(&rig->api, &rig->settings, err)
               ? -1
               : 0;
}

static void rig_start(struct rig *rig)
{
    struct err err = {0};

    if (rig_try(rig, &err))
        fail_msg("%s", err.msg);
}

static void rig_fini(struct rig *rig)
{
    api_fini(&rig->api);
    dataset_free(rig->data);
    buf_fini(&rig->body);
    buf_fini(&rig->session.past);
    settings_fini(&rig->settings);
}

/* The body of the next turn, up to what follows the prompt. */
static const char *next_body(struct rig *rig)
{
    char *end;

    history_begin(&rig->api, &rig->session);
    rig->facts = facts_unknown(1000 + rig->session.turn, 0);
    rig->facts.session = rig->session.id;
    rig->facts.turn = rig->session.turn;
    buf_reset(&rig->body);
    api_make_body(&rig->api, &rig->facts, NULL, &rig->session, &rig->body);
    end = strstr(rig->body.data, ",\"max_");
    if (!end)
        end = strstr(rig->body.data, ",\"parameters\"");
    if (!end)
        end = strstr(rig->body.data, ",\"sampling_params\"");
    assert_non_null(end);
    *end = '\0';
    return rig->body.data;
}

static void answer(struct rig *rig, const char *text, int64_t tokens)
{
    struct buf said;

    buf_init(&said, 1000);
    buf_adds(&said, text);
    rig->facts.outcome = OUTCOME_OK;
    rig->facts.output_tokens = tokens;
    rig->facts.token_source =
        tokens == TIME_ABSENT ? TOKENS_NONE : TOKENS_USAGE;
    history_add(&rig->api, &rig->session, &rig->facts, &said);
    rig->session.turn++;
    buf_fini(&said);
}

/* Prompts are words of the seed; what matters is where they stand. */
static void find_prompt(const struct rig *rig, int64_t turn, struct buf *out)
{
    struct sample s = sample_draw(&rig->api.sampler,
                                  session_key(rig->session.id, turn), NULL);

    buf_init(out, 1000);
    sample_put_text(&rig->api.sampler, &s, out);
}

TEST(a_chat_has_all_messages)
{
    struct rig rig;
    struct buf p0;
    struct buf p1;
    char *want;

    rig_set_up(&rig, "http://h/v1/chat/completions");
    set(&rig, "load.turns=3");
    rig_start(&rig);
    rig.session.id = 7;
    find_prompt(&rig, 0, &p0);
    find_prompt(&rig, 1, &p1);
    assert_string_not_equal(buf_text(&p0), buf_text(&p1));
    want =
        keepf("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
              "\"%s\"}]",
              buf_text(&p0));
    assert_string_equal(next_body(&rig), want);
    assert_int_equal(rig.facts.prompt_asked, 2);

    answer(&rig, "say \"hi\"\n", 5);
    want =
        keepf("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
              "\"%s\"},{\"role\":\"assistant\",\"content\":\"say "
              "\\\"hi\\\"\\n\"},{\"role\":\"user\",\"content\":\"%s\"}]",
              buf_text(&p0), buf_text(&p1));
    assert_string_equal(next_body(&rig), want);
    assert_int_equal(rig.facts.prompt_asked, 2 + 5 + 2);

    answer(&rig, "x", TIME_ABSENT); /* its length is not known */
    next_body(&rig);
    assert_int_equal(rig.facts.prompt_asked, TIME_ABSENT);
    buf_fini(&p0);
    buf_fini(&p1);
    rig_fini(&rig);
}

TEST(others_have_one_text)
{
    static const struct {
        const char *url;
        const char *before;
    } cases[] = {
        {"http://h/v1/completions", "{\"model\":\"m\",\"prompt\":\""},
        {"http://h/generate_stream", "{\"inputs\":\""},
        {"http://h/v2/models/m/generate_stream", "{\"text_input\":\""},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        struct buf p0;
        struct buf p1;
        char *want;

        rig_set_up(&rig, cases[i].url);
        set(&rig, "load.turns=3");
        rig_start(&rig);
        find_prompt(&rig, 0, &p0);
        find_prompt(&rig, 1, &p1);
        next_body(&rig);
        answer(&rig, "yes", 1);
        want = keepf("%s%s\\nyes\\n%s\"", cases[i].before, buf_text(&p0),
                     buf_text(&p1));
        assert_string_equal(next_body(&rig), want);
        buf_fini(&p0);
        buf_fini(&p1);
        rig_fini(&rig);
    }
}

TEST(a_shared_prefix_comes_once)
{
    struct rig rig;
    size_t first;

    rig_set_up(&rig, "http://h/v1/completions");
    set(&rig, "load.turns=3");
    set(&rig, "data.shared_prefix=50");
    rig_start(&rig);
    next_body(&rig);
    first = strlen(rig.body.data);
    assert_int_equal(rig.facts.prompt_asked, 52);
    answer(&rig, "yes", 1);
    assert_true(strlen(next_body(&rig)) < first + 50);
    assert_int_equal(rig.facts.prompt_asked, 52 + 1 + 2);
    rig_fini(&rig);
}

TEST(conversations_say_what_is_asked)
{
#define OPENED                                                                 \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be "    \
    "\\\"kind\\\"\"},{\"role\":\"user\",\"content\":\"q0\"}"
    static const struct {
        const char *history;
        const char *later;
    } cases[] = {
        {"data.history=server",
         OPENED ",{\"role\":\"assistant\",\"content\":\"own\"},"
                "{\"role\":\"user\",\"content\":\"q1\\n\"}]"},
        {"data.history=recorded",
         OPENED ",{\"role\":\"assistant\",\"content\":\"r0\"},"
                "{\"role\":\"user\",\"content\":\"q1\\n\"}]"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;

        rig_set_up(&rig, "http://h/v1/chat/completions");
        set(&rig, "data.file=talks.json");
        set(&rig, "data.turns=session");
        set(&rig, cases[i].history);
        load_talks(&rig);
        rig_start(&rig);
        assert_string_equal(next_body(&rig), OPENED "]");
        assert_int_equal(rig.session.n_turns, 2);
        answer(&rig, "own", 1);
        assert_string_equal(next_body(&rig), cases[i].later);
        rig_fini(&rig);
    }
}

/* The word that makes it differ from other runs opens the session. */
TEST(a_tag_comes_first_and_once)
{
    struct rig rig;
    struct buf tag;
    const char *body;

    rig_set_up(&rig, "http://h/v1/chat/completions");
    set(&rig, "data.file=talks.json");
    set(&rig, "data.turns=session");
    set(&rig, "data.unique=true");
    set(&rig, "data.nonce=5");
    load_talks(&rig);
    rig_start(&rig);
    body = next_body(&rig);
    assert_non_null(strstr(body, " be \\\"kind\\\"\""));
    assert_non_null(strstr(body, "\"content\":\"q0\""));
    buf_init(&tag, 1000);
    buf_adds(&tag, body);
    tag.len -= 1; /* but its bracket */
    answer(&rig, "own", 1);
    body = next_body(&rig);
    assert_memory_equal(body, buf_text(&tag), tag.len);
    assert_non_null(strstr(body, "\"content\":\"q1\\n\""));
    buf_fini(&tag);
    rig_fini(&rig);
}

/* A history that the memory budget has no room for ends its session. */
TEST(a_history_takes_from_the_budget)
{
    static const struct {
        int64_t budget;
        int64_t turns;
    } cases[] = {{INT64_MAX, SESSION_MAX_TURNS}, {100, 1}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;

        rig_set_up(&rig, "http://h/v1/chat/completions");
        set(&rig, "load.turns=3");
        rig_start(&rig);
        next_body(&rig);
        budget_set(cases[i].budget);
        answer(&rig, "an answer of some length, so that it needs memory", 1);
        budget_set(INT64_MAX);
        assert_int_equal(rig.session.n_turns, cases[i].turns);
        assert_int_equal(rig.session.charged,
                         i == 0 ? (int64_t)rig.session.past.cap : 0);
        budget_give(rig.session.charged);
        rig_fini(&rig);
    }
}

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *url;
        const char *assignments[3];
        const char *want;
    } cases[] = {
        {"http://h/v1/embeddings",
         {"load.turns=2"},
         "require an API that generates text"},
        {"http://h/v1/completions",
         {"load.turns=2", "target.body={\"p\":\"{{prompt}}\"}"},
         "target.body with fields cannot"},
        {"http://h/v1/completions",
         {"load.turns=2", "data.prompts=ids"},
         "data.prompts: ids cannot be combined with load.scenario: sessions"},
        {"http://h/v1/completions",
         {"load.turns=2", "data.cache_hit_rate=10%"},
         "data.cache_hit_rate cannot be combined with"},
        {"http://h/v1/completions",
         {"load.turns=2", "data.file=x"},
         "data.file requires data.turns: session"},
        {"http://h/v1/completions",
         {"data.turns=session"},
         "data.turns: session requires data.file"},
        {"http://h/v1/completions",
         {"data.history=recorded", "load.turns=2"},
         "data.history: recorded requires data.turns: session"},
        {"http://h/v1/completions",
         {"load.scenario=sessions"},
         "load.scenario: sessions requires load.turns"},
        {"http://h/v1/completions",
         {"load.turns=2", "load.stop=decided"},
         "load.stop: decided requires load.scenario: server or trace"},
        {"http://h/v1/completions",
         {"load.turns=2", "load.seeds=mlperf"},
         "load.seeds: mlperf requires load.scenario: server, single-stream"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct rig rig;

        rig_set_up(&rig, cases[i].url);
        for (size_t k = 0; k < 3 && cases[i].assignments[k]; k++)
            set(&rig, cases[i].assignments[k]);
        assert_int_equal(rig_try(&rig, &err), -1);
        if (!strstr(err.msg, cases[i].want))
            fail_msg("%s", err.msg);
        rig_fini(&rig);
    }
}
