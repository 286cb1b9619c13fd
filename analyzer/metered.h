/* metered.h - what was measured of the server's host beside a run: memory and
 * energy.  Zeroed: nothing was. */
#ifndef ANALYZER_METERED_H
#define ANALYZER_METERED_H

#include <stdbool.h>
#include <stdint.h>

struct metered {
    bool has_memory;
    int64_t peak_bytes; /* the most that was seen, of the whole run */

    bool has_energy;
    double joules; /* in the window */
};

#endif
