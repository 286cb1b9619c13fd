/* A comparison as data: every number of the text, and no other. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analyzer/compare/compare.h"
#include "analyzer/compare/compare_json_parts.h"
#include "analyzer/compare/quantity.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#define COMPARE_SCHEMA 1

static const char *const basis_names[] = {[BASIS_PAIRS] = "pairs",
                                          [BASIS_TRIALS] = "trials",
                                          [BASIS_SLICES] = "blocks",
                                          [BASIS_NONE] = "none"};

static json_t *text(const char *s)
{
    return s ? json_bytes(s, strlen(s)) : json_null();
}

static json_t *number(double x, bool has_it)
{
    return has_it && isfinite(x) ? json_real(x) : json_null();
}

/* Times are in ms. */
static double scale_of(const struct quantity *q)
{
    return q->kind == QUANTITY_QUANTILE ? 1e-6 : 1;
}

const char *compare_json_unit(const struct quantity *q)
{
    return q->kind == QUANTITY_QUANTILE ? "ms" : quantity_unit(q);
}

json_t *compare_json_value(const struct quantity *q, double x, bool has_it)
{
    return number(x * scale_of(q), has_it);
}

static json_t *interval(const struct uncertain *u, double scale)
{
    return u->has_range ? json_pack("[f, f]", u->range.low * scale,
                                    u->range.high * scale)
                        : json_null();
}

static json_t *side_json(const struct comparison *c, size_t i)
{
    const struct side *s = &c->sides[i];
    json_t *runs = json_array();
    char name[SHOW_TEXT];

    for (size_t k = 0; k < s->n; k++) {
        const struct compared_run *run = &s->runs[k];

        json_array_append_new(
            runs,
            json_pack("{so, sb, so, sb, so}", "dir", text(run->dir), "compared",
                      !run->why[0], "why",
                      run->why[0] ? text(run->why) : json_null(), "misses_slo",
                      run->breaks_slo, "load", text(run->load)));
    }
    return json_pack("{ss, so, sb, sI, sb, sI, so}", "name", show_side(i, name),
                     "dir", text(s->dir), "is_trial_set", s->is_set, "trials",
                     (json_int_t)(s->is_set ? s->n : 1), "one_launch",
                     s->is_one_launch || !s->is_set, "misses_slo",
                     (json_int_t)side_missed(s), "runs", runs);
}

static json_t *sides_json(const struct comparison *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(list, side_json(c, i));
    return list;
}

json_t *compare_json_difference(const struct difference *d)
{
    static const char *const kinds[] = {
        [DIFFERENCE_NOTED] = "noted",
        [DIFFERENCE_WARNS] = "warning",
        [DIFFERENCE_MUST] = "must match",
    };
    char name[SHOW_TEXT];

    return json_pack("{so, so, so, ss, ss, sb, ss}", "key", text(d->key), "a",
                     text(d->a), "b", text(d->b), "side",
                     show_side(d->side, name), "kind", kinds[d->kind],
                     "declared", d->is_declared, "why", d->why);
}

static json_t *differences_json(const struct differences *d)
{
    json_t *list = json_array();

    for (size_t i = 0; i < d->len; i++)
        json_array_append_new(list, compare_json_difference(&d->list[i]));
    return list;
}

static json_t *variable_json(const struct comparison *c)
{
    json_t *values = json_array();

    if (!c->vary) {
        json_decref(values);
        return json_null();
    }
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(
            values, text(strmap_get(&c->sides[i].runs[0].conditions, c->vary)));
    return json_pack("{so, so, sb}", "key", text(c->vary), "values", values,
                     "differs", c->vary_differs);
}

static json_t *regression_json(const struct comparison *c, size_t i)
{
    if (c->regression < 0 || i >= c->qs.asked)
        return json_null();
    return c->regressions[i] == REGRESSION_YES  ? json_true()
           : c->regressions[i] == REGRESSION_NO ? json_false()
                                                : json_string("cannot tell");
}

static json_t *finding_json(const struct comparison *c, size_t i)
{
    const struct quantity *q = &c->qs.list[i];
    const struct finding *f = &c->findings[i];
    double scale = scale_of(q);

    return json_pack(
        "{ss, ss, sb, sb, so, so, so, so, so, so, sf, sf, so, ss, so, so}",
        "quantity", q->name, "unit", compare_json_unit(q), "asked",
        i < c->qs.asked, "more_is_better", quantity_more_is_better(q), "a",
        compare_json_value(q, f->a, f->has_a), "b",
        compare_json_value(q, f->b, f->has_b), "difference",
        number(f->difference.value * scale, f->difference.has_range),
        "difference_interval", interval(&f->difference, scale), "ratio",
        number(f->ratio.value, f->ratio.has_range), "ratio_interval",
        interval(&f->ratio, 1), "confidence", f->confidence, "widened",
        f->widened, "visible_share", number(f->visible, f->visible >= 0),
        "verdict", finding_verdict_name(f->verdict), "note", text(f->why),
        "regression", regression_json(c, i));
}

static json_t *findings_json(const struct comparison *c)
{
    json_t *list = json_array();

    if (!c->is_compared || c->n != 2)
        return list;
    for (size_t i = 0; i < c->qs.len; i++)
        json_array_append_new(list, finding_json(c, i));
    return list;
}

static json_t *place_json(const struct quantity *q, const struct placed *p)
{
    char name[SHOW_TEXT];

    return json_pack("{ss, so, so}", "side", show_side(p->side, name), "rank",
                     p->rank ? json_integer((json_int_t)p->rank) : json_null(),
                     "value", compare_json_value(q, p->value, p->has_value));
}

static json_t *ranking_json(const struct comparison *c, const struct ranking *r)
{
    const struct quantity *q = &c->qs.list[r->quantity];
    json_t *places = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(places, place_json(q, &r->list[i]));
    return json_pack("{ss, ss, so, sI}", "quantity", q->name, "unit",
                     compare_json_unit(q), "places", places, "pairs_unknown",
                     (json_int_t)r->unknown);
}

static json_t *rankings_json(const struct comparison *c)
{
    json_t *list = json_array();

    for (size_t i = 0; c->rankings && i < c->qs.asked; i++)
        json_array_append_new(list, ranking_json(c, &c->rankings[i]));
    return list;
}

static json_t *fairness_json(const struct fairness *f)
{
    json_t *list = json_array();

    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        const struct fairness_check *k = &f->checks[i];

        json_array_append_new(
            list, json_pack("{ss, ss, ss, ss}", "name", k->name, "answer",
                            fairness_answer_name(k->answer), "says", k->says,
                            "mend", k->mend));
    }
    return json_pack("{sI, sI, sI, so}", "failed", (json_int_t)f->failed,
                     "unknown", (json_int_t)f->unknown, "passed",
                     (json_int_t)(FAIRNESS_CHECKS - f->failed - f->unknown),
                     "checks", list);
}

static json_t *claim_json(const struct comparison *c)
{
    struct buf claim;
    json_t *json;

    buf_init(&claim, CLAIM_MAX);
    claim_make(c, &claim);
    json = claim.len > 0 ? text(buf_text(&claim)) : json_null();
    buf_fini(&claim);
    return json;
}

void compare_render_json(const struct comparison *c, struct buf *out)
{
    json_t *json = json_pack(
        "{si, ss, so, so, so, ss, so, sI, so, so, so, so}", "schema",
        COMPARE_SCHEMA, "verdict", compare_answer_name(c->answer), "claim",
        claim_json(c), "sides", sides_json(c), "vary", variable_json(c), "over",
        basis_names[c->basis], "regression_threshold",
        number(c->regression, c->regression >= 0), "mismatches",
        (json_int_t)c->differences.must, "differences",
        differences_json(&c->differences), "findings", findings_json(c),
        "rankings", rankings_json(c), "fairness", fairness_json(&c->fairness));

    json_print(json, out);
    json_decref(json);
}
