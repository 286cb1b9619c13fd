/* body_template.h - a body of the user (target.body) with fields that differ
 * from request to request: {{prompt}}, {{prompt_ids}}, {{input_tokens}},
 * {{output_tokens}}, {{seq}}, {{nonce}}, {{model}}, {{messages}}, and any field
 * of a data set by its name.  {{ prompt }} is the same as {{prompt}}. */
#ifndef LOADGEN_API_BODY_TEMPLATE_H
#define LOADGEN_API_BODY_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

struct api;
struct dataset;
struct err;
struct sample;

/* Text and the field that follows it; the last part has no field. */
struct template_part {
    size_t start; /* of the text */
    size_t len;
    int field;  /* a built-in field, or -1 */
    int column; /* a field of the data set, or -1 */
};

struct template
{
    struct buf text;
    struct template_part *parts;
    size_t len;
};

/* Takes the text.  A word in double braces must be a field above or one that
 * all samples of the data set have: ERR_CONFIG.  `data` may be NULL.
 * template_fini() may follow either way. */
int template_init(struct template *t, struct buf *text,
                  const struct dataset *data, struct err *err);
void template_fini(struct template *t);

bool template_has_fields(const struct template *t);

/* Does it have a field with this name? */
bool template_has(const struct template *t, const char *name);

void template_write(const struct template *t, const struct api *api,
                    const struct sample *sample, struct buf *body);

#endif
