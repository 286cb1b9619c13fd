/* Plain text: a prompt a line; empty lines are none. */
#include "loadgen/payload/data_format.h"

#include <string.h>

#include "common/base/err.h"

int data_read_text(struct dataset *d, const struct data_settings *s,
                   struct err *err)
{
    const char *at = buf_text(&d->file);
    const char *end = at + d->file.len;
    int column = data_add_column(d, "prompt", strlen("prompt"), err);
    uint32_t line = 0;

    (void)s;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);

        line++;
        if (len > 0 && at[len - 1] == '\r')
            len--;
        if (len > 0) {
            data_add_item(d, line);
            if (data_add_text(d, column, at, len))
                return data_fail(d, line, err, "is no UTF-8");
        }
        at = stop ? stop + 1 : end;
    }
    return 0;
}
