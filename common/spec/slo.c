#include "common/spec/slo.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/text/units.h"

const char *const slo_require_names[] = {"observed", "shown", NULL};

static const struct {
    const char *name;
    enum slo_kind kind;
    const char *relation;
} counted[] = {
    {"errors", SLO_ERRORS, "<"},
    {"good", SLO_GOOD, ">="},
    {"goodput", SLO_GOODPUT, ">="},
    {"quality", SLO_QUALITY, ">="},
};

#define N_COUNTED (sizeof(counted) / sizeof(counted[0]))

struct words {
    char name[24];
    char quantile[24]; /* "" if it is missing */
    char relation[4];
    char limit[24];
};

static int bad_form(const char *text, struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "'%s' is not an SLO term; write 'e2e p99 < 200ms', 'errors "
                   "< 0.1%%', 'good >= 90%%' or 'goodput >= 40/s'",
                   text);
}

/* name [pNN] relation limit, with or without spaces around the relation and
 * before the limit's unit. */
static int split(const char *text, struct words *w)
{
    char left[64];
    char number[16];
    char unit[8];
    char extra[2];
    size_t at = strcspn(text, "<>=");
    size_t relation = strspn(text + at, "<>=");
    int n;

    if (at >= sizeof(left) || relation == 0 || relation >= sizeof(w->relation))
        return -1;
    memcpy(left, text, at);
    left[at] = '\0';
    memcpy(w->relation, text + at, relation);
    w->relation[relation] = '\0';
    w->quantile[0] = '\0';
    n = sscanf(left, "%23s %23s %1s", w->name, w->quantile, extra);
    if (n != 1 && n != 2)
        return -1;
    if (sscanf(text + at + relation, "%23s %1s", w->limit, extra) == 1)
        return 0;
    if (sscanf(text + at + relation, " %15[0-9.] %7[a-z%%/] %1s", number, unit,
               extra) != 2)
        return -1;
    snprintf(w->limit, sizeof(w->limit), "%s%s", number, unit);
    return 0;
}

static int unknown_measure(const char *name, struct err *err)
{
    const char *names[N_COUNTED + 1] = {NULL};

    for (size_t i = 0; i < N_COUNTED; i++)
        names[i] = counted[i].name;
    return measure_refuse(name, names, err);
}

static int parse_measured(const struct words *w, struct slo_term *term,
                          struct err *err)
{
    int measure = measure_find(w->name);
    char percent[32];

    if (measure < 0)
        return unknown_measure(w->name, err);
    term->kind = SLO_QUANTILE;
    term->measure = (enum measure)measure;
    if (!w->quantile[0])
        return err_set(err, ERR_CONFIG,
                       "SLO on %s: the quantile is missing; write '%s p99 < "
                       "%s'",
                       w->name, w->name, w->limit);
    snprintf(percent, sizeof(percent), "%.24s%%", w->quantile + 1);
    if (w->quantile[0] != 'p' ||
        units_parse_share(percent, &term->quantile, &(struct err){0}) ||
        !(term->quantile > 0 && term->quantile < 1))
        return err_set(err, ERR_CONFIG,
                       "SLO on %s: '%s' is not a quantile; write p50, p99 or "
                       "p99.9",
                       w->name, w->quantile);
    if (strcmp(w->relation, "<") != 0)
        return err_set(err, ERR_CONFIG, "SLO on %s: write '<', not '%s'",
                       w->name, w->relation);
    if (units_parse_duration(w->limit, &term->limit_ns, err))
        return err_context(err, "SLO on %s", w->name);
    if (term->limit_ns == 0)
        return err_set(err, ERR_CONFIG, "SLO on %s: the limit must be above 0",
                       w->name);
    snprintf(term->text, sizeof(term->text), "%s %s < %s",
             measure_name(term->measure), w->quantile, w->limit);
    return 0;
}

/* name:milliseconds, as in other tools; the number becomes the limit. */
static bool split_limit(const char *text, struct words *w)
{
    char extra[2];

    return sscanf(text, " %23[a-z0-9]:%23[0-9.] %1s", w->name, w->limit,
                  extra) == 2;
}

/* check: required */
static bool is_check(const char *text)
{
    char word[12];
    char extra[2];

    return sscanf(text, " check: %11s %1s", word, extra) == 1 &&
           strcmp(word, "required") == 0;
}

bool slo_is_like_limit(const char *text)
{
    return is_check(text) || split_limit(text, &(struct words){0});
}

static int parse_limit(const char *text, struct slo_term *term, struct err *err)
{
    struct words w;
    char duration[32];
    int measure;

    if (is_check(text)) {
        *term = (struct slo_term){.kind = SLO_CHECK, .text = "check: required"};
        return 0;
    }
    if (!split_limit(text, &w))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a limit of good requests; write ttft:200 "
                       "for 200 ms, or check: required",
                       text);
    measure = measure_find(w.name);
    if (measure < 0)
        return unknown_measure(w.name, err);
    if (measure == MEASURE_QUERY)
        return err_set(err, ERR_CONFIG,
                       "query measures several requests together and cannot be "
                       "a limit of one; use e2e");
    if (measure_is_pooled((enum measure)measure))
        return err_set(err, ERR_CONFIG,
                       "%s measures all events together and cannot be a limit "
                       "of one request; use stall",
                       w.name);
    *term = (struct slo_term){
        .kind = SLO_LIMIT, .measure = (enum measure)measure, .quantile = 1};
    snprintf(duration, sizeof(duration), "%sms", w.limit);
    if (units_parse_duration(duration, &term->limit_ns, err))
        return err_context(err, "limit of %s", w.name);
    if (term->limit_ns == 0)
        return err_set(err, ERR_CONFIG, "limit of %s: it must be above 0",
                       w.name);
    snprintf(term->text, sizeof(term->text), "%s:%s",
             measure_name(term->measure), w.limit);
    return 0;
}

static int parse_counted(size_t i, const struct words *w, struct slo_term *term,
                         struct err *err)
{
    int rc;

    term->kind = counted[i].kind;
    if (strcmp(w->relation, counted[i].relation) != 0)
        return err_set(err, ERR_CONFIG, "SLO on %s: write '%s', not '%s'",
                       w->name, counted[i].relation, w->relation);
    if (term->kind == SLO_GOODPUT)
        rc = units_parse_rate(w->limit, &term->limit, err);
    else
        rc = units_parse_share(w->limit, &term->limit, err);
    if (rc)
        return err_context(err, "SLO on %s", w->name);
    if (term->kind == SLO_ERRORS && !(term->limit > 0))
        return err_set(err, ERR_CONFIG, "SLO on %s: the limit must be above 0",
                       w->name);
    snprintf(term->text, sizeof(term->text), "%s %s %s", w->name, w->relation,
             w->limit);
    return 0;
}

static int parse_untiered(const char *text, struct slo_term *term,
                          struct err *err)
{
    struct words w;

    if (strchr(text, ':'))
        return parse_limit(text, term, err);
    if (split(text, &w))
        return bad_form(text, err);
    for (size_t i = 0; i < N_COUNTED; i++) {
        if (strcmp(w.name, counted[i].name) != 0)
            continue;
        return w.quantile[0] ? bad_form(text, err)
                             : parse_counted(i, &w, term, err);
    }
    return parse_measured(&w, term, err);
}

/* ---- tiers ---- */

/* Has it a meaning in terms, so that it cannot name a tier? */
static bool is_taken(const char *name)
{
    for (size_t i = 0; i < N_COUNTED; i++) {
        if (strcmp(name, counted[i].name) == 0)
            return true;
    }
    return measure_find(name) >= 0 || strcmp(name, "check") == 0;
}

/* The colon after the tier of a term, or NULL: a term follows it, as in 'gold:
 * ttft:200', not the rest of one, as in 'ttft:200'. */
static const char *tier_end(const char *text)
{
    const char *colon = text + strcspn(text, ":<>=");
    char word[SLO_TIER];

    if (*colon != ':')
        return NULL;
    if (strpbrk(colon + 1, "<>="))
        return colon;
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ":"), text);
    return strchr(colon + 1, ':') && !is_taken(word) ? colon : NULL;
}

#define NAME_CHARS                                                             \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static int parse_tier(const char *text, const char *end, char tier[SLO_TIER],
                      struct err *err)
{
    size_t from = strspn(text, " ");
    size_t len = strspn(text + from, NAME_CHARS);
    const char *rest = text + from + len;

    rest += strspn(rest, " ");
    if (*rest == '/')
        return err_set(err, ERR_CONFIG,
                       "'%s': only report --slo can name a class; in a "
                       "settings file write the term under classes",
                       text);
    if (rest != end || len == 0 || len >= SLO_TIER)
        return err_set(err, ERR_CONFIG,
                       "'%.*s' is not the name of a tier; use letters, digits "
                       "and ._-, at most %d",
                       (int)(end - text), text, SLO_TIER - 1);
    memcpy(tier, text + from, len);
    tier[len] = '\0';
    if (is_taken(tier))
        return err_set(err, ERR_CONFIG,
                       "'%s' has a meaning in SLO terms and cannot name a "
                       "tier",
                       tier);
    return 0;
}

int slo_parse_term(const char *text, struct slo_term *term, struct err *err)
{
    const char *end = tier_end(text);
    char tier[SLO_TIER];
    char bare[sizeof(term->text) - SLO_TIER - 2];

    *term = (struct slo_term){0};
    if (!end)
        return parse_untiered(text, term, err);
    if (parse_tier(text, end, tier, err))
        return -1;
    if (parse_untiered(end + 1, term, err))
        return err_context(err, "%s", tier);
    snprintf(bare, sizeof(bare), "%.*s", (int)sizeof(bare) - 1, term->text);
    snprintf(term->text, sizeof(term->text), "%s: %s", tier, bare);
    memcpy(term->tier, tier, sizeof(tier));
    return 0;
}

int slo_parse_quantile(const char *text, struct slo_term *term, struct err *err)
{
    struct err why = {0};
    const char *space = strchr(text, ' ');
    char full[80];

    if (strlen(text) > 60 || strpbrk(text, "<>=:,"))
        return 1;
    snprintf(full, sizeof(full), "%s < 1s", text);
    if (slo_parse_term(full, term, &why) == 0)
        return term->kind == SLO_QUANTILE ? 0 : 1;
    if (!space || space[1] != 'p' || space[2] < '0' || space[2] > '9')
        return 1;
    *err = why;
    return -1;
}

size_t slo_class_len(const char *text)
{
    size_t len = strspn(text, NAME_CHARS);

    return text[len] == '/' ? len : 0;
}

const char *slo_after_class(const char *text)
{
    size_t len = slo_class_len(text);

    return len > 0 ? text + len + 1 : text;
}

/* ---- lists of terms ---- */

int slo_check_term(const char *text, struct err *err)
{
    return slo_parse_term(text, &(struct slo_term){0}, err);
}

int slo_check_asked(const char *text, struct err *err)
{
    return slo_check_term(slo_after_class(text), err);
}

int slo_check_limit(const char *text, struct err *err)
{
    return parse_limit(text, &(struct slo_term){0}, err);
}

/* Two limits on the same measure in one tier would be a mistake. */
int slo_parse_all(const struct strlist *texts, struct slo *all, struct err *err)
{
    const char *names[SLO_MAX_TIERS];

    *all = (struct slo){0};
    if (texts->len > SLO_MAX_TERMS)
        return err_set(err, ERR_CONFIG, "more than %d SLO terms",
                       SLO_MAX_TERMS);
    for (size_t i = 0; i < texts->len; i++) {
        if (slo_parse_term(texts->items[i], &all->terms[i], err))
            return -1;
        all->len++;
    }
    for (size_t i = 0; i < all->len; i++) {
        const struct slo_term *a = &all->terms[i];

        for (size_t k = 0; a->tier[0] && k < i; k++) {
            const struct slo_term *b = &all->terms[k];

            if (a->kind == b->kind && a->measure == b->measure &&
                a->quantile == b->quantile && strcmp(a->tier, b->tier) == 0)
                return err_set(
                    err, ERR_CONFIG,
                    "'%s' and '%s': a tier can have only one of them", b->text,
                    a->text);
        }
    }
    if (slo_tiers(all, names) > SLO_MAX_TIERS)
        return err_set(err, ERR_CONFIG, "more than %d SLO tiers",
                       SLO_MAX_TIERS);
    return 0;
}

size_t slo_tiers(const struct slo *all, const char *names[static SLO_MAX_TIERS])
{
    size_t n = 0;

    for (size_t i = 0; i < all->len; i++) {
        const char *tier = all->terms[i].tier;
        bool is_first = tier[0] != '\0';

        for (size_t k = 0; is_first && k < i; k++)
            is_first = strcmp(all->terms[k].tier, tier) != 0;
        if (is_first && n < SLO_MAX_TIERS)
            names[n] = tier;
        n += is_first;
    }
    return n;
}

void slo_of_tier(const struct slo *all, const char *tier, struct slo *out)
{
    *out = (struct slo){0};
    for (size_t i = 0; i < all->len; i++) {
        if (strcmp(all->terms[i].tier, tier) == 0)
            out->terms[out->len++] = all->terms[i];
    }
}

int slo_parse(const struct strlist *texts, struct slo *slo, struct err *err)
{
    const char *names[SLO_MAX_TIERS];
    bool is_judged = false;
    struct slo bare;
    struct slo all;
    size_t n;

    *slo = (struct slo){0};
    if (slo_parse_all(texts, &all, err))
        return -1;
    slo_of_tier(&all, "", &bare);
    /* Limits define good requests; they are not objectives of the run. */
    for (size_t i = 0; i < bare.len; i++)
        is_judged |=
            bare.terms[i].kind != SLO_LIMIT && bare.terms[i].kind != SLO_CHECK;
    n = slo_tiers(&all, names);
    if (n > 0 && !is_judged)
        slo_of_tier(&all, names[n - 1], slo);
    for (size_t i = 0; i < bare.len; i++)
        slo->terms[slo->len++] = bare.terms[i];
    return 0;
}

double slo_allowed(const struct slo_term *term)
{
    switch (term->kind) {
    case SLO_QUANTILE:
        return 1 - term->quantile;
    case SLO_ERRORS:
        return term->limit;
    case SLO_GOOD:
    case SLO_QUALITY:
        return 1 - term->limit;
    case SLO_GOODPUT:
    case SLO_LIMIT:
    case SLO_CHECK:
        break;
    }
    return -1;
}
