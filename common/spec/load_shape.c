#include "common/spec/load_shape.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/spec/load_stage.h"

#define MAX_STAGES 10000

/* The words that a duration follows; one follows no more than once. */
enum word { AT, EVERY, FOR, HOLD, OF, OVER, RAMP, N_WORDS };

static const char *const words[N_WORDS] = {
    [AT] = "at", [EVERY] = "every", [FOR] = "for",   [HOLD] = "hold",
    [OF] = "of", [OVER] = "over",   [RAMP] = "ramp",
};

#define BIT(word) (1U << (unsigned)(word))

/* What a text says. */
struct said {
    double rates[2];
    double by_rps;
    int64_t ns[N_WORDS]; /* 0: not said */
};

struct load_shape {
    const char *name;
    const char *form; /* an example */
    size_t n_rates;
    bool takes_by;
    unsigned needs; /* bits of words */
    unsigned takes; /* likewise, and those it needs */
    int (*expand)(const struct said *s, struct strlist *out, struct err *err);
};

static void add(struct strlist *out, double from, double to, int64_t ns)
{
    struct load_stage stage = {from, to, ns};
    char text[STAGE_TEXT];

    if (ns > 0)
        strlist_add(out, load_stage_print(&stage, text));
}

static int expand_ramp(const struct said *s, struct strlist *out,
                       struct err *err)
{
    (void)err;
    add(out, s->rates[0], s->rates[1], s->ns[OVER]);
    add(out, s->rates[1], s->rates[1], s->ns[HOLD]);
    return 0;
}

/* The last step is at the second rate, however the height fits. */
static int expand_step(const struct said *s, struct strlist *out,
                       struct err *err)
{
    double height = s->rates[1] - s->rates[0];
    double steps = ceil(fabs(height) / s->by_rps - 1e-9);

    if (!(s->by_rps > 0) || steps < 1)
        return err_set(err, ERR_CONFIG, "no step from the one to the other");
    if (steps >= MAX_STAGES)
        return err_set(err, ERR_CONFIG, "%.0f steps; at most %d", steps,
                       MAX_STAGES);
    for (int i = 0; i < (int)steps; i++) {
        double rps = s->rates[0] + copysign(i * s->by_rps, height);

        add(out, rps, rps, s->ns[EVERY]);
    }
    add(out, s->rates[1], s->rates[1], s->ns[EVERY]);
    return 0;
}

/* If nobody says, it is as long after the spike as before. */
static int expand_spike(const struct said *s, struct strlist *out,
                        struct err *err)
{
    int64_t after_ns = s->ns[AT];

    if (s->ns[OF] > 0)
        after_ns = s->ns[OF] - s->ns[AT] - s->ns[FOR];
    if (after_ns < 0)
        return err_set(err, ERR_CONFIG,
                       "it is over ('of') before the spike is");
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
        return err_set(err, ERR_CONFIG,
                       "a burst is as long as 'every', or "
                       "longer");
    if (s->ns[OF] / s->ns[EVERY] >= MAX_STAGES / 2)
        return err_set(err, ERR_CONFIG, "more than %d bursts", MAX_STAGES / 2);
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
                            : err_set(err, ERR_CONFIG, "'%s %s': no length",
                                      word, value);
    }
    return err_set(err, ERR_CONFIG, "'%s %s' is not for a %s; write '%s'", word,
                   value, p->name, p->form);
}

static int read_pairs(const struct load_shape *p, struct said *s, char *rest,
                      const char *text, struct err *err)
{
    const char *word;

    while ((word = str_next_word(&rest))) {
        const char *value = str_next_word(&rest);

        if (!value)
            return refuse(p, text, err);
        if (read_pair(p, s, word, value, err))
            return -1;
    }
    return 0;
}

static bool has_all(const struct load_shape *p, const struct said *s)
{
    for (int w = 0; w < N_WORDS; w++) {
        if ((p->needs & BIT(w)) && s->ns[w] == 0)
            return false;
    }
    return !p->takes_by || s->by_rps > 0;
}

static int read_rest(const struct load_shape *p, struct said *s, char *rest,
                     const char *text, struct err *err)
{
    for (size_t i = 0; i < p->n_rates; i++) {
        const char *rate = str_next_word(&rest);

        if (!rate)
            return refuse(p, text, err);
        if (load_stage_parse_rate(rate, &s->rates[i], err))
            return -1;
    }
    if (read_pairs(p, s, rest, text, err))
        return -1;
    return has_all(p, s) ? 0 : refuse(p, text, err);
}

static int expand(const struct load_shape *p, char *rest, const char *text,
                  struct strlist *stages, struct err *err)
{
    struct said said = {0};

    if (!p)
        return err_set(err, ERR_CONFIG,
                       "'%s': there is ramp, step, spike, bursts and soak; "
                       "write '%s'",
                       text, find("spike")->form);
    if (read_rest(p, &said, rest, text, err))
        return -1;
    return p->expand(&said, stages, err) ? err_context(err, "'%s'", text) : 0;
}

int load_shape_expand(const char *text, struct strlist *stages, struct err *err)
{
    char *copy = xstrdup(text);
    char *rest = copy;
    const struct load_shape *p = find(str_next_word(&rest));
    int rc = expand(p, rest, text, stages, err);

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
