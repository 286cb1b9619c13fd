#include "loadgen/transport/grpc/grpc_outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/wire/status.h"
#include "loadgen/engine/request.h"
#include "loadgen/transport/socket.h"

/* C-core's words for a connection that could not be established ... */
static const char no_connection[] = "failed to connect to all addresses";
static const char last_error[] = "last error: ";

/* ... and why not, the first that fits. */
static const struct {
    const char *words;
    enum connect_detail detail;
} reasons[] = {
    {"Connection refused", CONNECT_REFUSED},
    {"Ssl handshake failed", CONNECT_TLS},
    {"andshake", CONNECT_TLS},
    {"Peer name", CONNECT_TLS},
    {"timed out", CONNECT_TIMED_OUT},
    {"Timeout", CONNECT_TIMED_OUT},
    {"timeout", CONNECT_TIMED_OUT},
    {"unreachable", CONNECT_UNREACHABLE},
    {"No route", CONNECT_UNREACHABLE},
    {"Cannot assign requested address", CONNECT_PORTS},
    {"Too many open files", CONNECT_FILES},
    {"No buffer space", CONNECT_MEMORY},
    {"Cannot allocate memory", CONNECT_MEMORY},
};

/* Its words for a stream that the server dropped, and for one whose connection
 * is gone ... */
static const char *const broken[] = {
    "Received RST_STREAM",
    "Socket closed",
    "recvmsg:",
    "sendmsg:",
    "GOAWAY received",
    "Transport closed",
    "Endpoint closing",
    "Transport destroyed",
    "Broken pipe",
    "Connection reset",
};

/* ... and for one that ended without a status. */
static const char no_status[] = "Stream removed";

/* A server on C-core enforces the deadline that was sent with the call, by a
 * clock that it reads now and then: under load it is milliseconds early.  These
 * are its words for the end of that deadline; other words mean that the server
 * has a limit of its own. */
static const char time_is_up[] = "Deadline Exceeded";

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_broken(const char *details)
{
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        if (starts_with(details, broken[i]))
            return true;
    }
    return false;
}

/* The text of the other transports if the client is the cause; else NULL. */
static const char *text_of_client(enum connect_detail detail)
{
    switch ((int)detail) {
    case CONNECT_PORTS:
        return socket_error_text(EADDRNOTAVAIL);
    case CONNECT_FILES:
        return socket_error_text(EMFILE);
    case CONNECT_MEMORY:
        return socket_error_text(ENOMEM);
    default:
        return NULL;
    }
}

static void set(struct rpc_verdict *v, enum outcome outcome, int64_t detail,
                const char *text)
{
    v->outcome = outcome;
    v->detail = detail;
    snprintf(v->text, sizeof(v->text), "%.*s", (int)sizeof(v->text) - 1, text);
}

static void judge_connect(struct rpc_verdict *v, const char *details)
{
    size_t n_reasons = sizeof(reasons) / sizeof(reasons[0]);
    enum connect_detail detail = CONNECT_OTHER;
    const char *why = strstr(details, last_error);
    size_t i = 0;

    while (i < n_reasons && !strstr(details, reasons[i].words))
        i++;
    if (i < n_reasons)
        detail = reasons[i].detail;
    why = why ? why + strlen(last_error) : details;
    if (starts_with(why, "UNKNOWN: "))
        why += strlen("UNKNOWN: ");
    if (strcmp(why, "OK") == 0)
        why = "the connection was closed before HTTP/2 began";
    if (text_of_client(detail))
        why = text_of_client(detail);
    set(v, OUTCOME_CONNECT, detail, why);
}

struct rpc_verdict rpc_judge(const struct rpc_ending *e)
{
    struct rpc_verdict v = {.outcome = OUTCOME_OK};
    bool is_timeout =
        e->code == RPC_DEADLINE_EXCEEDED &&
        (e->is_late || (e->is_aging && strcmp(e->details, time_is_up) == 0));
    const char *name = rpc_status_name(e->code);
    char number[24];

    if (e->code == RPC_OK)
        return v;
    if (e->code == RPC_UNAVAILABLE && starts_with(e->details, no_connection)) {
        judge_connect(&v, e->details);
    } else if (is_timeout) {
        set(&v, OUTCOME_TIMEOUT, 0, request_timeout_text(e->has_begun));
    } else if (e->code == RPC_UNKNOWN && starts_with(e->details, no_status)) {
        set(&v, OUTCOME_TRUNCATED, 0, "the stream ended without a status");
    } else if (is_broken(e->details)) {
        set(&v, e->has_begun ? OUTCOME_TRUNCATED : OUTCOME_RESET, 0,
            e->details);
    } else {
        snprintf(number, sizeof(number), "%d", e->code);
        v.outcome = OUTCOME_STATUS;
        v.detail = e->code;
        snprintf(v.text, sizeof(v.text), "gRPC status %s%s%.100s",
                 name ? name : number, e->details[0] ? ": " : "", e->details);
    }
    return v;
}
