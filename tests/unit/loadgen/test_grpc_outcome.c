/* What gRPC says of the end of a call, and the outcome that it is to us: the
 * texts are those of C-core 1.51, as it gave them. */
#include <stdbool.h>

#include "common/wire/status.h"
#include "loadgen/transport/grpc/grpc_outcome.h"
#include "tests/support/test.h"

#define NO_CONNECTION "failed to connect to all addresses; last error: "

static const struct {
    struct rpc_ending ending;
    enum outcome outcome;
    int64_t detail;
    const char *text;
} cases[] = {
    {{RPC_OK, "", false, false, false}, OUTCOME_OK, 0, ""},

    /* what a server says */
    {{RPC_RESOURCE_EXHAUSTED, "too many", false, false, false},
     OUTCOME_STATUS,
     8,
     "gRPC status RESOURCE_EXHAUSTED: too many"},
    {{RPC_UNAVAILABLE, "asked for it", false, false, false},
     OUTCOME_STATUS,
     14,
     "gRPC status UNAVAILABLE: asked for it"},
    {{RPC_UNKNOWN, "", true, false, false},
     OUTCOME_STATUS,
     2,
     "gRPC status UNKNOWN"},
    {{RPC_UNIMPLEMENTED, "Received http2 header with status: 404", false, false,
      false},
     OUTCOME_STATUS,
     12,
     "gRPC status UNIMPLEMENTED: Received http2 header with status: 404"},
    {{99, "", false, false, false}, OUTCOME_STATUS, 99, "gRPC status 99"},

    /* time */
    {{RPC_DEADLINE_EXCEEDED, "Deadline Exceeded", false, true, false},
     OUTCOME_TIMEOUT,
     0,
     "no answer within the timeout"},
    {{RPC_DEADLINE_EXCEEDED, "Deadline Exceeded", true, true, false},
     OUTCOME_TIMEOUT,
     0,
     "the answer was not complete within the timeout"},
    {{RPC_DEADLINE_EXCEEDED, "Deadline Exceeded", false, false, true},
     OUTCOME_TIMEOUT,
     0,
     "no answer within the timeout"},
    {{RPC_DEADLINE_EXCEEDED, "Deadline Exceeded", false, false, false},
     OUTCOME_STATUS,
     4,
     "gRPC status DEADLINE_EXCEEDED: Deadline Exceeded"},
    {{RPC_DEADLINE_EXCEEDED, "Deadline Exceeded by far", false, false, true},
     OUTCOME_STATUS,
     4,
     "gRPC status DEADLINE_EXCEEDED: Deadline Exceeded by far"},
    {{RPC_DEADLINE_EXCEEDED, "of my own", false, false, true},
     OUTCOME_STATUS,
     4,
     "gRPC status DEADLINE_EXCEEDED: of my own"},

    /* no connection */
    {{RPC_UNAVAILABLE,
      NO_CONNECTION "UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote "
                    "host: Connection refused",
      false, false, false},
     OUTCOME_CONNECT,
     CONNECT_REFUSED,
     "ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused"},
    {{RPC_UNAVAILABLE, NO_CONNECTION "OK", false, false, false},
     OUTCOME_CONNECT,
     CONNECT_OTHER,
     "the connection was closed before HTTP/2 began"},
    {{RPC_UNAVAILABLE,
      NO_CONNECTION "UNKNOWN: Ssl handshake failed: SSL_ERROR_SSL", false,
      false, false},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     "Ssl handshake failed: SSL_ERROR_SSL"},

    {{RPC_UNAVAILABLE,
      NO_CONNECTION "UNKNOWN: socket: Too many open files (24)", false, false,
      false},
     OUTCOME_CONNECT,
     CONNECT_FILES,
     "no open file left: raise the limit (ulimit -n) or cap the connections "
     "(-c)"},
    {{RPC_UNAVAILABLE,
      NO_CONNECTION "UNKNOWN: Failed to connect to remote host: Cannot assign "
                    "requested address",
      false, false, false},
     OUTCOME_CONNECT,
     CONNECT_PORTS,
     "no local port left: keep connections alive, use more target addresses, "
     "or widen net.ipv4.ip_local_port_range"},

    /* a connection, or a stream, that breaks */
    {{RPC_UNAVAILABLE, "Socket closed", false, false, false},
     OUTCOME_RESET,
     0,
     "Socket closed"},
    {{RPC_UNAVAILABLE, "Socket closed", true, false, false},
     OUTCOME_TRUNCATED,
     0,
     "Socket closed"},
    {{RPC_UNAVAILABLE, "recvmsg:Connection reset by peer", false, false, false},
     OUTCOME_RESET,
     0,
     "recvmsg:Connection reset by peer"},
    {{RPC_UNAVAILABLE, "GOAWAY received", false, false, false},
     OUTCOME_RESET,
     0,
     "GOAWAY received"},
    {{RPC_INTERNAL, "Received RST_STREAM with error code 2", true, false,
      false},
     OUTCOME_TRUNCATED,
     0,
     "Received RST_STREAM with error code 2"},
    {{RPC_UNKNOWN, "Stream removed", false, false, false},
     OUTCOME_TRUNCATED,
     0,
     "the stream ended without a status"},
};

TEST(endings_have_outcomes)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rpc_verdict v = rpc_judge(&cases[i].ending);

        if (v.outcome != cases[i].outcome || v.detail != cases[i].detail)
            fail_msg("case %zu: %d, %lld", i, (int)v.outcome,
                     (long long)v.detail);
        assert_string_equal(v.text, cases[i].text);
    }
}

TEST(codes_have_names)
{
    for (int i = 0; i < RPC_STATUS_COUNT; i++)
        assert_non_null(rpc_status_name(i));
    assert_string_equal(rpc_status_name(16), "UNAUTHENTICATED");
    assert_null(rpc_status_name(17));
    assert_null(rpc_status_name(-1));
}
