#include "analyzer/compare/compare_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/matched.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/spec/slo.h"

/* ---- what there is ---- */

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct history_point *)a)->dir,
                  ((const struct history_point *)b)->dir);
}

/* Those that began at the same time stay in the order of their names. */
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

static int list_dirs(struct history *h, const char *dir, struct err *err)
{
    struct strlist names = {0};

    if (file_list_dir(dir, is_visible, &names, err)) {
        err->code = ERR_CONFIG; /* the user named the directory */
        return -1;
    }
    for (size_t i = 0; i < names.len; i++) {
        char *path = xasprintf("%s/%s", dir, names.items[i]);

        if (!is_dir(path)) {
            free(path);
            continue;
        }
        h->points = xrealloc(h->points, h->n + 1, sizeof(*h->points));
        h->points[h->n++] = (struct history_point){.dir = path};
    }
    strlist_fini(&names);
    if (h->n > 0)
        qsort(h->points, h->n, sizeof(*h->points), by_name);
    return 0;
}

static void leave_out(struct history_point *p, const char *why)
{
    snprintf(p->why, sizeof(p->why), "%s", why);
}

/* When each began; what cannot be read is left out.  They are looked at again
 * when it is known what for. */
static void read_times(struct history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        struct history_point *p = &h->points[i];
        struct err err = {0};

        if (side_started(p->dir, &p->started_ns, &err))
            leave_out(p, err.msg);
    }
    if (h->n > 0)
        qsort(h->points, h->n, sizeof(*h->points), by_time);
}

/* NULL if none can be read. */
static struct history_point *newest_of(struct history *h)
{
    for (size_t i = h->n; i > 0; i--) {
        if (!h->points[i - 1].why[0])
            return &h->points[i - 1];
    }
    return NULL;
}

/* ---- what is used of it ---- */

static void leave_out_other(struct history_point *p,
                            const struct differences *d)
{
    const struct difference *x = &d->list[0];
    char more[40] = "";

    if (d->must > 1)
        snprintf(more, sizeof(more), ", and %zu more", d->must - 1);
    snprintf(p->why, sizeof(p->why),
             "other conditions: %.40s %.60s, not %.60s%s", x->key, x->b, x->a,
             more);
}

static void leave_out_untrusted(struct history_point *p,
                                const struct side *side)
{
    const struct run_card *obstacle = side_obstacle(side);

    leave_out(p, obstacle->why);
}

static void use(struct history_point *p, const struct side *side)
{
    if (!side_value(side, 0, &p->value))
        leave_out(p, "n too small, or not measured");
    else if (!isfinite(p->value))
        leave_out(p, "the percentile falls among the failures");
    else
        p->is_used = true;
}

static void take_point(struct history_point *p, const struct side *side,
                       const struct strmap *reference, bool ignores_slo)
{
    const struct match match = {.ignores_slo = ignores_slo, .is_must = true};
    struct differences d = {0};

    for (size_t i = 0; i < side->n; i++)
        matched_find(&d, reference, &side->runs[i].card, &match);
    if (d.must > 0)
        leave_out_other(p, &d);
    else if (side_obstacle(side))
        leave_out_untrusted(p, side);
    else
        use(p, side);
    differences_fini(&d);
}

static void take_points(struct history *h, const struct side *newest,
                        const struct side_ask *each)
{
    const struct strmap *reference = &newest->runs[0].card;

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

static void find_segments(struct history *h)
{
    double *x = xcalloc(h->used + 1, sizeof(*x));
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (h->points[i].is_used)
            x[n++] = h->points[i].value;
    }
    segments_find(&h->segments, x, n);
    free(x);
}

static void mark_segments(struct history *h)
{
    size_t at = 0;
    size_t segment = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (!h->points[i].is_used)
            continue;
        if (segment + 1 < h->segments.len &&
            h->segments.list[segment + 1].first == at)
            segment++;
        h->points[i].segment = segment;
        at++;
    }
}

static bool has_file(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    bool is_there = access(path, F_OK) == 0;

    free(path);
    return is_there;
}

/* Is there one that cannot be read, and may be newer than all that can?  What
 * has neither of these is no recording, and no set of them. */
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
    bool more_is_better = quantity_more_is_better(&h->quantity);

    h->answer = HISTORY_CANNOT_TELL;
    if (!newest->is_used) {
        h->why = "the newest recording is left out";
        return;
    }
    if (has_unknown(h)) {
        h->why = "one that cannot be read may be the newest";
        return;
    }
    if (h->segments.len == 0) {
        h->why = "n too small: at least 10 recordings of these conditions";
        return;
    }
    h->loss = segments_loss(&h->segments, more_is_better);
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

    if (!newest)
        return err_set(err, ERR_CONFIG, "%s: no recording below it%s%.200s",
                       ask->dir, h->n > 0 ? "; " : "",
                       h->n > 0 ? h->points[0].why : "");
    if (side_slo(newest->dir, ask->slo, &slo, err) ||
        quantities_make(&qs, ask->on, &slo, err))
        return -1;
    qs.len = qs.asked = 1;
    h->quantity = qs.list[0];
    if (side_load(&side, newest->dir, &each, err))
        return -1;
    h->load = xstrdup(side.runs[0].load);
    take_points(h, &side, &each);
    side_fini(&side);
    find_segments(h);
    mark_segments(h);
    conclude(h, newest);
    return 0;
}

int history_make(struct history *h, const struct history_ask *ask,
                 struct err *err)
{
    *h = (struct history){.regression = ask->regression};
    if (list_dirs(h, ask->dir, err) == 0) {
        read_times(h);
        if (make_all(h, ask, err) == 0)
            return 0;
    }
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
        return CONCLUSION_OPEN;
    return h->answer == HISTORY_WORSE ? CONCLUSION_NO : CONCLUSION_YES;
}
