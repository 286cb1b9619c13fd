#include "loadgen/source.h"

#include "common/settings.h"

const struct source_ops *source_for(const struct load_settings *load)
{
    if (load->scenario == SCENARIO_OFFLINE)
        return &source_offline;
    return scenario_is_open(load->scenario) ? &source_open : &source_closed;
}
