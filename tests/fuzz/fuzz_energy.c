/* A file of watts is read, or refused in one line that has the place; what is
 * read comes to an energy that can be printed, or to a reason. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/cost.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct err *err)
{
    if (err->code != ERR_CONFIG || strncmp(err->msg, "w.csv:", 6) != 0 ||
        strchr(err->msg, '\n'))
        abort();
}

static void check_taken(const struct metered *m)
{
    if (!m->has_energy && m->note[0] == '\0')
        abort();
    if (m->has_energy &&
        (!isfinite(m->joules) || m->joules < 0 || !isfinite(m->watts) ||
         !isfinite(m->joules_per_good) || !isfinite(m->co2_g)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct window window = {1002 * NS_PER_S, 1006 * NS_PER_S};
    const struct metered_share share = {
        .good = 4, .tokens = 8, .co2_g_per_kwh = 360};
    char *text = xstrndup((const char *)data, size);
    struct metered m = {0};
    struct err err = {0};

    if (metered_parse_watts(&m, "w.csv", text, &window, &share, &err))
        check_refusal(&err);
    else
        check_taken(&m);
    free(text);
    return 0;
}
