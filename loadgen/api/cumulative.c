/* If so, each text begins with the one before.  That may be by chance ("\n",
 * "\n\n"), so that it takes two that went on, or one after a long text. */
#include "loadgen/api/cumulative.h"

#include "common/base/hash.h"

#define LONG 8

bool cumulative_see(struct cumulative *c, const char *text, size_t len)
{
    size_t before = c->len;
    bool goes_on;

    if (c->is_not || len == 0)
        return false;
    goes_on = before > 0 && len >= before &&
              fnv_bytes(FNV_START, text, before) == c->hash;
    c->is_not = before > 0 && !goes_on;
    c->growths += goes_on && len > before;
    c->hash = fnv_bytes(FNV_START, text, len);
    c->len = len;
    return goes_on && (c->growths > 1 ||
                       (c->growths == 1 && before >= LONG && len > before));
}
