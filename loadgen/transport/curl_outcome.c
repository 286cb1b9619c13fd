#include "loadgen/transport/curl_outcome.h"

#include <string.h>

#include "common/wire/tls.h"
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

static bool is_of_names(CURLcode code)
{
    return code == CURLE_COULDNT_RESOLVE_HOST ||
           code == CURLE_COULDNT_RESOLVE_PROXY;
}

static struct curl_outcome judge_connect(const struct curl_ending *e)
{
    struct curl_outcome v = {OUTCOME_CONNECT, CONNECT_OTHER, NULL};

    if (is_of_tls(e->code)) {
        v.detail = CONNECT_TLS;
        if (strstr(e->text, "SSL_ERROR_SYSCALL"))
            v.text = "closed inside the TLS handshake";
        else if (strstr(e->text, "wrong version number"))
            v.text = TLS_NOT_SPOKEN;
    } else if (is_of_names(e->code)) {
        v.detail = CONNECT_DNS;
    } else if (e->code == CURLE_OPERATION_TIMEDOUT) {
        v.detail = CONNECT_TIMED_OUT;
        v.text = "not connected within the connect timeout";
    } else if (e->error) {
        v.detail = socket_connect_detail(e->error);
        v.text = socket_error_text(e->error);
    }
    return v;
}

static struct curl_outcome malformed(enum http1_error error)
{
    return (struct curl_outcome){OUTCOME_MALFORMED, error,
                                 http1_error_text(error)};
}

static struct curl_outcome reset(int error, const char *text)
{
    return (struct curl_outcome){OUTCOME_RESET, error,
                                 error ? strerror(error) : text};
}

/* The connection was closed in good order. */
static struct curl_outcome closed(bool has_begun)
{
    if (!has_begun)
        return reset(0, "closed before any response");
    return (struct curl_outcome){OUTCOME_TRUNCATED, 0,
                                 "closed inside the response"};
}

/* Sending or receiving failed.  With TLS 1.3 a client without the certificate
 * that the server requires learns so after the handshake, by an alert. */
static struct curl_outcome judge_wire(const struct curl_ending *e)
{
    if (strstr(e->text, "chunk"))
        return malformed(HTTP1_BAD_CHUNK);
    if (e->is_fresh && !e->has_begun && strstr(e->text, "alert"))
        return (struct curl_outcome){OUTCOME_CONNECT, CONNECT_TLS, NULL};
    if (e->error)
        return reset(e->error, NULL);
    /* libcurl gives up after 5 stale connections per handle, counted over all
     * its requests.  To us that is a connection that was closed. */
    if (!e->has_begun && strstr(e->text, "Connection died"))
        return closed(false);
    if (e->has_begun && e->code == CURLE_RECV_ERROR)
        return closed(true);
    return reset(0, NULL);
}

/* libcurl gave up after sending had begun. */
static struct curl_outcome judge_break(const struct curl_ending *e)
{
    switch (e->code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
        return closed(e->has_begun);
    case CURLE_WEIRD_SERVER_REPLY:
        return malformed(strstr(e->text, "eader") ? HTTP1_BAD_HEADER
                                                  : HTTP1_BAD_LENGTH);
    case CURLE_UNSUPPORTED_PROTOCOL: /* of a status line */
        return malformed(HTTP1_BAD_START);
    case CURLE_BAD_CONTENT_ENCODING:
        return malformed(HTTP1_BAD_ENCODING);
    case CURLE_OUT_OF_MEMORY: /* a header line beyond libcurl's limit */
        return malformed(HTTP1_LONG_HEAD);
    case CURLE_HTTP2_STREAM: /* its own text has the number of the stream */
        return reset(0, "the server reset the HTTP/2 stream");
    case CURLE_HTTP2:
        return reset(0, "the server ended the HTTP/2 connection");
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
        return judge_wire(e);
    default: /* libcurl did not accept the answer */
        return (struct curl_outcome){OUTCOME_MALFORMED, HTTP1_FINE, NULL};
    }
}

struct curl_outcome curl_judge(const struct curl_ending *e)
{
    /* Did it fail while connecting, for the first attempt or a second one? */
    bool is_of_connecting = !e->was_sent || e->code == CURLE_COULDNT_CONNECT ||
                            e->code == CURLE_OPERATION_TIMEDOUT ||
                            e->code == CURLE_PROXY || is_of_names(e->code) ||
                            is_of_tls(e->code);

    if (e->refusal)
        return malformed(e->refusal);
    if (e->broke_late)
        return reset(e->error, "closed before any response");
    if (e->code != CURLE_OK)
        return is_of_connecting ? judge_connect(e) : judge_break(e);
    if (e->is_downgrade)
        return (struct curl_outcome){OUTCOME_CONNECT, CONNECT_PROTOCOL,
                                     "the server does not speak HTTP/2"};
    if (!e->is_whole_head)
        return closed(e->has_begun);
    if (e->status >= 400)
        return (struct curl_outcome){OUTCOME_STATUS, e->status, NULL};
    return (struct curl_outcome){OUTCOME_OK, 0, NULL};
}

void curl_trim_text(char *text)
{
    static const char *const additions[] = {
        "Recv failure: ", "Send failure: ", "OpenSSL SSL_read: ",
        "OpenSSL SSL_write: "};
    char *end = strstr(text, ", errno ");

    for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
        size_t len = strlen(additions[i]);

        if (strncmp(text, additions[i], len) != 0)
            continue;
        if (end)
            *end = '\0';
        memmove(text, text + len, strlen(text + len) + 1);
        return;
    }
}
