#include "loadgen/payload/conversation.h"

#include "common/base/jscan.h"

struct message {
    struct jtext role;
    struct jtext text;
};

static struct message read_message(struct jscan *s)
{
    struct message m = {0};
    struct jtext key;

    if (!jscan_object(s))
        return m;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "role"))
            jscan_string(s, &m.role);
        else if (jtext_is(key, "content"))
            jscan_string(s, &m.text);
        else
            jscan_skip(s);
    }
    return m;
}

/* Up to the answer of the turn; how many there were before it, or in all. */
static int64_t read_until(const char *messages, size_t len, int64_t turn,
                          struct talk_turn *out)
{
    int64_t n = 0;
    struct jscan s;

    jscan_init(&s, messages, len);
    if (!jscan_array(&s))
        return 0;
    while (n <= turn && jscan_item(&s)) {
        struct message m = read_message(&s);

        if (jtext_is(m.role, "system") && n == turn && turn == 0)
            out->system = m.text;
        else if (jtext_is(m.role, "user") && n == turn)
            out->question = m.text;
        else if (jtext_is(m.role, "assistant") && n++ == turn)
            out->answer = m.text;
    }
    return n;
}

struct talk_turn talk_turn(const char *messages, size_t len, int64_t turn)
{
    struct talk_turn said = {0};

    read_until(messages, len, turn, &said);
    return said;
}

int64_t talk_count(const char *messages, size_t len)
{
    struct talk_turn ignored = {0};

    return read_until(messages, len, INT64_MAX - 1, &ignored);
}
