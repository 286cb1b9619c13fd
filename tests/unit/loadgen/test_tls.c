/* TLS without a network: client and server are two ends of a socket pair, in
 * one thread. */
#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/wire/tls.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/tls_context.h"
#include "tests/support/certs.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static ssize_t read_wire(void *arg, void *data, size_t size)
{
    return wire_read(arg, data, size);
}

static ssize_t write_wire(void *arg, const void *data, size_t len)
{
    return wire_write(arg, data, len);
}

static const struct tls_io io = {.read = read_wire, .write = write_wire};

/* ---- two ends ---- */

struct pair {
    struct target_settings settings;
    struct target target;
    struct endpoint endpoint;
    struct tls_context *context; /* the client's */
    SSL_CTX *server_context;
    struct bio_method_st *method;
    struct wire wires[2];
    struct tls client;
    struct tls server;
};

static struct pair *pair_new(const char *cert, const char *host)
{
    struct pair *p = test_calloc(1, sizeof(*p));
    char name[40];

    snprintf(p->target.url.host, sizeof(p->target.url.host), "%s", host);
    p->endpoint.target = &p->target;
    p->settings.ca_file = tmpdir_path("ca.pem");
    p->server_context = SSL_CTX_new(TLS_server_method());
    snprintf(name, sizeof(name), "%s.pem", cert);
    SSL_CTX_use_certificate_chain_file(p->server_context, tmpdir_path(name));
    snprintf(name, sizeof(name), "%s.key", cert);
    SSL_CTX_use_PrivateKey_file(p->server_context, tmpdir_path(name),
                                SSL_FILETYPE_PEM);
    p->method = tls_method_new();
    return p;
}

static void connect_pair(struct pair *p)
{
    struct err err = {0};
    int fds[2];
    SSL *ssl = SSL_new(p->server_context);

    if (!p->context)
        assert_int_equal(
            tls_context_new(&p->context, &p->settings, "http/1.1", 1, &err), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    for (int i = 0; i < 2; i++)
        p->wires[i] = (struct wire){.fd = fds[i]};
    tls_context_start(p->context, &p->client, &p->endpoint, &io, &p->wires[0]);
    SSL_set_accept_state(ssl);
    tls_init_take(&p->server, ssl, p->method, &io, &p->wires[1]);
}

static void disconnect(struct pair *p)
{
    tls_fini(&p->client);
    tls_fini(&p->server);
    for (int i = 0; i < 2; i++) {
        if (p->wires[i].fd >= 0)
            close(p->wires[i].fd);
    }
}

static void pair_free(struct pair *p)
{
    disconnect(p);
    tls_context_free(p->context);
    tls_method_free(p->method);
    SSL_CTX_free(p->server_context);
    test_free(p);
}

/* Until both have done all they can; how the client fared. */
static enum tls_step shake_hands(struct pair *p)
{
    enum tls_step client = TLS_WANTS_READ;
    enum tls_step server = TLS_WANTS_READ;

    for (int i = 0; i < 10; i++) {
        if (client != TLS_DONE && client != TLS_FAILED)
            client = tls_handshake(&p->client);
        if (server != TLS_DONE && server != TLS_FAILED)
            server = tls_handshake(&p->server);
    }
    return client;
}

/* ---- handshakes ---- */

/* The words are those of libcurl: integration.tls. */
TEST(certificates_of_servers)
{
    for (size_t i = 0; i < n_cert_verdicts; i++) {
        const struct cert_verdict *v = &cert_verdicts[i];
        struct pair *p = pair_new(v->cert, v->host);
        char text[TLS_TEXT];

        p->settings.ca_file = keepf("%s/%s.pem", tmpdir_root(), v->ca);
        connect_pair(p);
        assert_int_equal(shake_hands(p), v->why ? TLS_FAILED : TLS_DONE);
        if (v->why)
            assert_string_equal(tls_why(&p->client, text), v->why);
        disconnect(p);
        tls_context_free(p->context);
        p->context = NULL;
        p->settings.insecure = true;
        connect_pair(p);
        assert_int_equal(shake_hands(p), TLS_DONE);
        pair_free(p);
    }
}

TEST(nothing_in_common)
{
    struct pair *p = pair_new("server", "localhost");
    char text[TLS_TEXT];

    SSL_CTX_set_max_proto_version(p->server_context, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(p->server_context, "AES128-GCM-SHA256");
    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_FAILED);
    assert_true(tls_is_alert(&p->client));
    assert_non_null(
        strstr(tls_why(&p->client, text), "alert handshake failure"));
    pair_free(p);
}

TEST(a_handshake_that_breaks_off)
{
    struct pair *p = pair_new("server", "localhost");
    char text[TLS_TEXT];
    char hello[4096];

    connect_pair(p);
    assert_int_equal(tls_handshake(&p->client), TLS_WANTS_READ);
    assert_true(read(p->wires[1].fd, hello, sizeof(hello)) > 0);
    close(p->wires[1].fd);
    p->wires[1].fd = -1;
    assert_int_equal(tls_handshake(&p->client), TLS_FAILED);
    assert_string_equal(tls_why(&p->client, text),
                        "closed inside the TLS handshake");
    pair_free(p);
}

/* ---- sessions ---- */

static void must_resume(enum resume_choice choice, int64_t resumed)
{
    struct pair *p = pair_new("server", "localhost");
    struct tls_counts counts;
    char data[TLS_MIN_READ];

    p->settings.tls_resume = (int)choice;
    for (int i = 0; i < 3; i++) {
        connect_pair(p);
        assert_int_equal(shake_hands(p), TLS_DONE);
        tls_context_count(p->context, &p->client);
        /* the sessions, if any, and nothing else */
        assert_int_equal(tls_read(&p->client, data, sizeof(data)), -1);
        assert_int_equal(errno, EAGAIN);
        disconnect(p);
    }
    counts = tls_context_counts(p->context);
    assert_int_equal(counts.handshakes, 3);
    assert_int_equal(counts.resumed, resumed);
    assert_string_equal(counts.version, "TLSv1.3");
    assert_string_equal(counts.cipher, "TLS_AES_256_GCM_SHA384");
    pair_free(p);
}

TEST(sessions_are_resumed)
{
    must_resume(RESUME_ON, 2);
    must_resume(RESUME_OFF, 0);
}

/* ---- bytes ---- */

/* The end comes after what was received together with it, and is not
 * forgotten. */
TEST(an_end_after_content)
{
    struct pair *p = pair_new("server", "localhost");
    char data[TLS_MIN_READ];

    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_DONE);
    assert_int_equal(tls_write(&p->server, "one", 3), 3);
    assert_int_equal(tls_read(&p->client, data, sizeof(data)), 3);
    assert_false(p->client.has_more);
    assert_int_equal(tls_write(&p->server, "two", 3), 3);
    tls_fini(&p->server);
    assert_int_equal(tls_read(&p->client, data, sizeof(data)), 3);
    assert_int_equal(tls_read(&p->client, data, sizeof(data)), 0);
    assert_false(p->client.is_cut);
    pair_free(p);
}

/* So does an error: what is not TLS, or an alert. */
TEST(an_error_after_content)
{
    static const char nonsense[] = "\x17\x03\x03\0\x20"
                                   "this record is not encrypted....";

    for (int is_alert = 0; is_alert < 2; is_alert++) {
        struct pair *p = pair_new("server", "localhost");
        char data[2 * TLS_MIN_READ];
        char text[TLS_TEXT];

        connect_pair(p);
        assert_int_equal(shake_hands(p), TLS_DONE);
        assert_int_equal(tls_write(&p->server, "one", 3), 3);
        assert_int_equal(write(p->wires[!is_alert].fd, nonsense, 37), 37);
        if (is_alert) /* the server's answer to it */
            assert_int_equal(tls_read(&p->server, data, sizeof(data)), -1);
        assert_int_equal(tls_read(&p->client, data, sizeof(data)), 3);
        assert_true(p->client.has_more);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(tls_read(&p->client, data, sizeof(data)), -1);
            assert_int_equal(errno, EPROTO);
            assert_false(p->client.has_more);
        }
        assert_int_equal(tls_is_alert(&p->client), is_alert);
        assert_non_null(strstr(tls_why(&p->client, text), "bad record mac"));
        pair_free(p);
    }
}

TEST(an_end_without_goodbye)
{
    struct pair *p = pair_new("server", "localhost");
    char data[TLS_MIN_READ];

    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_DONE);
    close(p->wires[1].fd);
    p->wires[1].fd = -1;
    p->server.is_unsound = true;
    while (tls_read(&p->client, data, sizeof(data)) < 0)
        assert_int_equal(errno, EAGAIN);
    assert_true(p->client.is_cut);
    pair_free(p);
}

/* A read that is too small for all of it says that there is more. */
TEST(several_records_at_once)
{
    static char data[8 * TLS_MIN_READ];
    struct pair *p = pair_new("server", "localhost");
    size_t len = 0;

    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_DONE);
    for (int i = 0; i < 5; i++)
        assert_int_equal(tls_write(&p->server, data, 3000), 3000);
    assert_int_equal(tls_read(&p->client, data, sizeof(data)), 15000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tls_write(&p->server, data, 15000), 15000);
    do {
        ssize_t n = tls_read(&p->client, data, TLS_MIN_READ);

        assert_true(n > 0);
        len += (size_t)n;
    } while (len < 60000);
    assert_int_equal(len, 60000);
    assert_false(p->client.has_more);
    pair_free(p);
}

/* Until the next request, so that no malloc() is needed for each event. */
TEST(the_buffer_of_a_stream_is_kept)
{
    static const bool are_released[] = {true, true, false, false};
    struct pair *p = pair_new("server", "localhost");
    char data[TLS_MIN_READ];

    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_DONE);
    for (int request = 0; request < 2; request++) {
        for (size_t i = 0; i < COUNT(are_released); i++) {
            assert_int_equal(tls_write(&p->server, "event", 5), 5);
            assert_int_equal(tls_read(&p->client, data, sizeof(data)), 5);
            assert_int_equal(SSL_get_mode(p->client.ssl) &
                                 SSL_MODE_RELEASE_BUFFERS,
                             are_released[i] ? SSL_MODE_RELEASE_BUFFERS : 0);
        }
        assert_int_equal(tls_write(&p->client, "more", 4), 4);
        assert_true(SSL_get_mode(p->client.ssl) & SSL_MODE_RELEASE_BUFFERS);
    }
    pair_free(p);
}

TEST(a_socket_that_is_full)
{
    static char data[(size_t)1 << 20];
    struct pair *p = pair_new("server", "localhost");
    size_t sent = 0;
    size_t received = 0;

    connect_pair(p);
    assert_int_equal(shake_hands(p), TLS_DONE);
    while (sent < sizeof(data) || received < sizeof(data)) {
        ssize_t n = sent < sizeof(data) ? tls_write(&p->client, data + sent,
                                                    sizeof(data) - sent)
                                        : 0;

        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        assert_true(n == 0 || errno == EAGAIN);
        n = tls_read(&p->server, data, sizeof(data));
        assert_true(n > 0 || errno == EAGAIN);
        received += n > 0 ? (size_t)n : 0;
    }
    assert_int_equal(received, sizeof(data));
    pair_free(p);
}

/* Plain text where TLS is due. */
TEST(no_tls_at_all)
{
    struct pair *p = pair_new("server", "localhost");
    char text[TLS_TEXT];

    connect_pair(p);
    assert_int_equal(tls_handshake(&p->client), TLS_WANTS_READ);
    assert_int_equal(write(p->wires[1].fd, "HTTP/1.1 400\r\n\r\n", 16), 16);
    assert_int_equal(tls_handshake(&p->client), TLS_FAILED);
    assert_non_null(strstr(tls_why(&p->client, text), "wrong version number"));
    pair_free(p);
}

GROUP_FIXTURE(certs_setup, tmpdir_teardown)
