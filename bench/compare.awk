# Tables of bench/compare, after median.awk.  Lines: server round client requests seconds
# client-CPU-seconds server-CPU-seconds.  Medians over the rounds; a ratio is
# taken within each round, then the median of those.

# The rounds of one figure of one client, as text.
function all(figure, client,    r, text) {
    for (r = 1; r <= rounds; r++) text = text " " figure[client, r]
    return text
}

function ratios(figure, other,    r, text) {
    for (r = 1; r <= rounds; r++)
        text = text sprintf(" %.2f", figure["tailgate", r] / figure[other, r])
    return text
}

# against(<figure> <its name> <other client> <">=" or "<="> <goal, or "">)
function against(figure, name, other, sense, goal,    text, m, verdict) {
    if (!((other, 1) in rate)) return
    text = ratios(figure, other)
    m = median(text)
    if (goal != "")
        verdict = sprintf("goal %s %-5s %s", sense, goal,
            (sense == ">=" ? m >= goal + 0 : m <= goal + 0) ? "met" : "missed")
    printf "%-24s / %-15s %6.2f   %-20s  rounds%s\n", name, other, m, verdict, text
}

$1 == server {
    if (!($3 in seen)) order[++clients] = $3
    seen[$3] = 1
    if ($2 > rounds) rounds = $2
    rate[$3, $2] = $4 / $5
    per_cpu[$3, $2] = $4 / $6
    cost[$3, $2] = $6 * 1e6 / $4
    client_busy[$3, $2] = $6 / $5 * 100
    busy[$3, $2] = $7 / $5 * 100
}

END {
    printf "%-16s %12s %15s %15s %12s %12s\n", "medians", "requests/s", "requests/CPU s", "CPU us/request",
        "client busy", "server busy"
    for (i = 1; i <= clients; i++) {
        c = order[i]
        printf "%-16s %12.0f %15.0f %15.2f %10.0f %% %10.0f %%\n", c, median(all(rate, c)), median(all(per_cpu, c)),
            median(all(cost, c)), median(all(client_busy, c)), median(all(busy, c))
    }
    print "\ntailgate compared with the others, medians of the ratios of each round"
    against(per_cpu, "requests per CPU second", "wrk", ">=", "1.0")
    against(per_cpu, "requests per CPU second", "h2load", ">=", "1.1")
    against(per_cpu, "requests per CPU second", "hey", ">=", "5")
    against(rate, "requests per second", "wrk", ">=", "1.0")
    against(cost, "CPU per request", "floor_epoll", "<=", "1.35")
    against(cost, "CPU per request", "floor_libevent", "", "")
    if (("wrk", 1) in rate && (median(all(busy, "wrk")) > 95 || median(all(busy, "tailgate")) > 95))
        print "The server limited the requests per second: that ratio says little about the clients."
}
