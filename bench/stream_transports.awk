# The ratios of the part `transports` of bench/streams, after median.awk.  Lines:
# way, microseconds of CPU per event, share of events read with the one before;
# plain comes first in each round.
{
    if ($1 == "plain") {
        rounds++
        plain = $2
    } else {
        if (!($1 in ratios)) order[++ways] = $1
        ratios[$1] = ratios[$1] " " $2 / plain
    }
    together[$1] = together[$1] " " $3 * 100
}

END {
    print "CPU per event against plain HTTP/1.1, one event per read, " rounds " rounds"
    for (i = 1; i <= ways; i++) {
        w = order[i]
        m = median(ratios[w])
        printf "%-4s %.2f %s  goal <= 1.5 %s; events read together with the one before: %.0f %%, plain %.0f %%\n",
            w, m, median_range(ratios[w]), m <= 1.5 ? "met" : "missed", median(together[w]), median(together["plain"])
    }
}
