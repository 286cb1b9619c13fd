/* Timings from a CSV file: column names in the first line, then one row per
 * point, or one row per run if several rows have the same K.  An unknown column
 * is an error, since ignoring a typo would change the result. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/scaling/scaling.h"
#include "analyzer/verdict/cost.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/spec/prices.h"
#include "common/text/units.h"

#define MAX_FILE    ((size_t)8 << 20)
#define MAX_COLUMNS 64
#define MAX_WORKERS 1e9

/* Several configurations for each K that a law takes. */
#define MAX_POINTS ((size_t)4 * LAWS_MAX_POINTS)

/* The columns; several names may stand for one. */
enum field {
    K,
    SECONDS,
    STD,
    RUNS,
    COMM,
    WORK,
    TOKENS,
    PROMPT_TOKENS, /* cached ones excluded */
    OUTPUT_TOKENS,
    USD_PER_HOUR,
    EGRESS_GB,
    STORAGE_GB,
    JOULES,
    QUALITY,
    QUALITY_N,
    P50_MS,
    P99_MS,
    CAPACITY,
    KEEPS_SLO, /* 1 or 0 */
    IS_WARM,   /* 1 or 0 */
    NUMBERS,
    CONFIG = NUMBERS,
    MACHINE, /* of one worker */
    FIELDS,
};

/* The cells of a line. */
struct row {
    double x[NUMBERS];        /* NAN: empty */
    const char *text[FIELDS]; /* NULL: empty */
};

/* How a cell is read, and which values are allowed. */
enum cell {
    CELL_COUNT,
    CELL_POSITIVE,
    CELL_AMOUNT,
    CELL_SHARE,
    CELL_YES,
    CELL_TEXT,
};

static const struct column {
    const char *name;
    enum cell cell;
    enum field field;
} columns[] = {
    {"workers", CELL_COUNT, K},
    {"replicas", CELL_COUNT, K},
    {"k", CELL_COUNT, K},
    {"seconds", CELL_POSITIVE, SECONDS},
    {"mean_seconds", CELL_POSITIVE, SECONDS},
    {"std_seconds", CELL_AMOUNT, STD},
    {"std", CELL_AMOUNT, STD},
    {"runs", CELL_COUNT, RUNS},
    {"comm_seconds", CELL_AMOUNT, COMM},
    {"work", CELL_POSITIVE, WORK},
    {"tokens", CELL_AMOUNT, TOKENS},
    {"prompt_tokens", CELL_AMOUNT, PROMPT_TOKENS},
    {"output_tokens", CELL_AMOUNT, OUTPUT_TOKENS},
    {"usd_per_hour", CELL_AMOUNT, USD_PER_HOUR},
    {"egress_gb", CELL_AMOUNT, EGRESS_GB},
    {"storage_gb", CELL_AMOUNT, STORAGE_GB},
    {"joules", CELL_AMOUNT, JOULES},
    {"quality", CELL_SHARE, QUALITY},
    {"quality_n", CELL_COUNT, QUALITY_N},
    {"p50_ms", CELL_AMOUNT, P50_MS},
    {"p99_ms", CELL_AMOUNT, P99_MS},
    {"capacity_rps", CELL_POSITIVE, CAPACITY},
    {"slo_met", CELL_YES, KEEPS_SLO},
    {"warmup_excluded", CELL_YES, IS_WARM},
    {"config", CELL_TEXT, CONFIG},
    {"machine", CELL_TEXT, MACHINE},
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct table {
    struct scaling *s;
    const char *name;
    size_t line; /* from 1 */
    const struct column *at[MAX_COLUMNS];
    size_t n; /* number of columns; 0: before the first line */
};

/* ---- cells ---- */

static bool is_allowed(enum cell cell, double x)
{
    switch (cell) {
    case CELL_COUNT:
        return x >= 1 && x <= MAX_WORKERS && x == floor(x);
    case CELL_POSITIVE:
        return x > 0;
    case CELL_SHARE:
        return x >= 0 && x <= 1;
    default:
        return x >= 0;
    }
}

static int read_number(const struct column *c, const char *text, double *out,
                       struct err *err)
{
    static const char *const want[] = {
        [CELL_COUNT] = "a whole number from 1",
        [CELL_POSITIVE] = "a number above 0",
        [CELL_AMOUNT] = "a number that is not negative",
        [CELL_SHARE] = "a share from 0 to 1",
    };
    char *end;

    errno = 0;
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out) || !is_allowed(c->cell, *out))
        return err_set(err, ERR_CONFIG, "%s: '%.80s' is not %s", c->name, text,
                       want[c->cell]);
    return units_check_range(text, *out, err) ? err_context(err, "%s", c->name)
                                              : 0;
}

static int read_cell(const struct column *c, char *text, struct row *row,
                     struct err *err)
{
    bool is_yes = strcmp(text, "yes") == 0;

    if (!*text)
        return 0; /* unknown for this row */
    switch (c->cell) {
    case CELL_TEXT:
        row->text[c->field] = text;
        return 0;
    case CELL_YES:
        row->x[c->field] = is_yes;
        return is_yes || strcmp(text, "no") == 0
                   ? 0
                   : err_set(err, ERR_CONFIG,
                             "%s: '%.80s' is neither yes nor no", c->name,
                             text);
    default:
        return read_number(c, text, &row->x[c->field], err);
    }
}

/* ---- the first line ---- */

static int find_column(struct table *t, const char *name, struct err *err)
{
    struct suggest s = {.word = name};
    char hint[64];

    for (size_t i = 0; i < N_COLUMNS; i++) {
        if (strcmp(columns[i].name, name) == 0) {
            t->at[t->n++] = &columns[i];
            return 0;
        }
        suggest_consider(&s, columns[i].name);
    }
    return err_set(err, ERR_CONFIG, "unknown column '%.80s'%s", name,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

static bool has(const struct table *t, enum field field)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->at[i]->field == field)
            return true;
    }
    return false;
}

static int check_columns(const struct table *t, struct err *err)
{
    bool is_capacity = t->s->ask.regime == SCALE_CAPACITY;

    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (t->at[k]->field == t->at[i]->field)
                return err_set(err, ERR_CONFIG,
                               "columns '%s' and '%s' have the same meaning",
                               t->at[k]->name, t->at[i]->name);
        }
    }
    if (!has(t, K))
        return err_set(err, ERR_CONFIG, "no column 'workers'");
    if (has(t, TOKENS) && (has(t, PROMPT_TOKENS) || has(t, OUTPUT_TOKENS)))
        return err_set(err, ERR_CONFIG,
                       "column 'tokens' cannot be combined with "
                       "'prompt_tokens' and 'output_tokens', whose sum it is");
    if (has(t, PROMPT_TOKENS) != has(t, OUTPUT_TOKENS))
        return err_set(err, ERR_CONFIG,
                       "columns 'prompt_tokens' and 'output_tokens' require "
                       "each other");
    return has(t, is_capacity ? CAPACITY : SECONDS)
               ? 0
               : err_set(err, ERR_CONFIG, "no column '%s'",
                         is_capacity ? "capacity_rps" : "seconds");
}

static int read_head(struct table *t, char *line, struct err *err)
{
    char *cell;

    while ((cell = strsep(&line, ",")) != NULL) {
        if (t->n == MAX_COLUMNS)
            return err_set(err, ERR_CONFIG, "more than %d columns",
                           MAX_COLUMNS);
        if (find_column(t, str_trim(cell), err))
            return -1;
    }
    return check_columns(t, err);
}

/* ---- rows ---- */

static int keep_same(double *kept, double x, const char *what, struct err *err)
{
    if (!isnan(*kept) && !isnan(x) && *kept != x)
        return err_set(err, ERR_CONFIG,
                       "%s: %.10g, but another run with the same K has %.10g",
                       what, x, *kept);
    *kept = isnan(*kept) ? x : *kept;
    return 0;
}

/* A single "no" of several runs is enough. */
static void take_answer(enum scale_answer *all, double yes)
{
    enum scale_answer a = isnan(yes) ? SCALE_UNKNOWN
                          : yes > 0  ? SCALE_YES
                                     : SCALE_NO;

    *all = *all > a ? *all : a;
}

static int take_time(struct scale_point *p, const struct row *row,
                     struct err *err)
{
    bool is_first = isnan(p->mean_s);

    if (isnan(row->x[RUNS]) && isnan(row->x[STD])) {
        if (!is_first && p->n_times == 0)
            return err_set(err, ERR_CONFIG,
                           "K = %lld was already given as a mean",
                           (long long)p->k);
        scale_point_add_time(p, row->x[SECONDS]);
        return 0;
    }
    if (!is_first)
        return err_set(err, ERR_CONFIG,
                       "K = %lld was given twice; a row with std or runs "
                       "stands for all runs",
                       (long long)p->k);
    p->mean_s = row->x[SECONDS];
    p->std_s = row->x[STD];
    p->runs = row->x[RUNS];
    return 0;
}

static void take_means(struct scale_point *p, const double *x)
{
    struct scale_weights *w = &p->weights;
    double answers = x[QUALITY_N] > 0 ? x[QUALITY_N] : 1;

    scale_blend(&p->comm_s, &w->comm_s, x[COMM], 1);
    scale_blend(&p->tokens, &w->tokens, x[TOKENS], 1);
    scale_blend(&p->prompt_tokens, &w->prompt_tokens, x[PROMPT_TOKENS], 1);
    scale_blend(&p->output_tokens, &w->output_tokens, x[OUTPUT_TOKENS], 1);
    if (!isnan(p->prompt_tokens + p->output_tokens))
        p->tokens = p->prompt_tokens + p->output_tokens;
    scale_blend(&p->egress_gb, &w->egress_gb, x[EGRESS_GB], 1);
    scale_blend(&p->joules, &w->joules, x[JOULES], 1);
    scale_blend(&p->quality, &w->quality, x[QUALITY], answers);
    scale_blend(&p->p50_ms, &w->p50_ms, x[P50_MS], 1);
    scale_blend(&p->p99_ms, &w->p99_ms, x[P99_MS], 1);
    if (!isnan(x[QUALITY]) && !isnan(x[QUALITY_N]))
        p->quality_n = (isnan(p->quality_n) ? 0 : p->quality_n) + x[QUALITY_N];
}

/* Sets the price by the price table; the row cannot have a second price. */
static int look_up(const struct table *t, struct row *row, struct err *err)
{
    const struct cost_ask *cost = t->s->ask.cost;
    const struct prices *prices = cost ? cost->prices : NULL;
    /* The machine on the command line overrides the row. */
    const char *machine =
        cost && cost->machine ? cost->machine : row->text[MACHINE];
    double usd;

    if (!machine)
        return prices ? err_set(err, ERR_CONFIG,
                                "%s: prices require a machine (column "
                                "'machine', or --machine)",
                                prices->name)
                      : 0;
    if (!isnan(row->x[USD_PER_HOUR]))
        return err_set(
            err, ERR_CONFIG,
            "machine cannot be combined with usd_per_hour, which is a "
            "price");
    if (!prices)
        return err_set(err, ERR_CONFIG,
                       "machine '%.80s' requires a price table (--prices)",
                       machine);
    if (prices_find(prices, machine, &usd, err))
        return -1;
    row->x[USD_PER_HOUR] = usd * row->x[K];
    return 0;
}

static int take_machine(struct scale_point *p, const char *machine,
                        struct err *err)
{
    if (!machine)
        return 0;
    if (!p->machine)
        p->machine = xstrdup(machine);
    return strcmp(p->machine, machine) == 0
               ? 0
               : err_set(err, ERR_CONFIG,
                         "machine: '%.80s', but another run with the same K "
                         "has '%.80s'",
                         machine, p->machine);
}

/* What has a price must be known. */
static int check_data(const struct table *t, const struct row *row,
                      struct err *err)
{
    const struct cost_ask *cost = t->s->ask.cost;

    if (row->x[COMM] >= row->x[SECONDS])
        return err_set(err, ERR_CONFIG,
                       "comm_seconds: %.10g is not below seconds, of which it "
                       "is a part",
                       row->x[COMM]);
    if (cost && cost->usd_per_gb_egress > 0 && isnan(row->x[EGRESS_GB]))
        return err_set(err, ERR_CONFIG,
                       "a price of egress requires a column 'egress_gb'");
    if (cost && cost->usd_per_gb_month > 0 && !(cost->storage_gb > 0) &&
        isnan(row->x[STORAGE_GB]))
        return err_set(err, ERR_CONFIG,
                       "a price of storage requires a column 'storage_gb', or "
                       "--storage-gb");
    return 0;
}

static int take_row(struct table *t, const struct row *row, struct err *err)
{
    char *where = xasprintf("%s:%zu", t->name, t->line);
    struct scale_point *p =
        scaling_point(t->s, (int64_t)row->x[K],
                      row->text[CONFIG] ? row->text[CONFIG] : "", where);

    free(where);
    if (t->s->n > MAX_POINTS)
        return err_set(err, ERR_CONFIG,
                       "more than %zu points with different K or config",
                       MAX_POINTS);
    if (check_data(t, row, err) || take_machine(p, row->text[MACHINE], err) ||
        take_time(p, row, err) ||
        keep_same(&p->work, row->x[WORK], "work", err) ||
        keep_same(&p->usd_per_hour, row->x[USD_PER_HOUR], "usd_per_hour",
                  err) ||
        keep_same(&p->storage_gb, row->x[STORAGE_GB], "storage_gb", err))
        return -1;
    take_means(p, row->x);
    take_answer(&p->keeps_slo, row->x[KEEPS_SLO]);
    take_answer(&p->is_warm, row->x[IS_WARM]);
    return 0;
}

/* A capacity as the time of one request; docs/scaling.md. */
static int as_time(const struct table *t, struct row *row, struct err *err)
{
    bool is_capacity = t->s->ask.regime == SCALE_CAPACITY;

    if (isnan(row->x[K]) ||
        isnan(is_capacity ? row->x[CAPACITY] : row->x[SECONDS]))
        return err_set(err, ERR_CONFIG, "no %s",
                       isnan(row->x[K]) ? "number of workers"
                       : is_capacity    ? "capacity_rps"
                                        : "seconds");
    if (is_capacity) {
        row->x[SECONDS] = 1 / row->x[CAPACITY];
        row->x[WORK] = 1;
        row->x[STD] = NAN;
        row->x[RUNS] = NAN;
        row->x[COMM] = NAN;
    }
    return 0;
}

static int read_row(struct table *t, char *line, struct err *err)
{
    struct row row = {0};
    size_t n = 0;
    char *cell;

    for (int i = 0; i < NUMBERS; i++)
        row.x[i] = NAN;
    while ((cell = strsep(&line, ",")) != NULL) {
        if (n == t->n)
            return err_set(err, ERR_CONFIG, "more cells than columns");
        if (read_cell(t->at[n++], str_trim(cell), &row, err))
            return -1;
    }
    if (n < t->n)
        return err_set(err, ERR_CONFIG, "fewer cells than columns");
    return as_time(t, &row, err) || look_up(t, &row, err) ||
                   take_row(t, &row, err)
               ? -1
               : 0;
}

int scale_table_parse(struct scaling *s, const char *name, char *text,
                      struct err *err)
{
    struct table t = {.s = s, .name = name};
    char *line;

    while ((line = strsep(&text, "\n")) != NULL) {
        t.line++;
        line = str_trim(line);
        if (*line && *line != '#' &&
            (t.n == 0 ? read_head : read_row)(&t, line, err))
            return err_context(err, "%s:%zu", name, t.line);
    }
    if (s->n == 0)
        return err_set(err, ERR_CONFIG, "%s: no rows with timings", name);
    return 0;
}

int scale_table_read(struct scaling *s, const char *path, struct err *err)
{
    char *text;
    int rc;

    if (file_read_text(path, MAX_FILE, &text, err))
        return -1;
    rc = scale_table_parse(s, path, text, err);
    free(text);
    return rc;
}
