#!/bin/sh
# examples.sh - examples/make puts the reports next to the settings, and every
# example has reports of its own study.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unshare -rn true 2>/dev/null || unshare -n true 2>/dev/null || exit 77
mkdir -p "$dir/tests/support"
cp -r "$TAILGATE_SOURCE/examples" "$dir"
cp -r "$TAILGATE_SOURCE/tests/docs" "$dir/tests"
cp -r "$TAILGATE_SOURCE/tests/support/cluster" "$dir/tests/support"
cd "$dir"
rm -f examples/*/report.*
SHORT=1 examples/make "$TAILGATE" slo-check capacity >out 2>&1 || { cat out; exit 1; }
for name in slo-check capacity; do
    grep -q '<main' "examples/$name/report.html"
    grep -q "^$name\|$name:" "examples/$name/report.md"
done

# Those that are kept: of the study that the settings name, with a verdict.
for settings in "$TAILGATE_SOURCE"/examples/*/*.yaml; do
    folder=${settings%/*}
    [ -s "$folder/report.html" ] || { echo "$folder has no report.html"; exit 1; }
    grep -qE '^### ' "$folder/report.md" || { echo "$folder/report.md has no verdict"; exit 1; }
done
