#include "listen/listen_state.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/engine/run.h"

/* Buckets in steps of 2 to 2.5, as dashboards expect them; the limits of the
 * SLO come in addition. */
static const double steps_s[] = {
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
    0.005,   0.01,     0.025,   0.05,   0.1,     0.25,   0.5,   1,
    2.5,     5,        10,      25,     50,      100};

#define STEPS (sizeof(steps_s) / sizeof(steps_s[0]))

static const enum measure measures[LISTEN_MEASURES] = {
    [LISTEN_E2E] = MEASURE_E2E,
    [LISTEN_TTFT] = MEASURE_TTFT,
    [LISTEN_TPOT] = MEASURE_TPOT,
};

/* The charts begin with this range; bins are widened when it is over. */
#define FIRST_RANGE_NS (24 * NS_PER_S)

/* Seconds of a worker whose requests have not all ended.  A second is settled
 * if at most one request, or 1 in 100, is still in flight. */
#define SECONDS       512
#define MISSING_SHARE 0.01

/* The SLO test keeps the requests that have ended behind one that has not: it
 * is given up before they take more than about 25 MB. */
#define MAX_AHEAD (1 << 16)

struct worker_second {
    int64_t at_ns;
    int64_t issued; /* in it ... */
    int64_t ended;  /* ... and of those */
};

struct worker_state {
    struct observation last;
    bool has_last;
    int64_t ended;
    int64_t unsent;
    struct worker_second seconds[SECONDS]; /* ring */
    size_t from;                           /* the first that is not settled */
    size_t to;
    int64_t open; /* ended, issued after the last observation */
    int64_t settled_ns;
};

/* The recording that is being made. */
struct recording_state {
    struct good_table good;
    struct slo slo;
    struct listen_term terms[LISTEN_TERMS];
    size_t n_terms;
    struct decide decide; /* zeroed: not tested */
    bool has_test;
    struct run_bins bins;
    struct bin_mean flight[BINS_TIME];
    struct worker_state *workers[RECORDING_MAX_WORKERS]; /* owned */
    char dir[1024];
    char title[512];
    char load[256];
    bool is_streamed;
    double value;
    double met;
    double missed;
    struct run_progress progress;
    bool has_progress;
    double lag_max_s;
    double busiest;
    double steal;
};

struct listen_state {
    pthread_mutex_t lock; /* for everything below */
    enum listen_phase phase;
    char run[LISTEN_LABEL];
    int64_t recordings;
    struct listen_variant *variants[LISTEN_VARIANTS]; /* owned */
    size_t n_variants;
    size_t variant;
    struct workers_sum before; /* of the current one, before this recording */
    bool has_recording;
    struct recording_state rec;
};

double listen_allowed(const struct slo_term *t)
{
    double share = t->kind == SLO_QUANTILE ? 1 - t->quantile
                   : t->kind == SLO_ERRORS ? t->limit
                                           : 1 - t->limit;

    return round(share * 1e12) / 1e12; /* 0.1, not 0.09999999999999998 */
}

/* ---- labels ---- */

/* A copy that ends with a whole character. */
static void keep_label(char out[static LISTEN_LABEL], const char *text)
{
    size_t len = strlen(text ? text : "");

    if (len >= LISTEN_LABEL) {
        len = LISTEN_LABEL - 1;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(out, text ? text : "", len);
    out[len] = '\0';
}

/* ---- histograms ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_bucket(struct listen_hist *h, double le_s)
{
    for (size_t i = 0; i < h->n; i++) {
        if (fabs(h->le_s[i] - le_s) < 1e-9)
            return;
    }
    if (h->n < LISTEN_BUCKETS)
        h->le_s[h->n++] = le_s;
}

static void add_limits(struct listen_hist *h, const struct slo *slo,
                       enum measure m)
{
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *t = &slo->terms[i];

        if ((t->kind == SLO_QUANTILE || t->kind == SLO_LIMIT) &&
            t->measure == m)
            add_bucket(h, (double)t->limit_ns / 1e9);
    }
}

static void hist_make(struct listen_hist *h, enum measure m,
                      const struct slo *run, const struct slo *class)
{
    *h = (struct listen_hist){0};
    for (size_t i = 0; i < STEPS; i++)
        add_bucket(h, steps_s[i]);
    add_limits(h, run, m);
    if (class)
        add_limits(h, class, m);
    qsort(h->le_s, h->n, sizeof(h->le_s[0]), by_size);
    for (size_t i = 0; i < h->n; i++)
        h->le_ns[i] = llround(h->le_s[i] * 1e9);
    for (size_t i = 0, k = 0; i < sizeof(h->first); i++) {
        while (k < h->n && h->le_ns[k] < INT64_C(1) << i)
            k++;
        h->first[i] = (uint8_t)k;
    }
}

/* A power of two is a close guess: buckets are about as far apart. */
static void hist_put(struct listen_hist *h, int64_t ns)
{
    size_t i = ns > 0 ? h->first[63 - __builtin_clzll((uint64_t)ns)] : 0;

    while (i < h->n && ns > h->le_ns[i])
        i++;
    h->count[i]++;
    h->sum_s += (double)ns / 1e9;
}

/* ---- a recording begins ---- */

static bool may_stream(const struct settings *s)
{
    return api_can_stream((enum api_kind)s->target.api) &&
           s->target.stream != STREAM_OFF;
}

static struct listen_variant *find_variant(struct listen_state *st,
                                           const char *name)
{
    char label[LISTEN_LABEL];

    keep_label(label, name);
    for (st->variant = 0; st->variant < st->n_variants; st->variant++) {
        if (strcmp(st->variants[st->variant]->name, label) == 0)
            return st->variants[st->variant];
    }
    if (st->n_variants == LISTEN_VARIANTS) {
        st->variant = LISTEN_VARIANTS - 1;
        keep_label(st->variants[st->variant]->name, "other");
        return st->variants[st->variant];
    }
    st->variants[st->n_variants] = xcalloc(1, sizeof(struct listen_variant));
    memcpy(st->variants[st->n_variants]->name, label, sizeof(label));
    return st->variants[st->n_variants++];
}

/* Its classes and buckets, with its first recording. */
static int make_variant(struct listen_variant *v, const struct settings *s,
                        const struct slo *slo, struct err *err)
{
    size_t n = s->classes.len > 0 ? s->classes.len : 1;

    if (v->n_classes > 0)
        return 0;
    keep_label(v->scenario, scenario_names[s->load.scenario]);
    keep_label(v->run_name, s->name);
    for (size_t i = 0; i < n; i++) {
        struct listen_class *c = &v->classes[i];
        struct slo own = {0};

        if (s->classes.len > 0) {
            keep_label(c->name, s->classes.items[i].name);
            if (slo_parse(&s->classes.items[i].settings->slo, &own, err))
                return -1;
        }
        for (int m = 0; m < LISTEN_MEASURES; m++)
            hist_make(&c->hist[m], measures[m], slo, &own);
    }
    if (s->warmup.len > 0) { /* has data of its own */
        keep_label(v->classes[n].name, CLASSES_WARMUP);
        for (int m = 0; m < LISTEN_MEASURES; m++)
            hist_make(&v->classes[n].hist[m], measures[m], slo, NULL);
        n++;
    }
    hist_make(&v->lag, MEASURE_LAG, slo, NULL);
    v->n_classes = n;
    return 0;
}

/* Those that are a share of requests, each once. */
static void add_terms(struct recording_state *r, const struct slo *slo,
                      int class)
{
    for (size_t i = 0; i < slo->len && r->n_terms < LISTEN_TERMS; i++) {
        const struct slo_term *t = &slo->terms[i];
        bool is_share =
            t->kind == SLO_ERRORS || t->kind == SLO_GOOD ||
            (t->kind == SLO_QUANTILE && !measure_is_pooled(t->measure));

        for (size_t k = 0; k < r->n_terms; k++)
            is_share &= r->terms[k].class != class ||
                        strcmp(r->terms[k].term.text, t->text) != 0;
        if (is_share)
            r->terms[r->n_terms++] =
                (struct listen_term){.term = *t, .class = class};
    }
}

/* The test needs the requests in the order of one schedule. */
static void make_test(struct recording_state *r, const struct settings *s)
{
    struct err ignored = {0};

    r->has_test = r->slo.len > 0 && s->classes.len == 0 &&
                  scenario_is_open(s->load.scenario) && !s->client.shard &&
                  decide_init(&r->decide, &r->slo, INT64_MAX, &ignored) == 0;
    if (!r->has_test)
        decide_fini(&r->decide);
}

/* Titles are aligned for the terminal: runs of spaces become one. */
static void keep_title(char *out, size_t size, const char *text)
{
    size_t len = 0;

    for (; *text && len + 1 < size; text++) {
        if (*text != ' ' || text[1] != ' ')
            out[len++] = *text;
    }
    out[len] = '\0';
}

static void describe(struct recording_state *r, const struct settings *s,
                     const struct listen_point *point)
{
    struct buf text;

    buf_init(&text, 4096);
    settings_describe_load(&s->load, &text);
    snprintf(r->load, sizeof(r->load), "%.*s",
             (int)strcspn(buf_text(&text), "\n"), buf_text(&text));
    buf_fini(&text);
    snprintf(r->dir, sizeof(r->dir), "%s", point->dir);
    keep_title(r->title, sizeof(r->title), point->title ? point->title : "");
    r->value = point->value;
    r->met = point->met;
    r->missed = point->missed;
    r->is_streamed = settings_some(may_stream, s);
}

static void free_recording(struct listen_state *st)
{
    struct recording_state *r = &st->rec;

    if (!st->has_recording)
        return;
    good_table_fini(&r->good);
    decide_fini(&r->decide);
    run_bins_fini(&r->bins);
    for (size_t i = 0; i < RECORDING_MAX_WORKERS; i++)
        free(r->workers[i]);
    st->has_recording = false;
}

int listen_state_begin(struct listen_state *st, const struct settings *s,
                       const struct listen_point *point, struct err *err)
{
    struct recording_state *r = &st->rec;
    struct listen_variant *v;
    int64_t limits[GOOD_LIMITS];
    int rc;

    pthread_mutex_lock(&st->lock);
    free_recording(st);
    *r = (struct recording_state){
        .lag_max_s = NAN, .busiest = NAN, .steal = NAN};
    st->has_recording = true;
    v = find_variant(st, point->variant);
    rc = slo_parse(&s->slo, &r->slo, err);
    if (rc == 0)
        rc = good_table_init(&r->good, &r->slo, &s->classes, err);
    if (rc == 0)
        rc = make_variant(v, s, &r->slo, err);
    add_terms(r, &r->slo, -1);
    for (size_t i = 0; i < s->classes.len && rc == 0; i++) {
        struct slo own;

        rc = slo_parse(&s->classes.items[i].settings->slo, &own, err);
        if (rc == 0)
            add_terms(r, &own, (int)i);
    }
    describe(r, s, point);
    make_test(r, s);
    good_shared(&r->good, limits);
    run_bins_init(&r->bins, (struct window){0, INT64_MAX}, FIRST_RANGE_NS,
                  limits);
    st->before = v->sum;
    st->phase = LISTEN_RUNNING;
    pthread_mutex_unlock(&st->lock);
    return rc;
}

/* ---- requests ---- */

static void add_terms_of(struct recording_state *r, const struct facts *f,
                         bool is_good)
{
    for (size_t i = 0; i < r->n_terms; i++) {
        struct listen_term *t = &r->terms[i];
        bool is_missed;

        if (t->class >= 0 && t->class != f->class)
            continue;
        if (t->term.kind == SLO_QUANTILE) {
            if (!good_concerns(t->term.measure, f))
                continue;
            is_missed = !good_keeps(t->term.measure, f, t->term.limit_ns);
        } else {
            is_missed = t->term.kind == SLO_ERRORS ? f->outcome != OUTCOME_OK
                                                   : !is_good;
        }
        t->n += facts_n(f);
        t->missed += is_missed ? facts_n(f) : 0;
    }
}

static void test_add(struct recording_state *r, const struct run_look *look,
                     const struct facts *f)
{
    struct decide *d = &r->decide;

    if (!r->has_test || d->decision)
        return;
    if (f->seq - d->next_seq >= MAX_AHEAD ||
        (look->start_ns != INT64_MAX &&
         f->due > look->start_ns + LISTEN_TEST_NS)) {
        r->has_test = false;
        decide_fini(d);
        return;
    }
    decide_add(d, f);
}

static void settle(struct worker_state *w, const struct facts *f)
{
    if (!facts_issued(f))
        return;
    if (!w->has_last || f->issued > w->last.at) {
        w->open++;
        return;
    }
    for (size_t i = w->from; i != w->to; i = (i + 1) % SECONDS) {
        if (f->issued <= w->seconds[i].at_ns) {
            w->seconds[i].ended++;
            return;
        }
    }
}

static void add_row(struct listen_state *st, const struct run_look *look,
                    struct worker_state *w, const struct facts *f)
{
    struct recording_state *r = &st->rec;
    struct listen_variant *v = st->variants[st->variant];
    size_t class = f->class >= 0 && f->class < (int64_t)v->n_classes
                       ? (size_t)f->class
                       : 0;
    struct listen_class *c = &v->classes[class];
    bool is_good = good_is(good_limits_of(&r->good, f), f);

    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return;
    c->outcome[f->outcome] += facts_n(f);
    if (facts_issued(f))
        w->ended++;
    else
        w->unsent += facts_n(f);
    settle(w, f);
    while (f->due >= r->bins.end_ns && r->bins.end_ns < INT64_MAX / 4) {
        run_bins_widen(&r->bins);
        for (size_t k = 0; k < BINS_TIME; k++)
            r->flight[k] = k < BINS_TIME / 2
                               ? (struct bin_mean){r->flight[2 * k].sum +
                                                       r->flight[2 * k + 1].sum,
                                                   r->flight[2 * k].n +
                                                       r->flight[2 * k + 1].n}
                               : (struct bin_mean){0};
    }
    run_bins_add(&r->bins, f, is_good);
    test_add(r, look, f);
    if (f->due < look->start_ns || f->due >= look->end_ns)
        return;
    c->due += facts_n(f);
    c->good += is_good;
    add_terms_of(r, f, is_good);
    if (facts_issued(f) && f->issued >= f->due)
        hist_put(&v->lag, f->issued - f->due);
    for (int m = 0; m < LISTEN_MEASURES; m++) {
        struct listen_hist *h = &c->hist[m];
        int64_t ns = measure_value(measures[m], FROM_DUE, f);

        if (m != LISTEN_E2E && !r->is_streamed)
            continue;
        if (f->outcome != OUTCOME_OK)
            h->count[h->n] += facts_n(f);
        else if (ns != TIME_ABSENT)
            hist_put(h, ns);
    }
}

/* ---- observations ---- */

static double grown_s(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to == TIME_ABSENT || to < from
               ? 0
               : (double)(to - from) / 1e9;
}

static void close_second(struct worker_state *w, const struct observation *seen)
{
    size_t next = (w->to + 1) % SECONDS;

    if (next == w->from) { /* full: the oldest counts as settled */
        w->settled_ns = w->seconds[w->from].at_ns;
        w->from = (w->from + 1) % SECONDS;
    }
    w->seconds[w->to] = (struct worker_second){
        .at_ns = seen->at, .issued = seen->issued, .ended = w->open};
    if (w->has_last)
        w->seconds[w->to].issued -= w->last.issued;
    w->to = next;
    w->open = 0;
}

static void move_settled(struct worker_state *w)
{
    while (w->from != w->to) {
        const struct worker_second *s = &w->seconds[w->from];
        int64_t missing = s->issued - s->ended;

        if (missing > 1 && (double)missing > MISSING_SHARE * (double)s->issued)
            return;
        w->settled_ns = s->at_ns;
        w->from = (w->from + 1) % SECONDS;
    }
}

static int64_t in_flight_of(const struct worker_state *w)
{
    int64_t issued =
        w->has_last && w->last.issued > w->ended ? w->last.issued : w->ended;

    return issued - w->ended;
}

static int64_t in_flight(const struct recording_state *r)
{
    int64_t n = 0;

    for (size_t i = 0; i < RECORDING_MAX_WORKERS; i++) {
        if (r->workers[i])
            n += in_flight_of(r->workers[i]);
    }
    return n;
}

static void observe(struct listen_state *st, unsigned shard,
                    struct worker_state *w, const struct observation *seen)
{
    struct recording_state *r = &st->rec;
    struct listen_variant *v = st->variants[st->variant];
    struct observation none = {0};
    const struct observation *last = w->has_last ? &w->last : &none;
    double span_s = grown_s(last->at, seen->at);
    double lag_s = (double)seen->lag_max / 1e9;
    double wait_s = grown_s(last->cpu_wait, seen->cpu_wait);
    /* Polling is measured by the clock, so a wait for the CPU is part of it. */
    double used_s =
        grown_s(last->cpu, seen->cpu) - grown_s(last->spun, seen->spun);

    v->cpu_s += fmax(0, used_s);
    v->cpu_wait_s += wait_s;
    v->record_wait_s += grown_s(last->record_wait, seen->record_wait);
    if (shard == 0) { /* a new second: of all workers the worst counts */
        r->lag_max_s = lag_s;
        r->busiest = NAN;
    }
    r->lag_max_s = fmax(r->lag_max_s, lag_s);
    if (w->has_last && span_s > 0.2) {
        double busy = fmax(0, used_s + wait_s) / span_s;

        r->busiest = isnan(r->busiest) ? busy : fmax(r->busiest, busy);
        run_bins_observe(&r->bins, last, seen);
        if (seen->host_ticks > last->host_ticks &&
            last->host_ticks != TIME_ABSENT)
            r->steal = (double)(seen->host_steal - last->host_steal) /
                       (double)(seen->host_ticks - last->host_ticks);
    }
    close_second(w, seen);
    w->last = *seen;
    w->has_last = true;
    move_settled(w);
    if (shard == 0 && seen->at > 0 && seen->at < r->bins.end_ns) {
        size_t k = (size_t)((double)(seen->at - 1) * r->bins.per_ns);

        r->flight[k < BINS_TIME ? k : BINS_TIME - 1].sum +=
            (double)in_flight(r);
        r->flight[k < BINS_TIME ? k : BINS_TIME - 1].n++;
    }
}

/* Counters of the variant: those before this recording, and its workers. */
static void sum_workers(struct listen_state *st)
{
    struct workers_sum sum = st->before;

    for (size_t i = 0; i < RECORDING_MAX_WORKERS; i++) {
        const struct worker_state *w = st->rec.workers[i];

        if (!w)
            continue;
        sum.issued += w->ended + in_flight_of(w);
        sum.ended += w->ended;
        sum.unsent += w->has_last && w->last.unsent > w->unsent ? w->last.unsent
                                                                : w->unsent;
    }
    st->variants[st->variant]->sum = sum;
}

void listen_state_add(struct listen_state *st, const struct run_look *look)
{
    struct recording_state *r = &st->rec;
    struct worker_state *w;

    if (look->shard >= RECORDING_MAX_WORKERS)
        return;
    pthread_mutex_lock(&st->lock);
    if (!r->workers[look->shard])
        r->workers[look->shard] = xcalloc(1, sizeof(*r->workers[0]));
    w = r->workers[look->shard];
    r->bins.window = (struct window){look->start_ns, look->end_ns};
    if (r->has_test)
        decide_window(&r->decide, look->start_ns, look->end_ns);
    for (size_t i = 0; i < look->n; i++)
        add_row(st, look, w, &look->rows[i]);
    if (look->seen)
        observe(st, look->shard, w, look->seen);
    move_settled(w);
    sum_workers(st);
    pthread_mutex_unlock(&st->lock);
}

void listen_state_progress(struct listen_state *st,
                           const struct run_progress *progress)
{
    pthread_mutex_lock(&st->lock);
    st->rec.progress = *progress;
    st->rec.has_progress = true;
    pthread_mutex_unlock(&st->lock);
}

void listen_state_end(struct listen_state *st, bool is_last)
{
    pthread_mutex_lock(&st->lock);
    if (st->phase == LISTEN_RUNNING) {
        st->recordings++;
        st->variants[st->variant]->recordings++;
    }
    st->phase = is_last ? LISTEN_OVER : LISTEN_BETWEEN;
    pthread_mutex_unlock(&st->lock);
}

/* ---- the view ---- */

static double settled_s(const struct recording_state *r)
{
    int64_t ns = INT64_MAX;

    for (size_t i = 0; i < RECORDING_MAX_WORKERS; i++) {
        if (r->workers[i] && r->workers[i]->settled_ns < ns)
            ns = r->workers[i]->settled_ns;
    }
    return ns == INT64_MAX ? 0 : (double)ns / 1e9;
}

static void copy_recording(const struct recording_state *r, bool with_bins,
                           struct listen_view *v)
{
    memcpy(v->dir, r->dir, sizeof(v->dir));
    memcpy(v->title, r->title, sizeof(v->title));
    memcpy(v->load, r->load, sizeof(v->load));
    v->is_streamed = r->is_streamed;
    v->value = r->value;
    v->met = r->met;
    v->missed = r->missed;
    v->progress = r->progress;
    v->has_progress = r->has_progress;
    memcpy(v->terms, r->terms, sizeof(v->terms));
    v->n_terms = r->n_terms;
    v->has_test = r->has_test;
    v->decision = r->decide.decision;
    memcpy(v->why, r->decide.why, sizeof(v->why));
    v->lag_max_s = r->lag_max_s;
    v->busiest = r->busiest;
    v->steal = r->steal;
    v->in_flight = in_flight(r);
    v->settled_s = settled_s(r);
    for (size_t i = 0; i < RECORDING_MAX_WORKERS; i++) {
        if (r->workers[i])
            v->connections += r->workers[i]->last.connections;
    }
    if (!with_bins)
        return;
    v->has_bins = true;
    run_bins_copy_until(&v->bins, &r->bins, (int64_t)(v->settled_s * 1e9));
    for (size_t k = 0; k < BINS_TIME; k++)
        v->bins.in_flight[k] =
            r->flight[k].n > 0 ? r->flight[k].sum / (double)r->flight[k].n : -1;
}

void listen_state_view(struct listen_state *st, bool with_bins,
                       struct listen_view *v)
{
    *v = (struct listen_view){.value = NAN,
                              .met = NAN,
                              .missed = NAN,
                              .lag_max_s = NAN,
                              .busiest = NAN,
                              .steal = NAN};
    pthread_mutex_lock(&st->lock);
    v->phase = st->phase;
    v->recordings = st->recordings;
    v->variant = st->variant;
    v->n_variants = st->n_variants;
    memcpy(v->run, st->run, sizeof(v->run));
    v->variants = xcalloc(st->n_variants + 1, sizeof(*v->variants));
    for (size_t i = 0; i < st->n_variants; i++)
        v->variants[i] = *st->variants[i];
    if (st->has_recording)
        copy_recording(&st->rec, with_bins, v);
    pthread_mutex_unlock(&st->lock);
    if (v->has_bins)
        run_bins_take_quantiles(&v->bins);
}

void listen_view_fini(struct listen_view *v)
{
    free(v->variants);
    if (v->has_bins)
        run_bins_fini(&v->bins);
    *v = (struct listen_view){0};
}

struct listen_state *listen_state_new(const char *run)
{
    struct listen_state *st = xcalloc(1, sizeof(*st));

    pthread_mutex_init(&st->lock, NULL);
    keep_label(st->run, run);
    return st;
}

void listen_state_free(struct listen_state *st)
{
    if (!st)
        return;
    free_recording(st);
    for (size_t i = 0; i < st->n_variants; i++)
        free(st->variants[i]);
    pthread_mutex_destroy(&st->lock);
    free(st);
}
