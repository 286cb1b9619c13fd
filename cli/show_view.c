#include "cli/show_view.h"

#include <stdbool.h>
#include <string.h>

#include "cli/exit_status.h"
#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/text/units.h"
#include "loadgen/prepare/exchange.h"

static void put_line(const char *mark, const char *line, size_t len,
                     struct buf *out)
{
    const char *p = line;
    const char *end = p + len;

    if (len > 0 && end[-1] == '\r')
        end--;
    buf_adds(out, mark);
    while (p < end) {
        size_t n = *p == '\t' ? 1 : printable_len(p, end);

        if (n > 0)
            buf_add(out, p, n);
        else
            buf_addf(out, "\\x%02x", (unsigned char)*p);
        p += n > 0 ? n : 1;
    }
    buf_adds(out, "\n");
}

static void put_side(const char *mark, const struct exchange_side *side,
                     size_t most, struct buf *out)
{
    const char *p = buf_text(&side->bytes);
    const char *end = p + side->bytes.len;

    while (p < end) {
        const char *newline = p;

        while (newline < end && *newline != '\n')
            newline++;
        put_line(mark, p, (size_t)(newline - p), out);
        p = newline + 1;
    }
    if (side->total > (int64_t)most)
        buf_addf(out, "%s... %lld bytes in all\n", mark,
                 (long long)side->total);
}

/* "connect 150us, " if both are known. */
static void put_time(const char *name, int64_t from, int64_t to,
                     struct buf *out)
{
    char text[UNITS_TEXT];

    if (from != TIME_ABSENT && to != TIME_ABSENT)
        buf_addf(out, "%s %s, ", name,
                 units_show_duration((double)(to - from), text));
}

static void put_timing(const struct exchange *x, struct buf *out)
{
    const struct facts *f = &x->facts;
    char text[UNITS_TEXT];

    buf_adds(out, "timing     ");
    put_time("connect", f->issued, f->connected, out);
    put_time("tls", f->connected, f->secured, out);
    put_time("first byte", f->issued, x->first_byte, out);
    buf_addf(out, "total %s\n",
             units_show_duration((double)(f->end - f->issued), text));
}

void show_view(const struct exchange *x, struct buf *out)
{
    const struct facts *f = &x->facts;

    put_side("> ", &x->sent, x->kept, out);
    put_side("< ", &x->received, x->kept, out);
    buf_addf(out, "\noutcome    %s", outcome_name((enum outcome)f->outcome));
    if (f->outcome == OUTCOME_OK && f->status > 0)
        buf_addf(out, ", HTTP status %d", (int)f->status);
    else if (f->outcome == OUTCOME_OK && strcmp(x->transport, "grpc") == 0)
        buf_adds(out, ", gRPC status OK");
    else if (x->why[0]) {
        buf_adds(out, ": ");
        printable_add(x->why, out);
    }
    buf_adds(out, "\n");
    put_timing(x, out);
    buf_addf(out, "bytes      %lld out, %lld in, over the %s transport\n",
             (long long)x->sent.total, (long long)x->received.total,
             x->transport);
    if (x->is_insecure)
        buf_adds(out, "           INSECURE: the server's certificate was not "
                      "verified\n");
}

int show_exit_code(const struct exchange *x)
{
    if (x->facts.outcome == OUTCOME_OK)
        return EXIT_YES;
    if (x->facts.outcome == OUTCOME_CONNECT || x->facts.sent == TIME_ABSENT)
        return EXIT_CANNOT;
    return EXIT_NO;
}
