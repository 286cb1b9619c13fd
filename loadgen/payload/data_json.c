/* JSON objects, one per line or all in one array.  A member of an object is a
 * field; a conversation, as in ShareGPT, is turned into a prompt. */
#include "loadgen/payload/data_format.h"

#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"

#define MAX_NAME  ((size_t)1 << 16)
#define MAX_TURNS 1024

struct json_reader {
    struct dataset *d;
    const struct data_settings *settings;
    bool wants_turns;    /* the format has conversations */
    struct buf name;     /* of a field */
    const char *counted; /* line ends are counted up to here */
    uint32_t line;
    const char *wrong; /* why an object of valid JSON is refused; NULL: it is
                          not */
};

/* The number of the line, from 1. */
static uint32_t line_at(struct json_reader *r, const char *at)
{
    while (r->counted < at) {
        const char *end = memchr(r->counted, '\n', (size_t)(at - r->counted));

        if (!end)
            break;
        r->line++;
        r->counted = end + 1;
    }
    return r->line;
}

/* ---- conversations ---- */

enum speaker { SPEAKER_OTHER, SPEAKER_SYSTEM, SPEAKER_USER, SPEAKER_MODEL };

struct turn {
    enum speaker who;
    struct jtext text;
};

struct conversation {
    struct turn turns[MAX_TURNS];
    size_t len;
};

static enum speaker speaker_of(struct jtext name)
{
    static const struct {
        const char *name;
        enum speaker who;
    } names[] = {
        {"human", SPEAKER_USER},    {"user", SPEAKER_USER},
        {"gpt", SPEAKER_MODEL},     {"assistant", SPEAKER_MODEL},
        {"chatgpt", SPEAKER_MODEL}, {"bing", SPEAKER_MODEL},
        {"bard", SPEAKER_MODEL},    {"model", SPEAKER_MODEL},
        {"system", SPEAKER_SYSTEM},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (jtext_is(name, names[i].name))
            return names[i].who;
    }
    return SPEAKER_OTHER;
}

static void read_turn(struct json_reader *r, struct jscan *s,
                      struct conversation *c)
{
    struct turn turn = {0};
    struct jtext name = {0};
    struct jtext key;

    if (!jscan_object(s)) {
        r->wrong = "conversations: a turn that is not an object";
        return;
    }
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "from") || jtext_is(key, "role"))
            jscan_string(s, &name);
        else if (jtext_is(key, "value") || jtext_is(key, "content"))
            jscan_string(s, &turn.text);
        else
            jscan_skip(s);
    }
    if (!name.at || !turn.text.at)
        r->wrong = "conversations: a turn without from and value";
    else if (c->len == MAX_TURNS)
        r->wrong = "conversations: more than 1024 turns";
    if (r->wrong)
        return;
    turn.who = speaker_of(name);
    c->turns[c->len++] = turn;
}

/* Is this message sent?  A session has the system prompt that opens it, and
 * questions with their answers.  A first question has its system prompt.
 * Otherwise everything up to the last answer is sent. */
static bool is_wanted(const struct conversation *c, size_t i, size_t answer,
                      int turns)
{
    enum speaker who = c->turns[i].who;

    if (who == SPEAKER_OTHER)
        return false;
    if (turns == TURNS_FIRST)
        return who == SPEAKER_SYSTEM || i + 1 == answer;
    if (turns != TURNS_SESSION)
        return true;
    if (who == SPEAKER_SYSTEM)
        return i == 0;
    if (who == SPEAKER_USER)
        return i + 1 < c->len && c->turns[i + 1].who == SPEAKER_MODEL;
    return i > 0 && c->turns[i - 1].who == SPEAKER_USER;
}

/* A session also has its last answer, which is not sent. */
static void put_messages(struct buf *out, const struct conversation *c,
                         size_t answer, int turns)
{
    static const char *const roles[] = {[SPEAKER_SYSTEM] = "system",
                                        [SPEAKER_USER] = "user",
                                        [SPEAKER_MODEL] = "assistant"};
    bool is_first = true;

    buf_adds(out, "[");
    for (size_t i = 0; i < answer + (turns == TURNS_SESSION); i++) {
        const struct turn *turn = &c->turns[i];

        if (!is_wanted(c, i, answer, turns))
            continue;
        buf_addf(out, "%s{\"role\":\"%s\",\"content\":\"", is_first ? "" : ",",
                 roles[turn->who]);
        buf_add(out, turn->text.at, turn->text.len);
        buf_adds(out, "\"}");
        is_first = false;
    }
    buf_adds(out, "]");
}

static int add_jtext(struct json_reader *r, const char *name, struct jtext text,
                     struct err *err)
{
    int column = data_add_column(r->d, name, strlen(name), err);

    if (column >= 0)
        data_add_value(r->d, column, VALUE_TEXT, text.at, text.len);
    return column < 0 ? -1 : 0;
}

/* 1: the conversation has no answer and is not a sample. */
static int add_conversation(struct json_reader *r, const struct conversation *c,
                            struct err *err)
{
    int turns = r->settings->turns;
    size_t answer = 0; /* the model's first or last; 0: it answers nothing */
    size_t start = r->d->made.len;
    int column;

    for (size_t i = 1; i < c->len && !(answer > 0 && turns == TURNS_FIRST);
         i++) {
        if (c->turns[i].who == SPEAKER_MODEL &&
            c->turns[i - 1].who == SPEAKER_USER)
            answer = i;
    }

    if (answer == 0 || c->turns[answer - 1].text.len == 0)
        return 1;
    column = data_add_column(r->d, "messages", strlen("messages"), err);
    if (column < 0)
        return -1;
    put_messages(&r->d->made, c, answer, turns);
    data_add_made(r->d, column, VALUE_JSON, start);
    if (turns == TURNS_FIRST &&
        add_jtext(r, "prompt", c->turns[answer - 1].text, err))
        return -1;
    r->d->has_conversations = turns == TURNS_SESSION;
    if (r->d->has_conversations)
        return 0; /* each turn has an answer of its own */
    return add_jtext(r, "label", c->turns[answer].text, err);
}

/* ---- samples ---- */

/* A field that is null counts as absent. */
static int read_fields(struct json_reader *r, struct jscan *s,
                       struct conversation *c, struct err *err)
{
    struct jtext key;

    while (jscan_key(s, &key)) {
        enum jscan_type type;
        struct jtext text;
        const char *from;
        int column;

        if (r->wants_turns && jtext_is(key, "conversations")) {
            if (!jscan_array(s))
                r->wrong = "conversations: not an array";
            else
                while (jscan_item(s))
                    read_turn(r, s, c);
            continue;
        }
        buf_reset(&r->name);
        jtext_decode(key, &r->name);
        column = data_add_column(r->d, buf_text(&r->name), r->name.len, err);
        if (column < 0)
            return -1;
        if (dataset_value(r->d, r->d->n - 1, column))
            r->wrong = "a key occurs twice";
        type = jscan_peek(s);
        from = s->at;
        if (type == JSCAN_STRING && jscan_string(s, &text))
            data_add_value(r->d, column, VALUE_TEXT, text.at, text.len);
        else if (type != JSCAN_STRING && jscan_skip(s) && type != JSCAN_NULL)
            data_add_value(r->d, column, VALUE_JSON, from,
                           (size_t)(s->at - from));
    }
    return 0;
}

/* The caller checks that nothing follows the object. */
static int read_object(struct json_reader *r, struct jscan *s, struct err *err)
{
    struct conversation conversation;
    uint32_t line;
    int rc;

    jscan_peek(s);
    line = line_at(r, s->at);
    conversation.len = 0;
    if (!jscan_object(s))
        return data_fail(r->d, line, err, "not a JSON object");
    data_add_item(r->d, line);
    if (read_fields(r, s, &conversation, err))
        return -1;
    if (s->has_failed)
        return data_fail(r->d, line, err, "not valid JSON");
    if (r->wrong)
        return data_fail(r->d, line, err, "%s", r->wrong);
    if (!r->wants_turns)
        return 0;
    rc = add_conversation(r, &conversation, err);
    if (rc <= 0)
        return rc;
    data_drop_item(r->d);
    r->d->left_out++;
    return 0;
}

static int read_lines(struct json_reader *r, struct err *err)
{
    const char *at = r->d->file.data;
    const char *end = at + r->d->file.len;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct jscan s;

        if (!stop)
            stop = end;
        jscan_init(&s, at, (size_t)(stop - at));
        if (jscan_peek(&s) != JSCAN_NOTHING || s.at < stop) {
            if (read_object(r, &s, err))
                return -1;
            if (!jscan_end(&s))
                return data_fail(r->d, r->line, err, "text after the object");
        }
        at = stop < end ? stop + 1 : end;
    }
    return 0;
}

int data_read_json(struct dataset *d, const struct data_settings *s,
                   struct err *err)
{
    struct json_reader r = {
        .d = d, .settings = s, .counted = d->file.data, .line = 1};
    struct jscan scan;
    int rc = 0;

    r.wants_turns = strcmp(d->format, data_format_names[DATA_SHAREGPT]) == 0;
    buf_init(&r.name, MAX_NAME);
    jscan_init(&scan, d->file.data, d->file.len);
    if (jscan_peek(&scan) != JSCAN_ARRAY) {
        rc = read_lines(&r, err);
    } else {
        jscan_array(&scan);
        while (rc == 0 && jscan_item(&scan))
            rc = read_object(&r, &scan, err);
        if (rc == 0 && !jscan_end(&scan))
            rc = data_fail(d, r.line, err, "not valid JSON after this line");
    }
    buf_fini(&r.name);
    return rc;
}

/* ---- the conversation of a session ---- */

static void read_message(struct jscan *s, struct jtext *role,
                         struct jtext *text)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "role"))
            jscan_string(s, role);
        else if (jtext_is(key, "content"))
            jscan_string(s, text);
        else
            jscan_skip(s);
    }
}

/* Read up to the answer of the turn; the number of turns read before it, or in
 * all. */
static int64_t read_until(const char *messages, size_t len, int64_t turn,
                          struct conversation_turn *out)
{
    int64_t n = 0;
    struct jscan s;

    jscan_init(&s, messages, len);
    if (!jscan_array(&s))
        return 0;
    while (n <= turn && jscan_item(&s)) {
        struct jtext role = {0};
        struct jtext text = {0};

        read_message(&s, &role, &text);
        if (jtext_is(role, "system") && n == turn && turn == 0)
            out->system = text;
        else if (jtext_is(role, "user") && n == turn)
            out->question = text;
        else if (jtext_is(role, "assistant") && n++ == turn)
            out->answer = text;
    }
    return n;
}

struct conversation_turn conversation_turn(const char *messages, size_t len,
                                           int64_t turn)
{
    struct conversation_turn found = {0};

    read_until(messages, len, turn, &found);
    return found;
}

int64_t conversation_count(const char *messages, size_t len)
{
    struct conversation_turn ignored = {0};

    return read_until(messages, len, INT64_MAX - 1, &ignored);
}
