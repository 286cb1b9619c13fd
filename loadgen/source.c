#include "loadgen/source.h"

#include "common/settings.h"

const struct source_ops *source_for(const struct load_settings *load)
{
    switch (load->scenario) {
    case SCENARIO_CLOSED:
        return &source_closed;
    case SCENARIO_TRACE:
        return &source_trace;
    default:
        return &source_open;
    }
}
