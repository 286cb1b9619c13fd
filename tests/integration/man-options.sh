#!/bin/sh
# The man page and --help name the same flags.
set -eu
page=$TAILGATE_SOURCE/man/tailgate.1
from_help=$(for command in run report stub validate; do
    "$TAILGATE" help "$command"
done | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u)
from_page=$(sed 's/\\-/-/g' "$page" | grep -E '^\.B[RI]? ' |
    grep -oE -e '--[a-z-]+' | sort -u)
if [ "$from_help" != "$from_page" ]; then
    echo "flags of the help:" $from_help
    echo "flags of the page:" $from_page
    exit 1
fi
[ "$(echo "$from_help" | wc -l)" -gt 20 ]
