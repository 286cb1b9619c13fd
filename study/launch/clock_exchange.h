/* clock_exchange.h - how far the clock of another machine is off: it is asked
 * for its time over a pair of pipes, several times, and the exchange with the
 * shortest delay counts.  Its time was read somewhere within that delay, so
 * that half of it bounds the error, whatever the two ways took. */
#ifndef STUDY_CLOCK_EXCHANGE_H
#define STUDY_CLOCK_EXCHANGE_H

#include <stdint.h>

struct err;

struct clock_offset {
    int64_t offset_ns; /* its clock minus ours */
    int64_t error_ns;  /* upper bound */
    int exchanges;
};

/* Answer each line on `in` with the time in ns since 1970 on `out`, until `in`
 * ends.  ERR_IO. */
int clock_answer(int in, int out, struct err *err);

/* Ask the process at the other end.  ERR_IO if it does not answer in time, or
 * not with a time. */
int clock_ask(int in, int out, struct clock_offset *found, struct err *err);

/* The same with a process that is started for it, and ends afterwards; the
 * command is not a shell's. */
int clock_ask_command(const char *const *command, struct clock_offset *found,
                      struct err *err);

/* {"offset_ns": ..., "error_ns": ..., "exchanges": ...} from a file. ERR_CONFIG
 * or ERR_FORMAT. */
int clock_offset_read(const char *path, struct clock_offset *found,
                      struct err *err);

#endif
