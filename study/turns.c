#include "study/turns.h"

#include <stdio.h>

#include "common/base/err.h"
#include "common/base/stop.h"

size_t turns_place(size_t round, size_t i, size_t n)
{
    return round % 2 ? n - 1 - i : i;
}

static bool is_in(const struct turn *turn)
{
    return !turn->is_done && !turn->failed[0];
}

/* The round that the furthest behind is in; false: nobody is left. */
static bool find_round(const struct turns *t, size_t *round)
{
    bool is_any = false;

    for (size_t i = 0; i < t->n; i++) {
        size_t made;

        if (!is_in(&t->list[i]))
            continue;
        made = t->list[i].made(t->list[i].arg);
        if (!is_any || made < *round)
            *round = made;
        is_any = true;
    }
    return is_any;
}

static int keep(const struct turns *t, struct err *err)
{
    return t->save ? t->save(t->arg, err) : 0;
}

static int step(struct turns *t, struct turn *turn, struct err *err)
{
    struct err why = {0};
    int rc = turn->step(turn->arg, &why);

    if (atomic_load(&stop_signal))
        return 0;
    if (rc == 0)
        turn->is_done = true;
    if (rc >= 0)
        return 0;
    turn->failed_after = turn->made(turn->arg);
    snprintf(turn->failed, sizeof(turn->failed), "%s", why.msg);
    return keep(t, err);
}

static int take_round(struct turns *t, size_t round, struct err *err)
{
    for (size_t i = 0; i < t->n; i++) {
        struct turn *turn = &t->list[turns_place(round, i, t->n)];

        if (!is_in(turn) || turn->made(turn->arg) > round)
            continue;
        if (step(t, turn, err))
            return -1;
        if (atomic_load(&stop_signal))
            return 0;
    }
    return 0;
}

int turns_take(struct turns *t, struct err *err)
{
    size_t round = 0;

    while (!atomic_load(&stop_signal) && find_round(t, &round)) {
        if (take_round(t, round, err))
            return -1;
    }
    return keep(t, err);
}
