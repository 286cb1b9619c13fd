/* Make a recording without a run: an M/M/1 queue at load 0.8, in virtual time,
 * as one worker over HTTP would have written it down.
 * Usage: bench_recording DIR REQUESTS [EVENTS [GAP_US]]
 * With EVENTS each answer is a stream of that many events.  GAP_US is the mean
 * time between requests; by default 10, which is 100,000 per second. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "common/recording/tgr.h"
#include "common/settings/settings.h"

#define GAP_US     10
#define LOAD       0.8
#define CHUNK      4096
#define EVENTS_MAX 1000
#define TOKEN_US   INT64_C(2)

struct made {
    struct tgr_writer *requests;
    struct tgr_writer *events; /* NULL: answers are whole */
    struct tgr_writer *client;
    int64_t n_events; /* of each */
    double gap_ns;
    struct rng arrivals;
    struct rng services;
    double due_ns;
    double free_ns; /* the server is, from here on */
    struct content_event *batch;
    size_t n_batch;
    int rc; /* of the first that failed */
    struct err err;
};

static struct tgr_writer *table(struct made *m, const char *dir,
                                const char *name,
                                const struct tgr_schema *schema)
{
    char *path = xasprintf("%s/%s", dir, name);
    struct tgr_writer *w = NULL;

    if (m->rc == 0)
        m->rc = tgr_create(&w, path, schema, &m->err);
    free(path);
    return w;
}

static void append(struct made *m, struct tgr_writer *w, const void *rows,
                   size_t n)
{
    if (m->rc == 0 && w && n > 0)
        m->rc = tgr_append(w, 0, rows, n, &m->err);
}

static void finish(struct made *m, struct tgr_writer *w)
{
    if (m->rc == 0 && w)
        m->rc = tgr_finish(w, &m->err);
}

static void make_events(struct made *m, struct facts *f)
{
    f->events = m->n_events;
    f->first = f->head;
    f->end += m->n_events * TOKEN_US * 1000;
    f->last = f->end;
    f->stall = TOKEN_US * 1000;
    f->output_tokens = f->event_tokens = m->n_events;
    f->token_source = TOKENS_USAGE;
    f->first_tokens = 1;
    f->is_split = 1;
    f->finish = FINISH_LENGTH;
    for (int64_t i = 0; i < m->n_events; i++) {
        m->batch[m->n_batch++] =
            (struct content_event){.seq = f->seq,
                                   .due = f->due,
                                   .at_us = f->first / 1000 + i * TOKEN_US,
                                   .tokens = 1};
        if (m->n_batch == CHUNK) {
            append(m, m->events, m->batch, m->n_batch);
            m->n_batch = 0;
        }
    }
}

static struct facts make_request(struct made *m, int64_t seq)
{
    struct facts f;
    double begin_ns;

    m->due_ns += m->gap_ns * rng_exponential(&m->arrivals);
    begin_ns = m->due_ns > m->free_ns ? m->due_ns : m->free_ns;
    m->free_ns = begin_ns + LOAD * m->gap_ns * rng_exponential(&m->services);
    f = facts_unknown(seq, llround(m->due_ns));
    f.issued = f.due + 900;
    f.sent = f.issued + 5200 + seq % 700;
    f.head = f.sent + 60000 + llround(m->free_ns - m->due_ns);
    f.end = f.last = f.head + 400;
    f.status = 200;
    f.bytes_out = 180;
    f.bytes_in = 240 + seq % 3;
    f.connected = TIME_ABSENT;
    if (m->events)
        make_events(m, &f);
    return f;
}

static void make_requests(struct made *m, int64_t n)
{
    struct facts *rows = xcalloc(CHUNK, sizeof(*rows));
    int64_t second = 0;

    for (int64_t seq = 0; seq < n;) {
        size_t len = 0;

        while (len < CHUNK && seq < n)
            rows[len++] = make_request(m, seq++);
        append(m, m->requests, rows, len);
        for (; (double)second * 1e9 < m->due_ns; second++) {
            struct observation seen = {
                .at = second * NS_PER_S, .issued = seq, .done = seq};

            append(m, m->client, &seen, 1);
        }
    }
    append(m, m->events, m->batch, m->n_batch);
    free(rows);
}

static void save_manifest(struct made *m, const char *dir, int64_t n)
{
    static const struct failures none;
    const struct run_start start = {.monotonic_ns = 1};
    const struct run_end end = {
        .due_end_ns = llround(m->due_ns) + 1, .scheduled = n, .issued = n};
    struct settings s;
    struct manifest manifest;

    settings_init(&s);
    strlist_add(&s.target.urls, "http://127.0.0.1:1/");
    strlist_add(&s.slo, "e2e p99 < 1s");
    s.load.scenario = SCENARIO_SERVER;
    s.load.rate_rps = 1e9 / m->gap_ns;
    s.load.requests = n;
    manifest_init(&manifest, &s, &start);
    manifest_complete(&manifest, &end, &none);
    if (m->rc == 0)
        m->rc = manifest_save(&manifest, dir, &m->err);
    manifest_fini(&manifest);
    settings_fini(&s);
}

int main(int argc, char **argv)
{
    struct made m = {.arrivals = rng_stream(1, RNG_ARRIVAL),
                     .services = rng_stream(1, RNG_SERVICE)};
    int64_t n = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;

    m.n_events = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
    m.gap_ns = 1e3 * (argc > 4 ? strtod(argv[4], NULL) : GAP_US);
    if (n < 1 || m.n_events < 0 || m.n_events > EVENTS_MAX || !(m.gap_ns > 0) ||
        mkdir(argv[1], 0777)) {
        fprintf(stderr, "bench_recording DIR REQUESTS [EVENTS [GAP_US]]\n");
        return 2;
    }
    m.requests = table(&m, argv[1], "requests.tgr", &schema_requests);
    m.client = table(&m, argv[1], "client.tgr", &schema_client);
    if (m.n_events > 0)
        m.events = table(&m, argv[1], "events.tgr", &schema_events);
    m.batch = xcalloc(CHUNK, sizeof(*m.batch));
    make_requests(&m, n);
    finish(&m, m.requests);
    finish(&m, m.client);
    finish(&m, m.events);
    save_manifest(&m, argv[1], n);
    free(m.batch);
    if (m.rc)
        fprintf(stderr, "bench_recording: %s\n", m.err.msg);
    return m.rc ? 3 : 0;
}
