/* ready.h - wait for servers that are still starting. */
#ifndef LOADGEN_PREPARE_READY_H
#define LOADGEN_PREPARE_READY_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct target_settings;

/* Ask each URL twice a second, with a GET that has the run's headers and no
 * body, until all have answered with anything but 502, 503 or 504; of several
 * addresses of a name one will do.  ERR_IO after timeout_ns, with what was
 * seen last, rather than that the end of the wait cut the last question short;
 * ERR_CONFIG at once; ERR_STOPPED if common/base/stop.h's flag was set.
 */
int ready_wait(const struct target_settings *s, int64_t timeout_ns,
               struct err *err);

/* Does an answer with this HTTP status (0: none came) say so? */
bool ready_is(int64_t status);

#endif
