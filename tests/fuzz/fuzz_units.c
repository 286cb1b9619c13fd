/* What a parser takes, its printer writes so that the parser reads the same
 * again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct whole_kind {
    int (*parse)(const char *, int64_t *, struct err *);
    const char *(*print)(int64_t, char[static UNITS_TEXT]);
};

struct number_kind {
    int (*parse)(const char *, double *, struct err *);
    const char *(*print)(double, char[static UNITS_TEXT]);
};

static const struct whole_kind whole_kinds[] = {
    {units_parse_duration, units_print_duration},
    {units_parse_size, units_print_count},
    {units_parse_count, units_print_count},
};

static const struct number_kind number_kinds[] = {
    {units_parse_rate, units_print_rate},
    {units_parse_share, units_print_number},
};

static void try_whole(const struct whole_kind *k, const char *text)
{
    char out[UNITS_TEXT];
    struct err err = {0};
    int64_t value;
    int64_t back;

    if (k->parse(text, &value, &err))
        return;
    if (value < 0 || k->parse(k->print(value, out), &back, &err) ||
        back != value)
        abort();
}

static void try_number(const struct number_kind *k, const char *text)
{
    char out[UNITS_TEXT];
    struct err err = {0};
    double value;
    double back;

    if (k->parse(text, &value, &err))
        return;
    if (!(value >= 0) || k->parse(k->print(value, out), &back, &err) ||
        back != value)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);

    for (size_t i = 0; i < sizeof(whole_kinds) / sizeof(whole_kinds[0]); i++)
        try_whole(&whole_kinds[i], text);
    for (size_t i = 0; i < sizeof(number_kinds) / sizeof(number_kinds[0]); i++)
        try_number(&number_kinds[i], text);
    free(text);
    return 0;
}
