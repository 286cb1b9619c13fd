#!/bin/sh
# Every file in scenarios/ loads, and runs against the stub when shortened.
set -eu
dir=$(mktemp -d)
"$TAILGATE" stub >"$dir/stub" &
stub=$!
trap 'kill "$stub" 2>/dev/null || true; wait "$stub" 2>/dev/null || true; rm -rf "$dir"' EXIT
tries=0
until url=$(sed -n 's/^listening on //p' "$dir/stub") && [ -n "$url" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ]
    sleep 0.05
done
count=0
for file in "$TAILGATE_SOURCE"/scenarios/*.yaml; do
    "$TAILGATE" validate "$file" >/dev/null
    status=0
    # A file with a stub brings its own server.
    set -- --url "$url"
    grep -q '^stub:' "$file" && set --
    "$TAILGATE" run "$file" "$@" --duration 300ms --warmup 100ms -q \
        -o "$dir/$count" >"$dir/out" || status=$?
    # 4: so short a run may be undecided, or late on a busy machine.
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || { cat "$dir/out"; exit 1; }
    grep -q ' 0 failed' "$dir/out"
    count=$((count + 1))
done
[ "$count" -gt 0 ]
