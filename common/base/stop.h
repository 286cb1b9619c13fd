/* stop.h - the flag that asks the program to stop. */
#ifndef COMMON_BASE_STOP_H
#define COMMON_BASE_STOP_H

#include <stdatomic.h>

/* 0, or the number of the signal that was received. */
extern atomic_int stop_signal;

/* From now on SIGINT, SIGTERM and SIGHUP set the flag instead of ending the
 * program; a second SIGINT ends it at once.  (SIGTERM may come more than once:
 * the kernel sends a parent's death signal for each of its threads.)  A signal
 * that was ignored at the start stays ignored: SIGHUP under nohup, SIGINT in a
 * background job of a script. */
void stop_catch_signals(void);

/* Undo what the functions here changed: back to ignored if the signal was
 * ignored at the start, else to the default action.  For a child that is about
 * to execute another program; safe after fork(). */
void stop_restore_signals(void);

/* Writing to a closed pipe, or beyond the file size limit, becomes an error of
 * the write instead of ending the program. */
void stop_ignore_write_signals(void);

#endif
