# words.awk - are the words of a shown output the program's?  Numbers differ from
# run to run, so they are left out, and words of the
# commands are allowed.
# Usage: awk -v asked=WORDS -f words.awk STRINGS SHOWN.  STRINGS has the program's
# strings in one line, with " | " between them; WORDS are others that may be shown.
# What neither of them has is printed.

# segments <text>: words, with " | " where a number, a value or punctuation stands.
function segments(text) {
    gsub(/%%/, " | ", text)
    gsub(/%[-+0-9.*']*[a-zA-Z]+/, " | ", text)
    gsub(/[^ ]*[0-9][^ ]*/, " | ", text)
    gsub(/[^A-Za-z -]/, " | ", text)
    gsub(/  +|^|$/, " | ", text)
    gsub(/ +/, " ", text)
    return text
}

# A word that the program has between values, or as a value, or one of the commands.
function stands_alone(word) {
    return index(strings, " | " word " | ") || index(asked, " " word " ")
}

# Can these words be cut into pieces that the program has?
function is_known(words, n,    reach, from, to, piece) {
    reach[0] = 1
    for (from = 0; from < n; from++) {
        piece = ""
        for (to = from + 1; reach[from] && to <= n; to++) {
            piece = piece " " words[to]
            if (to == from + 1 ? stands_alone(words[to]) : index(strings, piece " "))
                reach[to] = 1
            else if (to > from + 1)
                break
        }
    }
    return reach[n]
}

BEGIN {
    gsub(/[^A-Za-z-]+/, " ", asked)
    asked = " " asked " "
}
FILENAME == ARGV[1] { strings = segments($0); next }
{
    count = split(segments($0), parts, "[|]")
    for (i = 1; i <= count; i++) {
        n = split(parts[i], words, " ")
        if (n > 0 && !is_known(words, n))
            print parts[i]
    }
}
