/* Objects of JSON, one a line or all in one array.  A member of an object is a
 * field; of a conversation, as ShareGPT has them, a prompt is made. */
#include "loadgen/payload/data_format.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/jscan.h"
#include "common/settings/settings.h"

#define MAX_NAME  ((size_t)1 << 16)
#define MAX_TURNS 1024

struct json_reader {
    struct dataset *d;
    const struct data_settings *settings;
    bool wants_turns;    /* of conversations */
    struct buf name;     /* of a field */
    const char *counted; /* lines are known up to here */
    uint32_t line;
    const char *wrong; /* with the object, though it is JSON; NULL: nothing */
};

/* Lines begin from 1. */
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

/* ---- fields ---- */

static int column_of(struct json_reader *r, struct jtext key, struct err *err)
{
    if (!key.has_escapes)
        return data_add_column(r->d, key.at, key.len, err);
    buf_reset(&r->name);
    jtext_decode(key, &r->name);
    return data_add_column(r->d, buf_text(&r->name), r->name.len, err);
}

/* Nothing is what null says. */
static void add_field(struct json_reader *r, struct jscan *s, int column)
{
    enum jscan_type type = jscan_peek(s);
    const char *from = s->at;
    struct jtext text;

    if (type == JSCAN_STRING) {
        if (jscan_string(s, &text))
            data_add_value(r->d, column, VALUE_TEXT, text.at, text.len);
    } else if (jscan_skip(s) && type != JSCAN_NULL) {
        data_add_value(r->d, column, VALUE_JSON, from, (size_t)(s->at - from));
    }
}

/* ---- conversations ---- */

enum speaker { SPEAKER_OTHER, SPEAKER_SYSTEM, SPEAKER_USER, SPEAKER_MODEL };

struct turn {
    enum speaker who;
    struct jtext text;
};

struct talk {
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

static void read_turn(struct json_reader *r, struct jscan *s, struct talk *t)
{
    struct turn turn = {0};
    struct jtext name = {0};
    struct jtext key;

    if (!jscan_object(s)) {
        r->wrong = "conversations: a turn that is no object";
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
    if (r->wrong)
        return;
    turn.who = speaker_of(name);
    if (t->len == MAX_TURNS)
        r->wrong = "conversations: more than 1024 turns";
    else
        t->turns[t->len++] = turn;
}

static void read_talk(struct json_reader *r, struct jscan *s, struct talk *t)
{
    if (!jscan_array(s)) {
        r->wrong = "conversations: no array";
        return;
    }
    while (jscan_item(s))
        read_turn(r, s, t);
}

/* Where the model speaks: first, or last.  0: it does not answer anybody. */
static size_t answer_of(const struct talk *t, int turns)
{
    size_t found = 0;

    for (size_t i = 1; i < t->len; i++) {
        if (t->turns[i].who == SPEAKER_MODEL &&
            t->turns[i - 1].who == SPEAKER_USER) {
            found = i;
            if (turns == TURNS_FIRST)
                break;
        }
    }
    return found;
}

static void put_message(struct buf *out, const char *role, struct jtext text)
{
    buf_addf(out, "{\"role\":\"%s\",\"content\":\"", role);
    buf_add(out, text.at, text.len);
    buf_adds(out, "\"}");
}

/* Of a session: the system prompt that opens it, and questions with answers. */
static bool is_of_session(const struct talk *t, size_t i)
{
    switch (t->turns[i].who) {
    case SPEAKER_SYSTEM:
        return i == 0;
    case SPEAKER_USER:
        return i + 1 < t->len && t->turns[i + 1].who == SPEAKER_MODEL;
    case SPEAKER_MODEL:
        return i > 0 && t->turns[i - 1].who == SPEAKER_USER;
    default:
        return false;
    }
}

/* Is this message of what is sent?  A question has its system prompt, and all
 * that was said has what leads to the last answer. */
static bool is_wanted(const struct talk *t, size_t i, size_t answer, int turns)
{
    enum speaker who = t->turns[i].who;

    switch (turns) {
    case TURNS_SESSION:
        return is_of_session(t, i);
    case TURNS_FIRST:
        return who == SPEAKER_SYSTEM ||
               (who != SPEAKER_OTHER && i + 1 == answer);
    default:
        return who != SPEAKER_OTHER;
    }
}

/* A session has its last answer too, which nobody sends. */
static void put_messages(struct buf *out, const struct talk *t, size_t answer,
                         int turns)
{
    static const char *const roles[] = {[SPEAKER_SYSTEM] = "system",
                                        [SPEAKER_USER] = "user",
                                        [SPEAKER_MODEL] = "assistant"};
    bool is_first = true;

    buf_adds(out, "[");
    for (size_t i = 0; i < answer + (turns == TURNS_SESSION); i++) {
        const struct turn *turn = &t->turns[i];

        if (!is_wanted(t, i, answer, turns))
            continue;
        buf_adds(out, is_first ? "" : ",");
        put_message(out, roles[turn->who], turn->text);
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

/* 1: there is no answer in it, and no sample. */
static int add_talk(struct json_reader *r, const struct talk *t,
                    struct err *err)
{
    int turns = r->settings->turns;
    size_t answer = answer_of(t, turns);
    size_t start = r->d->made.len;
    int column;

    if (answer == 0 || t->turns[answer - 1].text.len == 0)
        return 1;
    column = data_add_column(r->d, "messages", strlen("messages"), err);
    if (column < 0)
        return -1;
    put_messages(&r->d->made, t, answer, turns);
    data_add_made(r->d, column, VALUE_JSON, start);
    if (turns == TURNS_FIRST &&
        add_jtext(r, "prompt", t->turns[answer - 1].text, err))
        return -1;
    r->d->has_talks = turns == TURNS_SESSION;
    return r->d->has_talks ? 0 /* each of its turns has an answer */
                           : add_jtext(r, "label", t->turns[answer].text, err);
}

/* ---- samples ---- */

static bool is_there(const struct dataset *d, int column)
{
    return dataset_value(d, d->n - 1, column) != NULL;
}

static int read_fields(struct json_reader *r, struct jscan *s, struct talk *t,
                       struct err *err)
{
    struct jtext key;

    while (jscan_key(s, &key)) {
        int column;

        if (r->wants_turns && jtext_is(key, "conversations")) {
            read_talk(r, s, t);
            continue;
        }
        column = column_of(r, key, err);
        if (column < 0)
            return -1;
        if (is_there(r->d, column))
            r->wrong = "a key that is there twice";
        add_field(r, s, column);
    }
    return 0;
}

/* An object; what the scanner says of it is the caller's to look at. */
static int read_object(struct json_reader *r, struct jscan *s, struct err *err)
{
    struct talk talk;
    uint32_t line;
    int rc;

    jscan_peek(s);
    line = line_at(r, s->at);
    talk.len = 0;
    if (!jscan_object(s))
        return data_fail(r->d, line, err, "is no object of JSON");
    data_add_item(r->d, line);
    if (read_fields(r, s, &talk, err))
        return -1;
    if (s->has_failed)
        return data_fail(r->d, line, err, "is no JSON");
    if (r->wrong)
        return data_fail(r->d, line, err, "%s", r->wrong);
    if (!r->wants_turns)
        return 0;
    rc = add_talk(r, &talk, err);
    if (rc <= 0)
        return rc;
    data_drop_item(r->d);
    r->d->left_out++;
    return 0;
}

static int read_array(struct json_reader *r, struct jscan *s, struct err *err)
{
    jscan_array(s);
    while (jscan_item(s)) {
        if (read_object(r, s, err))
            return -1;
    }
    if (!jscan_end(s))
        return data_fail(r->d, r->line, err, "is no JSON after this");
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
                return data_fail(r->d, r->line, err,
                                 "something behind the object");
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
    int rc;

    r.wants_turns = strcmp(d->format, data_format_names[DATA_SHAREGPT]) == 0;
    buf_init(&r.name, MAX_NAME);
    jscan_init(&scan, d->file.data, d->file.len);
    rc = jscan_peek(&scan) == JSCAN_ARRAY ? read_array(&r, &scan, err)
                                          : read_lines(&r, err);
    buf_fini(&r.name);
    return rc;
}
