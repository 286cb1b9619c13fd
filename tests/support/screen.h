/* screen.h - a terminal, as far as tailgate makes use of one: what stands on it
 * after these bytes?  A sequence that it does not know fails the test. */
#ifndef TESTS_SUPPORT_SCREEN_H
#define TESTS_SUPPORT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_MAX_COLUMNS 256
#define SCREEN_MAX_ROWS    64

/* Zeroed but for its size. */
struct screen {
    int columns;
    int rows;

    char cell[SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS]; /* 0: blank */
    int row;
    int column;
    bool is_cursor_hidden;
    bool has_wrapped; /* something was written beyond the last column but one */
    bool has_colour;
    int frames; /* times that the cursor was shown again */
};

void screen_put(struct screen *s, const char *bytes, size_t len);

/* Rows that start with this. */
int screen_count(const struct screen *s, const char *start);

/* Rows on which there is anything. */
int screen_used(const struct screen *s);

#endif
