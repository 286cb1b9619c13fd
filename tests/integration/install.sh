#!/bin/sh
# The release build as a user installs it: version, a server, a run, its report,
# and every exit status.  install.sh <cmake> <build directory> <version>
set -eu
dir=$(mktemp -d)
stubs=
stop() {
    for pid in $stubs; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$dir"
}
trap stop EXIT

"$1" --install "$2" --prefix "$dir/usr" >"$dir/install.out"
tailgate=$dir/usr/bin/tailgate
[ "$("$tailgate" version | head -1)" = "tailgate $3" ]
[ -s "$dir/usr/share/man/man1/tailgate.1" ]
for file in bash-completion/completions/tailgate zsh/vendor-completions/_tailgate fish/vendor_completions.d/tailgate.fish; do
    [ -s "$dir/usr/share/$file" ]
done

# Links between the installed pages; those to sources are for readers of a clone.
doc=$dir/usr/share/doc/tailgate
for page in "$doc"/README.md "$doc"/docs/README.md "$doc"/docs/how-to/*.md "$doc"/examples/*/README.md; do
    for link in $(grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -v '://'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "${page#"$doc/"}: no such file: $link"; exit 1; }
    done
done

# start <name> <arguments...>: a stub, whose URL is in $url.
start() {
    log=$dir/$1
    shift
    "$tailgate" stub --port 0 "$@" >"$log" &
    stubs="$stubs $!"
    tries=0
    until url=$(sed -n 's/^listening on //p' "$log") && [ -n "$url" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ]
        sleep 0.05
    done
}

# expect <status> <command...>
expect() {
    want=$1 status=0
    shift
    "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" -eq "$want" ] && return
    echo "exit $status, not $want: $*"
    cat "$dir/out" "$dir/err"
    return 1
}

start healthy --service 'fixed 1ms'
healthy=$url
start broken --fault status=503
broken=$url

# A busy machine may make the run invalid; the report ends as the run did.
status=0
"$tailgate" run "$healthy" --rate 200 -n 100 --slo 'errors < 50%' -q -v -o "$dir/run" >"$dir/run.out" || status=$?
grep -q 'scheduled 100 = issued 100 + unsent 0' "$dir/run.out"
grep -q 'ok 100 + failed 0' "$dir/run.out"
expect "$status" "$tailgate" report "$dir/run" -v
cmp "$dir/out" "$dir/run.out"
expect "$status" "$tailgate" report "$dir/run" --format json
grep -q '"verdict"' "$dir/out"

expect 0 "$tailgate" run "$healthy" --show
expect 1 "$tailgate" run "$broken" --show
expect 2 "$tailgate" run "$healthy" --no-such-flag
expect 3 "$tailgate" run http://127.0.0.1:1/ --show

# What was installed goes away, and what is not ours stays.
touch "$dir/usr/share/other"
DESTDIR='' "$(dirname "$0")/../../scripts/uninstall" "$2" "$dir/usr"
[ "$(cd "$dir/usr" && find . ! -type d)" = ./share/other ] || { find "$dir/usr" ! -type d; exit 1; }

# Without its build it is not known what was installed, and nothing is built for that.
expect 1 "$(dirname "$0")/../../scripts/uninstall" "$dir/none" "$dir/usr"
grep -q 'make release' "$dir/err"
