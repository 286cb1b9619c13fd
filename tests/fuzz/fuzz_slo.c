/* A term that is taken is shown as a term with the same meaning. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/slo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct slo_term a;
    struct slo_term b;
    struct err err = {0};

    if (slo_parse_term(text, &a, &err) == 0) {
        if (slo_parse_term(a.text, &b, &err) || a.kind != b.kind ||
            a.measure != b.measure || a.quantile != b.quantile ||
            a.limit_ns != b.limit_ns || a.limit != b.limit ||
            strcmp(a.tier, b.tier) != 0 || strcmp(a.text, b.text) != 0)
            abort();
    } else if (err.msg[0] == '\0' || strchr(err.msg, '\n')) {
        abort();
    }
    free(text);
    return 0;
}
