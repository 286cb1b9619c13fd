# The ratios of bench/https, after median.awk.  Lines: kind round client
# microseconds.  A ratio is taken within each round, then the median of those,
# with its interval.
{
    if ($2 > rounds) rounds = $2
    if ($3 != "tailgate" && !($3 in seen)) order[++clients] = $3
    seen[$3] = 1
    cost[$3, $2] = $4
}

END {
    for (i = 1; i <= clients; i++) {
        c = order[i]
        is_floor = c ~ /^floor/
        text = ""
        for (r = 1; r <= rounds; r++)
            text = text sprintf(" %.2f", is_floor ? cost["tailgate", r] / cost[c, r] : cost[c, r] / cost["tailgate", r])
        goal = is_floor ? (kind == "plain" ? 1.15 : 1.3) : kind == "plain" ? 1.05 : kind == "https" ? 1.0 : 0.9
        m = median(text)
        printf "%-24s / %-13s %6.2f %-14s  goal %s %-5s %s\n",
            is_floor ? "CPU per request" : "requests per CPU second", c, m, median_range(text),
            is_floor ? "<=" : ">=", goal, (is_floor ? m <= goal : m >= goal) ? "met" : "missed"
    }
}
