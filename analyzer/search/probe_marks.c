#include "analyzer/search/probe_marks.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/search/search_client.h"
#include "common/base/xalloc.h"

/* To be sure is to be wrong once in a hundred. */
#define SURE 0.01

/* A value that is so much higher than another and met, where that was missed
 * for sure, contradicts it; it must have had as many misses to find. */
#define TWIST_RATIO  1.1
#define TWIST_LOST   1.02 /* where so much was missed that it ended early */
#define TWIST_MISSES 3.0

/* A confirmation that was asked for so long ... */
#define PROOF_PART 0.9 /* ... must have seen as much of it */

/* One stray miss says nothing, however few the requests are. */
bool probe_marks_is_missed(const struct search_counts *c, double allowed)
{
    return allowed >= 0 && (double)c->misses > allowed * (double)c->n + 1;
}

/* As many requests as are independent: misses come in clusters. */
bool probe_marks_is_failed(const struct search_counts *c, double allowed)
{
    double n;
    double share;

    if (!probe_marks_is_missed(c, allowed))
        return false;
    n = ceil((double)c->n / stats_inflation(c->blocks, c->n_blocks));
    share = (double)c->misses / (double)c->n;
    return stats_binomial_upper_tail(llround(n), allowed,
                                     llround(floor(share * n))) < SURE;
}

bool search_is_met(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (probe_marks_is_missed(&r->terms[i], search_allowed(&slo->terms[i])))
            return false;
    return true;
}

/* A term is, so clearly that chance is out of the question. */
static bool is_failed(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (probe_marks_is_failed(&r->terms[i], search_allowed(&slo->terms[i])))
            return true;
    return false;
}

/* ---- confirmations ---- */

bool probe_marks_is_confirm_at(const struct search_result *r, double value)
{
    return r->step == SEARCH_CONFIRM &&
           fabs(r->value - value) <= EVIDENCE_SAME * value;
}

static void add_counts(struct search_counts *sum, const struct search_counts *c)
{
    sum->n += c->n;
    sum->misses += c->misses;
    for (size_t i = 0; i < c->n_blocks; i++) {
        sum->blocks[i].n += c->blocks[i].n;
        sum->blocks[i].hits += c->blocks[i].hits;
    }
    if (c->n_blocks > sum->n_blocks)
        sum->n_blocks = c->n_blocks;
}

void probe_marks_pool(const struct search *s, double value,
                      struct search_result *sum)
{
    *sum = (struct search_result){
        .step = SEARCH_CONFIRM, .value = value, .n_terms = s->config.slo->len};
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (!probe_marks_is_confirm_at(r, value))
            continue;
        if (r->asked_ns > sum->asked_ns)
            sum->asked_ns = r->asked_ns;
        if (r->set_aside)
            continue;
        sum->window_ns += r->window_ns;
        for (size_t k = 0; k < r->n_terms; k++)
            add_counts(&sum->terms[k], &r->terms[k]);
    }
}

static bool is_first_of_confirm(const struct search *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!s->results[k].set_aside &&
            probe_marks_is_confirm_at(&s->results[k], s->results[i].value))
            return false;
    return true;
}

/* One that was disturbed goes on in pieces, which count together. */
static void take_confirm(struct evidence *e, const struct search *s, size_t i)
{
    double value = s->results[i].value;
    struct search_result sum;

    if (!is_first_of_confirm(s, i))
        return;
    probe_marks_pool(s, value, &sum);
    if (is_failed(s->config.slo, &sum)) {
        e->rejections++;
        if (value < e->rejected) {
            e->rejected = value;
            e->rejected_at = i;
        }
    } else if ((double)sum.window_ns >= PROOF_PART * (double)sum.asked_ns &&
               value > e->confirmed) {
        e->confirmed = value;
        e->confirmed_met = search_is_met(s->config.slo, &sum);
    }
}

/* ---- what was met ---- */

static void take_mark(struct evidence *e, const struct search *s, size_t i)
{
    const struct slo *slo = s->config.slo;
    const struct search_result *r = &s->results[i];

    if (!search_is_met(slo, r))
        e->missed = fmin(e->missed, r->value);
    if (is_failed(slo, r))
        e->failed = fmin(e->failed, r->value);
    if (r->step == SEARCH_CONFIRM)
        take_confirm(e, s, i);
}

static void take_all(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->took_ns += r->took_ns;
        e->requests += r->requests;
        if (r->set_aside) {
            e->set_aside++;
            e->confirms_aside += r->step == SEARCH_CONFIRM;
            e->noise = r->set_aside;
        } else {
            e->kept++;
            take_mark(e, s, i);
        }
    }
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].set_aside && s->results[i].value < e->missed)
            e->met = fmax(e->met, s->results[i].value);
    if (e->confirmed >= e->rejected)
        e->confirmed = 0;
}

/* ---- contradictions ---- */

/* Is a term missed for sure at the lower value and met at the higher? */
static bool is_twisted(const struct slo *slo, const struct search_result *low,
                       const struct search_result *high)
{
    double ratio = low->ended_early ? TWIST_LOST : TWIST_RATIO;

    if (low->set_aside || high->set_aside || high->value < ratio * low->value)
        return false;
    for (size_t i = 0; i < slo->len; i++) {
        double allowed = search_allowed(&slo->terms[i]);
        const struct search_counts *c = &high->terms[i];

        if (probe_marks_is_failed(&low->terms[i], allowed) &&
            !probe_marks_is_missed(c, allowed) &&
            (double)c->n * allowed >= TWIST_MISSES)
            return true;
    }
    return false;
}

/* Each result is in one pair at most. */
static void take_twists(struct evidence *e, const struct search *s)
{
    bool *is_used = xcalloc(s->n + 1, sizeof(*is_used));

    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->n; k++) {
            if (is_used[i] || is_used[k] ||
                !is_twisted(s->config.slo, &s->results[i], &s->results[k]))
                continue;
            is_used[i] = true;
            is_used[k] = true;
            e->twist++;
            e->twist_low = s->results[i].value;
            e->twist_high = s->results[k].value;
        }
    }
    free(is_used);
}

void probe_marks_take(struct evidence *e, const struct search *s)
{
    take_all(e, s);
    client_take(e, s);
    take_twists(e, s);
}
