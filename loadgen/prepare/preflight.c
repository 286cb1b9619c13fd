#include "loadgen/prepare/preflight.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/settings/settings.h"
#include "common/text/url.h"
#include "loadgen/api/api.h"
#include "loadgen/observe/host.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/prepare/discover.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/tls_context.h"
#include "loadgen/transport/transport.h"

static int find_cpus(const char *asked, struct cpus *cpus, struct err *err)
{
    cpu_set_t allowed;

    if (!asked)
        return 0;
    if (cpus_parse(asked, cpus, err))
        return -1;
    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return err_set(err, ERR_IO,
                       "client.cpus: cannot get the CPUs of this process");
    for (size_t i = 0; i < cpus->len; i++) {
        if (!CPU_ISSET((size_t)cpus->cpu[i], &allowed))
            return err_set(err, ERR_IO,
                           "client.cpus: this process may not use CPU %d",
                           cpus->cpu[i]);
    }
    return 0;
}

/* A stub that the run will start has no URL yet, and speaks plain HTTP. */
const struct transport_ops *preflight_target(const struct target_settings *s,
                                             struct err *err)
{
    const struct transport_ops *transport;
    struct url url = {.scheme = "http"};

    if (targets_check(s, err) ||
        (s->urls.len > 0 && url_parse(s->urls.items[0], &url, err)))
        return NULL;
    transport = transport_choose(s, url.scheme, err);
    return transport && tls_files_check(s, err) == 0 ? transport : NULL;
}

/* Read the trace, and keep what is known from then on. */
static int survey(struct load_settings *load, struct survey *out,
                  struct err *err)
{
    if (load->scenario != SCENARIO_TRACE)
        return 0;
    if (survey_make(out, load, err))
        return -1;
    out->asked_ns = load->duration_ns;
    load->duration_ns = out->end_ns - out->start_ns - load_cooldown_ns(load);
    load->trace.peak_rps = out->peak_rps;
    load->trace.rows = out->rows;
    if (out->end_ns / NS_PER_S < TIMELINE_SECONDS)
        load->trace.timeline = &out->timeline;
    return 0;
}

int preflight_data(struct data_settings *s, struct dataset **out,
                   struct err *err)
{
    if (!s->file)
        return 0;
    if (dataset_load(out, s, err))
        return strncmp(err->msg, "data.", 5) == 0
                   ? -1
                   : err_context(err, "data.file");
    s->loaded = *out;
    return 0;
}

/* An accuracy run sends each sample once. */
static int count_samples(struct settings *s, struct err *err)
{
    static char some[] = "some"; /* if only the server knows it */
    char *model = s->target.model;
    struct api api;
    int rc;

    if (!s->data.accuracy)
        return 0;
    if (s->data.format == DATA_TENSORS && s->data.tensors.len == 0)
        return err_set(err, ERR_CONFIG,
                       "data.accuracy requires data.tensors (--tensor)");
    s->target.model = model ? model : some;
    rc = api_init(&api, s, err);
    s->target.model = model;
    if (rc == 0)
        s->load.requests = sampler_count(&api.sampler);
    api_fini(&api);
    return rc;
}

void run_plan_init(struct run_plan *p, const struct settings *asked)
{
    *p = (struct run_plan){0};
    settings_clone(&p->used, asked);
}

void run_plan_fini(struct run_plan *p)
{
    survey_fini(&p->trace);
    dataset_free(p->data);
    for (size_t i = 0; i < CLASSES_MAX; i++)
        dataset_free(p->class_data[i]);
    dataset_free(p->warmup_data);
    settings_fini(&p->used);
}

void preflight_describe_data(const struct run_plan *p, struct buf *out)
{
    const struct settings *s = &p->used;

    if (p->data)
        dataset_describe(p->data, &s->data, out);
    for (size_t i = 0; i < s->classes.len; i++) {
        if (p->class_data[i])
            dataset_describe(p->class_data[i],
                             &s->classes.items[i].settings->data, out);
    }
    if (p->warmup_data)
        dataset_describe(p->warmup_data, &s->warmup.items[0].settings->data,
                         out);
}

/* All classes share the connections of the run, hence its transport. */
static int check_class(struct settings *s, const struct transport_ops *run,
                       struct dataset **data, struct err *err)
{
    const struct transport_ops *transport = preflight_target(&s->target, err);

    if (!transport)
        return -1;
    if (transport != run)
        return err_set(err, ERR_CONFIG,
                       "target.url requires the %s transport, but the run uses "
                       "%s; all classes must use the same",
                       transport->name, run->name);
    return preflight_data(&s->data, data, err) ? -1 : discover_check(s, err);
}

/* What is sent: by the run, or by its classes. */
static int check_requests(struct run_plan *out, struct err *err)
{
    struct settings *s = &out->used;
    const struct classes *all = &s->classes;

    if (s->warmup.len > 0 &&
        check_class(s->warmup.items[0].settings, out->transport,
                    &out->warmup_data, err))
        return err_context(err, CLASSES_WARMUP);
    if (all->len == 0)
        return preflight_data(&s->data, &out->data, err)
                   ? -1
                   : discover_check(s, err);
    for (size_t i = 0; i < all->len; i++) {
        if (check_class(all->items[i].settings, out->transport,
                        &out->class_data[i], err))
            return err_context(err, "classes: %s", all->items[i].name);
    }
    return 0;
}

/* The cores that this process may use; the RAM of the machine, or the limit of
 * the cgroup if that is lower ("max" is read as 0). */
static struct machine find_machine(void)
{
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    char *path = host_find_in_cgroup("", "memory.max");
    char text[HOST_TEXT];
    int64_t limit = path ? strtoll(host_read_start(path, text), NULL, 10) : 0;
    cpu_set_t allowed;
    bool is_known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;

    free(path);
    return (struct machine){
        .cores = is_known ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN),
        .files = files_raise_limit(),
        .memory = limit > 0 && limit < memory ? limit : memory};
}

int preflight(struct run_plan *out, struct err *err)
{
    struct settings *s = &out->used;

    out->machine = find_machine();
    out->asked_threads = s->client.threads;
    out->transport = preflight_target(&s->target, err);
    if (!out->transport || survey(&s->load, &out->trace, err) ||
        check_requests(out, err) || count_samples(s, err) ||
        plan_client(s, out->machine, err) ||
        find_cpus(s->client.cpus, &out->cpus, err))
        return -1;
    if (s->client.preconnect > 0 && !out->transport->preconnect)
        return err_set(err, ERR_CONFIG,
                       "client.preconnect cannot be combined with the %s "
                       "transport",
                       out->transport->name);
    return 0;
}
