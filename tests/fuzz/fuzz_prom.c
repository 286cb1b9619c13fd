/* Whatever a page holds: every line is a sample, damage or neither, samples lie
 * in the page, and labels that were taken can be read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/prometheus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    const char *page;
    size_t len;
    int64_t samples;
};

static void must_lie_inside(const struct run *run, struct prom_text text)
{
    if (text.at < run->page || text.at + text.len > run->page + run->len)
        abort();
}

static void on_sample(void *arg, const struct prom_sample *s)
{
    struct run *run = arg;
    char text[16];

    run->samples++;
    must_lie_inside(run, s->name);
    must_lie_inside(run, s->labels);
    if (s->name.len == 0)
        abort();
    prom_label(s, "le", text, sizeof(text));
    if (!memchr(text, '\0', sizeof(text)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run = {.page = (const char *)data, .len = size};
    struct prom_counts c = prom_read(run.page, size, on_sample, &run);
    int64_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (c.samples != run.samples || c.samples + c.damaged > lines)
        abort();
    return 0;
}
