#include "loadgen/observe/meter_counters.h"

#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/wire/prometheus.h"

struct counter {
    char *labels; /* owned */
    double last;
};

static struct counter *find(struct counters *c, struct prom_text labels)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t at = (c->next + i) % c->n;

        if (prom_is(labels, c->list[at].labels)) {
            c->next = at + 1;
            return &c->list[at];
        }
    }
    return NULL;
}

static void add(struct counters *c, const struct prom_sample *sample)
{
    if (c->n == COUNTERS_MAX)
        return;
    c->list = xrealloc(c->list, c->n + 1, sizeof(*c->list));
    c->list[c->n++] = (struct counter){
        xstrndup(sample->labels.at, sample->labels.len), sample->value};
}

double counters_grown(struct counters *c, const struct prom_sample *sample)
{
    struct counter *x = find(c, sample->labels);
    double by;

    if (!x) {
        add(c, sample);
        return 0;
    }
    by = sample->value >= x->last ? sample->value - x->last : sample->value;
    x->last = sample->value;
    return by;
}

void counters_fini(struct counters *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].labels);
    free(c->list);
    *c = (struct counters){0};
}
