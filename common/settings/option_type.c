/* The ways in which an option's text is read and written. */
#include "common/settings/option.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

static int parse_text(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    char **s = field;

    (void)opt;
    (void)err;
    free(*s);
    *s = xstrdup(text);
    return 0;
}

static void print_text(const void *field, const struct opt *opt,
                       struct buf *out)
{
    const char *s = *(char *const *)field;

    (void)opt;
    buf_adds(out, s ? s : "");
}

const struct opt_type opt_text = {"TEXT", OPT_SCALAR, parse_text, print_text};

static int parse_switch(void *field, const struct opt *opt, const char *text,
                        struct err *err)
{
    bool *b = field;

    (void)opt;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return err_set(err, ERR_CONFIG, "'%s' is neither true nor false", text);
    *b = text[0] == 't';
    return 0;
}

static void print_switch(const void *field, const struct opt *opt,
                         struct buf *out)
{
    (void)opt;
    buf_adds(out, *(const bool *)field ? "true" : "false");
}

const struct opt_type opt_switch = {"", OPT_SWITCH, parse_switch, print_switch};

static int parse_duration(void *field, const struct opt *opt, const char *text,
                          struct err *err)
{
    (void)opt;
    return units_parse_duration(text, field, err);
}

static void print_duration(const void *field, const struct opt *opt,
                           struct buf *out)
{
    char text[UNITS_TEXT];

    (void)opt;
    buf_adds(out, units_print_duration(*(const int64_t *)field, text));
}

const struct opt_type opt_duration = {"DURATION", OPT_SCALAR, parse_duration,
                                      print_duration};

static int parse_rate(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    (void)opt;
    return units_parse_rate(text, field, err);
}

static void print_rate(const void *field, const struct opt *opt,
                       struct buf *out)
{
    double rate = *(const double *)field;
    char text[UNITS_TEXT];

    (void)opt;
    if (rate > 0)
        buf_adds(out, units_print_rate(rate, text));
}

const struct opt_type opt_rate = {"RATE", OPT_SCALAR, parse_rate, print_rate};

static int parse_count(void *field, const struct opt *opt, const char *text,
                       struct err *err)
{
    (void)opt;
    return units_parse_count(text, field, err);
}

static void print_count(const void *field, const struct opt *opt,
                        struct buf *out)
{
    char text[UNITS_TEXT];

    (void)opt;
    buf_adds(out, units_print_count(*(const int64_t *)field, text));
}

const struct opt_type opt_count = {"N", OPT_SCALAR, parse_count, print_count};

static int parse_size(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    (void)opt;
    return units_parse_size(text, field, err);
}

const struct opt_type opt_size = {"SIZE", OPT_SCALAR, parse_size, print_count};

static int parse_number(void *field, const struct opt *opt, const char *text,
                        struct err *err)
{
    (void)opt;
    return units_parse_number(text, field, err);
}

static void print_number(const void *field, const struct opt *opt,
                         struct buf *out)
{
    char text[UNITS_TEXT];

    (void)opt;
    buf_adds(out, units_print_number(*(const double *)field, text));
}

const struct opt_type opt_number = {"NUMBER", OPT_SCALAR, parse_number,
                                    print_number};

static int parse_share(void *field, const struct opt *opt, const char *text,
                       struct err *err)
{
    (void)opt;
    return units_parse_share(text, field, err);
}

const struct opt_type opt_share = {"SHARE", OPT_SCALAR, parse_share,
                                   print_number};

static bool parse_whole(const char *text, unsigned long long *value)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int parse_seed(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    unsigned long long value;

    (void)opt;
    if (!parse_whole(text, &value))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a seed; write a whole number from 0", text);
    *(uint64_t *)field = value;
    return 0;
}

static void print_seed(const void *field, const struct opt *opt,
                       struct buf *out)
{
    (void)opt;
    buf_addf(out, "%llu", (unsigned long long)*(const uint64_t *)field);
}

const struct opt_type opt_seed = {"SEED", OPT_SCALAR, parse_seed, print_seed};

static int parse_port(void *field, const struct opt *opt, const char *text,
                      struct err *err)
{
    unsigned long long value;

    (void)opt;
    if (!parse_whole(text, &value) || value > UINT16_MAX)
        return err_set(err, ERR_CONFIG, "'%s' is not a port (0 to 65535)",
                       text);
    *(int *)field = (int)value;
    return 0;
}

static void print_port(const void *field, const struct opt *opt,
                       struct buf *out)
{
    (void)opt;
    buf_addf(out, "%d", *(const int *)field);
}

const struct opt_type opt_port = {"PORT", OPT_SCALAR, parse_port, print_port};

static int refuse_choice(const struct opt *opt, const char *text,
                         struct err *err)
{
    struct suggest s = {.word = text};
    char hint[64];
    struct buf known;

    buf_init(&known, sizeof(err->msg));
    opt_put_names(opt, ", ", &known);
    for (size_t i = 0; opt->names[i]; i++)
        suggest_consider(&s, opt->names[i]);
    err_set(err, ERR_CONFIG, "'%.80s' is none of: %s%s", text, buf_text(&known),
            suggest_text(&s, "", hint, sizeof(hint)));
    buf_fini(&known);
    return -1;
}

static int parse_choice(void *field, const struct opt *opt, const char *text,
                        struct err *err)
{
    for (int i = 0; opt->names[i]; i++) {
        if (strcmp(opt->names[i], text) == 0) {
            *(int *)field = i;
            return 0;
        }
    }
    return refuse_choice(opt, text, err);
}

static void print_choice(const void *field, const struct opt *opt,
                         struct buf *out)
{
    buf_adds(out, opt->names[*(const int *)field]);
}

const struct opt_type opt_choice = {"NAME", OPT_SCALAR, parse_choice,
                                    print_choice};
const struct opt_type opt_list = {"TEXT", OPT_LIST, NULL, NULL};
const struct opt_type opt_map = {"KEY=VALUE", OPT_MAP, NULL, NULL};
