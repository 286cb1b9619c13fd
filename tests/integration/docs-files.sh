#!/bin/sh
# docs-files.sh - what pages of the documentation name exists: files and
# functions in backticks, the commands and flags of commands that tests/docs/run
# does not execute (inline, and in ```text blocks), targets of make, and the
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

# Inline commands, such as those of tables, also across lines; and blocks that are
# not executed.  Other blocks are, by tests/docs/run, if the line says so.
for page in $pages; do
    # shellcheck disable=SC2016  # backticks, not commands
    {
        awk '/^ *```/ { code = !code } !code' "$page" | tr '\n' ' ' | grep -oE '`(tailgate|make) [a-z]+[^`]*`' | tr -d '`'
        awk '/^ *```/ { fenced = !fenced; text = fenced && /```text/; next } text && /^(sudo )?(tailgate|make) / { sub(/^sudo /, ""); sub(/#.*/, ""); print }' "$page"
    } | sed "s|^|$page |"
done | sort -u >"$scratch/commands"
for known in 'tailgate scale .*--capacity' 'make uninstall'; do
    grep -q "^[^ ]* $known" "$scratch/commands" || { echo "not found: $known"; bad=1; }
done
while read -r page tool name rest; do
    if [ "$tool" = make ]; then
        grep -qE "^([a-z -]* )?$name( [a-z -]*)?:" Makefile || { echo "$page: no such target: make $name"; bad=1; }
        continue
    fi
    [ -e "$scratch/$name" ] || "$TAILGATE" help "$name" --all >"$scratch/$name" 2>&1 ||
        { echo "$page: no such command: tailgate $name"; bad=1; }
    for flag in $(echo "$rest" | grep -oE '(^|[ [|])--[a-z][a-z0-9-]*' | tr -d ' [|'); do
        grep -qE -- "^[^-]*(-[a-zA-Z], *)?[ [|]$flag\b" "$scratch/$name" ||
            { echo "$page: $name has no flag $flag: tailgate $name $rest"; bad=1; }
    done
done <"$scratch/commands"
for page in $pages; do
    awk -v page="$page" '
        /^ *```/ { fenced = !fenced; code = fenced && !/```(text|yaml|json)/; next }
        code && /^ *(sudo|make|kubectl|srun|mpirun|curl|podman|docker|export|ssh|[A-Z_]+=[^ ]* tailgate) / {
            print page ":" NR ": a command without \"$ \", which is not executed: " $0
        }' "$page"
done >"$scratch/left"
[ ! -s "$scratch/left" ] || { cat "$scratch/left"; bad=1; }

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
