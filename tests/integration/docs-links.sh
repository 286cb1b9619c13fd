#!/usr/bin/env bash
# docs-links.sh - pages of the documentation: links and anchors resolve; lines
# have at most 160 bytes; a page has at most 250 lines, the README 150.  Exempt are
# CHANGELOG.md and decisions.md, lists that are read by searching, and the length
# of settings.md, which the program prints.
# Usage: docs-links.sh.  TAILGATE_SOURCE is the source tree.
set -u
cd "$TAILGATE_SOURCE" || exit 2
bad=0
complain() { echo "$*"; bad=1; }

# anchors <page>: what GitHub makes of its headings.
anchors() {
    awk '/^```/ {code = !code} !code && /^#+ / {sub(/^#+ /, ""); print}' "$1" | tr '[:upper:]' '[:lower:]' |
        sed -e 's/\[\([^]]*\)\]([^)]*)/\1/g' -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# links <page>: their targets, outside of code.
links() { awk '/^```/ {code = !code} !code' "$1" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//'; }

for page in README.md CHANGELOG.md docs/*.md docs/how-to/*.md examples/README.md examples/*/README.md; do
    for link in $(links "$page"); do
        case $link in *://*) continue ;; esac
        file=${link%%#*}
        anchor=${link#"$file"}
        if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
        [ -e "$file" ] || { complain "$page: no such file: $link"; continue; }
        [ -z "$anchor" ] || anchors "$file" | grep -qx -- "${anchor#\#}" || complain "$page: no such heading: $link"
    done
    most=250
    case $page in
    docs/decisions.md | CHANGELOG.md) continue ;;
    docs/settings.md) most=1000 ;;
    README.md) most=150 ;;
    esac
    lines=$(wc -l <"$page")
    [ "$lines" -le "$most" ] || complain "$page: $lines lines, more than $most"
    long=$(LC_ALL=C awk 'length > 160 {printf " %d", NR}' "$page")
    [ -z "$long" ] || complain "$page: more than 160 bytes in lines$long"
done
exit $bad
