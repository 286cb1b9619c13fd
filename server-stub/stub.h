/* stub.h - the bundled model server: a simulation behind HTTP/1 and, if wanted,
 * gRPC. */
#ifndef SERVER_STUB_STUB_H
#define SERVER_STUB_STUB_H

struct err;
struct stub_settings;

struct stub_options {
    const char *truth_path; /* where to write the truth log; NULL: nowhere */

    /* Called once clients can connect, with the HTTP URL and then the gRPC URL,
     * if there is one; `url` is valid during the call.  Optional. */
    void (*listening)(void *arg, const char *url);
    void *arg;
};

/* Can these settings be served?  ERR_CONFIG "stub.<key>: ...". */
int stub_check(const struct stub_settings *settings, struct err *err);

/* Serve until stop_signal is set, which is checked 20 times per second, or the
 * truth log cannot be written.  Requests that are waiting then get no answer
 * and are logged as not sent.  Raises the soft limit on open files.  ERR_CONFIG
 * as stub_check(), ERR_IO if it cannot listen ("127.0.0.1:80: Permission
 * denied") or write. */
int stub_run(const struct stub_settings *settings,
             const struct stub_options *options, struct err *err);

#endif
