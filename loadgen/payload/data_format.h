/* data_format.h - the readers of data set files, and what they use to add
 * samples. */
#ifndef LOADGEN_PAYLOAD_DATA_FORMAT_H
#define LOADGEN_PAYLOAD_DATA_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "loadgen/payload/dataset.h"

/* Reads d->file into d; ERR_CONFIG with file and line. */
typedef int data_read_fn(struct dataset *d, const struct data_settings *s,
                         struct err *err);

data_read_fn data_read_json; /* JSONL or an array; also conversations */
data_read_fn data_read_csv;
data_read_fn data_read_text;
data_read_fn data_read_tensors;

/* Find the meaning of the fields, after all samples have been read. */
int columns_resolve(struct dataset *d, const struct data_settings *s,
                    struct err *err);

/* Begin a sample; its fields follow. */
void data_add_item(struct dataset *d, uint32_t line);
void data_drop_item(struct dataset *d);

/* The column with that name, added if it is new; -1 with err. */
int data_add_column(struct dataset *d, const char *name, size_t len,
                    struct err *err);

/* Add a field that is part of d->file. */
void data_add_value(struct dataset *d, int column, enum value_kind kind,
                    const char *at, size_t len);

/* Add a field that was appended to d->made, from `start` to its end. */
void data_add_made(struct dataset *d, int column, enum value_kind kind,
                   size_t start);

/* Add a field of plain text, encoded as JSON text.  ERR_CONFIG with the line if
 * it is not UTF-8. */
int data_add_text(struct dataset *d, int column, const char *text, size_t len,
                  struct err *err);

/* Set err to "file:line: ...", without the line if it is 0; returns -1. */
int data_fail(const struct dataset *d, uint32_t line, struct err *err,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
