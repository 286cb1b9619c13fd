#!/bin/sh
# docs/settings.md has the keys as the tool prints them.  With --update it is
# given them.
set -eu
page=$TAILGATE_SOURCE/docs/settings.md

# The page with the keys between its fences.
wanted() {
    sed '/^```$/,$d' "$page"
    echo '```'
    "$TAILGATE" help settings
    echo '```'
}

if [ "${1-}" = --update ]; then
    wanted >"$page.new"
    mv "$page.new" "$page"
fi
wanted | diff "$page" - || {
    echo "run: TAILGATE=build/dev/tailgate TAILGATE_SOURCE=. sh $0 --update"
    exit 1
}
