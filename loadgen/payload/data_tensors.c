/* Raw tensors: the bytes of one sample after those of another.  How many a
 * sample has is known when the model's inputs are, see sample_tensors.c. */
#include "loadgen/payload/data_format.h"

#include "common/base/err.h"

int data_read_tensors(struct dataset *d, const struct data_settings *s,
                      struct err *err)
{
    (void)s;
    (void)err;
    d->is_tensors = true;
    for (int r = 0; r < ROLE_COUNT; r++)
        d->role[r] = -1;
    return 0;
}
