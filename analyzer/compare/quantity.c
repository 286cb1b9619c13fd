#include "analyzer/compare/quantity.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/spec/slo.h"

static const struct {
    const char *name;
    const char *unit;
    bool more_is_better;
} kinds[] = {
    [QUANTITY_THROUGHPUT] = {"throughput", "rps", true},
    [QUANTITY_GOODPUT] = {"goodput", "rps", true},
    [QUANTITY_TOKENS] = {"tokens", "tokens/s", true},
    [QUANTITY_ATTAINMENT] = {"attainment", "share", true},
    [QUANTITY_QUALITY] = {"quality", "share", true},
    [QUANTITY_ERRORS] = {"errors", "share", false},
    [QUANTITY_COST] = {"cost", "usd per 1000 good", false},
    [QUANTITY_QUANTILE] = {"", "ns", false},
};

bool quantity_more_is_better(const struct quantity *q)
{
    return kinds[q->kind].more_is_better;
}

bool quantity_is_share(const struct quantity *q)
{
    return strcmp(kinds[q->kind].unit, "share") == 0;
}

const char *quantity_unit(const struct quantity *q)
{
    return kinds[q->kind].unit;
}

static struct quantity plain(enum quantity_kind kind)
{
    struct quantity q = {.kind = kind};

    snprintf(q.name, sizeof(q.name), "%s", kinds[kind].name);
    return q;
}

static struct quantity quantile(enum measure measure, double q)
{
    struct quantity out = {
        .kind = QUANTITY_QUANTILE, .measure = measure, .q = q};

    snprintf(out.name, sizeof(out.name), "%s p%.10g", measure_name(measure),
             q * 100);
    return out;
}

/* A measure and its percentile are written as in a term of an SLO. */
static bool parse_quantile(const char *text, struct quantity *out)
{
    struct err ignored = {0};
    struct slo_term term;
    char full[120];

    if (strlen(text) > 60 || strpbrk(text, "<>=:,"))
        return false;
    snprintf(full, sizeof(full), "%s < 1s", text);
    if (slo_parse_term(full, &term, &ignored) || term.kind != SLO_QUANTILE)
        return false;
    *out = quantile(term.measure, term.quantile);
    return true;
}

int quantity_parse(const char *text, struct quantity *out, struct err *err)
{
    for (int k = 0; k < QUANTITY_QUANTILE; k++) {
        if (strcmp(text, kinds[k].name) == 0) {
            *out = plain((enum quantity_kind)k);
            return 0;
        }
    }
    if (parse_quantile(text, out))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "'%.60s' is none of throughput, goodput, tokens, attainment, "
        "quality, errors, cost, or a percentile such as 'ttft p99'",
        text);
}

int quantity_check(const char *text, struct err *err)
{
    struct quantity ignored;

    return quantity_parse(text, &ignored, err);
}

static bool holds(const struct quantities *qs, const struct quantity *q)
{
    for (size_t i = 0; i < qs->len; i++) {
        if (strcmp(qs->list[i].name, q->name) == 0)
            return true;
    }
    return false;
}

static void add(struct quantities *qs, struct quantity q)
{
    if (qs->len < QUANTITIES_MAX && !holds(qs, &q))
        qs->list[qs->len++] = q;
}

static void add_term(struct quantities *qs, const struct slo_term *term)
{
    switch (term->kind) {
    case SLO_QUANTILE:
        add(qs, quantile(term->measure, term->quantile));
        break;
    case SLO_ERRORS:
        add(qs, plain(QUANTITY_ERRORS));
        break;
    case SLO_GOODPUT:
        add(qs, plain(QUANTITY_GOODPUT));
        break;
    case SLO_QUALITY:
        add(qs, plain(QUANTITY_QUALITY));
        break;
    default: /* all the limits of a request at once */
        add(qs, plain(QUANTITY_ATTAINMENT));
    }
}

static void add_usual(struct quantities *qs)
{
    static const enum measure measures[] = {MEASURE_E2E, MEASURE_TTFT,
                                            MEASURE_TPOT};
    static const double shares[] = {0.5, 0.9, 0.99};

    for (int k = 0; k < QUANTITY_QUANTILE; k++)
        add(qs, plain((enum quantity_kind)k));
    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
            add(qs, quantile(measures[m], shares[i]));
    }
}

int quantities_make(struct quantities *qs, const struct strlist *on,
                    const struct slo *slo, struct err *err)
{
    struct quantity q;

    *qs = (struct quantities){0};
    if (on->len > SLO_MAX_TERMS)
        return err_set(err, ERR_USAGE, "--on: more than %d", SLO_MAX_TERMS);
    for (size_t i = 0; i < on->len; i++) {
        if (quantity_parse(on->items[i], &q, err))
            return err_context(err, "--on");
        add(qs, q);
    }
    for (size_t i = 0; on->len == 0 && i < slo->len; i++)
        add_term(qs, &slo->terms[i]);
    if (qs->len == 0) {
        add(qs, quantile(MEASURE_E2E, 0.99));
        add(qs, plain(QUANTITY_THROUGHPUT));
    }
    qs->asked = qs->len;
    add_usual(qs);
    return 0;
}
