#include "tests/support/maderun.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "tests/support/keep.h"
#include "tests/support/rows.h"
#include "tests/support/tmpdir.h"

struct made_run *made_run_new(int64_t warmup_ms, int64_t duration_ms,
                              const char *slo)
{
    struct made_run *m = xcalloc(1, sizeof(*m));

    m->warmup_ms = warmup_ms;
    m->duration_ms = duration_ms;
    m->slo = slo;
    m->end.due_end_ns = (warmup_ms + duration_ms) * NS_PER_MS;
    return m;
}

void made_run_add(struct made_run *m, struct facts row)
{
    assert_true(m->n < MADE_RUN_ROWS);
    m->rows[m->n++] = row;
    m->end.scheduled += facts_n(&row);
    m->end.issued += facts_issued(&row);
    m->end.unsent += facts_issued(&row) ? 0 : facts_n(&row);
}

void made_run_add_fast(struct made_run *m, int64_t due_ms, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        made_run_add(m, row_ok((int64_t)m->n, due_ms + 10 * i, 5));
}

void made_run_add_reset(struct made_run *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        made_run_add(m, row_failed((int64_t)m->n, 500 + i, 1, OUTCOME_RESET));
}

void made_run_add_unsent(struct made_run *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        made_run_add(m, row_unsent((int64_t)m->n, 600));
}

static void write_seen(const struct made_run *m, const char *dir)
{
    char *path = keepf("%s/client.tgr", dir);
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, path, &schema_client, &err), 0);
    for (unsigned i = 0; i < MADE_RUN_SHARDS; i++) {
        if (m->seen[i].at > 0)
            assert_int_equal(tgr_append(w, i, &m->seen[i], 1, &err), 0);
    }
    assert_int_equal(tgr_finish(w, &err), 0);
}

static void write_looks(const struct made_run *m, const char *dir)
{
    char *path = keepf("%s/server.tgr", dir);

    unlink(path); /* of another test */
    if (m->looks[0].at > 0)
        table_write(dir, "server.tgr", &schema_server, m->looks, MADE_RUN_LOOKS,
                    TGR_MAX_ROWS);
}

static void write_manifest(const struct made_run *m, const char *dir)
{
    static const struct failures none;
    const struct run_start start = {.monotonic_ns = 1};
    struct settings settings;
    struct manifest manifest;
    struct slo slo = slo_of(m->slo);
    struct err err = {0};

    settings_init(&settings);
    if (m->classes &&
        settings_load(
            &settings,
            tmpdir_write("classes.yaml", m->classes, strlen(m->classes)), &err))
        fail_msg("%s", err.msg);
    strlist_add(&settings.target.urls, "null://");
    settings.load.scenario = m->is_closed ? SCENARIO_CLOSED : SCENARIO_SERVER;
    if (m->scenario != SCENARIO_AUTO)
        settings.load.scenario = (int)m->scenario;
    if (m->stops_decided)
        settings.load.stop = STOP_DECIDED;
    settings.load.requests = m->requests;
    settings.load.min_requests = m->min_requests;
    settings.load.max_duration_ns = m->max_duration_ms * NS_PER_MS;
    settings.load.warmup_requests = m->warmup_requests;
    settings.load.cooldown_ns = m->cooldown_ms * NS_PER_MS;
    if (m->query_size > 0)
        settings.load.query_size = m->query_size;
    settings.client.threads = m->threads ? m->threads : OPT_AUTO;
    if (m->max_in_flight > 0)
        settings.client.max_in_flight = m->max_in_flight;
    settings.load.rate_rps = 100;
    settings.load.warmup_ns = m->warmup_ms * NS_PER_MS;
    settings.load.duration_ns = m->duration_ms * NS_PER_MS;
    for (size_t i = 0; i < slo.len; i++)
        strlist_add(&settings.slo, slo.terms[i].text);
    manifest_init(&manifest, &settings, &start);
    if (m->looks[0].at > 0)
        manifest_set_server(
            &manifest,
            &(struct server_source){.dialect = "tgi", .url = "http://h/m"});
    if (!m->was_killed)
        manifest_complete(&manifest, &m->end, &none);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
}

struct read_run *made_run_sum_up(struct made_run *m, const struct strlist *slo)
{
    char *dir = tmpdir_path("run");
    struct read_run *r;

    assert_true(mkdir(dir, 0777) == 0 || access(dir, W_OK) == 0);
    table_write(dir, "requests.tgr", &schema_requests, m->rows, m->n,
                TGR_MAX_ROWS);
    write_seen(m, dir);
    write_looks(m, dir);
    write_manifest(m, dir);
    r = read_run_new(dir, slo);
    free(m);
    return r;
}
