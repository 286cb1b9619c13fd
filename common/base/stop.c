#include "common/base/stop.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

atomic_int stop_signal;

static const int stopping[] = {SIGTERM, SIGHUP, SIGINT};
static const int writing[] = {SIGPIPE, SIGXFSZ};

/* By signal number: was it ignored at the start? */
static bool was_ignored[NSIG];

static void on_signal(int number)
{
    atomic_store(&stop_signal, number);
}

void stop_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++) {
        int number = stopping[i];

        /* A second SIGINT takes the default action. */
        action.sa_flags = number == SIGINT ? (int)SA_RESETHAND : 0;
        was_ignored[number] = sigaction(number, NULL, &before) == 0 &&
                              before.sa_handler == SIG_IGN;
        if (!was_ignored[number])
            sigaction(number, &action, NULL);
    }
}

static void restore(int number)
{
    struct sigaction action = {.sa_handler =
                                   was_ignored[number] ? SIG_IGN : SIG_DFL};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void stop_restore_signals(void)
{
    for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
        restore(stopping[i]);
    for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++)
        restore(writing[i]);
}

void stop_ignore_write_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++) {
        was_ignored[writing[i]] =
            sigaction(writing[i], &action, &before) == 0 &&
            before.sa_handler == SIG_IGN;
    }
}
