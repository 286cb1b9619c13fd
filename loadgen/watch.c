#include "loadgen/watch.h"

#include "common/clk.h"
#include "common/err.h"
#include "common/settings.h"
#include "loadgen/recorder.h"
#include "loadgen/run.h"

int watch_init(struct watch *w, const struct settings *settings,
               const struct run_options *options, struct recorder *recorder,
               struct err *err)
{
    *w = (struct watch){.options = options, .next_show_ns = RUN_PROGRESS_NS};
    if (!options->progress)
        return 0;
    if (progress_new(&w->progress, settings, recorder_n_shards(recorder), err))
        return -1;
    recorder_watch(recorder, (struct watcher){progress_add, w->progress});
    return 0;
}

void watch_fini(struct watch *w)
{
    progress_free(w->progress);
    *w = (struct watch){0};
}

void watch_look(struct watch *w, int64_t at_ns)
{
    struct run_progress p;

    if (!w->progress || at_ns < w->next_show_ns)
        return;
    progress_read(w->progress, at_ns, &p);
    w->options->progress(w->options->arg, &p);
    w->next_show_ns = at_ns + RUN_PROGRESS_NS;
}
