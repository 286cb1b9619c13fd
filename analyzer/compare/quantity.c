#include "analyzer/compare/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/spec/slo.h"
#include "common/text/units.h"

#define MAX_NAME_PARTS 4

static const struct {
    const char *name;
    const char *unit;
    bool more_is_better;
} kinds[] = {
    [QUANTITY_COMPLETED] = {"completed", "rps", true},
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

const char *quantity_label(const struct quantity *q)
{
    return q->kind == QUANTITY_THROUGHPUT ? "finished in the window" : q->name;
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

int quantity_parse(const char *text, struct quantity *out, struct err *err)
{
    struct slo_term term;
    int rc;

    for (int k = 0; k < QUANTITY_QUANTILE; k++) {
        if (strcmp(text, kinds[k].name) == 0) {
            *out = plain((enum quantity_kind)k);
            return 0;
        }
    }
    rc = slo_parse_quantile(text, &term, err);
    if (rc < 0) {
        err->code = ERR_USAGE; /* a flag, not an SLO */
        return rc;
    }
    if (rc == 0) {
        *out = quantile(term.measure, term.quantile);
        return 0;
    }
    return err_set(
        err, ERR_USAGE,
        "'%.60s' is not one of completed, goodput, throughput, tokens, "
        "attainment, quality, errors, cost, or a percentile such as 'ttft p99'",
        text);
}

int quantity_check(const char *text, struct err *err)
{
    struct quantity ignored;

    return quantity_parse(text, &ignored, err);
}

static void add(struct quantities *qs, struct quantity q)
{
    for (size_t i = 0; i < qs->len; i++) {
        if (strcmp(qs->list[i].name, q.name) == 0)
            return;
    }
    if (qs->len < QUANTITIES_MAX)
        qs->list[qs->len++] = q;
}

static void add_term(struct quantities *qs, const struct slo_term *term)
{
    static const enum quantity_kind kind_of[] = {
        [SLO_ERRORS] = QUANTITY_ERRORS,    [SLO_GOODPUT] = QUANTITY_GOODPUT,
        [SLO_QUALITY] = QUANTITY_QUALITY,  [SLO_GOOD] = QUANTITY_ATTAINMENT,
        [SLO_LIMIT] = QUANTITY_ATTAINMENT, [SLO_CHECK] = QUANTITY_ATTAINMENT,
    };

    add(qs, term->kind == SLO_QUANTILE ? quantile(term->measure, term->quantile)
                                       : plain(kind_of[term->kind]));
}

int quantities_make(struct quantities *qs, const struct strlist *on,
                    const struct slo *slo, bool is_open_loop, struct err *err)
{
    static const enum measure measures[] = {MEASURE_E2E, MEASURE_TTFT,
                                            MEASURE_TPOT};
    static const double shares[] = {0.5, 0.9, 0.99};
    static const double curve[] = {0.05, 0.1, 0.2,  0.3,  0.4, 0.6,
                                   0.7,  0.8, 0.85, 0.95, 0.98};
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
        if (!is_open_loop)
            add(qs, plain(QUANTITY_THROUGHPUT));
    }
    qs->asked = qs->len;

    for (int k = 0; k < QUANTITY_QUANTILE; k++)
        add(qs, plain((enum quantity_kind)k));
    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
            add(qs, quantile(measures[m], shares[i]));
    }
    qs->shown = qs->len;
    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        for (size_t i = 0; i < sizeof(curve) / sizeof(curve[0]); i++)
            add(qs, quantile(measures[m], curve[i]));
    }
    return 0;
}

const char *show_value(const struct quantity *q, double value,
                       char out[static SHOW_TEXT])
{
    char text[UNITS_TEXT];

    if (!isfinite(value))
        return "failed";
    if (q->kind == QUANTITY_QUANTILE)
        snprintf(out, SHOW_TEXT, "%s", units_show_duration(value, text));
    else if (quantity_is_share(q))
        snprintf(out, SHOW_TEXT, "%.4g%%", value * 100);
    else if (q->kind == QUANTITY_COST)
        snprintf(out, SHOW_TEXT, "%.4g USD", value);
    else
        snprintf(out, SHOW_TEXT, "%.4g/s", value);
    return out;
}

const char *show_difference(const struct quantity *q, double value,
                            char out[static SHOW_TEXT])
{
    char text[SHOW_TEXT];

    snprintf(out, SHOW_TEXT, "%s%.60s", value < 0 ? "-" : "+",
             show_value(q, fabs(value), text));
    return out;
}

const char *show_side(size_t side, char out[static SHOW_TEXT])
{
    char letter = (char)('A' + side % 26);

    if (side < 26)
        snprintf(out, SHOW_TEXT, "%c", letter);
    else
        snprintf(out, SHOW_TEXT, "%c%zu", letter, side / 26);
    return out;
}

/* The last `parts` parts of a path, without slashes at its end. */
static void last_parts(const char *path, int parts, char out[static SHOW_TEXT])
{
    size_t end = strlen(path);
    size_t at;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (at = end; at > 0; at--) {
        if (path[at - 1] == '/' && at < end && --parts == 0)
            break;
    }
    snprintf(out, SHOW_TEXT, "%.*s", (int)(end - at), path + at);
}

const char *show_side_name(const char *const *dirs, size_t n, size_t side,
                           char out[static SHOW_TEXT])
{
    for (int parts = 1; parts <= MAX_NAME_PARTS; parts++) {
        bool is_unique = true;
        char other[SHOW_TEXT];

        last_parts(dirs[side], parts, out);
        for (size_t i = 0; i < n; i++) {
            last_parts(dirs[i], parts, other);
            is_unique &= i == side || strcmp(out, other) != 0;
        }
        if (is_unique && out[0])
            return out;
    }
    return show_side(side, out);
}
