#include "analyzer/compare/compare_claim.h"

#include <string.h>

#include "analyzer/compare/compare.h"
#include "analyzer/compare/compare_numbers.h"
#include "common/base/buf.h"
#include "common/settings/settings.h"

static void put_variable(const struct comparison *c, struct buf *out)
{
    const char *a;
    const char *b;

    if (!c->vary) {
        buf_adds(out, "B against A");
        return;
    }
    a = strmap_get(&c->sides[0].runs[0].card, c->vary);
    b = strmap_get(&c->sides[1].runs[0].card, c->vary);
    settings_describe_path(c->vary, out);
    buf_adds(out, " ");
    settings_describe_path(b ? b : "(none)", out);
    buf_adds(out, " against ");
    settings_describe_path(a ? a : "(none)", out);
}

static void put_conditions(const struct comparison *c, struct buf *out)
{
    const struct strmap *card = &c->sides[0].runs[0].card;
    const char *model = strmap_get(card, "target.model");

    if (model && model[0]) {
        buf_adds(out, ", model ");
        settings_describe_path(model, out);
    }
    for (size_t i = 0; i < card->keys.len; i++) {
        const char *key = card->keys.items[i];

        if (strncmp(key, "conditions.", strlen("conditions.")) != 0 ||
            (c->vary && strcmp(key, c->vary) == 0))
            continue;
        buf_adds(out, ", ");
        settings_describe_path(key + strlen("conditions."), out);
        buf_adds(out, " ");
        settings_describe_path(card->values.items[i], out);
    }
    for (size_t i = 0; i < c->slo.len; i++)
        buf_addf(out, "%s %s", i ? "," : ", SLO", c->slo.terms[i].text);
}

static void put_finding(const struct comparison *c, size_t i, struct buf *out)
{
    const struct quantity *q = &c->qs.list[i];
    const struct finding *f = &c->findings[i];
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    buf_addf(out, "%s %s against %s", q->name, show_value(q, f->b, b),
             show_value(q, f->a, a));
    if (f->ratio.has_range)
        buf_addf(out, " (%.4g times, [%.4g, %.4g] at %.4g%%)", f->ratio.value,
                 f->ratio.range.low, f->ratio.range.high, f->confidence * 100);
}

void claim_make(const struct comparison *c, struct buf *out)
{
    size_t shown = 0;

    if (c->n != 2 || !c->is_compared)
        return;
    for (size_t i = 0; i < c->qs.asked; i++) {
        enum finding_verdict v = c->findings[i].verdict;

        if (v != FINDING_BETTER && v != FINDING_WORSE)
            continue;
        if (shown == 0)
            put_variable(c, out);
        buf_adds(out, shown++ ? ", " : ": ");
        put_finding(c, i, out);
    }
    if (shown == 0)
        return;
    buf_addf(out, "; %s", c->sides[0].runs[0].load);
    put_conditions(c, out);
    if (c->basis == BASIS_PAIRS)
        buf_addf(out, "; %zu pairs of trials in turn", c->sides[0].n);
    else if (c->basis == BASIS_TRIALS)
        buf_addf(out, "; %zu and %zu trials", c->sides[0].n, c->sides[1].n);
    else
        buf_adds(out, "; one launch a side");
}
