#include "common/spec/until.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/spec/slo.h"
#include "common/text/units.h"

#define MAX_TEXT 64

static int refuse(const char *text, struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "'%.60s' is not a precision; write 'e2e p99 +- 5%%'", text);
}

/* As in an SLO term. */
static int parse_quantile(const char *text, size_t len, struct until *out,
                          struct err *err)
{
    static const double known[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    struct slo_term term;
    char bare[MAX_TEXT + 1];
    int rc;

    snprintf(bare, sizeof(bare), "%.*s", (int)len, text);
    rc = slo_parse_quantile(bare, &term, err);
    if (rc)
        return rc < 0 ? rc : refuse(text, err);
    if (measure_is_pooled(term.measure))
        return err_set(err, ERR_CONFIG,
                       "%s has several samples per request; a precision can "
                       "be asked of measures of requests",
                       measure_name(term.measure));
    out->measure = term.measure;
    out->quantile = term.quantile;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (fabs(known[i] - term.quantile) < 1e-9)
            return 0;
    }
    return err_set(err, ERR_CONFIG,
                   "'%.60s': the quantile must be p50, p90, p95, p99 or p99.9",
                   text);
}

int until_parse(const char *text, struct until *out, struct err *err)
{
    static const char *const signs[] = {"\xc2\xb1", "+-", "+/-"};

    if (strlen(text) > MAX_TEXT || strpbrk(text, "<>=:,"))
        return refuse(text, err);
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        const char *at = strstr(text, signs[i]);
        const char *share;

        if (!at)
            continue;
        share = at + strlen(signs[i]);
        share += strspn(share, " ");
        if (units_parse_share(share, &out->share, &(struct err){0}) ||
            !(out->share > 0 && out->share < 1))
            return refuse(text, err);
        return parse_quantile(text, (size_t)(at - text), out, err);
    }
    return refuse(text, err);
}

int until_check(const char *text, struct err *err)
{
    return until_parse(text, &(struct until){0}, err);
}
