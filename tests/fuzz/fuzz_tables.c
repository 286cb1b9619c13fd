/* Tables of rates and of prices are read, or refused in one line that has the
 * place; what is read is what its readers take. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/spec/load_shape.h"
#include "common/spec/prices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct err *err)
{
    if (err->code != ERR_CONFIG || strncmp(err->msg, "t.csv", 5) != 0 ||
        strchr(err->msg, '\n'))
        abort();
}

static void try_rates(char *text)
{
    struct strlist stages = {0};
    struct err err = {0};

    if (ratetable_parse("t.csv", text, 2, &stages, &err)) {
        check_refusal(&err);
    } else {
        for (size_t i = 0; i < stages.len; i++) {
            if (load_stage_check(stages.items[i], &err))
                abort();
        }
    }
    strlist_fini(&stages);
}

static void check_row(const struct prices *p, const struct price *row)
{
    struct err err = {0};
    double usd;

    if (prices_find(p, row->machine, &usd, &err) || usd != row->usd_per_hour ||
        !isfinite(usd) || usd < 0)
        abort();
}

static void try_prices(char *text)
{
    struct prices p = {0};
    struct err err = {0};

    if (prices_parse(&p, "t.csv", text, &err)) {
        check_refusal(&err);
        return;
    }
    for (size_t i = 0; i < p.n; i++)
        check_row(&p, &p.list[i]);
    prices_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void (*const tries[])(char *text) = {try_rates, try_prices};

    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        char *text = xstrndup((const char *)data, size);

        tries[i](text);
        free(text);
    }
    return 0;
}
