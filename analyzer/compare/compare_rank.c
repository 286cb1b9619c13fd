#include "analyzer/compare/compare_rank.h"

static bool goes_before(const struct placed *a, const struct placed *b,
                        bool more_is_better)
{
    if (a->has_value != b->has_value)
        return a->has_value;
    return more_is_better ? a->value > b->value : a->value < b->value;
}

/* There are few: insertion. */
void rank_sort(struct placed *list, size_t n, bool more_is_better)
{
    for (size_t i = 1; i < n; i++) {
        struct placed x = list[i];
        size_t k = i;

        for (; k > 0 && goes_before(&x, &list[k - 1], more_is_better); k--)
            list[k] = list[k - 1];
        list[k] = x;
    }
}

void rank_group(struct placed *list, size_t n,
                const enum finding_verdict *verdicts)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++) {
        const enum finding_verdict *of_first = &verdicts[list[first].side * n];

        if (!list[i].has_value) {
            list[i].rank = 0;
            continue;
        }
        if (i > 0 && of_first[list[i].side] == FINDING_WORSE)
            first = i;
        list[i].rank = first + 1;
    }
}
