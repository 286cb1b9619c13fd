#include "loadgen/transport/curl_verdict.h"

#include <errno.h>
#include <string.h>

#include "loadgen/transport/socket.h"

static bool is_of_tls(CURLcode code)
{
    static const CURLcode codes[] = {
        CURLE_SSL_CONNECT_ERROR,  CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CERTPROBLEM,    CURLE_SSL_CIPHER,
        CURLE_SSL_ISSUER_ERROR,   CURLE_SSL_CLIENTCERT,
        CURLE_SSL_CACERT_BADFILE,
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] == code)
            return true;
    }
    return false;
}

/* No byte of the request got out. */
static struct curl_verdict judge_connect(const struct curl_ending *e)
{
    struct curl_verdict v = {OUTCOME_CONNECT, CONNECT_OTHER, NULL};

    if (is_of_tls(e->code)) {
        v.detail = CONNECT_TLS;
    } else if (e->code == CURLE_OPERATION_TIMEDOUT) {
        v.detail = CONNECT_TIMED_OUT;
        v.text = "not connected within the connect timeout";
    } else if (e->error) {
        v.detail = socket_connect_detail(e->error);
        v.text = socket_error_text(e->error);
    }
    return v;
}

static struct curl_verdict malformed(enum http1_error error)
{
    return (struct curl_verdict){OUTCOME_MALFORMED, error,
                                 http1_error_text(error)};
}

static struct curl_verdict truncated(void)
{
    return (struct curl_verdict){OUTCOME_TRUNCATED, 0,
                                 "closed inside the response"};
}

/* It went out, and then libcurl gave up. */
static struct curl_verdict judge_break(const struct curl_ending *e)
{
    switch (e->code) {
    case CURLE_PARTIAL_FILE:
        return truncated();
    case CURLE_WEIRD_SERVER_REPLY:
        return malformed(HTTP1_BAD_LENGTH);
    case CURLE_UNSUPPORTED_PROTOCOL: /* of a status line */
        return malformed(HTTP1_BAD_START);
    case CURLE_OUT_OF_MEMORY: /* a header line above libcurl's bound */
        return malformed(HTTP1_LONG_HEAD);
    case CURLE_HTTP2_STREAM: /* its own text has the number of the stream */
        return (struct curl_verdict){OUTCOME_RESET, 0,
                                     "the server reset the HTTP/2 stream"};
    case CURLE_GOT_NOTHING:
        return (struct curl_verdict){OUTCOME_RESET, 0,
                                     "closed before any response"};
    default:
        break;
    }
    if (strstr(e->text, "chunk"))
        return malformed(HTTP1_BAD_CHUNK);
    if (e->error)
        return (struct curl_verdict){OUTCOME_RESET, e->error,
                                     strerror(e->error)};
    if (e->has_begun && e->code == CURLE_RECV_ERROR)
        return truncated();
    return (struct curl_verdict){OUTCOME_RESET, 0, NULL};
}

struct curl_verdict curl_judge(const struct curl_ending *e)
{
    if (e->refusal)
        return malformed(e->refusal);
    if (e->broke_late)
        return (struct curl_verdict){OUTCOME_RESET, 0,
                                     "closed before any response"};
    if (e->code != CURLE_OK)
        return e->was_sent ? judge_break(e) : judge_connect(e);
    if (e->is_downgrade)
        return (struct curl_verdict){OUTCOME_CONNECT, CONNECT_PROTOCOL,
                                     "the server does not speak HTTP/2"};
    if (!e->is_whole_head)
        return truncated();
    if (e->status >= 400)
        return (struct curl_verdict){OUTCOME_STATUS, e->status, NULL};
    return (struct curl_verdict){OUTCOME_OK, 0, NULL};
}
