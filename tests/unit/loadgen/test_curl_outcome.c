/* What libcurl says of a transfer, and the outcome that it is to us. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "loadgen/transport/curl_outcome.h"
#include "tests/support/test.h"

/* Stands for libcurl's own words. */
#define ITS NULL

static const struct {
    struct curl_ending ending;
    enum outcome outcome;
    int64_t detail;
    const char *text;
} cases[] = {
    /* whole answers */
    {{.status = 200, .was_sent = true, .is_whole_head = true},
     OUTCOME_OK,
     0,
     ITS},
    {{.status = 399, .was_sent = true, .is_whole_head = true},
     OUTCOME_OK,
     0,
     ITS},
    {{.status = 400, .was_sent = true, .is_whole_head = true},
     OUTCOME_STATUS,
     400,
     ITS},
    {{.status = 503, .was_sent = true, .is_whole_head = true},
     OUTCOME_STATUS,
     503,
     ITS},
    {{.status = 200, .was_sent = true, .has_begun = true},
     OUTCOME_TRUNCATED,
     0,
     "closed inside the response"},
    {{.status = 200,
      .was_sent = true,
      .is_whole_head = true,
      .is_downgrade = true},
     OUTCOME_CONNECT,
     CONNECT_PROTOCOL,
     "the server does not speak HTTP/2"},

    /* no connection */
    {{.code = CURLE_COULDNT_CONNECT, .error = ECONNREFUSED},
     OUTCOME_CONNECT,
     CONNECT_REFUSED,
     "Connection refused"},
    {{.code = CURLE_COULDNT_CONNECT, .error = ENOBUFS},
     OUTCOME_CONNECT,
     CONNECT_MEMORY,
     "no memory left for a socket: free some, raise net.ipv4.tcp_mem or cap "
     "the connections (-c)"},
    {{.code = CURLE_COULDNT_CONNECT, .error = EHOSTUNREACH},
     OUTCOME_CONNECT,
     CONNECT_UNREACHABLE,
     "No route to host"},
    {{.code = CURLE_COULDNT_CONNECT}, OUTCOME_CONNECT, CONNECT_OTHER, ITS},
    {{.code = CURLE_COULDNT_RESOLVE_PROXY}, OUTCOME_CONNECT, CONNECT_DNS, ITS},
    {{.code = CURLE_COULDNT_RESOLVE_HOST}, OUTCOME_CONNECT, CONNECT_DNS, ITS},
    {{.code = CURLE_OPERATION_TIMEDOUT},
     OUTCOME_CONNECT,
     CONNECT_TIMED_OUT,
     "not connected within the connect timeout"},
    {{.code = CURLE_SSL_CONNECT_ERROR}, OUTCOME_CONNECT, CONNECT_TLS, ITS},
    {{.code = CURLE_SSL_CONNECT_ERROR,
      .text = "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:1 "},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     "closed inside the TLS handshake"},
    {{.code = CURLE_SSL_CONNECT_ERROR, .error = ECONNRESET},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     ITS},
    {{.code = CURLE_PEER_FAILED_VERIFICATION},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     ITS},
    {{.code = CURLE_SSL_CERTPROBLEM}, OUTCOME_CONNECT, CONNECT_TLS, ITS},
    {{.code = CURLE_SSL_CACERT_BADFILE}, OUTCOME_CONNECT, CONNECT_TLS, ITS},

    /* none to send it again on */
    {{.code = CURLE_COULDNT_CONNECT, .error = ECONNREFUSED, .was_sent = true},
     OUTCOME_CONNECT,
     CONNECT_REFUSED,
     "Connection refused"},
    {{.code = CURLE_SSL_CONNECT_ERROR, .was_sent = true},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     ITS},
    {{.code = CURLE_OPERATION_TIMEDOUT, .was_sent = true},
     OUTCOME_CONNECT,
     CONNECT_TIMED_OUT,
     "not connected within the connect timeout"},

    /* not admitted, by TLS 1.3: only if it was the first on its connection */
    {{.code = CURLE_RECV_ERROR,
      .was_sent = true,
      .is_fresh = true,
      .text = "SSL_read: tlsv13 alert certificate required"},
     OUTCOME_CONNECT,
     CONNECT_TLS,
     ITS},
    {{.code = CURLE_RECV_ERROR,
      .was_sent = true,
      .text = "SSL_read: tlsv1 alert internal error"},
     OUTCOME_RESET,
     0,
     ITS},

    /* it went out, and then: */
    {{.code = CURLE_ABORTED_BY_CALLBACK, .was_sent = true, .broke_late = true},
     OUTCOME_RESET,
     0,
     "closed before any response"},
    {{.code = CURLE_ABORTED_BY_CALLBACK,
      .was_sent = true,
      .broke_late = true,
      .error = ECONNRESET},
     OUTCOME_RESET,
     ECONNRESET,
     "Connection reset by peer"},
    {{.code = CURLE_PARTIAL_FILE, .was_sent = true},
     OUTCOME_RESET,
     0,
     "closed before any response"},
    {{.code = CURLE_GOT_NOTHING, .was_sent = true, .has_begun = true},
     OUTCOME_TRUNCATED,
     0,
     "closed inside the response"},
    {{.code = CURLE_GOT_NOTHING, .was_sent = true},
     OUTCOME_RESET,
     0,
     "closed before any response"},
    {{.code = CURLE_RECV_ERROR, .was_sent = true, .error = ECONNRESET},
     OUTCOME_RESET,
     ECONNRESET,
     "Connection reset by peer"},
    {{.code = CURLE_SEND_ERROR,
      .was_sent = true,
      .text = "Connection died, tried 5 times before giving up"},
     OUTCOME_RESET,
     0,
     "closed before any response"},
    {{.code = CURLE_SEND_ERROR, .was_sent = true, .error = EPIPE},
     OUTCOME_RESET,
     EPIPE,
     "Broken pipe"},
    {{.code = CURLE_HTTP2_STREAM, .was_sent = true},
     OUTCOME_RESET,
     0,
     "the server reset the HTTP/2 stream"},
    {{.code = CURLE_HTTP2_STREAM, .was_sent = true, .has_begun = true},
     OUTCOME_RESET,
     0,
     "the server reset the HTTP/2 stream"},
    {{.code = CURLE_HTTP2, .was_sent = true},
     OUTCOME_RESET,
     0,
     "the server ended the HTTP/2 connection"},
    {{.code = CURLE_RECV_ERROR, .was_sent = true, .has_begun = true},
     OUTCOME_TRUNCATED,
     0,
     "closed inside the response"},
    {{.code = CURLE_PARTIAL_FILE, .was_sent = true, .has_begun = true},
     OUTCOME_TRUNCATED,
     0,
     "closed inside the response"},
    {{.code = CURLE_WEIRD_SERVER_REPLY, .was_sent = true},
     OUTCOME_MALFORMED,
     HTTP1_BAD_LENGTH,
     "Content-Length is not one number"},
    {{.code = CURLE_WEIRD_SERVER_REPLY,
      .was_sent = true,
      .text = "Header without colon"},
     OUTCOME_MALFORMED,
     HTTP1_BAD_HEADER,
     "a header that is not 'name: value'"},
    {{.code = CURLE_BAD_CONTENT_ENCODING, .was_sent = true},
     OUTCOME_MALFORMED,
     HTTP1_BAD_ENCODING,
     "unknown Transfer-Encoding"},
    {{.code = CURLE_BAD_FUNCTION_ARGUMENT, .was_sent = true},
     OUTCOME_MALFORMED,
     0,
     ITS},
    {{.code = CURLE_UNSUPPORTED_PROTOCOL, .was_sent = true},
     OUTCOME_MALFORMED,
     HTTP1_BAD_START,
     "not an HTTP/1 start line"},
    {{.code = CURLE_OUT_OF_MEMORY, .was_sent = true},
     OUTCOME_MALFORMED,
     HTTP1_LONG_HEAD,
     "headers too long"},
    {{.code = CURLE_RECV_ERROR,
      .was_sent = true,
      .has_begun = true,
      .text = "Illegal or missing hexadecimal sequence in chunked-encoding"},
     OUTCOME_MALFORMED,
     HTTP1_BAD_CHUNK,
     "a damaged chunk"},

    /* we broke it off, whatever libcurl calls that */
    {{.code = CURLE_WRITE_ERROR,
      .was_sent = true,
      .is_whole_head = true,
      .refusal = HTTP1_LONG_BODY},
     OUTCOME_MALFORMED,
     HTTP1_LONG_BODY,
     "longer than target.max_response"},
};

TEST(the_words_of_others)
{
    static const char *const texts[][2] = {
        {"Recv failure: Connection reset by peer", "Connection reset by peer"},
        {"Send failure: Broken pipe", "Broken pipe"},
        {"OpenSSL SSL_read: OpenSSL/3.0: error:0A00045C: alert, errno 0",
         "OpenSSL/3.0: error:0A00045C: alert"},
        {"SSL certificate problem: unable, errno 0",
         "SSL certificate problem: unable, errno 0"},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[100];

        snprintf(text, sizeof(text), "%s", texts[i][0]);
        curl_trim_text(text);
        assert_string_equal(text, texts[i][1]);
    }
}

TEST(every_ending_has_its_name)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct curl_ending e = cases[i].ending;
        struct curl_outcome v;

        if (!e.text)
            e.text = "";
        v = curl_judge(&e);
        if (v.outcome != cases[i].outcome || v.detail != cases[i].detail)
            fail_msg("case %zu: %s, %lld", i, outcome_name(v.outcome),
                     (long long)v.detail);
        if (!cases[i].text)
            assert_null(v.text);
        else
            assert_string_equal(v.text ? v.text : "", cases[i].text);
    }
}
