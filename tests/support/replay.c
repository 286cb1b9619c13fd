#include "tests/support/replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/tmpdir.h"

struct load_settings replay_of(const char *text)
{
    const char *path = tmpdir_write("trace", text, strlen(text));

    return (struct load_settings){
        .scenario = SCENARIO_TRACE,
        .seed = 1,
        .trace = {.file = xstrdup(path), .format = TRACE_CSV, .time_scale = 1}};
}

void replay_forget(struct load_settings *load)
{
    free(load->trace.file);
}
