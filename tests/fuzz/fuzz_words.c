/* What an option or a key takes is read, or refused in one line. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/quantity.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/abort_rule.h"
#include "common/spec/answer_check.h"
#include "common/spec/cpu_list.h"
#include "common/spec/dist.h"
#include "common/spec/fault.h"
#include "common/spec/load_shape.h"
#include "common/text/units.h"
#include "common/text/url.h"
#include "common/wire/sse.h"
#include "common/wire/status.h"
#include "common/wire/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int (*const checks[])(const char *text, struct err *err) = {
    abort_check,       check_check,        cpus_check,    dist_check,
    dist_check_counts, dist_check_lengths, fault_check,   numlist_check,
    load_shape_check,  quantity_check,     service_check, sse_style_check,
    load_stage_check,  statuses_check,     tensor_check,  url_check,
    url_check_place,   url_check_proxy,
};

static int is_control(unsigned char c)
{
    return c < 0x20 && c != '\t';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);

    for (size_t i = 0; i < size; i++) { /* a line, as of a command or a file */
        if (is_control((unsigned char)data[i]))
            size = 0;
    }
    for (size_t i = 0; size > 0 && i < sizeof(checks) / sizeof(checks[0]);
         i++) {
        struct err err = {0};

        if (checks[i](text, &err) &&
            (err.msg[0] == '\0' || strchr(err.msg, '\n')))
            abort();
    }
    free(text);
    return 0;
}
