/* search_probe.h - one short run against stubs of our own, judged and
 * forgotten. */
#ifndef STUDY_SEARCH_PROBE_H
#define STUDY_SEARCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child;
struct err;

struct probe {
    const struct child *stubs; /* requests take turns among them */
    size_t n_stubs;
    int transport; /* enum transport_choice */
    double rate_rps;
    int64_t warmup_ns;
    int64_t window_ns;
    int64_t spin_ns;
};

/* Times as in a summary: below 0 they are not known. */
struct probe_result {
    int64_t e2e_p50_ns;  /* from due ... */
    int64_t sent_p50_ns; /* ... and from sent */
    int64_t lag_p50_ns;
    int64_t lag_p99_ns;

    bool is_trusted;     /* no fatal check failed, and the stubs answered */
    const char *reason;  /* name of the first that failed; "" */
    double client_share; /* of its time, that the client's busiest worker was
                            on a CPU; 0: not known ... */
    double stub_share;   /* ... and the busiest stub */
    int stopped_by;      /* signal; the rest is then not filled in */
};

/* The recording is in a directory of its own below $TMPDIR or /tmp, and is
 * removed.  ERR_IO, ERR_CONFIG. */
int probe_run(const struct probe *probe, struct probe_result *result,
              struct err *err);

/* Did a probe that is not trusted fail by its stubs? */
bool probe_is_stub_limited(const struct probe_result *r);

#endif
