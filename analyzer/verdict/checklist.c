#include "analyzer/verdict/checklist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/manifest.h"
#include "common/recording/study_set.h"
#include "common/recording/studydir.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"

/* What the user states about the server as conditions, since no client can
 * measure it.  Each has several names. */
static const struct stated {
    const char *name;
    const char *keys[4];
    const char *how;
} stated[] = {
    {"weights",
     {"revision", "weights", "checkpoint", "model_revision"},
     "which weights of the model: --label revision=..."},
    {"server",
     {"server", "engine", "image", "version"},
     "the server's software and version: --label server=..."},
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
     "the number of servers, and how the model is split: --label "
     "replicas=..."},
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

/* ---- the workload ---- */

static void add_load(struct checklist *c, const struct summary *s)
{
    struct buf line;

    buf_init(&line, CHECKLIST_TEXT - 1);
    settings_describe_load(&s->settings->load, &line);
    add(c, "workload", true, "%.*s", (int)strcspn(buf_text(&line), "\n"),
        buf_text(&line));
    buf_fini(&line);
    add(c, "seeds", true,
        "seed %llu, nonce %llu: tailgate rerun sends the same bytes",
        (unsigned long long)s->settings->load.seed,
        (unsigned long long)s->settings->data.nonce);
    if (s->has_trace)
        add(c, "data", true, "a trace, hash %016llx: include the file",
            (unsigned long long)s->trace.hash);
    else if (s->has_data && s->data.sha256)
        add(c, "data", true, "a file, sha256 %s: include it", s->data.sha256);
    else if (s->has_data)
        add(c, "data", true, "%s, generated from seed and nonce",
            s->data.source ? s->data.source : "synthetic");
    else
        add(c, "data", true, "every request has the body in the settings");
    if (s->warmup_s > 0 || s->warmup_requests > 0)
        add(c, "warm-up", true, "%.6g s before the window, excluded",
            s->warmup_s);
    else
        add(c, "warm-up", false, "no warm-up was excluded: --warmup");
    if (s->slo.len > 0)
        add(c, "objective", true, "%zu term%s, in the manifest", s->slo.len,
            s->slo.len == 1 ? "" : "s");
    else
        add(c, "objective", false, "there is no SLO: --slo");
}

/* ---- the server ---- */

static void add_server(struct checklist *c, const struct summary *s)
{
    const char *model = s->settings->target.model;

    if (s->settings->target.api != API_HTTP)
        add(c, "model", model && model[0], "%.200s",
            model && model[0] ? model : "the name of the model: --model");
    if (s->settings->has_stub) {
        add(c, "server", true,
            "the stub of tailgate; its settings are in the manifest");
        return;
    }
    for (size_t i = 0; i < sizeof(stated) / sizeof(stated[0]); i++) {
        const char *value = NULL;

        for (size_t k = 0; !value && k < 4; k++)
            value = strmap_get(&s->settings->conditions, stated[i].keys[k]);
        add(c, stated[i].name, value != NULL, "%.200s",
            value ? value : stated[i].how);
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
            : "this version of the recording does not describe the host");
    add(c, "clock", clock != NULL, "%.100s",
        clock ? clock : "the kernel's clock source is unknown");
    if (has_file)
        add(c, "settings file", is_kept, "%.120s%s", git ? git : "",
            is_kept ? ""
            : git   ? ": commit it"
                    : "not under version control; its settings are in the "
                      "manifest");
    add(c, "calibration", s->calibration.standing == CALIBRATED, "%s",
        s->calibration.standing == CALIBRATED
            ? "the maximum rate of the client was known"
            : "the maximum rate of the client is unknown: tailgate calibrate");
    if (s->rtt_floor_ns > 0)
        add(c, "network", true, "minimum round trip %.6g us",
            (double)s->rtt_floor_ns / 1e3);
    else
        add(c, "network", false, "the round-trip time is unknown");
}

/* ---- the evidence ---- */

/* The directory that contains this one; "set/trial-1/" is in "set". */
static char *parent_of(const char *dir)
{
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    while (len > 0 && dir[len - 1] != '/')
        len--;
    return len > 0 ? xstrndup(dir, len) : xstrdup(".");
}

/* Number of trials in the set that contains the recording; else 1. */
static int64_t trials_around(const char *dir)
{
    char *parent = parent_of(dir);
    struct study_set set = {0};
    int64_t n = 1;

    if (study_is_at(parent) && study_set_load_kind(&set, parent, STUDY_TRIALS,
                                                   &(struct err){0}) == 0) {
        n = set.recorded;
        study_set_fini(&set);
    }
    free(parent);
    return n;
}

static void add_proof(struct checklist *c, const struct summary *s)
{
    bool is_whole = !s->stopped_by && !s->integrity.was_killed;
    int64_t trials = trials_around(s->dir);

    if (trials > 1)
        add(c, "repeats", true, "one of %lld trials", (long long)trials);
    else
        add(c, "repeats", false,
            "a single run, whose spread is unknown: --trials 7");
    if (s->quality.checked > 0)
        add(c, "quality", true, "%lld answers were checked",
            (long long)s->quality.checked);
    else
        add(c, "quality", false, "no answer was checked: --check");
    add(c, "trust", s->trust.valid && is_whole, "%s",
        !is_whole        ? "the run was interrupted"
        : s->trust.valid ? "no trust check failed"
                         : "a trust check failed");
}

void checklist_make(struct checklist *c, const struct summary *s,
                    const struct manifest *m)
{
    *c = (struct checklist){0};
    add_load(c, s);
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
