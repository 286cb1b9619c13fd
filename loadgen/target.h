/* target.h - where requests go, and the bytes they are made of.
 *
 * Built once before the clock starts; const from then on, and shared.
 */
#ifndef LOADGEN_TARGET_H
#define LOADGEN_TARGET_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/url.h"

struct err;
struct target_settings;

/* Digits of an id in the request; the header's value has a fixed width. */
#define TARGET_ID_DIGITS 18

struct target {
    struct url url;
    struct addrinfo *addresses; /* NULL for the null transport */
    struct buf request;         /* head and body, as sent */
    size_t id_at;               /* where the id's digits stand; 0: nowhere */
    bool is_head;               /* the method is HEAD: no body comes back */
};

/* Resolve, read the body's file, write the request.  ERR_CONFIG for what was
 * asked wrongly, ERR_IO for a name that does not resolve. */
int target_init(struct target *t, const struct target_settings *s,
                struct err *err);
void target_fini(struct target *t);

#endif
