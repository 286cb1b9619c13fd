#!/bin/sh
# symbols.sh <nm> <library...> - no symbol is defined in two static libraries:
# the linker would take the first, and say nothing.
set -eu
nm=$1
shift

# twice <library...>: every symbol of more than one member, and where it stands.
# Names with a dot or two underscores are the compiler's, weak ones meant so.
twice() {
    "$nm" -A -P -g --defined-only "$@" | awk -F ']: ' '
        { split($2, word, " "); name = word[1] }
        word[2] ~ /[WwVvu]/ || name ~ /^__|\./ { next }
        places[name] { both[name] = 1 }
        { places[name] = places[name] "\n  " $1 "]" }
        END { for (name in both) print name places[name] }'
}

[ "$(twice "$1" "$1" | grep -vc '^ ')" -gt 20 ]
found=$(twice "$@")
[ -z "$found" ] || { echo "$found"; exit 1; }
