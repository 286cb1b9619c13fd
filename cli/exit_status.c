#include "cli/exit_status.h"

#include "analyzer/studies/trials.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/stop.h"

int exit_status_of(enum conclusion conclusion, int64_t stopped_by)
{
    static const int status[] = {
        [CONCLUSION_YES] = EXIT_YES,
        [CONCLUSION_UNDECIDED] = EXIT_INVALID,
        [CONCLUSION_NO] = EXIT_NO,
        [CONCLUSION_INVALID] = EXIT_INVALID,
        [CONCLUSION_FAILED] = EXIT_CANNOT,
    };

    if (stopped_by && conclusion != CONCLUSION_FAILED)
        return EXIT_SIGNAL + (int)stopped_by;
    return status[conclusion];
}

int exit_status_of_error(const struct err *err)
{
    if (err->code == ERR_STOPPED)
        return EXIT_SIGNAL + atomic_load(&stop_signal);
    if (err->code == ERR_UNTOLD)
        return EXIT_INVALID;
    return err->code == ERR_USAGE || err->code == ERR_CONFIG ? EXIT_USAGE
                                                             : EXIT_CANNOT;
}

int exit_status_of_run(const struct summary *s)
{
    return exit_status_of(summary_conclusion(s), s->stopped_by);
}

int exit_status_of_trials(const struct trials_summary *s)
{
    return exit_status_of(trials_conclusion(s), s->stopped_by);
}
