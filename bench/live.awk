# The ratios of bench/live, after median.awk.  Lines: round kind requests-per-CPU-
# second lag-p50 lag-p99.  The median of the ratios of the rounds, with its
# interval (95 %), against 0.97 to 1.03.
{
    if ($1 > rounds) rounds = $1
    for (i = 1; i <= 3; i++) figure[$1, $2, i] = $(2 + i)
}

END {
    split("requests per CPU second|lag p50|lag p99", names, "|")
    for (i = 1; i <= 3; i++) {
        text = ""
        for (r = 1; r <= rounds; r++)
            text = text sprintf(" %.4f", figure[r, "watched", i] / figure[r, "alone", i])
        n = sorted(text, v)
        range = median_range(text)
        split(range, ends, /[()]| to /)
        within = range != "" && ends[2] >= 0.97 && ends[3] <= 1.03
        printf "%-24s watched / alone %6.3f %-14s  goal 0.97 to 1.03 %s\n", names[i], median(text), range,
            range == "" ? "too few rounds" : within ? "met" : "not shown"
    }
}
