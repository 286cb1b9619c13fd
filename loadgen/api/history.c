#include "loadgen/api/history.h"

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/schedule/session.h"

int history_check(const struct api *api, struct err *err)
{
    enum api_kind kind = api->ops->kind;

    if (!api->sampler.has_sessions || !api->makes_bodies)
        return 0;
    if (template_has_fields(&api->body))
        return err_set(err, ERR_CONFIG,
                       "target.body: has fields, and no place for what was "
                       "said before in a session; leave the body to the API");
    if (!api_generates(kind))
        return err_set(err, ERR_CONFIG,
                       "target.api: %s has no conversations; sessions "
                       "(load.turns) are for APIs that generate text",
                       api_names[kind]);
    return 0;
}

void history_begin(const struct api *api, struct session *session)
{
    int64_t n;

    if (session->turn > 0)
        return;
    n = sampler_turns(&api->sampler, session->id);
    if (n > 0 && n < session->n_turns)
        session->n_turns = n;
}

int64_t history_tokens(const struct session *session, int64_t own)
{
    if (!session || own == TIME_ABSENT)
        return own;
    return session->past_tokens == TIME_ABSENT ? TIME_ABSENT
                                               : session->past_tokens + own;
}

/* Tokens of an answer as it is carried on; an event is not known to be one, and
 * what the model thought is left behind. */
static int64_t answer_tokens(const struct facts *f)
{
    if (f->output_tokens == TIME_ABSENT || f->token_source == TOKENS_NONE ||
        f->token_source == TOKENS_EVENTS)
        return TIME_ABSENT;
    return f->reasoning_tokens == TIME_ABSENT
               ? f->output_tokens
               : f->output_tokens - f->reasoning_tokens;
}

static int64_t tokens_after(const struct api *api, const struct facts *f)
{
    int64_t answer = answer_tokens(f);

    if (api->settings->data.history == HISTORY_RECORDED ||
        f->prompt_asked == TIME_ABSENT || answer == TIME_ABSENT)
        return TIME_ABSENT;
    return f->prompt_asked + answer;
}

/* ---- as it goes into a body ---- */

/* A message with what follows it, or a line of the one text. */
static void begin_message(const struct api *api, const char *role,
                          struct buf *out)
{
    if (api->ops->takes_messages)
        buf_addf(out, "{\"role\":\"%s\",\"content\":\"", role);
}

static void end_message(const struct api *api, struct buf *out)
{
    buf_adds(out, api->ops->takes_messages ? "\"}," : "\\n");
}

/* What a conversation opens with. */
static void put_system(const struct api *api, const struct sample *sample,
                       struct buf *out)
{
    if (!sample->conversation.system.at)
        return;
    begin_message(api, "system", out);
    sample_add_head(&api->sampler, sample, out);
    buf_add(out, sample->conversation.system.at,
            sample->conversation.system.len);
    end_message(api, out);
}

static void put_answer(const struct api *api, const struct sample *sample,
                       const struct buf *answer, struct buf *out)
{
    begin_message(api, "assistant", out);
    if (api->settings->data.history == HISTORY_RECORDED)
        buf_add(out, sample->conversation.answer.at,
                sample->conversation.answer.len);
    else
        jtext_encode(buf_text(answer), answer->len, out); /* is UTF-8 */
    end_message(api, out);
}

void history_add(const struct api *api, struct session *session,
                 const struct facts *facts, const struct buf *answer)
{
    struct sample sample;
    struct buf *past = &session->past;

    if (!api->makes_bodies || facts->outcome != OUTCOME_OK ||
        session->turn + 1 >= session->n_turns)
        return;
    sample = sample_draw(&api->sampler, request_key(facts), NULL);
    put_system(api, &sample, past);
    begin_message(api, "user", past);
    sample_put_text(&api->sampler, &sample, past);
    end_message(api, past);
    put_answer(api, &sample, answer, past);
    session->past_tokens = tokens_after(api, facts);
    if (past->overflowed || answer->overflowed)
        session->n_turns = session->turn + 1; /* no body holds the next one */
}

void history_put_past(const struct api *api, const struct sample *sample,
                      struct buf *body)
{
    if (sample->past)
        buf_add(body, buf_text(sample->past), sample->past->len);
    put_system(api, sample, body);
}

void history_put_messages(const struct api *api, const struct sample *sample,
                          struct buf *body)
{
    buf_adds(body, "[");
    history_put_past(api, sample, body);
    buf_adds(body, "{\"role\":\"user\",\"content\":\"");
    sample_put_text(&api->sampler, sample, body);
    buf_adds(body, "\"}]");
}
