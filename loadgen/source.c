#include "loadgen/source.h"

#include "common/settings.h"

const struct source_ops *source_for(const struct load_settings *load)
{
    return load->scenario == SCENARIO_CLOSED ? &source_closed : &source_open;
}
