/* datarig.h - an API that makes its requests of a data set, and the bodies of
 * these. */
#ifndef TESTS_SUPPORT_DATARIG_H
#define TESTS_SUPPORT_DATARIG_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/dataset.h"

struct json_t;

struct datarig {
    struct settings settings;
    struct dataset *data;
    struct api api;
};

/* Three samples with a label and a field k; the first has its max_tokens. */
extern const char datarig_three[];

/* The settings, with the lines of a data set, if they are not NULL. */
void datarig_init(struct datarig *rig, const char *api, const char *text);
void datarig_set(struct datarig *rig, const char *assignment);

/* The API by these settings. */
void datarig_start(struct datarig *rig);
void datarig_fini(struct datarig *rig);

/* The body of this request, alone. */
void datarig_put_body(const struct datarig *rig, int64_t seq, struct buf *out);

/* The same where it is JSON (see keep.h). */
struct json_t *datarig_body(const struct datarig *rig, int64_t seq);

/* How many of the bodies of `n` requests are different. */
int datarig_count_different(const struct datarig *rig, int n);

#endif
