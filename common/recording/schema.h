/* schema.h - the tables of a recording and their rows. */
#ifndef COMMON_RECORDING_SCHEMA_H
#define COMMON_RECORDING_SCHEMA_H

#include <stdint.h>

#include "common/measure/measure.h"
#include "common/recording/tgr.h"

/* Workers, and so shards, that a recording may have. */
#define RECORDING_MAX_SHARDS 64

/* requests.tgr: a struct facts per request, or per range of requests that were
 * not sent. */
extern const struct tgr_schema schema_requests;

/* events.tgr: a struct content_event an event; those of a request side by
 * side, in the order in which requests ended. */
extern const struct tgr_schema schema_events;

/* client.tgr: what the client saw of itself, once a second.  Counters run from
 * the start of the run. */
struct observation {
    int64_t at;          /* ns after the start of the run */
    int64_t unsent;      /* requests given up unsent so far */
    int64_t issued;      /* requests issued so far */
    int64_t done;        /* of those, ended so far */
    int64_t connections; /* open now */
    int64_t lag_max;     /* ns, in this second */
    int64_t cpu;         /* ns of CPU that the worker has used */
    int64_t cap_waits;   /* times that the connection cap held a request back */
    int64_t record_wait; /* ns spent waiting for room in the recorder */
    int64_t spun;        /* ns of polling in vain, instead of sleeping */
    int64_t suspended_max; /* ns, in this second: the longest time in which it
                              did not run though it had to */
    int64_t cpu_wait;  /* ns that the worker was ready to run and had no CPU */
    int64_t cpu_turns; /* times that it got one */

    /* Of the host; absent where it does not tell. */
    int64_t host_ticks; /* of all its CPUs, from /proc/stat */
    int64_t host_steal; /* of those, taken by the hypervisor */
    int64_t throttled;  /* ns that our cgroup was kept from its CPUs */
    int64_t pressure;   /* ns in which some task waited for a CPU */
    int64_t asleep;     /* ns for which the system was suspended so far */
};

extern const struct tgr_schema schema_client;

/* server.tgr: what the server said of itself, a look a second.  Absent is what
 * it does not say.  Counters run from the server's start. */
struct server_scrape {
    int64_t at;            /* ns after the start of the run: it was answered */
    int64_t took;          /* ns from asking to that */
    int64_t is_failed;     /* nothing could be read: the rest is absent */
    int64_t running;       /* requests that are being worked on */
    int64_t waiting;       /* requests in its queue */
    int64_t cache_use;     /* KV cache in use, in millionths */
    int64_t queue_sum_us;  /* time spent in the queue so far, by ... */
    int64_t queue_count;   /* ... so many requests */
    int64_t prompt_tokens; /* so far */
    int64_t generated_tokens;
    int64_t cached_tokens; /* of the prompts' */
    int64_t preemptions;   /* requests that had to give way, so far */
    int64_t requests;      /* that were answered so far */
};

extern const struct tgr_schema schema_server;

/* meter.tgr: what was read of the server's host. */
struct meter_reading {
    int64_t at;     /* ns after the start of the run */
    int64_t memory; /* bytes */
    int64_t energy; /* microjoules since some time */
};

extern const struct tgr_schema schema_meter;

/* truth.tgr: what the stub knows of each request.  Times are CLOCK_MONOTONIC.
 */
struct truth {
    int64_t id;      /* x-tailgate-id; absent if the client sent none */
    int64_t arrival; /* its last byte was read */
    int64_t start;   /* it left the queue; absent if it was refused */
    int64_t service; /* ns drawn for its batch, or for its iterations */
    int64_t first;   /* its first token, or its answer, is due; after delay */
    int64_t finish;  /* its last token, or its answer, is due; after delay */
    int64_t sent;    /* the answer was handed to the kernel whole */
    int64_t batch;   /* requests in its batch when it started */
    int64_t replica;
    int64_t tokens; /* of output */
    int64_t status; /* of the answer; 0: there was none */
    int64_t faults; /* bit 1 << enum fault_kind */
};

extern const struct tgr_schema schema_truth;

/* truth-steps.tgr: a row a token, of answers with tokens. */
struct truth_step {
    int64_t id;
    int64_t at; /* when the token was due; after delay */
};

extern const struct tgr_schema schema_truth_steps;

#endif
