#include "common/spec/load_shape.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define MAX_SHAPE_STAGES 10000
#define MAX_ROWS         100000
#define MAX_NS           4e18
#define STAGE_TEXT       ((size_t)4 * UNITS_TEXT)

/* ---- stages ---- */

/* That of a stage can be 0, in the same units as others: "0", "0.0/m". */
static int parse_rate(const char *text, double *rps, struct err *err)
{
    size_t len = strspn(text, "0123456789.");
    char *number = xstrndup(text, len);
    char *of_one = xasprintf("1%s", text + len);
    struct err ignored = {0};
    double value = 1;
    bool is_zero = units_parse_number(number, &value, &ignored) == 0 &&
                   value == 0 && units_parse_rate(of_one, rps, &ignored) == 0;

    free(number);
    free(of_one);
    if (is_zero)
        *rps = 0;
    return is_zero ? 0 : units_parse_rate(text, rps, err);
}

int load_stage_parse(const char *text, struct load_stage *stage,
                     struct err *err)
{
    char rates[80];
    char length[32];
    char extra[2];
    char *dots;

    *stage = (struct load_stage){0};
    if (sscanf(text, "%79s %31s %1s", rates, length, extra) != 2)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a stage; write '50/s 30s' or "
                       "'10/s..100/s 1m'",
                       text);
    dots = strstr(rates, ".."); /* "10/s..100/s", or one rate for both ends */
    if (dots)
        *dots = '\0';
    if (parse_rate(rates, &stage->from_rps, err))
        return -1;
    stage->to_rps = stage->from_rps;
    if ((dots && parse_rate(dots + 2, &stage->to_rps, err)) ||
        units_parse_duration(length, &stage->length_ns, err))
        return -1;
    if (stage->length_ns == 0)
        return err_set(err, ERR_CONFIG, "'%s': the stage has no length", text);
    return 0;
}

static const char *print_rate(double rps, char out[static UNITS_TEXT])
{
    return rps > 0 ? units_print_rate(rps, out) : "0/s";
}

/* As text that load_stage_parse() accepts; returns `out`. */
static const char *print_stage(const struct load_stage *stage,
                               char out[static STAGE_TEXT])
{
    char from[UNITS_TEXT];
    char to[UNITS_TEXT];
    char length[UNITS_TEXT];
    bool is_level = stage->from_rps == stage->to_rps;

    snprintf(out, STAGE_TEXT, "%s%s%s %s", print_rate(stage->from_rps, from),
             is_level ? "" : "..",
             is_level ? "" : print_rate(stage->to_rps, to),
             units_print_duration(stage->length_ns, length));
    return out;
}

int load_stage_check(const char *text, struct err *err)
{
    return load_stage_parse(text, &(struct load_stage){0}, err);
}

/* ---- shapes ---- */

/* The words before a duration; each can be used once. */
enum word { AT, EVERY, FOR, HOLD, OF, OVER, RAMP, N_WORDS };

static const char *const words[N_WORDS] = {
    [AT] = "at", [EVERY] = "every", [FOR] = "for",   [HOLD] = "hold",
    [OF] = "of", [OVER] = "over",   [RAMP] = "ramp",
};

#define BIT(word) (1U << (unsigned)(word))

/* The parsed text of a shape. */
struct said {
    double rates[2];
    double by_rps;
    int64_t ns[N_WORDS]; /* 0: not given */
};

struct load_shape {
    const char *name;
    const char *form; /* an example */
    size_t n_rates;
    bool takes_by;
    unsigned needs; /* bits of words */
    unsigned takes; /* the same, including those it needs */
    int (*expand)(const struct said *s, struct strlist *out, struct err *err);
};

static void add(struct strlist *out, double from, double to, int64_t ns)
{
    struct load_stage stage = {from, to, ns};
    char text[STAGE_TEXT];

    if (ns > 0)
        strlist_add(out, print_stage(&stage, text));
}

static int expand_ramp(const struct said *s, struct strlist *out,
                       struct err *err)
{
    (void)err;
    add(out, s->rates[0], s->rates[1], s->ns[OVER]);
    add(out, s->rates[1], s->rates[1], s->ns[HOLD]);
    return 0;
}

/* The last step is at the second rate, even if that makes it smaller. */
static int expand_step(const struct said *s, struct strlist *out,
                       struct err *err)
{
    double height = s->rates[1] - s->rates[0];
    double steps = ceil(fabs(height) / s->by_rps - 1e-9);

    if (!(s->by_rps > 0) || steps < 1)
        return err_set(err, ERR_CONFIG,
                       "the two rates are equal, or 'by' is 0: there is no "
                       "step");
    if (steps >= MAX_SHAPE_STAGES)
        return err_set(err, ERR_CONFIG, "%.0f steps; the maximum is %d", steps,
                       MAX_SHAPE_STAGES);
    for (int i = 0; i < (int)steps; i++) {
        double rps = s->rates[0] + copysign(i * s->by_rps, height);

        add(out, rps, rps, s->ns[EVERY]);
    }
    add(out, s->rates[1], s->rates[1], s->ns[EVERY]);
    return 0;
}

/* Without 'of' it lasts as long after the spike as before it. */
static int expand_spike(const struct said *s, struct strlist *out,
                        struct err *err)
{
    int64_t after_ns = s->ns[AT];

    if (s->ns[OF] > 0)
        after_ns = s->ns[OF] - s->ns[AT] - s->ns[FOR];
    if (after_ns < 0)
        return err_set(err, ERR_CONFIG,
                       "'of' must not be shorter than 'at' and 'for' together");
    add(out, s->rates[0], s->rates[0], s->ns[AT]);
    add(out, s->rates[1], s->rates[1], s->ns[FOR]);
    add(out, s->rates[0], s->rates[0], after_ns);
    return 0;
}

static int64_t at_most(int64_t ns, int64_t most_ns)
{
    return ns < most_ns ? ns : most_ns;
}

static int expand_bursts(const struct said *s, struct strlist *out,
                         struct err *err)
{
    int64_t quiet_ns = s->ns[EVERY] - s->ns[FOR];

    if (quiet_ns <= 0)
        return err_set(err, ERR_CONFIG, "a burst must be shorter than 'every'");
    if (s->ns[OF] / s->ns[EVERY] >= MAX_SHAPE_STAGES / 2)
        return err_set(err, ERR_CONFIG, "more than %d bursts",
                       MAX_SHAPE_STAGES / 2);
    for (int64_t left = s->ns[OF]; left > 0; left -= s->ns[EVERY]) {
        add(out, s->rates[0], s->rates[0], at_most(quiet_ns, left));
        add(out, s->rates[1], s->rates[1],
            at_most(s->ns[FOR], left - quiet_ns));
    }
    return 0;
}

static int expand_soak(const struct said *s, struct strlist *out,
                       struct err *err)
{
    (void)err;
    add(out, 0, s->rates[0], s->ns[RAMP]);
    add(out, s->rates[0], s->rates[0], s->ns[FOR]);
    return 0;
}

static const struct load_shape patterns[] = {
    {"ramp", "ramp 10/s 100/s over 5m hold 10m", 2, false, BIT(OVER),
     BIT(OVER) | BIT(HOLD), expand_ramp},
    {"step", "step 10/s 100/s by 10/s every 30s", 2, true, BIT(EVERY),
     BIT(EVERY), expand_step},
    {"spike", "spike 50/s 500/s at 1m for 10s of 3m", 2, false,
     BIT(AT) | BIT(FOR), BIT(AT) | BIT(FOR) | BIT(OF), expand_spike},
    {"bursts", "bursts 50/s 500/s every 1m for 5s of 10m", 2, false,
     BIT(EVERY) | BIT(FOR) | BIT(OF), BIT(EVERY) | BIT(FOR) | BIT(OF),
     expand_bursts},
    {"soak", "soak 50/s for 8h ramp 5m", 1, false, BIT(FOR),
     BIT(FOR) | BIT(RAMP), expand_soak},
};

static const struct load_shape *find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(patterns) / sizeof(patterns[0]);
         i++) {
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    }
    return NULL;
}

static int refuse(const struct load_shape *p, const char *text, struct err *err)
{
    return err_set(err, ERR_CONFIG, "'%s' is not a %s; write '%s'", text,
                   p->name, p->form);
}

/* "for 10s", or "by 10/s". */
static int read_pair(const struct load_shape *p, struct said *s,
                     const char *word, const char *value, struct err *err)
{
    if (p->takes_by && s->by_rps == 0 && strcmp(word, "by") == 0)
        return units_parse_rate(value, &s->by_rps, err);
    for (int w = 0; w < N_WORDS; w++) {
        if (strcmp(words[w], word) != 0 || !(p->takes & BIT(w)) || s->ns[w] > 0)
            continue;
        if (units_parse_duration(value, &s->ns[w], err))
            return -1;
        return s->ns[w] > 0 ? 0
                            : err_set(err, ERR_CONFIG,
                                      "'%s %s' must be above 0", word, value);
    }
    return err_set(err, ERR_CONFIG, "'%s %s' is not part of a %s; write '%s'",
                   word, value, p->name, p->form);
}

static int read_words(const struct load_shape *p, struct said *s, char *rest,
                      const char *text, struct err *err)
{
    const char *word;

    for (size_t i = 0; i < p->n_rates; i++) {
        const char *rate = str_next_word(&rest);

        if (!rate)
            return refuse(p, text, err);
        if (parse_rate(rate, &s->rates[i], err))
            return -1;
    }
    while ((word = str_next_word(&rest))) {
        const char *value = str_next_word(&rest);

        if (!value)
            return refuse(p, text, err);
        if (read_pair(p, s, word, value, err))
            return -1;
    }
    for (int w = 0; w < N_WORDS; w++) {
        if ((p->needs & BIT(w)) && s->ns[w] == 0)
            return refuse(p, text, err);
    }
    return !p->takes_by || s->by_rps > 0 ? 0 : refuse(p, text, err);
}

int load_shape_expand(const char *text, struct strlist *stages, struct err *err)
{
    char *copy = xstrdup(text);
    char *rest = copy;
    const struct load_shape *p = find(str_next_word(&rest));
    struct said said = {0};
    int rc = p ? read_words(p, &said, rest, text, err) : -1;

    if (!p)
        err_set(err, ERR_CONFIG,
                "'%s' is not a shape (ramp, step, spike, bursts or soak); "
                "write '%s'",
                text, find("spike")->form);
    else if (rc == 0 && p->expand(&said, stages, err))
        rc = err_context(err, "'%s'", text);
    free(copy);
    return rc;
}

int load_shape_check(const char *text, struct err *err)
{
    struct strlist stages = {0};
    int rc = load_shape_expand(text, &stages, err);

    strlist_fini(&stages);
    return rc;
}

/* ---- rate tables ---- */

struct row {
    double at_ns;
    double rps;
};

/* The rows read so far. */
struct table {
    double speed;
    struct row last;
    size_t rows;
    struct strlist *stages;
};

/* "6:30" or "6:30:15". */
static bool parse_clock(const char *text, double *ns)
{
    long parts[3] = {0};
    size_t n = 0;

    do {
        char *end;

        if (n == 3 || *text < '0' || *text > '9')
            return false;
        parts[n] = strtol(text, &end, 10);
        if (n > 0 && parts[n] > 59)
            return false;
        text = end;
        n++;
    } while (*text++ == ':');
    *ns = (((double)parts[0] * 60 + (double)parts[1]) * 60 + (double)parts[2]) *
          (double)NS_PER_S;
    return n > 1 && text[-1] == '\0';
}

static int parse_time(const char *text, double *ns, struct err *err)
{
    struct err ignored = {0};
    double seconds;
    int64_t whole_ns;

    if (parse_clock(text, ns))
        return 0;
    if (!units_parse_number(text, &seconds, &ignored)) {
        *ns = seconds * (double)NS_PER_S;
        return 0;
    }
    ignored = (struct err){0};
    if (units_parse_duration(text, &whole_ns, &ignored))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a time; write 6:30, 90m or seconds", text);
    *ns = (double)whole_ns;
    return 0;
}

static int read_line(struct table *t, char *line, struct err *err)
{
    bool is_head = t->rows == 0 && !strpbrk(line, "0123456789");
    struct load_stage stage = {.from_rps = t->last.rps};
    char text[STAGE_TEXT];
    double length_ns;
    struct row row = {0};
    char *comma;

    line = str_trim(line);
    if (!*line || *line == '#' || is_head)
        return 0;
    comma = strchr(line, ',');
    if (!comma || strchr(comma + 1, ','))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a row; write time,rate as in 6:30,40",
                       line);
    *comma = '\0';
    if (parse_time(str_trim(line), &row.at_ns, err) ||
        parse_rate(str_trim(comma + 1), &row.rps, err))
        return -1;
    length_ns = (row.at_ns - t->last.at_ns) / t->speed;
    if (t->rows > 0 && length_ns < 0)
        return err_set(err, ERR_CONFIG,
                       "the time is before that of the previous row");
    if (row.at_ns / t->speed > MAX_NS)
        return err_set(err, ERR_CONFIG, "the time is too late");
    if (t->rows > MAX_ROWS)
        return err_set(err, ERR_CONFIG, "more than %d rows", MAX_ROWS);
    stage.to_rps = row.rps;
    stage.length_ns = llround(length_ns);
    if (t->rows++ > 0 && stage.length_ns > 0)
        strlist_add(t->stages, print_stage(&stage, text));
    t->last = row;
    return 0;
}

int ratetable_parse(const char *name, char *text, double speed,
                    struct strlist *stages, struct err *err)
{
    struct table t = {.speed = speed, .stages = stages};
    size_t number = 1;
    char *end;

    for (; text; text = end, number++) {
        end = strchr(text, '\n');
        if (end)
            *end++ = '\0';
        if (read_line(&t, text, err))
            return err_context(err, "%s:%zu", name, number);
    }
    if (stages->len == 0)
        return err_set(err, ERR_CONFIG,
                       "%s: a rate table needs two rows with different "
                       "times",
                       name);
    return 0;
}
