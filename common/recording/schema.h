/* schema.h - the tables of a recording and their rows. */
#ifndef COMMON_RECORDING_SCHEMA_H
#define COMMON_RECORDING_SCHEMA_H

#include <stdint.h>

#include "common/measure/measure.h"
#include "common/recording/tgr.h"

/* Maximum number of workers of a run on one machine, and of a recording that
 * was merged from several.  The blocks of worker w of shard i of n have the
 * number w, and i + n * w in a merged recording. */
#define RECORDING_MAX_WORKERS 64
#define RECORDING_MAX_SHARDS  1024

/* requests.tgr: a struct facts per request, or per range of requests that were
 * not sent. */
extern const struct tgr_schema schema_requests;

/* events.tgr: a struct content_event per event; those of a request follow each
 * other, in the order in which requests ended. */
extern const struct tgr_schema schema_events;

/* client.tgr: observations of the client about itself, once per second.
 * Counters start with the run. */
struct observation {
    int64_t at;          /* ns after the start of the run */
    int64_t unsent;      /* requests abandoned unsent so far */
    int64_t issued;      /* requests issued so far */
    int64_t done;        /* of those, ended so far */
    int64_t connections; /* open now */
    int64_t lag_max;     /* ns, in this second */
    int64_t cpu;         /* ns of CPU time used by the worker */
    int64_t cap_waits;   /* times that the connection limit delayed a request */
    int64_t record_wait; /* ns of waiting for space in the recorder */
    int64_t spun;        /* ns of polling without result, instead of sleeping */
    int64_t suspended_max; /* ns, the longest time in this second in which it
                              should have run and did not */
    int64_t cpu_wait;      /* ns that the worker was runnable without a CPU */
    int64_t cpu_turns;     /* times that it got one */

    /* The host; absent if it does not report them. */
    int64_t host_ticks; /* of all CPUs, from /proc/stat */
    int64_t host_steal; /* of those, taken by the hypervisor */
    int64_t throttled;  /* ns that the cgroup was throttled */
    int64_t pressure;   /* ns in which some task waited for a CPU */
    int64_t asleep;     /* ns that the system was suspended so far */
};

extern const struct tgr_schema schema_client;

/* server.tgr: the metrics of the server, one scrape per second.  Values that it
 * does not report are absent.  Counters start with the server. */
struct server_scrape {
    int64_t at;        /* ns after the start of the run, when it was answered */
    int64_t took;      /* ns from the request to the answer */
    int64_t is_failed; /* the scrape failed: the rest is absent */
    int64_t running;   /* requests being served */
    int64_t waiting;   /* requests in its queue */
    int64_t cache_use; /* KV cache in use, in millionths */
    int64_t queue_sum_us;  /* total time in the queue ... */
    int64_t queue_count;   /* ... of this many requests */
    int64_t prompt_tokens; /* so far */
    int64_t generated_tokens;
    int64_t cached_tokens; /* of the prompt tokens */
    int64_t preemptions;   /* preempted requests so far */
    int64_t requests;      /* answered so far */
};

extern const struct tgr_schema schema_server;

/* meter.tgr: readings of the host of the server. */
struct meter_reading {
    int64_t at;     /* ns after the start of the run */
    int64_t memory; /* bytes */
    int64_t energy; /* microjoules, from an arbitrary start */
};

extern const struct tgr_schema schema_meter;

/* truth.tgr: what the stub knows about each request.  Times are of
 * CLOCK_MONOTONIC. */
struct truth {
    int64_t id;      /* x-tailgate-id, or absent */
    int64_t arrival; /* when the last byte was read */
    int64_t start;   /* when it left the queue; absent if refused */
    int64_t service; /* ns drawn for its batch, or for its iterations */
    int64_t first;   /* when the first token, or the answer, is due */
    int64_t finish;  /* when the last token, or the answer, is due */
    int64_t sent;    /* when the whole answer was passed to the kernel */
    int64_t batch;   /* size of its batch when it started */
    int64_t replica;
    int64_t tokens; /* output tokens */
    int64_t status; /* of the answer; 0: none */
    int64_t faults; /* bit 1 << enum fault_kind */
};

extern const struct tgr_schema schema_truth;

/* truth-steps.tgr: a row per token, for answers with tokens. */
struct truth_step {
    int64_t id;
    int64_t at; /* when the token was due, delay included */
};

extern const struct tgr_schema schema_truth_steps;

#endif
