#include "cli/cost_asked.h"

#include "analyzer/verdict/cost.h"
#include "common/base/err.h"
#include "common/spec/prices.h"

int cost_asked(struct cost_ask *ask, struct prices *table, const char *path,
               struct err *err)
{
    if (!path)
        return ask->machine
                   ? err_set(err, ERR_USAGE, "--machine requires --prices")
                   : 0;
    if (ask->usd_per_hour > 0)
        return err_set(err, ERR_USAGE,
                       "--prices cannot be combined with --usd-per-hour");
    if (prices_read(table, path, err))
        return err_context(err, "--prices");
    ask->prices = table;
    return 0;
}
