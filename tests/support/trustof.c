#include "tests/support/trustof.h"

#include <stddef.h>

struct trust trust_of(const struct tally *t, const struct client *client,
                      const struct integrity *integrity, bool is_closed)
{
    const struct integrity whole = {0};
    struct client idle;
    struct judgement j;
    struct trust trust;

    client_init(&idle, (struct window){0}, 1);
    judge(t, 10, &j);
    trust_check(&(struct evidence){.tally = t,
                                   .judgement = &j,
                                   .integrity = integrity ? integrity : &whole,
                                   .client = client ? client : &idle,
                                   .is_open_loop = !is_closed},
                &trust);
    return trust;
}
