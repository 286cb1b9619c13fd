#include "analyzer/search/eye.h"

#include "analyzer/search/read.h"
#include "common/measure.h"

int search_eye_init(struct search_eye *eye, const struct search *search,
                    const struct search_ask *ask,
                    const struct search_terms *terms,
                    const struct classes *classes, struct err *err)
{
    *eye = (struct search_eye){
        .search = search,
        .terms = terms,
        .window_ns = ask->window_ns,
        .next_look = 1,
        .so_far = {.step = ask->step,
                   .value = ask->value,
                   .warmup_ns = ask->warmup_ns,
                   .n_terms = terms->slo.len},
    };
    return good_table_init(&eye->good, &terms->slo, classes, err);
}

void search_eye_fini(struct search_eye *eye)
{
    good_table_fini(&eye->good);
}

/* -1: the term is not about it, or nobody knows. */
static int misses(const struct search_eye *eye, const struct slo_term *term,
                  const struct facts *f)
{
    switch (term->kind) {
    case SLO_QUANTILE:
        if (measure_is_pooled(term->measure) ||
            !good_concerns(term->measure, f))
            return -1;
        return !good_keeps(term->measure, f, term->limit_ns);
    case SLO_ERRORS:
        return f->outcome != OUTCOME_OK;
    case SLO_GOOD:
        return !good_is(good_limits_of(&eye->good, f), f);
    case SLO_QUALITY:
        return f->check == CHECK_NONE ? -1 : f->check != CHECK_PASSED;
    case SLO_GOODPUT:
    case SLO_LIMIT:
    case SLO_CHECK:
        break;
    }
    return -1;
}

static void count(struct search_eye *eye, const struct facts *f, size_t block)
{
    const struct search_terms *terms = eye->terms;

    for (size_t i = 0; i < terms->slo.len; i++) {
        struct search_counts *c = &eye->so_far.terms[i];
        int missed = terms->class[i] < 0 || terms->class[i] == f->class
                         ? misses(eye, &terms->slo.terms[i], f)
                         : -1;

        if (missed < 0)
            continue;
        c->n++;
        c->misses += missed;
        c->blocks[block].n++;
        c->blocks[block].hits += missed;
    }
}

/* Of the requests in the window, as far as any has ended. */
static void see(struct search_eye *eye, int64_t start_ns, const struct facts *f)
{
    int64_t at_ns = f->due - start_ns;

    if (start_ns == INT64_MAX || at_ns < 0 || at_ns >= eye->window_ns ||
        f->outcome == OUTCOME_UNFINISHED)
        return;
    count(eye, f, (size_t)(at_ns * SEARCH_BLOCKS / eye->window_ns));
    eye->so_far.requests++;
    if (at_ns > eye->so_far.window_ns)
        eye->so_far.window_ns = at_ns;
}

static void look(struct search_eye *eye)
{
    struct search_result *r = &eye->so_far;
    size_t blocks = (size_t)(r->window_ns * SEARCH_BLOCKS / eye->window_ns);

    if (blocks < eye->next_look || r->window_ns == 0)
        return;
    for (size_t i = 0; i < r->n_terms; i++)
        r->terms[i].n_blocks = blocks;
    r->offered_rps = (double)r->requests / ((double)r->window_ns / 1e9);
    eye->is_over = search_is_hopeless(eye->search, r);
    eye->next_look = blocks + 1;
}

bool search_eye_see(struct search_eye *eye, int64_t start_ns,
                    const struct facts *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        see(eye, start_ns, &rows[i]);
    if (!eye->is_over)
        look(eye);
    return eye->is_over;
}
