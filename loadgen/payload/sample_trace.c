/* Prompts of the lengths that a trace says.  Where it names the blocks that a
 * prompt is made of, each name stands for the same tokens throughout the run,
 * and in no other: prompts that began alike back then do so again. */
#include "loadgen/payload/sample.h"

#include "loadgen/trace/trace_row.h"

typedef void add_fn(const struct sampler *s, struct rng rng, int64_t n,
                    bool is_first, struct buf *out);

static const struct row nothing = {.input = 1, .output = 1};

static void trace_draw(const struct sampler *s, struct sample *sample)
{
    (void)s;
    if (!sample->row)
        sample->row = &nothing;
    sample->prompt_tokens = sample->row->input;
    sample->output_tokens = sample->row->output;
}

static struct rng rng_of_block(const struct sampler *s, int64_t id)
{
    return rng_at(sample_content_seed(s), RNG_BLOCK, id);
}

/* The blocks, as far as the length goes, and behind them the request's own. */
static void put(const struct sampler *s, const struct sample *sample,
                add_fn *add, struct buf *out)
{
    const struct row *row = sample->row;
    int64_t left = sample->prompt_tokens;

    for (size_t i = 0; row && i < row->n_blocks && left > 0; i++) {
        int64_t n = left < row->block_tokens ? left : row->block_tokens;

        add(s, rng_of_block(s, row->blocks[i]), n, i == 0, out);
        left -= n;
    }
    if (left > 0)
        add(s, sample->rng, left, left == sample->prompt_tokens, out);
}

static void trace_put_text(const struct sampler *s, const struct sample *sample,
                           struct buf *out)
{
    put(s, sample, sample_add_words, out);
}

static void trace_put_ids(const struct sampler *s, const struct sample *sample,
                          struct buf *out)
{
    put(s, sample, sample_add_ids, out);
}

const struct sample_ops sample_trace = {
    .name = "trace",
    .draw = trace_draw,
    .put_text = trace_put_text,
    .put_ids = trace_put_ids,
};
