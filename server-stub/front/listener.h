/* listener.h - the socket that clients connect to. */
#ifndef SERVER_STUB_FRONT_LISTENER_H
#define SERVER_STUB_FRONT_LISTENER_H

struct err;
struct listener;
struct loop;

/* Where to listen: a numeric IPv4 or IPv6 address; port 0 takes a free one. */
struct listener_place {
    const char *scheme; /* of its URL: "http" */
    const char *bind;
    int port;
};

/* Listen.  Each client's socket, non-blocking, goes to `accepted`, which owns
 * it.  NULL with ERR_CONFIG if that is no address, ERR_IO if the system
 * refuses.  While the process is out of descriptors new clients wait. */
struct listener *listener_new(struct loop *loop,
                              const struct listener_place *place,
                              void (*accepted)(void *arg, int fd), void *arg,
                              struct err *err);
void listener_free(struct listener *listener);

/* "http://127.0.0.1:8080", or "http://[::1]:8080". */
const char *listener_url(const struct listener *listener);

#endif
