/* keep.h - what a test needs until its program ends, and does not free.
 *
 * Paths, output of processes, rows and summaries: a test reads them and ends.
 * What the code under test hands over is freed by the test as the contract
 * says, so that leaks are found.
 */
#ifndef TESTS_SUPPORT_KEEP_H
#define TESTS_SUPPORT_KEEP_H

/* Take over this memory; returns it.  It may still be freed before. */
void *keep(void *memory);

/* A text in such memory. */
char *keepf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
