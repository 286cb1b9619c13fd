/* curl_outcome.h - the outcome of a request through libcurl: the same outcomes
 * as on the native transport.  Pure. */
#ifndef LOADGEN_TRANSPORT_CURL_OUTCOME_H
#define LOADGEN_TRANSPORT_CURL_OUTCOME_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/wire/http_message.h"

/* How a transfer ended. */
struct curl_ending {
    CURLcode code;
    int error;                /* errno, if one was the cause; else 0 */
    int status;               /* of HTTP; 0: none received */
    bool was_sent;            /* sending had begun */
    bool is_fresh;            /* over a new connection */
    bool has_begun;           /* a byte of the response was received */
    bool is_whole_head;       /* its head was complete */
    enum http1_error refusal; /* why we broke it off, or HTTP1_FINE */
    bool broke_late;          /* the connection, later than a stale one would */
    bool is_downgrade;        /* HTTP/2 was required, and is not spoken */
    const char *text;         /* libcurl's, may be "" */
};

struct curl_outcome {
    enum outcome outcome;
    int64_t detail;
    const char *text; /* NULL: libcurl's own text */
};

struct curl_outcome curl_judge(const struct curl_ending *e);

/* Cut off what libcurl adds to the words of the kernel and of OpenSSL, which
 * the native transport uses as they are. */
void curl_trim_text(char *text);

#endif
