#include "common/base/memory_budget.h"

#include <stdatomic.h>

static _Atomic int64_t max = INT64_MAX;
static _Atomic int64_t taken;

void budget_set(int64_t bytes)
{
    atomic_store_explicit(&max, bytes, memory_order_relaxed);
}

bool budget_take(int64_t bytes)
{
    int64_t sum =
        atomic_fetch_add_explicit(&taken, bytes, memory_order_relaxed) + bytes;

    if (sum <= atomic_load_explicit(&max, memory_order_relaxed))
        return true;
    budget_give(bytes);
    return false;
}

void budget_give(int64_t bytes)
{
    atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed);
}

bool budget_is_tight(void)
{
    return atomic_load_explicit(&taken, memory_order_relaxed) >
           atomic_load_explicit(&max, memory_order_relaxed) / 2;
}
