/* Samples of a data set, chosen by the sequence number of the request. */
#include "loadgen/payload/sample.h"

#include <math.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/text/jscan.h"
#include "loadgen/payload/data_select.h"
#include "loadgen/schedule/session.h"

struct chosen {
    struct selection selection; /* n is 0: nothing to select from */
    int64_t limit;
    bool is_mlperf;               /* LoadGen's selection instead: */
    struct mlperf_samples mlperf; /* set is 0: nothing to select from */
    struct mlperf_choice choice;
    struct dist output; /* for samples that do not define it */
    size_t size;        /* of a sample of raw tensors */
};

/* Select from n samples. */
static void choose_from(struct sampler *s, int64_t n)
{
    struct chosen *own = s->own;

    own->selection = selection_of(own->selection.how, s->seed, n, own->limit);
    if (!own->is_mlperf)
        return;
    mlperf_samples_fini(&own->mlperf);
    mlperf_samples_make(&own->mlperf, &own->choice, own->selection.n);
}

static int data_init(struct sampler *s, const struct settings *settings,
                     struct err *err)
{
    const struct data_settings *set = &settings->data;
    struct chosen *own = s->own;
    double sum = 0; /* of tokens; NAN: not known for all */

    if (dist_parse_lengths(set->output_tokens, &own->output, err))
        return err_context(err, "data.output_tokens");
    if (!set->loaded && dataset_load(&s->own_data, set, err))
        return err_context(err, "data.file");
    s->data = set->loaded ? set->loaded : s->own_data;
    for (int f = 0; f < FORM_COUNT; f++)
        s->forms[f] = s->data->forms[f];
    if (s->has_sessions && !s->data->has_conversations)
        return err_set(err, ERR_CONFIG,
                       "data.turns: session requires conversations (sharegpt), "
                       "but %s is %s",
                       s->data->path, s->data->format);
    s->forms[FORM_TEXT] |= s->has_sessions;
    for (size_t i = 0; i < s->data->n; i++)
        sum += s->data->items[i].input < 0 ? (double)NAN
                                           : (double)s->data->items[i].input;
    s->mean_tokens = sum > 0 ? sum / (double)s->data->n : 0;
    s->has_tags = s->is_unique && !s->data->is_tensors;
    own->limit = set->limit;
    own->selection.how = set->select;
    own->is_mlperf = settings->load.seeds == SEEDS_MLPERF && !set->accuracy;
    own->choice = mlperf_choice_of(settings);
    if (s->data->n > 0)
        choose_from(s, (int64_t)s->data->n);
    return 0;
}

static void data_fini(struct sampler *s)
{
    struct chosen *own = s->own;

    dist_fini(&own->output);
    mlperf_samples_fini(&own->mlperf);
    dataset_free(s->own_data);
}

static int64_t index_at(const struct sampler *s, int64_t seq)
{
    const struct chosen *own = s->own;

    if (own->selection.n == 0)
        return 0;
    return own->is_mlperf ? mlperf_samples_at(&own->mlperf, seq)
                          : selection_at(&own->selection, seq);
}

static const struct value *role_of(const struct sampler *s, int64_t index,
                                   enum role role)
{
    int column = s->data->role[role];

    return column >= 0 ? dataset_value(s->data, (size_t)index, column) : NULL;
}

/* A session has one sample, a conversation.  The length of an answer belongs to
 * its sample, or to the turn of a conversation. */
static void data_draw(const struct sampler *s, struct sample *sample)
{
    const struct chosen *own = s->own;
    const struct value *messages;
    const struct item *item;
    struct rng lengths;

    sample->index = index_at(
        s, s->has_sessions ? sample->shape / SESSION_MAX_TURNS : sample->shape);
    sample->prompt_tokens = TIME_ABSENT;
    sample->output_tokens = TIME_ABSENT;
    if (s->data->is_tensors)
        return;
    item = &s->data->items[sample->index];
    if (item->input >= 0)
        sample->prompt_tokens = item->input;
    lengths = rng_at(s->seed, RNG_LENGTHS,
                     s->has_sessions ? sample->from : sample->index);
    sample->output_tokens = item->output > 0
                                ? item->output
                                : dist_draw_count(&own->output, &lengths);
    messages =
        s->has_sessions ? role_of(s, sample->index, ROLE_MESSAGES) : NULL;
    if (messages)
        sample->conversation = conversation_turn(
            dataset_text(s->data, messages), messages->len, sample->turn);
}

static void put_value(const struct sampler *s, const struct value *v,
                      struct buf *out)
{
    if (v)
        buf_add(out, dataset_text(s->data, v), v->len);
}

/* Token ids without their brackets. */
static void data_put(const struct sampler *s, const struct sample *sample,
                     bool is_ids, struct buf *out)
{
    const struct value *v =
        role_of(s, sample->index, is_ids ? ROLE_IDS : ROLE_TEXT);

    if (s->has_sessions)
        buf_add(out, sample->conversation.question.at,
                sample->conversation.question.len);
    else if (!is_ids)
        put_value(s, v, out);
    else if (v && v->len > 2)
        buf_add(out, dataset_text(s->data, v) + 1, v->len - 2);
}

static void data_put_messages(const struct sampler *s,
                              const struct sample *sample, struct buf *out)
{
    const struct value *v = role_of(s, sample->index, ROLE_MESSAGES);
    const struct item *item = &s->data->items[sample->index];
    const char *text;

    if (!v)
        return;
    text = dataset_text(s->data, v);
    buf_add(out, text, item->head);
    sample_add_head(s, sample, out);
    buf_add(out, text + item->head, item->tail - item->head);
    sample_add_tail(s, sample, out);
    buf_add(out, text + item->tail, v->len - item->tail);
}

const struct sample_ops sample_data = {
    .name = "data",
    .own_size = sizeof(struct chosen),
    .init = data_init,
    .fini = data_fini,
    .draw = data_draw,
    .put = data_put,
    .put_messages = data_put_messages,
};

/* ---- only for data sets ---- */

void sample_put_field(const struct sampler *s, const struct sample *sample,
                      int column, struct buf *out)
{
    put_value(s, dataset_value(s->data, (size_t)sample->index, column), out);
}

void sample_add_label(const struct sampler *s, int64_t seq, struct buf *out)
{
    struct sample sample = sample_draw(s, seq, NULL);
    const struct value *v = role_of(s, sample.index, ROLE_LABEL);

    if (v && v->kind == VALUE_TEXT)
        jtext_decode((struct jtext){.at = dataset_text(s->data, v),
                                    .len = v->len,
                                    .has_escapes = true},
                     out);
    else
        put_value(s, v, out);
}

int sampler_set_size(struct sampler *s, size_t size, struct err *err)
{
    struct chosen *own = s->own;
    size_t bytes = s->data->file.len;

    if (size == 0 || bytes % size != 0)
        return err_set(err, ERR_CONFIG,
                       "data.file: %s: its size of %zu bytes is not a multiple "
                       "of the sample size of %zu bytes",
                       s->data->path, bytes, size);
    own->size = size;
    choose_from(s, (int64_t)(bytes / size));
    return 0;
}

const char *sample_raw(const struct sampler *s, const struct sample *sample)
{
    const struct chosen *own = s->own;

    return s->data->file.data + (size_t)sample->index * own->size;
}

int64_t sampler_turns(const struct sampler *s, int64_t session)
{
    const struct value *v;

    if (!s->data || !s->data->has_conversations)
        return 0;
    v = role_of(s, index_at(s, session), ROLE_MESSAGES);
    return v ? conversation_count(dataset_text(s->data, v), v->len) : 0;
}

int64_t sampler_count(const struct sampler *s)
{
    const struct chosen *own = s->own;

    return s->data ? own->selection.n : 0;
}
