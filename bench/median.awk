# The numbers in a text, in order in v; how many they are.
function sorted(text, v,    n, i, j, x) {
    n = split(text, v, " ")
    for (i = 2; i <= n; i++) {
        x = v[i] + 0
        for (j = i - 1; j > 0 && v[j] + 0 > x; j--) v[j + 1] = v[j]
        v[j + 1] = x
    }
    return n
}

# Where the median lies with a confidence of 95 % or more, "(low to high)": the
# k-th smallest and the k-th largest, with as many below as heads of n coins.
# Nothing if there are fewer than 6.
function median_range(text,    v, n, k, p, below) {
    n = sorted(text, v)
    p = below = 0.5 ^ n
    if (n < 6) return ""
    for (k = 1; below + p * (n - k + 1) / k <= 0.025; k++) {
        p *= (n - k + 1) / k
        below += p
    }
    return sprintf("(%.2f to %.2f)", v[k], v[n + 1 - k])
}

# The median of the numbers in a text.
function median(text,    v, n) {
    n = sorted(text, v)
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
