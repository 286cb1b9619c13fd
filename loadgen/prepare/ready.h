/* ready.h - waits for servers that are still starting. */
#ifndef LOADGEN_PREPARE_READY_H
#define LOADGEN_PREPARE_READY_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct target_settings;

/* Send each URL a GET twice a second, with the run's headers and no body, until
 * all have answered with a status other than 502, 503 or 504.  If a name has
 * several addresses, one answer is enough.  ERR_IO after timeout_ns, with the
 * reason of the last attempt that had its full timeout; ERR_CONFIG at once;
 * ERR_STOPPED if the flag of common/base/stop.h is set. */
int ready_wait(const struct target_settings *s, int64_t timeout_ns,
               struct err *err);

/* Does an answer with this HTTP status (0: no answer) mean ready? */
bool ready_is(int64_t status);

#endif
