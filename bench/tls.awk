# Tables of bench/tls, after median.awk.  Lines: server round client requests seconds
# client-CPU-seconds server-CPU-seconds.  Medians over the rounds; a ratio is
# taken within each round, then the median of those, with its interval.
# ratios: "client other figure goal;...", the figure being rate or per_cpu, the
# goal a minimum ratio, or nothing.
function all(figure, client,    r, text) {
    for (r = 1; r <= rounds; r++) text = text " " value[figure, client, r]
    return text
}

function against(client, other, figure, goal,    r, text, m, verdict) {
    for (r = 1; r <= rounds; r++)
        text = text sprintf(" %.2f", value[figure, client, r] / value[figure, other, r])
    m = median(text)
    if (goal != "") verdict = sprintf("goal >= %-4s %s", goal, m >= goal + 0 ? "met" : "missed")
    printf "%-21s  %-9s / %-12s %6.2f %-14s  %-20s  rounds%s\n",
        figure == "rate" ? "requests per second" : "requests per CPU second", client, other, m, median_range(text), verdict, text
}

$1 == server {
    if (!($3 in seen)) order[++clients] = $3
    seen[$3] = 1
    if ($2 > rounds) rounds = $2
    value["rate", $3, $2] = $4 / $5
    value["per_cpu", $3, $2] = $4 / $6
    value["cost", $3, $2] = $6 * 1e6 / $4
    value["busy", $3, $2] = $7 / $5 * 100
}

END {
    printf "%-14s %12s %15s %15s %12s\n", "medians", "requests/s", "requests/CPU s", "CPU us/request", "server busy"
    for (i = 1; i <= clients; i++) {
        c = order[i]
        printf "%-14s %12.0f %15.0f %15.2f %10.0f %%\n", c, median(all("rate", c)), median(all("per_cpu", c)),
            median(all("cost", c)), median(all("busy", c))
    }
    print ""
    n = split(ratios, list, ";")
    for (i = 1; i <= n; i++) {
        split(list[i], w, " ")
        against(w[1], w[2], w[3], w[4])
    }
}
