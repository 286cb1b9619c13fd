#include "analyzer/verdict/checklist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/printable.h"
#include "common/base/xalloc.h"
#include "common/recording/manifest.h"
#include "common/recording/studydir.h"
#include "common/recording/trialset.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"

/* What is said of the server, as conditions: no client can find it out.  Each
 * goes by several names. */
struct told {
    const char *name;
    const char *keys[4];
    const char *what;
};

static const struct told told[] = {
    {"weights",
     {"revision", "weights", "checkpoint", "model_revision"},
     "which weights of the model: --label revision=..."},
    {"server",
     {"server", "engine", "image", "version"},
     "the server's software and its version: --label server=..."},
    {"hardware",
     {"hardware", "gpu", "machine", "instance"},
     "what the server ran on: --label hardware=..."},
    {"precision",
     {"precision", "dtype", "quantization", "quantisation"},
     "the precision of the model: --label precision=..."},
    {"batching",
     {"batching", "scheduler", "max_batch", "max_num_seqs"},
     "how the server batches: --label batching=..."},
    {"replicas",
     {"replicas", "tensor_parallel", "tp", "gpus"},
     "how many servers, and how the model is split: --label replicas=..."},
};

__attribute__((format(printf, 4, 5))) static void add(struct checklist *c,
                                                      const char *name,
                                                      bool is_present,
                                                      const char *fmt, ...)
{
    struct checklist_item *item = &c->items[c->len++];
    va_list ap;

    item->name = name;
    item->is_present = is_present;
    c->missing += !is_present;
    va_start(ap, fmt);
    vsnprintf(item->text, sizeof(item->text), fmt, ap);
    va_end(ap);
    printable(item->text, strlen(item->text), "");
}

/* ---- what was asked ---- */

static void add_load(struct checklist *c, const struct summary *s)
{
    struct buf line;

    buf_init(&line, CHECKLIST_TEXT - 1);
    settings_describe_load(&s->settings->load, &line);
    add(c, "workload", true, "%.*s", (int)strcspn(buf_text(&line), "\n"),
        buf_text(&line));
    buf_fini(&line);
    add(c, "seeds", true,
        "seed %llu, nonce %llu: tailgate rerun sends the "
        "same bytes",
        (unsigned long long)s->settings->load.seed,
        (unsigned long long)s->settings->data.nonce);
}

static void add_data(struct checklist *c, const struct summary *s)
{
    if (s->has_trace)
        add(c, "data", true, "a trace, hash %016llx: hand it along",
            (unsigned long long)s->trace.hash);
    else if (s->has_data && s->data.sha256)
        add(c, "data", true, "a file, sha256 %s: hand it along",
            s->data.sha256);
    else if (s->has_data)
        add(c, "data", true, "%s, made from seed and nonce",
            s->data.source ? s->data.source : "synthetic");
    else
        add(c, "data", true, "every request has the body of the settings");
}

static void add_window(struct checklist *c, const struct summary *s)
{
    add(c, "warm-up", s->warmup_s > 0 || s->warmup_requests > 0,
        s->warmup_s > 0 || s->warmup_requests > 0
            ? "%.6g s before the window, left out"
            : "none was left out (%.6g s): --warmup",
        s->warmup_s);
    add(c, "objective", s->slo.len > 0,
        s->slo.len > 0 ? "%zu terms, in the manifest"
                       : "none (%zu terms): --slo",
        s->slo.len);
}

/* ---- the server ---- */

static const char *condition(const struct summary *s, const struct told *t)
{
    for (size_t i = 0; i < sizeof(t->keys) / sizeof(t->keys[0]); i++) {
        const char *value = strmap_get(&s->settings->conditions, t->keys[i]);

        if (value)
            return value;
    }
    return NULL;
}

static void add_model(struct checklist *c, const struct summary *s)
{
    const char *model = s->settings->target.model;

    if (s->settings->target.api == API_HTTP)
        return;
    add(c, "model", model && model[0], "%.200s",
        model && model[0] ? model : "its name: --model");
}

static void add_server(struct checklist *c, const struct summary *s)
{
    add_model(c, s);
    if (s->settings->has_stub) {
        add(c, "server", true,
            "the stub of this tool; its settings are in the manifest");
        return;
    }
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const char *value = condition(s, &told[i]);

        add(c, told[i].name, value != NULL, "%.200s",
            value ? value : told[i].what);
    }
}

/* ---- the client ---- */

static void add_client(struct checklist *c, const struct summary *s,
                       const struct manifest *m)
{
    const char *cpu = manifest_text(m, "environment", "cpu_model");
    const char *git = manifest_text(m, "asked", "git");
    const char *clock = manifest_text(m, "environment", "clock_source");
    bool has_file = manifest_text(m, "asked", "file") != NULL;
    bool is_kept = git && strstr(git, ", unchanged");

    add(c, "client", cpu != NULL, "%s",
        cpu ? "host, kernel, CPU, memory, cgroup, clock and libraries are in "
              "the manifest"
            : "the recording is of a version that did not write down its host");
    add(c, "clock", clock != NULL, "%.100s",
        clock ? clock : "the kernel's clock source is not known");
    if (has_file)
        add(c, "settings file", is_kept, "%.120s%s", git ? git : "",
            is_kept ? ""
            : git   ? ": commit it"
                    : "not under version control, as far as git knows; its "
                      "settings are in the manifest");
    add(c, "calibration", s->calibration.standing == CALIBRATED, "%s",
        s->calibration.standing == CALIBRATED
            ? "what the client is good for was known"
            : "what the client is good for here: tailgate calibrate");
    add(c, "network", s->rtt_floor_ns > 0,
        s->rtt_floor_ns > 0 ? "round trip floor %.6g us"
                            : "the round trip is not known (%.6g us)",
        (double)s->rtt_floor_ns / 1e3);
}

/* ---- what it proves ---- */

/* The directory that this one is in; "set/trial-1/" is in "set". */
static char *parent_of(const char *dir)
{
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    while (len > 0 && dir[len - 1] != '/')
        len--;
    return len > 0 ? xstrndup(dir, len) : xstrdup(".");
}

/* Is it one of several?  How many. */
static int64_t trials_around(const char *dir)
{
    char *parent = parent_of(dir);
    struct trial_set set = {0};
    int64_t n = 1;

    if (study_is_at(parent) &&
        trial_set_load(&set, parent, &(struct err){0}) == 0) {
        n = set.recorded;
        trial_set_fini(&set);
    }
    free(parent);
    return n;
}

static void add_proof(struct checklist *c, const struct summary *s)
{
    bool is_whole = !s->stopped_by && !s->integrity.was_killed;
    int64_t trials = trials_around(s->dir);

    add(c, "repeats", trials > 1,
        trials > 1 ? "one of %lld trials"
                   : "%lld run: its spread is not known: --trials 7",
        (long long)trials);
    add(c, "quality", s->quality.checked > 0,
        s->quality.checked > 0 ? "%lld answers were checked"
                               : "%lld answers were checked: --check",
        (long long)s->quality.checked);
    add(c, "trust", s->trust.valid && is_whole, "%s",
        !is_whole        ? "the run did not come to its end"
        : s->trust.valid ? "no check withdraws the run"
                         : "the run is withdrawn by its own checks");
}

void checklist_make(struct checklist *c, const struct summary *s,
                    const struct manifest *m)
{
    *c = (struct checklist){0};
    add_load(c, s);
    add_data(c, s);
    add_window(c, s);
    add_server(c, s);
    add_client(c, s, m);
    add_proof(c, s);
}

struct doc *checklist_doc(const struct checklist *c)
{
    struct doc *d = doc_new();
    struct doc_node *n = doc_section(doc_root(d), NULL, "checklist");
    struct doc_node *table;

    doc_line(n, DOC_PLAIN,
             "%zu of %zu things that someone else needs to repeat this run are "
             "present",
             c->len - c->missing, c->len);
    doc_count(n, "of", NULL, (int64_t)c->len);
    doc_count(n, "missing", NULL, (int64_t)c->missing);
    table = doc_table(n, "items", "");
    for (size_t i = 0; i < c->len; i++) {
        struct doc_node *row = doc_row(table);

        doc_show(doc_bool(row, "present", "", c->items[i].is_present), "%s",
                 c->items[i].is_present ? "present" : "MISSING");
        doc_text(row, "name", "item", c->items[i].name);
        doc_text(row, "text", "value, or how to add it", c->items[i].text);
    }
    return d;
}
