/* data_format.h - for those who read the files of data sets. */
#ifndef LOADGEN_PAYLOAD_DATA_FORMAT_H
#define LOADGEN_PAYLOAD_DATA_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/jscan.h"
#include "loadgen/payload/dataset.h"

/* Reads d->file into d; ERR_CONFIG with file and line. */
typedef int data_read_fn(struct dataset *d, const struct data_settings *s,
                         struct err *err);

data_read_fn data_read_json; /* JSONL or an array, conversations or not */
data_read_fn data_read_csv;
data_read_fn data_read_text;
data_read_fn data_read_tensors;

/* What the fields mean, once all samples are there. */
int columns_resolve(struct dataset *d, const struct data_settings *s,
                    struct err *err);

/* ---- adding samples ---- */

/* Begin a sample; its fields follow. */
void data_add_item(struct dataset *d, uint32_t line);
void data_drop_item(struct dataset *d);

/* The column of that name, which is added if need be; -1 with err. */
int data_add_column(struct dataset *d, const char *name, size_t len,
                    struct err *err);

/* A field that stands in d->file. */
void data_add_value(struct dataset *d, int column, enum value_kind kind,
                    const char *at, size_t len);

/* A field that has been appended to d->made, from `start` to its end. */
void data_add_made(struct dataset *d, int column, enum value_kind kind,
                   size_t start);

/* A field of plain text, which is made into text of JSON.  -1 if it is no
 * UTF-8. */
int data_add_text(struct dataset *d, int column, const char *text, size_t len);

int data_fail(const struct dataset *d, uint32_t line, struct err *err,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
