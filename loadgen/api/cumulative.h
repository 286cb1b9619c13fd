/* cumulative.h - does each event of a stream have all the text so far, or what
 * is new?  Where it depends on how the server was set up, the texts tell. */
#ifndef LOADGEN_API_CUMULATIVE_H
#define LOADGEN_API_CUMULATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed before the first text of a stream. */
struct cumulative {
    size_t len; /* of the last text */
    uint64_t hash;
    size_t growths; /* texts that began with the one before, and went on */
    bool is_not;    /* one began in another way; stays */
};

/* The next text: is it, by all that was seen, all the text so far? */
bool cumulative_see(struct cumulative *c, const char *text, size_t len);

#endif
