#!/bin/sh
# docs-files.sh - what pages of the documentation name exists: files and
# functions in backticks, the commands and flags of inline commands, and the
# settings and inputs in YAML blocks.
# Usage: docs-files.sh.  TAILGATE is the program, TAILGATE_SOURCE the source tree.
set -u
cd "$TAILGATE_SOURCE" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
pages=$(echo README.md docs/*.md docs/how-to/*.md examples/README.md examples/*/README.md)

# names <regex>: file:line:name for what stands in backticks in the pages.
# shellcheck disable=SC2086  # a list
names() { grep -HnoE "\`$1\`" $pages | tr -d '\`'; }

for named in $(names '(common|loadgen|analyzer|server-stub|listen|study|cli|tests|bench|scripts|cmake|man|docs|packaging|examples|scenarios)/[A-Za-z0-9_./-]*'); do
    [ -e "${named##*:}" ] || { echo "${named%:*}: no such file: ${named##*:}"; bad=1; }
done
for named in $(names '[a-z][a-z0-9_]+\(\)' | grep '^docs/architecture.md'); do
    name=${named##*:}
    grep -rqE "\b${name%()}\(" --include='*.[ch]' common loadgen analyzer server-stub listen study cli ||
        { echo "${named%:*}: no such function: $name"; bad=1; }
done

# Inline commands, such as those of tables; those in blocks are executed by tests/docs/run.
names 'tailgate [a-z]+[^`]*' >"$scratch/commands"
while IFS= read -r named; do
    command=${named#*:tailgate }
    name=${command%% *}
    [ -e "$scratch/$name" ] || "$TAILGATE" help "$name" --all >"$scratch/$name" 2>&1 ||
        { echo "${named%%:tailgate*}: no such command: $name"; bad=1; }
    for flag in $(echo "$command" | grep -oE ' --[a-z][a-z0-9-]*'); do
        grep -qE -- "^[^-]*(-[a-zA-Z], *)?$flag\b" "$scratch/$name" ||
            { echo "${named%%:tailgate*}: $name has no flag $flag"; bad=1; }
    done
done <"$scratch/commands"

# YAML blocks: settings, to which a load is added, or a workflow with our action.
for page in $pages; do
    rm -f "$scratch"/*.yaml
    awk -v to="$scratch" '/^```yaml/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print >(to "/" n ".yaml") }' "$page"
    for block in "$scratch"/*.yaml; do
        [ -e "$block" ] || continue
        if grep -q '^jobs:' "$block"; then
            for input in $(sed -n '/^        with:/,$s/^          \([a-z-]*\):.*/\1/p' "$block"); do
                grep -q "^  $input:" packaging/github-action/action.yml || { echo "$page: the action has no input $input"; bad=1; }
            done
            continue
        fi
        grep -q '^load:' "$block" || echo 'load: {rate: 10, duration: 1s}' >>"$block"
        "$TAILGATE" validate "$block" >"$scratch/out" 2>&1 || [ $? -ne 2 ] || { echo "$page: $(cat "$scratch/out")"; bad=1; }
    done
done
exit $bad
