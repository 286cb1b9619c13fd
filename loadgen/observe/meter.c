#include "loadgen/observe/meter.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "loadgen/observe/meter_source.h"

#define EVERY_NS (200 * NS_PER_MS)

/* One of them, open. */
struct reader {
    const struct meter_ops *ops; /* NULL: none */
    void *self;
};

struct meter {
    struct reader memory;
    struct reader energy;
    int64_t start_ns;
    struct tgr_writer *table;
    pthread_t thread;
    bool has_thread;
    sem_t end;
    struct err err; /* of writing, the thread's while it runs */
};

static const struct meter_ops *const all[] = {
    &meter_pid,  &meter_group, &meter_cgroup,
    &meter_rapl, &meter_nvml,  &meter_series,
};

const struct meter_ops *meter_find(const char *text, bool is_memory,
                                   const char **arg, struct err *err)
{
    size_t len = strcspn(text, " ");

    *arg = text + len + strspn(text + len, " ");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i]->is_memory == is_memory && strlen(all[i]->name) == len &&
            strncmp(all[i]->name, text, len) == 0)
            return all[i];
    }
    err_set(err, ERR_CONFIG, "'%s' is not known", text);
    return NULL;
}

/* ---- opening ---- */

static int open_as(struct reader *r, const struct meter_ops *ops,
                   const struct meter_place *place, struct err *err)
{
    r->ops = ops;
    r->self = xcalloc(1, ops->state_size);
    return ops->open(r->self, place, err);
}

static void close_reader(struct reader *r)
{
    if (r->ops)
        r->ops->close(r->self);
    free(r->self);
    *r = (struct reader){0};
}

static int open_reader(struct reader *r, const char *text, bool is_memory,
                       const struct settings *s, struct err *err)
{
    struct meter_place place = {.root = "", .target = &s->target};
    const struct meter_ops *ops = meter_find(text, is_memory, &place.arg, err);

    if (!ops || open_as(r, ops, &place, err))
        return err_context(err, "%s",
                           is_memory ? "cost.memory_of" : "cost.energy");
    return 0;
}

/* Whatever there is; nothing is no error. */
static void open_auto(struct reader *r, const struct settings *s)
{
    static const struct meter_ops *const wanted[] = {&meter_rapl, &meter_nvml};
    const struct meter_place place = {
        .root = "", .arg = "", .target = &s->target};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct err ignored = {0};

        if (open_as(r, wanted[i], &place, &ignored) == 0) {
            log_note("energy     by %s", wanted[i]->name);
            return;
        }
        close_reader(r);
    }
    log_note("energy     neither RAPL nor NVML here: it is not measured");
}

int meter_new(struct meter **meter, const struct settings *s,
              const char *memory_of, struct err *err)
{
    const struct cost_settings *c = &s->cost;
    struct meter *m;
    int rc = 0;

    *meter = NULL;
    if (!c->memory_of && !c->energy)
        return 0;
    m = xcalloc(1, sizeof(*m));
    sem_init(&m->end, 0, 0);
    if (c->memory_of)
        rc = open_reader(&m->memory, memory_of ? memory_of : c->memory_of, true,
                         s, err);
    if (rc == 0 && c->energy && strcmp(c->energy, "auto") == 0)
        open_auto(&m->energy, s);
    else if (rc == 0 && c->energy)
        rc = open_reader(&m->energy, c->energy, false, s, err);
    if (rc || (!m->memory.ops && !m->energy.ops)) {
        meter_free(m);
        return rc;
    }
    *meter = m;
    return 0;
}

/* ---- the thread ---- */

static int64_t read_one(const struct reader *r, int64_t now_ns)
{
    return r->ops ? r->ops->read(r->self, now_ns) : TIME_ABSENT;
}

static void look_once(struct meter *m)
{
    int64_t now_ns = clk_now(&clk_monotonic);
    struct meter_reading look = {
        .at = now_ns - m->start_ns,
        .memory = read_one(&m->memory, now_ns),
        .energy = read_one(&m->energy, now_ns),
    };

    if (m->err.code == ERR_NONE)
        tgr_append(m->table, 0, &look, 1, &m->err);
}

/* False: it is to end. */
static bool sleep_until(struct meter *m, int64_t ns)
{
    struct timespec until = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    int rc;

    do
        rc = sem_clockwait(&m->end, CLOCK_MONOTONIC, &until);
    while (rc != 0 && clk_now(&clk_monotonic) < ns);
    return rc != 0;
}

static void *meter_main(void *arg)
{
    struct meter *m = arg;
    int64_t next_ns = m->start_ns;

    do {
        look_once(m);
        while (next_ns <= clk_now(&clk_monotonic))
            next_ns += EVERY_NS;
    } while (sleep_until(m, next_ns));
    look_once(m);
    return NULL;
}

int meter_start(struct meter *m, const char *dir, int64_t start_ns,
                struct err *err)
{
    char *path = xasprintf("%s/meter.tgr", dir);
    int rc = tgr_create(&m->table, path, &schema_meter, err);

    free(path);
    if (rc)
        return -1;
    m->start_ns = start_ns;
    if (pthread_create(&m->thread, NULL, meter_main, m))
        return err_set(err, ERR_IO, "cannot start a thread");
    m->has_thread = true;
    return 0;
}

void meter_stop(struct meter *m)
{
    struct err ignored = {0};

    if (!m || !m->table)
        return;
    if (m->has_thread) {
        sem_post(&m->end);
        pthread_join(m->thread, NULL);
        m->has_thread = false;
    }
    tgr_finish(m->table, m->err.code ? &ignored : &m->err);
    m->table = NULL;
    if (m->err.code)
        log_note("meter      %s", m->err.msg);
}

void meter_free(struct meter *m)
{
    if (!m)
        return;
    meter_stop(m);
    close_reader(&m->memory);
    close_reader(&m->energy);
    sem_destroy(&m->end);
    free(m);
}
