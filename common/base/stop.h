/* stop.h - the one flag by which a run is asked to end. */
#ifndef COMMON_BASE_STOP_H
#define COMMON_BASE_STOP_H

#include <stdatomic.h>

/* 0, or the number of the signal that asked. */
extern atomic_int stop_signal;

/* From now on SIGINT, SIGTERM and SIGHUP set the flag instead of ending us; a
 * second SIGINT ends us at once.  (SIGTERM may come more than once: the kernel
 * sends a parent's death signal for each of its threads.)  A signal that was
 * ignored when we were started stays ignored: SIGHUP under nohup, SIGINT in a
 * background job of a script. */
void stop_catch_signals(void);

/* Restore what the functions here changed: ignored if it was ignored when we
 * were started, else the default action.  For a child that is to become another
 * program; safe after fork(). */
void stop_restore_signals(void);

/* A reader that is gone and a file that may not grow become errors of the
 * write, instead of our end. */
void stop_ignore_write_signals(void);

#endif
