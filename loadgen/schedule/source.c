#include "loadgen/schedule/source.h"

#include "common/settings/settings.h"

const struct source_ops *source_for(const struct load_settings *load)
{
    switch (load->scenario) {
    case SCENARIO_OFFLINE:
        return &source_offline;
    case SCENARIO_TRACE:
        return &source_trace;
    case SCENARIO_SESSIONS:
        return &source_session;
    default:
        return scenario_is_open(load->scenario) ? &source_open : &source_closed;
    }
}
