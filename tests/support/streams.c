#include "tests/support/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/rows.h"
#include "tests/support/tmpdir.h"

const struct shape worked_stream = {.first_ms = 100,
                                    .first_tokens = 1,
                                    .pauses = 4,
                                    .pause_ms = 40,
                                    .tokens = 4};

struct facts shape_facts(const struct shape *p, int64_t seq)
{
    int64_t e2e_ms = p->first_ms + p->pauses * p->pause_ms;
    struct facts f = row_ok(seq, p->due_ms, e2e_ms);

    f.first = f.due + p->first_ms * NS_PER_MS;
    f.head = f.first;
    f.events = p->pauses + 1;
    if (p->pauses > 0)
        f.stall = p->pause_ms * NS_PER_MS;
    if (p->tokens == 0)
        return f;
    f.first_tokens = p->first_tokens;
    f.event_tokens = p->first_tokens + p->pauses * p->tokens;
    f.output_tokens = f.event_tokens;
    f.token_source = TOKENS_IDS;
    f.is_split = 1;
    return f;
}

struct streams *streams_new(int64_t warmup_ms, int64_t duration_ms,
                            const char *slo)
{
    struct streams *m = xcalloc(1, sizeof(*m));

    m->warmup_ms = warmup_ms;
    m->duration_ms = duration_ms;
    m->slo = slo;
    return m;
}

void streams_add_row(struct streams *m, struct facts row)
{
    assert_true(m->n < STREAMS_MAX_ROWS);
    row.seq = (int64_t)m->n;
    m->rows[m->n++] = row;
}

struct facts *streams_add(struct streams *m, const struct shape *p)
{
    int64_t seq = (int64_t)m->n;

    for (int64_t i = 0; i <= p->pauses; i++) {
        int64_t at_ms = p->due_ms + p->first_ms + i * p->pause_ms;

        assert_true(m->n_events < STREAMS_MAX_EVENTS);
        m->events[m->n_events++] = (struct content_event){
            .seq = seq,
            .due = p->due_ms * NS_PER_MS,
            .at_us = at_ms * 1000,
            .tokens = p->tokens == 0 ? TIME_ABSENT
                      : i == 0       ? p->first_tokens
                                     : p->tokens,
        };
    }
    streams_add_row(m, shape_facts(p, seq));
    return &m->rows[m->n - 1];
}

/* ---- to disk ---- */

static void write_manifest(const struct streams *m, const char *dir)
{
    static const struct failures none;
    const struct run_start start = {.monotonic_ns = 1};
    struct run_end end = {.due_end_ns =
                              (m->warmup_ms + m->duration_ms) * NS_PER_MS};
    struct slo slo = slo_of(m->slo);
    struct settings settings;
    struct manifest manifest;
    struct err err = {0};

    for (size_t i = 0; i < m->n; i++) {
        end.scheduled++;
        end.issued += facts_issued(&m->rows[i]);
        end.unsent += !facts_issued(&m->rows[i]);
    }
    settings_init(&settings);
    strlist_add(&settings.target.urls, "http://host/v1/chat/completions");
    settings.target.ignore_eos = m->ignore_eos;
    settings.target.stream = m->is_stream_asked ? STREAM_ON : STREAM_AUTO;
    settings.load.scenario = SCENARIO_SERVER;
    settings.load.rate_rps = 100;
    settings.load.warmup_ns = m->warmup_ms * NS_PER_MS;
    settings.load.duration_ns = m->duration_ms * NS_PER_MS;
    for (size_t i = 0; i < slo.len; i++)
        strlist_add(&settings.slo, slo.terms[i].text);
    manifest_init(&manifest, &settings, &start);
    if (!m->was_killed)
        manifest_complete(&manifest, &end, &none);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
}

void streams_write(const struct streams *m, const char *dir, size_t block)
{
    assert_true(mkdir(dir, 0777) == 0 || access(dir, W_OK) == 0);
    table_write(dir, "requests.tgr", &schema_requests, m->rows, m->n,
                TGR_MAX_ROWS);
    table_write(dir, "client.tgr", &schema_client, NULL, 0, 1);
    if (!m->has_no_table)
        table_write(dir, "events.tgr", &schema_events, m->events, m->n_events,
                    block);
    write_manifest(m, dir);
}

struct read_run *streams_sum_up(struct streams *m)
{
    char *dir = tmpdir_path("streams");
    struct read_run *r;
    char *events = keepf("%s/events.tgr", dir);

    unlink(events); /* of the run before */
    streams_write(m, dir, TGR_MAX_ROWS);
    free(m);
    r = read_run_new(dir, NULL);
    return r;
}
