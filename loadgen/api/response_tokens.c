/* What an answer comes to in tokens, and which event had how many. */
#include "loadgen/api/response.h"

#include "common/base/clk.h"

/* Nobody says how many tokens an event has: the first has one, the others the
 * rest in equal parts. */
static void spread_tokens(const struct response *r, int64_t tokens)
{
    struct response_event *events = response_events(r);
    int64_t n = r->facts->events;
    int64_t given = n > 1 ? 1 : tokens;

    events[0].tokens = (uint32_t)given;
    for (int64_t i = 1; i < n; i++) {
        int64_t until = 1 + (tokens - 1) * i / (n - 1);

        events[i].tokens = (uint32_t)(until > given ? until - given : 0);
        given = until > given ? until : given;
    }
}

/* Those that come in content events: not what was thought and not shown. */
static int64_t delivered_of(const struct response *r, int64_t output)
{
    bool hides = r->usage.reasoning != TIME_ABSENT && !r->shows_reasoning;
    int64_t shown = hides ? output - r->usage.reasoning : output;

    return shown > 0 ? shown : 0;
}

static void count_output(struct response *r)
{
    struct facts *f = r->facts;
    bool is_counted = f->events > 0 && r->is_counted;

    if (r->usage.output != TIME_ABSENT) {
        f->output_tokens = r->usage.output;
        f->token_source =
            r->has_final_usage ? TOKENS_USAGE : TOKENS_CHUNK_USAGE;
    } else if (is_counted) {
        f->output_tokens = r->counted + r->silent_ids;
        f->token_source = r->source;
    } else if (f->events > 0) {
        f->output_tokens = f->events;
        f->token_source = TOKENS_EVENTS;
    }
}

static void split_tokens(struct response *r)
{
    struct facts *f = r->facts;

    if (f->events == 0)
        return;
    f->is_split = r->is_counted;
    if (f->is_split)
        f->event_tokens = r->counted;
    else {
        f->event_tokens = delivered_of(r, f->output_tokens);
        spread_tokens(r, f->event_tokens);
    }
    f->first_tokens = response_events(r)[0].tokens;
}

void response_count_tokens(struct response *r)
{
    struct facts *f = r->facts;

    f->prompt_tokens = r->usage.prompt;
    f->cached_tokens = r->usage.cached;
    f->reasoning_tokens = r->usage.reasoning;
    count_output(r);
    split_tokens(r);
}
