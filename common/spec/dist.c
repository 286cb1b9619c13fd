#include "common/spec/dist.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

/* Upper bounds of drawn values, so that sums do not overflow. */
#define MAX_DRAWN  0x1p62
#define MAX_COUNT  (INT64_C(1) << 40)
#define MAX_PARAMS 2
#define MAX_FILE   ((size_t)64 << 20)

struct dist_ops {
    const char *name;
    int n_params; /* mean, then standard deviation; -1: a table */
    double (*draw)(const struct dist *dist, struct rng *rng);
};

/* Parses a parameter. */
typedef int parse_value(const char *text, int64_t *value, struct err *err);

static double draw_mean(const struct dist *dist, struct rng *rng)
{
    (void)rng;
    return dist->mean;
}

static double draw_exponential(const struct dist *dist, struct rng *rng)
{
    return rng_exponential(rng) * dist->mean;
}

/* All whole numbers, including both ends, are equally likely. */
static double draw_uniform(const struct dist *dist, struct rng *rng)
{
    double edge = dist->is_whole ? 0.5 : 0;
    double width = dist->high - dist->low + 2 * edge;

    return fmin(dist->low - edge + rng_uniform(rng) * width, dist->high);
}

static double draw_normal(const struct dist *dist, struct rng *rng)
{
    return fmax(dist->mean + dist->sd * rng_normal(rng), 0);
}

static double draw_lognormal(const struct dist *dist, struct rng *rng)
{
    double ratio = dist->sd / dist->mean;
    double sigma2 = log1p(ratio * ratio);

    return dist->mean * exp(sqrt(sigma2) * rng_normal(rng) - sigma2 / 2);
}

/* Values are uniform between two points of the table. */
static double draw_table(const struct dist *dist, struct rng *rng)
{
    double u = rng_uniform(rng);
    size_t i = 1;

    while (i < dist->n_points - 1 && dist->share[i] < u)
        i++;
    return dist->value[i - 1] + (dist->value[i] - dist->value[i - 1]) *
                                    (u - dist->share[i - 1]) /
                                    (dist->share[i] - dist->share[i - 1]);
}

static double draw_value(const struct dist *dist, struct rng *rng)
{
    return dist->values[rng_next(rng) % dist->n_values];
}

/* A file; it is not listed below, since "empirical" also names a table. */
static const struct dist_ops of_file = {"empirical", -1, draw_value};

static const struct dist_ops kinds[] = {
    {"none", 0, draw_mean},
    {"fixed", 1, draw_mean},
    {"exponential", 1, draw_exponential},
    {"uniform", 2, draw_uniform},
    {"normal", 2, draw_normal},
    {"lognormal", 2, draw_lognormal},
    {"empirical", -1, draw_table},
};

static const struct dist_ops *find_kind(const char *name)
{
    for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

/* "50:2ms", in rising order of both, from 0 to 100. */
static int read_table(struct dist *dist, char *rest, parse_value *parse)
{
    struct err ignored = {0};
    char *word;

    while ((word = str_next_word(&rest))) {
        char *colon = strchr(word, ':');
        size_t n = dist->n_points;
        char percent[16];
        double share;
        int64_t value;

        if (!colon || n == DIST_MAX_POINTS)
            return -1;
        *colon = '\0';
        if (snprintf(percent, sizeof(percent), "%s%%", word) >=
                (int)sizeof(percent) ||
            units_parse_share(percent, &share, &ignored) ||
            parse(colon + 1, &value, &ignored))
            return -1;
        if (n > 0 &&
            (share <= dist->share[n - 1] || (double)value < dist->value[n - 1]))
            return -1;
        dist->share[n] = share;
        dist->value[n] = (double)value;
        dist->n_points++;
    }
    return dist->n_points >= 2 && dist->share[0] <= 0 &&
                   dist->share[dist->n_points - 1] >= 1
               ? 0
               : -1;
}

static int read_params(struct dist *dist, char *rest, parse_value *parse)
{
    double *fields[MAX_PARAMS] = {&dist->mean, &dist->sd};
    struct err ignored = {0};
    int n = 0;
    char *word;

    while ((word = str_next_word(&rest))) {
        int64_t value;

        if (n == MAX_PARAMS || n == dist->ops->n_params ||
            parse(word, &value, &ignored))
            return -1;
        *fields[n++] = (double)value;
    }
    if (n != dist->ops->n_params)
        return -1;
    if (dist->ops->draw == draw_uniform) { /* its parameters are its ends */
        dist->low = dist->mean;
        dist->high = dist->sd;
        dist->mean = (dist->low + dist->high) / 2;
        dist->sd = 0;
        return dist->low <= dist->high ? 0 : -1;
    }
    return n < 2 || dist->mean > 0 ? 0 : -1;
}

static int read_dist(const char *text, struct dist *dist, parse_value *parse)
{
    char *copy = xstrdup(text);
    char *rest = copy;
    int rc = -1;

    *dist = (struct dist){0};
    dist->ops = find_kind(str_next_word(&rest));
    if (dist->ops)
        rc = dist->ops->n_params < 0 ? read_table(dist, rest, parse)
                                     : read_params(dist, rest, parse);
    free(copy);
    return rc;
}

int dist_parse(const char *text, struct dist *dist, struct err *err)
{
    if (read_dist(text, dist, units_parse_duration) == 0)
        return 0;
    return err_set(
        err, ERR_CONFIG,
        "'%s' is not a distribution; write 'none', 'fixed 2ms', "
        "'uniform 1ms 3ms' (minimum, maximum), 'exponential 2ms', 'normal "
        "20ms 5ms', 'lognormal 20ms 5ms' (mean, deviation) or "
        "'empirical 0:1ms 50:2ms 100:9ms'",
        text);
}

/* ---- a file of values ---- */

/* One number per line, with blanks around it. */
static int read_values(struct dist *dist, char *rest, struct err *err)
{
    int64_t line = 0;
    char *text;

    while ((text = strsep(&rest, "\n"))) {
        size_t len = strlen(text);
        const char *word;
        int64_t value;

        line++;
        if (len > 0 && text[len - 1] == '\r')
            text[len - 1] = '\0';
        word = str_next_word(&text);
        if (!word)
            continue;
        if (text && str_next_word(&text))
            return err_set(err, ERR_CONFIG, "line %lld: more than one number",
                           (long long)line);
        if (units_parse_count(word, &value, err))
            return err_context(err, "line %lld", (long long)line);
        if ((dist->n_values & (dist->n_values - 1)) == 0)
            dist->values =
                xrealloc(dist->values, dist->n_values ? 2 * dist->n_values : 1,
                         sizeof(*dist->values));
        dist->values[dist->n_values++] = (double)value;
        dist->mean += ((double)value - dist->mean) / (double)dist->n_values;
    }
    return dist->n_values > 0
               ? 0
               : err_set(err, ERR_CONFIG, "it contains no number");
}

static int read_file(const char *path, struct dist *dist, struct err *err)
{
    char *text;
    int rc;

    *dist = (struct dist){.ops = &of_file, .is_whole = true};
    if (file_read_text(path, MAX_FILE, &text, err))
        return -1;
    rc = text[0] ? read_values(dist, text, err)
                 : err_set(err, ERR_CONFIG, "the file is empty");
    free(text);
    return rc ? err_context(err, "%s", path) : 0;
}

void dist_fini(struct dist *dist)
{
    free(dist->values);
    dist->values = NULL;
    dist->n_values = 0;
}

/* A count of 0 would be drawn as 1. */
static int check_fixed(const struct dist *dist, struct err *err)
{
    if (dist->ops == find_kind("fixed") && dist->mean < 1)
        return err_set(err, ERR_CONFIG, "must be above 0");
    return 0;
}

/* A number alone is a fixed value. */
int dist_parse_counts(const char *text, struct dist *dist, struct err *err)
{
    struct err ignored = {0};
    int64_t fixed;

    if (units_parse_count(text, &fixed, &ignored) == 0) {
        *dist = (struct dist){.ops = find_kind("fixed"), .mean = (double)fixed};
        return check_fixed(dist, err);
    }
    if (read_dist(text, dist, units_parse_count) == 0 &&
        dist->ops->n_params != 0) { /* 'none' is a duration */
        dist->is_whole = true;
        return check_fixed(dist, err);
    }
    return err_set(
        err, ERR_CONFIG,
        "'%s' is not a distribution; write '128', 'uniform 100 200' "
        "(minimum, maximum), 'normal 128 32', 'lognormal 512 256' (mean, "
        "deviation), 'exponential 128' or 'empirical 0:1 50:80 "
        "100:900'",
        text);
}

int dist_parse_lengths(const char *text, struct dist *dist, struct err *err)
{
    static const char file[] = "empirical @";
    bool is_file = strncmp(text, file, strlen(file)) == 0;
    double max; /* of its text; a tail can exceed it */

    if (is_file ? read_file(text + strlen(file), dist, err)
                : dist_parse_counts(text, dist, err))
        return -1;
    dist->is_tokens = true;
    max = fmax(dist->mean, dist->high);
    for (size_t i = 0; i < dist->n_points; i++)
        max = fmax(max, dist->value[i]);
    for (size_t i = 0; i < dist->n_values; i++)
        max = fmax(max, dist->values[i]);
    if (max > (double)DIST_MAX_TOKENS)
        return err_set(err, ERR_CONFIG, "'%s' is more than 3,000,000 tokens",
                       text);
    return 0;
}

int dist_check(const char *text, struct err *err)
{
    return dist_parse(text, &(struct dist){0}, err);
}

int dist_check_counts(const char *text, struct err *err)
{
    return dist_parse_counts(text, &(struct dist){0}, err);
}

int dist_check_lengths(const char *text, struct err *err)
{
    struct dist dist = {0};
    int rc = dist_parse_lengths(text, &dist, err);

    dist_fini(&dist);
    return rc;
}

int64_t dist_draw_ns(const struct dist *dist, struct rng *rng)
{
    return llround(fmin(dist->ops->draw(dist, rng), MAX_DRAWN));
}

int64_t dist_draw_count(const struct dist *dist, struct rng *rng)
{
    int64_t max = dist->is_tokens ? DIST_MAX_TOKENS : MAX_COUNT;
    int64_t n = dist_draw_ns(dist, rng);

    if (n < 1)
        return 1;
    return n < max ? n : max;
}

double dist_mean(const struct dist *dist)
{
    double sum = 0;

    if (dist->ops->n_params >= 0 || dist->values)
        return dist->mean;
    for (size_t i = 1; i < dist->n_points; i++)
        sum += (dist->share[i] - dist->share[i - 1]) *
               (dist->value[i] + dist->value[i - 1]) / 2;
    return sum;
}

/* ---- service times ---- */

int service_parse(const char *text, struct service *service, struct err *err)
{
    struct err why = {0};
    char base[24];
    char item[24];
    char extra[2];

    *service = (struct service){.kind = SERVICE_PLAIN};
    if (strcmp(text, "batch") == 0 || strncmp(text, "batch ", 6) == 0) {
        if (sscanf(text, "batch %23s %23s %1s", base, item, extra) != 2)
            return err_set(err, ERR_CONFIG,
                           "'%s' is not a batch; write 'batch 5ms 1ms' (base, "
                           "per item)",
                           text);
        service->kind = SERVICE_BATCH;
        if (units_parse_duration(base, &service->base_ns, err))
            return -1;
        return units_parse_duration(item, &service->per_item_ns, err);
    }
    if (strcmp(text, "llm") == 0) {
        service->kind = SERVICE_LLM;
        return 0;
    }
    if (dist_parse(text, &service->dist, &why) == 0)
        return 0;
    return err_set(err, why.code,
                   "%.400s; or 'batch 5ms 1ms' (base, per item), or 'llm'",
                   why.msg);
}

int service_check(const char *text, struct err *err)
{
    return service_parse(text, &(struct service){0}, err);
}
