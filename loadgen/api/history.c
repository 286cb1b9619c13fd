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
        return err_set(
            err, ERR_CONFIG,
            "target.body with fields cannot be combined with "
            "sessions (load.turns): it has no place for the history");
    if (!api_generates(kind))
        return err_set(err, ERR_CONFIG,
                       "target.api: sessions (load.turns) require an API that "
                       "generates text, which %s does not",
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

/* ---- bodies ---- */

/* A message and the comma after it, or a line of the text. */
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

static void put_system(const struct api *api, const struct sample *sample,
                       struct buf *out)
{
    const struct jtext *system = &sample->conversation.system;

    if (!system->at)
        return;
    begin_message(api, "system", out);
    sample_add_head(&api->sampler, sample, out);
    buf_add(out, system->at, system->len);
    end_message(api, out);
}

/* The tokens of the history are not known after a turn whose tokens are counted
 * by events; reasoning does not become part of the history. */
void history_add(const struct api *api, struct session *session,
                 const struct facts *facts, const struct buf *answer)
{
    struct sample sample;
    struct buf *past = &session->past;
    int64_t grown;

    if (!api->makes_bodies || facts->outcome != OUTCOME_OK ||
        session->turn + 1 >= session->n_turns)
        return;
    sample = sample_draw(&api->sampler, request_key(facts), NULL);
    put_system(api, &sample, past);
    begin_message(api, "user", past);
    sample_put_text(&api->sampler, &sample, past);
    end_message(api, past);
    begin_message(api, "assistant", past);
    if (api->settings->data.history == HISTORY_RECORDED)
        buf_add(past, sample.conversation.answer.at,
                sample.conversation.answer.len);
    else
        jtext_encode(buf_text(answer), answer->len, past); /* is UTF-8 */
    end_message(api, past);
    session->past_tokens = TIME_ABSENT;
    if (api->settings->data.history != HISTORY_RECORDED &&
        facts->prompt_asked != TIME_ABSENT &&
        facts->output_tokens != TIME_ABSENT &&
        facts->token_source != TOKENS_NONE &&
        facts->token_source != TOKENS_EVENTS)
        session->past_tokens =
            facts->prompt_asked + facts->output_tokens -
            (facts->reasoning_tokens == TIME_ABSENT ? 0
                                                    : facts->reasoning_tokens);
    grown = (int64_t)past->cap - session->charged;
    if (budget_take(grown))
        session->charged += grown;
    if (past->overflowed || answer->overflowed ||
        session->charged < (int64_t)past->cap)
        session->n_turns = session->turn + 1; /* the next one does not fit */
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
