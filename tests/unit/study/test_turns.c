/* Turns: who is next, and what becomes of those that fail. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "study/turns.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_PLAYERS  4
#define MAX_LOG      64

struct game;

struct player {
    struct game *game;
    size_t made;
    size_t wanted;
    size_t fails_at; /* with so many recordings; SIZE_MAX: never */
};

struct game {
    struct player players[MAX_PLAYERS];
    char log[MAX_LOG];
    size_t stop_after; /* steps */
    int saves;
};

static size_t made(void *arg)
{
    const struct player *p = arg;

    return p->made;
}

static int step(void *arg, struct err *err)
{
    struct player *p = arg;
    size_t len = strlen(p->game->log);

    if (p->made == p->wanted)
        return 0;
    assert_true(len + 1 < MAX_LOG);
    p->game->log[len] = (char)('A' + (p - p->game->players));
    if (len + 1 == p->game->stop_after)
        atomic_store(&stop_signal, SIGINT);
    if (p->made == p->fails_at)
        return err_set(err, ERR_IO, "the server is gone");
    p->made++;
    return 1;
}

static int save(void *arg, struct err *err)
{
    struct game *g = arg;

    (void)err;
    g->saves++;
    return 0;
}

static void each_has_its_turn(void **state)
{
    static const struct {
        size_t n;
        size_t made[MAX_PLAYERS];
        size_t wanted[MAX_PLAYERS];
        int fails; /* who; -1: nobody */
        size_t fails_at;
        size_t stop_after;
        const char *log;
    } rows[] = {
        {1, {0}, {3}, -1, 0, 0, "AAA"},
        {3, {0}, {3, 3, 3}, -1, 0, 0, "ABCCBAABC"},
        /* searches take as long as they take */
        {3, {0}, {1, 3, 2}, -1, 0, 0, "ABCCBB"},
        /* what failed is marked, the others go on */
        {3, {0}, {3, 3, 3}, 1, 0, 0, "ABCCAAC"},
        {3, {0}, {3, 3, 3}, 1, 1, 0, "ABCCBAAC"},
        /* an earlier attempt got as far as A B C C */
        {3, {1, 1, 2}, {3, 3, 3}, -1, 0, 0, "BAABC"},
        {3, {3, 3, 3}, {3, 3, 3}, -1, 0, 0, ""},
        {3, {0}, {3, 3, 3}, -1, 0, 4, "ABCC"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct game g = {.stop_after = rows[i].stop_after};
        struct turn list[MAX_PLAYERS] = {0};
        struct turns t = {list, rows[i].n, save, &g};
        struct err err = {0};

        for (size_t k = 0; k < rows[i].n; k++) {
            bool fails = rows[i].fails == (int)k;

            g.players[k] =
                (struct player){&g, rows[i].made[k], rows[i].wanted[k],
                                fails ? rows[i].fails_at : SIZE_MAX};
            list[k] = (struct turn){made, step, &g.players[k], "", 0, false};
        }
        assert_int_equal(turns_take(&t, &err), 0);
        assert_string_equal(g.log, rows[i].log);
        assert_int_equal(g.saves, rows[i].fails >= 0 ? 2 : 1);
        for (size_t k = 0; k < rows[i].n; k++)
            assert_string_equal(list[k].failed, rows[i].fails == (int)k
                                                    ? "the server is gone"
                                                    : "");
        if (rows[i].fails >= 0)
            assert_int_equal(list[rows[i].fails].failed_after,
                             rows[i].fails_at);
        atomic_store(&stop_signal, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_turn)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
