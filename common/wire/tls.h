/* tls.h - TLS over a non-blocking socket: handshake, read and write.
 *
 * The caller opens the socket, waits for it and does the I/O, so that it knows
 * what the kernel took and gave.  Client and stub share this; each makes the
 * SSL object from a context of its own.
 */
#ifndef COMMON_WIRE_TLS_H
#define COMMON_WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct bio_method_st;
struct ssl_st;

/* As recv(2) and send(2): -1 with errno, 0 from read at the end.  Both are
 * required and must not block. */
struct tls_io {
    ssize_t (*read)(void *arg, void *data, size_t size);
    ssize_t (*write)(void *arg, const void *data, size_t len);
};

struct tls {
    struct ssl_st *ssl; /* NULL: none; the other members are undefined then */
    const struct tls_io *io;
    void *arg;
    bool has_more;        /* the next read returns at once, even if nothing more
                             arrives at the socket */
    bool is_cut;          /* the peer ended without saying goodbye */
    bool is_unsound;      /* after an error nothing more may be sent */
    int reads;            /* with content, since the last write; the first few
                             are counted */
    int error;            /* errno of the socket; 0: none */
    int failed;           /* errno of the read that failed; 0: none */
    unsigned long reason; /* OpenSSL's error; 0: none */
};

/* What all connections of a context share.  Aborts if out of memory.  Free it
 * with tls_method_free(), which accepts NULL. */
struct bio_method_st *tls_method_new(void);
void tls_method_free(struct bio_method_st *method);

/* Takes `ssl`, which is new and knows its side.  The rest is borrowed. */
void tls_init_take(struct tls *t, struct ssl_st *ssl,
                   struct bio_method_st *method, const struct tls_io *io,
                   void *arg);

/* Say goodbye, if the peer can still hear it, and free.  Accepts a zeroed one.
 */
void tls_fini(struct tls *t);

enum tls_step { TLS_DONE, TLS_WANTS_READ, TLS_WANTS_WRITE, TLS_FAILED };

enum tls_step tls_handshake(struct tls *t);

/* As recv(2), but several records at once.  0: the peer has ended; -1 with
 * errno: EAGAIN, that of the socket, or EPROTO for what is not TLS.  `size` is
 * at least TLS_MIN_READ. */
#define TLS_MIN_READ ((size_t)16 << 10)
ssize_t tls_read(struct tls *t, void *data, size_t size);

/* As send(2), with the errors of tls_read().  After EAGAIN it must be called
 * with the same bytes again. */
ssize_t tls_write(struct tls *t, const void *data, size_t len);

/* The protocol that was agreed on (ALPN), such as "h2"? */
bool tls_speaks(const struct tls *t, const char *protocol);

/* What failed, for the user. */
#define TLS_TEXT       256
#define TLS_NOT_SPOKEN "the server does not speak TLS (wrong version number)"
const char *tls_why(const struct tls *t, char out[static TLS_TEXT]);

/* Did the peer say what failed (an alert)? */
bool tls_is_alert(const struct tls *t);

#endif
