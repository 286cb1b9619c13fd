#include "analyzer/compare/compare_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/matched.h"
#include "analyzer/stats/change_points.h"
#include "analyzer/stats/order_stats.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/spec/slo.h"

#define PERMUTATIONS 999
#define MIN_RUNS     3 /* per segment: one odd run is not a change */

/* ---- the recordings ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct history_point *)a)->dir,
                  ((const struct history_point *)b)->dir);
}

static int by_time(const void *a, const void *b)
{
    const struct history_point *x = a;
    const struct history_point *y = b;

    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? -1 : 1;
    return by_name(a, b);
}

static bool is_visible(const char *name)
{
    return name[0] != '.';
}

static void leave_out(struct history_point *p, const char *why)
{
    snprintf(p->why, sizeof(p->why), "%s", why);
}

/* The subdirectories in the order in which they began.  Those that cannot be
 * read are left out.  The recordings are read again later, when the quantity is
 * known. */
static int list_points(struct history *h, const char *dir, struct err *err)
{
    struct strlist names = {0};

    if (file_list_dir(dir, is_visible, &names, err)) {
        err->code = ERR_CONFIG; /* the user named the directory */
        return -1;
    }
    for (size_t i = 0; i < names.len; i++) {
        char *path = xasprintf("%s/%s", dir, names.items[i]);
        struct err unreadable = {0};
        struct history_point *p;
        struct stat st;

        if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
            free(path);
            continue;
        }
        h->points = xrealloc(h->points, h->n + 1, sizeof(*h->points));
        p = &h->points[h->n++];
        *p = (struct history_point){.dir = path};
        if (side_started(p->dir, &p->started_ns, &unreadable))
            leave_out(p, unreadable.msg);
    }
    strlist_fini(&names);
    if (h->n > 0)
        qsort(h->points, h->n, sizeof(*h->points), by_time);
    return 0;
}

/* NULL if no recording can be read. */
static struct history_point *newest_of(struct history *h)
{
    for (size_t i = h->n; i > 0; i--) {
        if (!h->points[i - 1].why[0])
            return &h->points[i - 1];
    }
    return NULL;
}

/* ---- which are used ---- */

static void take_point(struct history_point *p, const struct side *side,
                       const struct strmap *reference, bool ignores_slo)
{
    const struct match match = {.ignores_slo = ignores_slo, .is_must = true};
    const struct compared_run *obstacle = side_obstacle(side);
    struct differences d = {0};
    char more[40] = "";

    for (size_t i = 0; i < side->n; i++)
        matched_find(&d, reference, &side->runs[i].conditions, &match);
    if (d.must > 1)
        snprintf(more, sizeof(more), ", and %zu more", d.must - 1);
    if (d.must > 0)
        snprintf(p->why, sizeof(p->why),
                 "other conditions: %.40s %.60s, not %.60s%s", d.list[0].key,
                 d.list[0].b, d.list[0].a, more);
    else if (obstacle)
        leave_out(p, obstacle->why);
    else if (!side_value(side, 0, &p->value))
        leave_out(p, "n too small, or not measured");
    else if (!isfinite(p->value))
        leave_out(p, "the percentile falls among the failures");
    else
        p->is_used = true;
    differences_fini(&d);
}

static void take_points(struct history *h, const struct side *newest,
                        const struct side_ask *each)
{
    const struct strmap *reference = &newest->runs[0].conditions;

    for (size_t i = 0; i < h->n; i++) {
        struct history_point *p = &h->points[i];
        struct err err = {0};
        struct side side;

        if (p->why[0])
            continue;
        if (side_load(&side, p->dir, each, &err)) {
            leave_out(p, err.msg);
            continue;
        }
        take_point(p, &side, reference, each->slo != NULL);
        h->used += p->is_used;
        side_fini(&side);
    }
}

/* ---- where it changes ---- */

void segments_find(struct segments *s, const double *x, size_t n)
{
    struct rng rng = rng_stream(1, RNG_COMPARE);
    const struct changes rule = {.level = SEGMENTS_LEVEL,
                                 .permutations = PERMUTATIONS,
                                 .min_len = MIN_RUNS,
                                 .rng = &rng};
    struct change found[SEGMENTS_MAX - 1];
    double *scratch;
    size_t first = 0;
    double p = 1;
    size_t k;

    *s = (struct segments){0};
    if (n < SEGMENTS_MIN)
        return;
    scratch = xcalloc(n, sizeof(*scratch));
    k = changes_find(&rule, x, n, found, SEGMENTS_MAX - 1, scratch);
    for (size_t i = 0; i <= k; i++) {
        size_t end = i < k ? found[i].at : n;
        size_t len = end - first;

        memcpy(scratch, x + first, len * sizeof(*x));
        s->list[s->len++] = (struct segment){
            .first = first,
            .n = len,
            .median = order_median(scratch, len),
            .p = p,
        };
        first = end;
        p = i < k ? found[i].p : 1;
    }
    free(scratch);
}

double segments_loss(const struct segments *s, bool more_is_better)
{
    double before;
    double rise;

    if (s->len < 2)
        return 0;
    before = s->list[s->len - 2].median;
    rise = s->list[s->len - 1].median - before;
    if (before != 0)
        rise /= fabs(before);
    return more_is_better ? -rise : rise;
}

static void find_segments(struct history *h)
{
    double *x = xcalloc(h->used + 1, sizeof(*x));
    size_t segment = 0;
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (h->points[i].is_used)
            x[n++] = h->points[i].value;
    }
    segments_find(&h->segments, x, n);
    free(x);
    n = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (!h->points[i].is_used)
            continue;
        if (segment + 1 < h->segments.len &&
            h->segments.list[segment + 1].first == n)
            segment++;
        h->points[i].segment = segment;
        n++;
    }
}

static bool has_file(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    bool is_present = access(path, F_OK) == 0;

    free(path);
    return is_present;
}

/* Is there an unreadable recording that may be newer than all readable ones?
 * Directories with neither of these files are not recordings. */
static bool has_unknown(const struct history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct history_point *p = &h->points[i];

        if (p->started_ns == 0 && (has_file(p->dir, "manifest.json") ||
                                   has_file(p->dir, "study.json")))
            return true;
    }
    return false;
}

static void conclude(struct history *h, const struct history_point *newest)
{
    h->answer = HISTORY_CANNOT_TELL;
    if (!newest->is_used)
        h->why = "the newest recording cannot be used";
    else if (has_unknown(h))
        h->why = "a recording that cannot be read may be the newest";
    else if (h->segments.len == 0)
        h->why = "n too small: at least 10 recordings under these conditions "
                 "are needed";
    if (h->why)
        return;
    h->loss =
        segments_loss(&h->segments, quantity_more_is_better(&h->quantity));
    if (h->loss > fmax(0, h->regression))
        h->answer = HISTORY_WORSE;
    else
        h->answer = h->loss < 0 ? HISTORY_BETTER : HISTORY_NO_CHANGE;
}

/* ---- all of it ---- */

static int make_all(struct history *h, const struct history_ask *ask,
                    struct err *err)
{
    const struct history_point *newest = newest_of(h);
    struct quantities qs;
    const struct side_ask each = {
        .qs = &qs, .slo = ask->slo, .cost = ask->cost};
    struct side side;
    struct slo slo;
    bool is_open_loop;

    if (!newest)
        return err_set(err, ERR_CONFIG, "%s: contains no recording%s%.200s",
                       ask->dir, h->n > 0 ? "; " : "",
                       h->n > 0 ? h->points[0].why : "");
    if (side_slo(newest->dir, ask->slo, &slo, &is_open_loop, err) ||
        quantities_make(&qs, ask->on, &slo, is_open_loop, err))
        return -1;
    qs.len = qs.asked = 1;
    h->quantity = qs.list[0];
    if (side_load(&side, newest->dir, &each, err))
        return -1;
    h->load = xstrdup(side.runs[0].load);
    take_points(h, &side, &each);
    side_fini(&side);
    find_segments(h);
    conclude(h, newest);
    return 0;
}

int history_make(struct history *h, const struct history_ask *ask,
                 struct err *err)
{
    *h = (struct history){.regression = ask->regression};
    if (list_points(h, ask->dir, err) == 0 && make_all(h, ask, err) == 0)
        return 0;
    history_fini(h);
    return -1;
}

void history_fini(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->points[i].dir);
    free(h->points);
    free(h->load);
    *h = (struct history){0};
}

enum conclusion history_conclusion(const struct history *h)
{
    if (h->answer == HISTORY_CANNOT_TELL)
        return CONCLUSION_UNDECIDED;
    return h->answer == HISTORY_WORSE ? CONCLUSION_NO : CONCLUSION_YES;
}
