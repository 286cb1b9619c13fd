#include "loadgen/engine/watch.h"

#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/window_limits.h"

/* How far all workers are together, as each has last told. */
static void take_shards(const struct watch *w, struct run_look *look)
{
    for (int i = 0; i < w->n_shards; i++) {
        const struct watch_shard *s = &w->shards[i];

        if (i == 0 || s->at_ns < look->followed_ns)
            look->followed_ns = s->at_ns;
        if (s->at_ns > look->issued_ns)
            look->issued_ns = s->at_ns;
        look->issued += s->issued;
    }
    if (look->followed_ns == 0) {
        look->issued = 0;
        look->issued_ns = 0;
    }
}

static void ask_judge(struct watch *w, const struct facts *rows, size_t n)
{
    const struct run_judge *judge = w->options->judge;
    struct run_look look = {.start_ns = phases_start_ns(w->phases),
                            .end_ns = phases_end_ns(w->phases),
                            .rows = rows,
                            .n = n};

    if (!judge || atomic_load(&w->is_enough))
        return;
    take_shards(w, &look);
    if (judge->is_enough(judge->arg, &look))
        atomic_store(&w->is_enough, true);
}

/* In the recorder's thread. */
static void on_rows(void *arg, unsigned shard, const struct facts *rows,
                    size_t n, const struct observation *seen)
{
    struct watch *w = arg;

    progress_add(w->progress, shard, rows, n, seen);
    if (seen)
        w->shards[shard] = (struct watch_shard){seen->at, seen->issued};
    ask_judge(w, rows, n);
    if (!w->decide.slo)
        return;
    decide_window(&w->decide, phases_start_ns(w->phases),
                  phases_end_ns(w->phases));
    for (size_t i = 0; i < n; i++)
        decide_add(&w->decide, &rows[i]);
    if (w->decide.decision)
        atomic_store(&w->is_decided, true);
}

int watch_init(struct watch *w, const struct settings *settings,
               const struct run_options *options, const struct phases *phases,
               struct recorder *recorder, struct err *err)
{
    const char *abort_on = settings->load.abort_on;
    struct abort_rule rule;

    *w = (struct watch){.options = options,
                        .phases = phases,
                        .next_show_ns = RUN_PROGRESS_NS,
                        .next_second_ns = NS_PER_S};
    if (!abort_on && !options->progress && !options->judge &&
        settings->load.stop == STOP_END)
        return 0;
    if (abort_on && abort_parse(abort_on, &rule, err))
        return -1;
    if (settings->load.stop == STOP_DECIDED &&
        (slo_parse(&settings->slo, &w->slo, err) ||
         decide_init(&w->decide, &w->slo, phases_start_ns(phases), err)))
        return -1;
    if (progress_new(&w->progress, settings, phases,
                     recorder_n_shards(recorder), err))
        return -1;
    w->n_shards = recorder_n_shards(recorder);
    w->shards = xcalloc((size_t)w->n_shards, sizeof(*w->shards));
    if (abort_on)
        abort_window_init(&w->window, &rule);
    recorder_watch(recorder, (struct watcher){on_rows, w});
    return 0;
}

void watch_fini(struct watch *w)
{
    progress_free(w->progress);
    free(w->shards);
    abort_window_fini(&w->window);
    decide_fini(&w->decide);
    *w = (struct watch){0};
}

/* Those that were never sent, or still in flight when the run was cut, did not
 * end. */
static bool is_end(int outcome)
{
    return outcome != OUTCOME_UNSENT && outcome != OUTCOME_UNFINISHED;
}

static struct abort_counts counts_of(const struct run_progress *p)
{
    struct abort_counts c = {0};

    for (int o = 0; o < OUTCOME_COUNT; o++)
        c.ended += is_end(o) ? p->outcome[o] : 0;
    c.failed = c.ended - p->outcome[OUTCOME_OK];
    return c;
}

/* A second is over. */
static bool is_to_abort(struct watch *w, const struct run_progress *p)
{
    struct abort_finding found;

    if (!w->window.ring || w->why[0])
        return false;
    found = abort_window_add(&w->window, counts_of(p));
    if (found.is_exceeded)
        abort_describe(&w->window.rule, &found, w->why);
    return found.is_exceeded;
}

bool watch_look(struct watch *w, int64_t at_ns)
{
    struct run_progress p;
    bool shows = w->options->progress && at_ns >= w->next_show_ns;
    bool is_second_over = at_ns >= w->next_second_ns;

    if (atomic_load(&w->is_decided) || atomic_load(&w->is_enough))
        return true;
    if (!w->progress || !(shows || is_second_over))
        return false;
    progress_read(w->progress, at_ns, &p);
    if (shows) {
        w->options->progress(w->options->arg, &p);
        w->next_show_ns = at_ns + RUN_PROGRESS_NS;
    }
    if (!is_second_over)
        return false;
    while (w->next_second_ns <= at_ns)
        w->next_second_ns += NS_PER_S;
    return is_to_abort(w, &p);
}
