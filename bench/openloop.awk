# Table of bench/openloop, after median.awk.  Lines, split by tabs: row, offered,
# lag p50 and p99 in ms, measured minus truth with its unit, failed checks, steal.

# "56.6us" in microseconds.
function microseconds(text) {
    if (text ~ /ns$/) return text / 1000
    if (text ~ /us$/) return text + 0
    if (text ~ /ms$/) return text * 1000
    return text * 1e6
}

# A median in microseconds, if there is one.
function show(text) { return text == "" ? "-" : sprintf("%.1f us", median(text)) }

{
    if (!($1 in n)) order[++rows] = $1
    n[$1]++
    offered[$1] = offered[$1] " " $2
    if ($3 != "-") lag50[$1] = lag50[$1] " " $3 * 1000
    if ($4 != "-") lag99[$1] = lag99[$1] " " $4 * 1000
    if ($5 != "-") over[$1] = over[$1] " " microseconds($5)
    if ($7 != "-") steal[$1] = steal[$1] " " $7
    passed[$1] += $6 == "none"
    k = $6 == "none" ? 0 : split($6, names, ", ")
    for (i = 1; i <= k; i++) {
        if (!(($1, names[i]) in failed)) checks[$1] = checks[$1] "\t" names[i]
        failed[$1, names[i]]++
    }
}

END {
    form = "%-20s %10s %12s %12s %18s %7s %8s   %s\n"
    printf form, "open loop, Poisson", "offered/s", "lag p50", "lag p99", "measured - truth", "steal", "passed",
        "checks that failed"
    for (r = 1; r <= rows; r++) {
        row = order[r]
        k = split(substr(checks[row], 2), names, "\t")
        text = ""
        for (i = 1; i <= k; i++)
            text = text (i > 1 ? ", " : "") names[i] " (" failed[row, names[i]] " of " n[row] ")"
        printf form, row, sprintf("%.0f", median(offered[row])), show(lag50[row]), show(lag99[row]),
            show(over[row]), steal[row] == "" ? "-" : sprintf("%.1f %%", median(steal[row])),
            passed[row] " of " n[row], text == "" ? "none" : text
    }
}
