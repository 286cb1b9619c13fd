# Table of bench/streams, after median.awk.  Lines, split by tabs: client,
# events, CPU seconds; the clients of a round follow each other.
{
    if (!($1 in n)) order[++clients] = $1
    n[$1]++
    cost[$1, n[$1]] = $3 / $2 * 1e6
    costs[$1] = costs[$1] " " $3 / $2 * 1e6
}

# The median of the ratios of each round, or nothing.
function ratio(a, b,    i, all) {
    for (i = 1; i <= n[a]; i++)
        if ((b, i) in cost) all = all " " cost[a, i] / cost[b, i]
    return all == "" ? "" : median(all)
}

END {
    print title
    for (c = 1; c <= clients; c++)
        printf "%-12s %8.3f us of CPU per event, %9.0f events per CPU second\n", order[c],
            median(costs[order[c]]), 1e6 / median(costs[order[c]])
    printf "tailgate / floor_sse %.2f\n", ratio("tailgate", "floor_sse")
    if ("aiohttp" in n) printf "tailgate / aiohttp   %.2f\n", ratio("tailgate", "aiohttp")
}
