/* grpcrig.h - an API over gRPC without a network: a message to send is made, or
 * one that comes is taken, by hand. */
#ifndef TESTS_SUPPORT_GRPCRIG_H
#define TESTS_SUPPORT_GRPCRIG_H

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/api/response.h"
#include "loadgen/payload/dataset.h"

#define GRPCRIG_MAX_BODY 4096

struct grpcrig {
    struct settings settings;
    struct dataset *data;
    struct api api;
    struct facts facts;
    struct response response;
    struct buf body;
};

/* The settings, of a model m that takes this tensor, if it is not NULL. */
void grpcrig_begin(struct grpcrig *r, enum api_kind kind, const char *tensor);

/* A data set of these lines, which go out as they are. */
void grpcrig_take_data(struct grpcrig *r, const char *lines);

/* The API by these settings, and an answer that begins. */
void grpcrig_ready(struct grpcrig *r);

void grpcrig_end(struct grpcrig *r);

#endif
