/* Prompts that nobody has seen before, of lengths from distributions. */
#include "loadgen/payload/sample.h"

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"

struct synthetic {
    struct dist input;
    struct dist output;
};

static int synthetic_init(struct sampler *s, const struct settings *settings,
                          struct err *err)
{
    struct synthetic *own = s->own;

    if (dist_parse_lengths(settings->data.input_tokens, &own->input, err))
        return err_context(err, "data.input_tokens");
    if (dist_parse_lengths(settings->data.output_tokens, &own->output, err))
        return err_context(err, "data.output_tokens");
    s->mean_tokens = dist_mean(&own->input);
    return 0;
}

static void synthetic_fini(struct sampler *s)
{
    struct synthetic *own = s->own;

    dist_fini(&own->input);
    dist_fini(&own->output);
}

/* Lengths are of the seed, so that another nonce does not move them. */
static void synthetic_draw(const struct sampler *s, struct sample *sample)
{
    const struct synthetic *own = s->own;
    struct rng lengths = rng_at(s->seed, RNG_LENGTHS, sample->shape);

    sample->prompt_tokens = dist_draw_count(&own->input, &lengths);
    sample->output_tokens = dist_draw_count(&own->output, &lengths);
}

static void synthetic_put_text(const struct sampler *s,
                               const struct sample *sample, struct buf *out)
{
    sample_add_words(s, sample->rng, sample->prompt_tokens, true, out);
}

static void synthetic_put_ids(const struct sampler *s,
                              const struct sample *sample, struct buf *out)
{
    sample_add_ids(s, sample->rng, sample->prompt_tokens, true, out);
}

const struct sample_ops sample_synthetic = {
    .name = "synthetic",
    .own_size = sizeof(struct synthetic),
    .init = synthetic_init,
    .fini = synthetic_fini,
    .draw = synthetic_draw,
    .put_text = synthetic_put_text,
    .put_ids = synthetic_put_ids,
};
