#include "analyzer/verdict/mlperf_accuracy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/compare/matched.h"
#include "analyzer/compare/run_conditions.h"
#include "analyzer/read/reader.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/studydir.h"

/* An accuracy run keeps its answers there. */
#define ANSWERS "answers.jsonl"

/* ---- what must match ---- */

/* Does this setting belong to the mode? */
static bool is_of_mode(const char *key)
{
    static const char *const keys[] = {
        "slo",
        "checks",
        "client.connections",
        "target.timeout",
        "data.accuracy",
        "data.unique",
        "data.select",
        "data.limit",
        "data.samples",
        "data.cached_share",
    };

    if (strncmp(key, "load.", 5) == 0)
        return strcmp(key, "load.scenario") != 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i]) == 0)
            return true;
    }
    return false;
}

static bool must_match(const char *key)
{
    const char *why;

    return matched_kind(key, &why) == DIFFERENCE_MUST && !is_of_mode(key);
}

void mlperf_settings_hash(const struct strmap *conditions,
                          char out[static MLPERF_HASH])
{
    char text[SHA256_TEXT];
    struct sha256 h;

    sha256_begin(&h);
    for (size_t i = 0; i < conditions->keys.len; i++) {
        const char *key = conditions->keys.items[i];
        const char *value = conditions->values.items[i];

        if (!must_match(key))
            continue;
        sha256_add(&h, key, strlen(key) + 1);
        sha256_add(&h, value, strlen(value) + 1);
    }
    sha256_end(&h, text);
    snprintf(out, MLPERF_HASH, "%.16s", text);
}

/* The first difference, for people; "" if there is none. */
static void find_difference(const struct strmap *performance,
                            const struct strmap *accuracy, char *out,
                            size_t size)
{
    const struct match match = {.is_must = true};
    struct differences d = {0};

    out[0] = '\0';
    matched_find(&d, performance, accuracy, &match);
    for (size_t i = 0; i < d.len && !out[0]; i++) {
        const struct difference *x = &d.list[i];

        if (must_match(x->key))
            snprintf(out, size, "%s: %.40s | %.40s", x->key, x->a, x->b);
    }
    differences_fini(&d);
}

/* ---- candidates ---- */

/* Reads the recording at `dir`; false if it is no accuracy run. */
static bool read_conditions(const char *dir, struct strmap *out,
                            int64_t *start_ns)
{
    static const struct summary none; /* what a run saw does not count */
    struct err ignored = {0};
    struct recording rec;
    bool is_accuracy;

    if (recording_open(&rec, dir, &ignored))
        return false;
    is_accuracy = rec.settings.data.accuracy;
    if (is_accuracy) {
        run_conditions_make(out, &rec, &none);
        *start_ns = manifest_start_realtime_ns(&rec.manifest);
    }
    recording_close(&rec);
    return is_accuracy;
}

static bool is_any(const char *name)
{
    return name[0] != '.';
}

/* What is found while directories are searched. */
struct candidates {
    const struct strmap *performance;
    char hash[MLPERF_HASH];
    char *best; /* owned; NULL: none */
    char *name; /* the same as it is shown */
    int64_t best_ns;
    struct mlperf_accuracy *to; /* gets the reason if there is none */
};

static void consider(struct candidates *h, const char *path, const char *name)
{
    struct strmap conditions = {0};
    char hash[MLPERF_HASH];
    int64_t start_ns = 0;

    if (!read_conditions(path, &conditions, &start_ns))
        return;
    mlperf_settings_hash(&conditions, hash);
    if (strcmp(hash, h->hash) != 0) {
        char why[MLPERF_WHY / 2];

        find_difference(h->performance, &conditions, why, sizeof(why));
        snprintf(h->to->why, sizeof(h->to->why), "%.60s differs: %s", name,
                 why);
    } else if (!h->best || start_ns > h->best_ns) {
        free(h->best);
        free(h->name);
        h->best = xstrdup(path);
        h->name = xstrdup(name);
        h->best_ns = start_ns;
    }
    strmap_fini(&conditions);
}

/* The recordings right below a directory; `shown` goes before their names. */
static void search(struct candidates *h, const char *dir, const char *shown)
{
    struct strlist names = {0};
    struct err ignored = {0};

    file_list_dir(dir, is_any, &names, &ignored);
    for (size_t i = 0; i < names.len; i++) {
        char *path = xasprintf("%s/%s", dir, names.items[i]);
        char *name = xasprintf("%s%s", shown, names.items[i]);
        char *answers = xasprintf("%s/" ANSWERS, path);

        if (access(answers, F_OK) == 0 && recording_is_at(path))
            consider(h, path, name);
        free(answers);
        free(name);
        free(path);
    }
    strlist_fini(&names);
}

/* The parent of a path, in place; false if it has none. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return false;
    *slash = '\0';
    return true;
}

static void search_around(struct candidates *h, const char *dir)
{
    char path[PATH_MAX];
    bool is_in_study;

    if (!realpath(dir, path) || !go_up(path))
        return;
    is_in_study = study_is_at(path);
    search(h, path, "../");
    if (!h->best && is_in_study && go_up(path))
        search(h, path, "../../");
}

/* ---- what it shows ---- */

static bool has_quality_term(const struct slo *slo)
{
    for (size_t i = 0; i < slo->len; i++) {
        if (slo->terms[i].kind == SLO_QUALITY)
            return true;
    }
    return false;
}

/* Take its result, and replace the rule that is broken without it. */
static int take(struct mlperf *m, const char *dir, const char *name,
                struct err *err)
{
    struct mlperf_accuracy *a = &m->accuracy;
    char why[RUN_OBSTACLE];
    struct study_run run;
    const struct summary *s;
    long long unanswered;

    if (study_run_open(&run, dir, NULL, NULL, err))
        return -1;
    s = run.summary;
    unanswered = s->failed + s->unsent;
    a->is_found = true;
    a->why[0] = '\0';
    snprintf(a->dir, sizeof(a->dir), "%s", name);
    a->answers = s->ok;
    a->checked = s->quality.checked;
    a->share = s->quality.share;
    run_obstacle(s, why);
    m->n_breaks = m->accuracy_break;
    if (why[0])
        mlperf_break(m, "the accuracy run cannot be used: %.60s", why);
    else if (unanswered > 0)
        mlperf_break(m, "%lld samples of the accuracy run have no answer",
                     unanswered);
    else if (a->checked == 0)
        mlperf_break(m, "the answers of the accuracy run were not checked");
    else if (!has_quality_term(&s->slo))
        mlperf_break(m, "the accuracy run has no target (--slo 'quality >= "
                        "0.99')");
    else if (s->verdict != VERDICT_PASS)
        mlperf_break(m, "the accuracy run %s",
                     s->verdict == VERDICT_FAIL ? "misses its target"
                                                : "is undecided");
    study_run_close(&run);
    return 0;
}

static int take_given(struct candidates *h, struct mlperf *m, const char *given,
                      struct err *err)
{
    struct recording rec;
    bool is_accuracy;

    if (recording_open(&rec, given, err))
        return -1;
    is_accuracy = rec.settings.data.accuracy;
    recording_close(&rec);
    if (!is_accuracy)
        return err_set(err, ERR_CONFIG,
                       "%s: not an accuracy run (data.accuracy, --accuracy)",
                       given);
    consider(h, given, given);
    return h->best ? take(m, given, given, err) : 0;
}

int mlperf_link_accuracy(struct summary *s, struct recording *rec,
                         const char *given, struct err *err)
{
    struct mlperf *m = &s->mlperf;
    struct strmap conditions = {0};
    struct candidates h = {.performance = &conditions, .to = &m->accuracy};
    struct err ignored = {0};
    int rc = 0;

    if (!m->is_there || s->settings->data.accuracy)
        return given ? err_set(err, ERR_USAGE,
                               "--accuracy-run requires a performance run "
                               "under MLPerf's rules (docs/mlperf.md)")
                     : 0;
    run_conditions_make(&conditions, rec, s);
    mlperf_settings_hash(&conditions, h.hash);
    memcpy(m->accuracy.hash, h.hash, sizeof(h.hash));
    if (given) {
        rc = take_given(&h, m, given, err);
    } else {
        search_around(&h, rec->dir);
        if (h.best && take(m, h.best, h.name, &ignored))
            snprintf(m->accuracy.why, sizeof(m->accuracy.why),
                     "%.60s cannot be read", h.name);
    }
    free(h.best);
    free(h.name);
    strmap_fini(&conditions);
    return rc;
}
