#!/bin/sh
# `make demo` succeeds where tailgate says that the machine was busy, and fails
# with tailgate's own exit status otherwise.  A made-up tailgate ends with the
# status that the test asks for.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/tailgate" <<'EOF'
#!/bin/sh
case "$*" in
*--http2*) exit "$HTTP2_STATUS" ;;
esac
case $1 in
report) echo '  lag p99        BAD  33.87 ms (at most 10.68): the client was late' ;;
run) exit "$RUN_STATUS" ;;
sweep) exit "$SWEEP_STATUS" ;;
esac
EOF
chmod +x "$scratch/tailgate"

# expect <status> <run's> <sweep's> [that of the run over HTTP/2]
expect() {
    status=0
    RUN_STATUS=$2 SWEEP_STATUS=$3 HTTP2_STATUS=${4:-0} "$TAILGATE_SOURCE/scripts/demo" "$scratch/tailgate" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || {
        echo "run $2, sweep $3, HTTP/2 ${4:-0}: exit $status, expected $1"
        cat "$scratch/out"
        exit 1
    }
}

expect 0 0 0
! grep -q busy "$scratch/out"
expect 0 4 0
grep -q 'This machine was busy: lag p99 failed' "$scratch/out"
expect 0 0 4
grep -q 'undecided' "$scratch/out"
expect 0 0 0 4
grep -q 'busy: do not quote the numbers over TLS and HTTP/2' "$scratch/out"
for status in 1 2 3 130 143; do
    expect "$status" "$status" 0
    expect "$status" 0 "$status"
    expect "$status" 0 0 "$status"
done
