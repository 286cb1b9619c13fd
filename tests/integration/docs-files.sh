#!/bin/sh
# docs-files.sh - the files and functions that docs/ names in backticks exist.
# Usage: docs-files.sh.  TAILGATE_SOURCE is the source tree.
set -u
cd "$TAILGATE_SOURCE" || exit 2
bad=0

# names <regex>: file:name for what stands in backticks in the docs.
names() { grep -noE "\`$1\`" docs/*.md | tr -d '\`'; }

for named in $(names '(common|loadgen|analyzer|server-stub|study|cli|tests|bench|scripts|cmake|man|docs)/[A-Za-z0-9_./-]*'); do
    [ -e "${named##*:}" ] || { echo "${named%:*}: no such file: ${named##*:}"; bad=1; }
done
for named in $(names '[a-z][a-z0-9_]+\(\)' | grep '^docs/architecture.md'); do
    name=${named##*:}
    grep -rqE "\b${name%()}\(" --include='*.[ch]' common loadgen analyzer server-stub study cli ||
        { echo "${named%:*}: no such function: $name"; bad=1; }
done
exit $bad
