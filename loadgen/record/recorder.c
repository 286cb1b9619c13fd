#include "loadgen/record/recorder.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/observe/host.h"

#define CHUNK_ROWS   1024
#define CHUNK_EVENTS TGR_MAX_ROWS
#define CHUNKS       16

/* A few rows wait for more, for a number of chunks; one comes each second. */
#define TRICKLE_ROWS   16
#define TRICKLE_CHUNKS 5

/* Requests that are left unsent at a cut share a row if they are due within
 * this time.  Because classes alternate, the last rows are searched. */
#define RANGE_NS   NS_PER_MS
#define RANGE_ROWS 32

struct chunk {
    struct facts rows[CHUNK_ROWS];
    size_t n_rows;
    size_t first_unsent; /* rows before this one are not extended */
    struct content_event events[CHUNK_EVENTS];
    size_t n_events;
    struct observation seen;
    bool has_seen;
};

/* Chunks passed from one thread to another, first in, first out. */
struct queue {
    struct chunk *chunks[CHUNKS];
    unsigned head; /* the producer's */
    unsigned tail; /* the consumer's */
    sem_t n;
};

/* Chunks circulate: filled by the worker, emptied by the writer.  Only as many
 * are used as the writer's delay requires, so that they stay in the cache. */
struct shard {
    struct recorder *recorder;
    struct chunk chunks[CHUNKS];
    int n_chunks;        /* in use; the worker's */
    struct chunk *chunk; /* being filled by the worker */
    struct queue full;
    struct queue empty;
    int64_t waited_ns;

    /* Few rows wait for more, because small blocks would be mostly overhead;
     * the writer's. */
    struct facts held[TRICKLE_ROWS];
    size_t n_held;
    int held_chunks;
};

struct recorder {
    struct tgr_writer *requests;
    struct tgr_writer *events; /* NULL: no streams */
    struct tgr_writer *client;
    struct shard **shards;
    int n_shards;
    struct host host; /* the writer's */
    pthread_t thread;
    sem_t work; /* posted once for each chunk of any shard, and at the end */
    atomic_bool is_ending;
    atomic_bool has_failed;
    struct err err;         /* the writer's until it has ended */
    struct watcher watcher; /* none if `saw` is NULL */
};

/* ---- queues ---- */

/* There is always room: a queue can hold all chunks. */
static void queue_put(struct queue *q, struct chunk *c)
{
    q->chunks[q->head++ % CHUNKS] = c;
    sem_post(&q->n);
}

/* After a wait for q->n. */
static struct chunk *queue_take(struct queue *q)
{
    return q->chunks[q->tail++ % CHUNKS];
}

/* ---- the writer's thread ---- */

static int write_held(struct recorder *r, unsigned shard)
{
    struct shard *s = r->shards[shard];
    size_t n = s->n_held;

    s->n_held = 0;
    s->held_chunks = 0;
    return n > 0 ? tgr_append(r->requests, shard, s->held, n, &r->err) : 0;
}

/* Observations are written at once: they show how far a run got that was
 * killed. Events are written before their requests, so that a request that is
 * on disk has its events. */
static int write_chunk(struct recorder *r, unsigned shard, struct chunk *c)
{
    struct shard *s = r->shards[shard];

    if (c->n_events > 0 &&
        tgr_append(r->events, shard, c->events, c->n_events, &r->err))
        return -1;
    if (c->has_seen && tgr_append(r->client, shard, &c->seen, 1, &r->err))
        return -1;
    if (s->n_held + c->n_rows <= TRICKLE_ROWS &&
        s->held_chunks < TRICKLE_CHUNKS) { /* the rows wait for more */
        memcpy(s->held + s->n_held, c->rows, c->n_rows * sizeof(c->rows[0]));
        s->n_held += c->n_rows;
        s->held_chunks++;
        return 0;
    }
    if (write_held(r, shard))
        return -1;
    return c->n_rows > 0
               ? tgr_append(r->requests, shard, c->rows, c->n_rows, &r->err)
               : 0;
}

/* After a failure chunks are still emptied, so that no worker hangs. */
static void drain_shard(struct recorder *r, unsigned i)
{
    struct shard *s = r->shards[i];

    while (sem_trywait(&s->full.n) == 0) {
        struct chunk *c = queue_take(&s->full);

        if (c->has_seen)
            host_read(&r->host, &c->seen);
        if (r->watcher.saw)
            r->watcher.saw(r->watcher.arg, i, c->rows, c->n_rows,
                           c->has_seen ? &c->seen : NULL);
        if (!atomic_load(&r->has_failed) && write_chunk(r, i, c))
            atomic_store(&r->has_failed, true);
        c->n_rows = 0;
        c->first_unsent = 0;
        c->n_events = 0;
        c->has_seen = false;
        queue_put(&s->empty, c);
    }
}

static void *writer_main(void *arg)
{
    struct recorder *r = arg;
    bool is_last;

    do {
        sem_wait(&r->work);
        is_last = atomic_load(&r->is_ending);
        for (int i = 0; i < r->n_shards; i++)
            drain_shard(r, (unsigned)i);
    } while (!is_last);
    for (int i = 0; i < r->n_shards; i++) {
        if (!atomic_load(&r->has_failed) && write_held(r, (unsigned)i))
            atomic_store(&r->has_failed, true);
    }
    return NULL;
}

/* ---- the workers' side ---- */

static struct chunk *empty_chunk(struct shard *s)
{
    int64_t before;

    if (sem_trywait(&s->empty.n) == 0)
        return queue_take(&s->empty);
    if (s->n_chunks < CHUNKS)
        return &s->chunks[s->n_chunks++];
    before = clk_now(&clk_monotonic);
    while (sem_wait(&s->empty.n) != 0)
        continue;
    s->waited_ns += clk_now(&clk_monotonic) - before;
    return queue_take(&s->empty);
}

static void hand_over(struct shard *s)
{
    queue_put(&s->full, s->chunk);
    sem_post(&s->recorder->work);
    s->chunk = empty_chunk(s);
}

void shard_add_event(struct shard *s, const struct content_event *event)
{
    struct chunk *c = s->chunk;

    c->events[c->n_events++] = *event;
    if (c->n_events == CHUNK_EVENTS)
        hand_over(s);
}

void shard_add(struct shard *s, const struct facts *facts)
{
    struct chunk *c = s->chunk;

    c->rows[c->n_rows++] = *facts;
    if (c->n_rows == CHUNK_ROWS)
        hand_over(s);
}

void shard_add_unsent(struct shard *s, const struct facts *f, bool is_first)
{
    struct chunk *c = s->chunk;
    size_t from = c->n_rows > RANGE_ROWS ? c->n_rows - RANGE_ROWS : 0;

    if (is_first)
        c->first_unsent = c->n_rows;
    if (f->session != TIME_ABSENT)
        from = c->n_rows; /* turns of sessions are not joined */
    for (size_t i = c->n_rows; i > from && i > c->first_unsent; i--) {
        struct facts *range = &c->rows[i - 1];

        if (range->outcome == OUTCOME_UNSENT && range->class == f->class &&
            range->session == TIME_ABSENT && f->due - range->due < RANGE_NS) {
            range->more += facts_n(f);
            range->last_seq = facts_last_seq(f);
            return;
        }
    }
    shard_add(s, f);
}

void shard_observe(struct shard *s, const struct observation *seen)
{
    struct chunk *c = s->chunk;

    c->seen = *seen;
    c->has_seen = true;
    hand_over(s);
}

void shard_flush(struct shard *s)
{
    if (s->chunk->n_rows > 0 || s->chunk->n_events > 0)
        hand_over(s);
}

int64_t shard_waited_ns(const struct shard *s)
{
    return s->waited_ns;
}

struct shard *recorder_shard(struct recorder *r, int i)
{
    return r->shards[i];
}

void recorder_watch(struct recorder *r, struct watcher watcher)
{
    r->watcher = watcher;
}

int recorder_n_shards(const struct recorder *r)
{
    return r->n_shards;
}

bool recorder_has_failed(const struct recorder *r)
{
    return atomic_load(&r->has_failed);
}

/* ---- making and ending ---- */

static int create_table(struct tgr_writer **writer, const char *dir,
                        const char *name, const struct tgr_schema *schema,
                        struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = tgr_create(writer, path, schema, err);

    free(path);
    return rc;
}

static void recorder_free(struct recorder *r)
{
    for (int i = 0; i < r->n_shards; i++) {
        sem_destroy(&r->shards[i]->full.n);
        sem_destroy(&r->shards[i]->empty.n);
        free(r->shards[i]);
    }
    sem_destroy(&r->work);
    host_fini(&r->host);
    free(r->shards);
    free(r);
}

int recorder_new(struct recorder **recorder, const char *dir, int n_shards,
                 bool has_events, struct err *err)
{
    struct recorder *r = xcalloc(1, sizeof(*r));
    struct err ignored = {0};

    host_init(&r->host, "");
    sem_init(&r->work, 0, 0);
    r->n_shards = n_shards;
    r->shards = xcalloc((size_t)n_shards, sizeof(struct shard *));
    for (int i = 0; i < n_shards; i++) {
        struct shard *s = xcalloc(1, sizeof(*s));

        s->recorder = r;
        sem_init(&s->full.n, 0, 0);
        sem_init(&s->empty.n, 0, 0);
        s->chunk = empty_chunk(s);
        r->shards[i] = s;
    }
    if (create_table(&r->requests, dir, "requests.tgr", &schema_requests,
                     err) ||
        create_table(&r->client, dir, "client.tgr", &schema_client, err) ||
        (has_events &&
         create_table(&r->events, dir, "events.tgr", &schema_events, err)))
        goto fail;
    if (pthread_create(&r->thread, NULL, writer_main, r)) {
        err_set(err, ERR_IO, "cannot start a thread");
        goto fail;
    }
    *recorder = r;
    return 0;
fail:
    tgr_finish(r->requests, &ignored);
    tgr_finish(r->client, &ignored);
    tgr_finish(r->events, &ignored);
    recorder_free(r);
    return -1;
}

static void close_table(struct tgr_writer *writer, struct err *first)
{
    struct err err = {0};

    if (tgr_finish(writer, &err) && !first->code)
        *first = err;
}

int recorder_finish(struct recorder *r, struct err *err)
{
    int rc = 0;

    if (!r)
        return 0;
    atomic_store(&r->is_ending, true);
    sem_post(&r->work);
    pthread_join(r->thread, NULL);
    close_table(r->requests, &r->err);
    close_table(r->client, &r->err);
    close_table(r->events, &r->err);
    if (r->err.code) {
        *err = r->err;
        rc = -1;
    }
    recorder_free(r);
    return rc;
}
