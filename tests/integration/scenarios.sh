#!/bin/sh
# Every file in scenarios/ loads without a warning, and runs against the stub
# when shortened.  Several at a time: "one FILE URL" does one of them.
set -eu
scenarios=$TAILGATE_SOURCE/scenarios
export API_KEY=made-up

# shorten <name>: the flags that make it a run of half a second or less.
shorten() {
    case $1 in
    spike) echo "--shape|spike 50/s 200/s at 200ms for 100ms|--warmup|100ms" ;;
    ramp) echo "--shape|ramp 10/s 200/s over 300ms|--warmup|100ms" ;;
    steps) echo "--shape|step 50/s 150/s by 50/s every 100ms|--warmup|100ms" ;;
    soak) echo "--shape|soak 50/s for 300ms ramp 100ms|--warmup|100ms" ;;
    diurnal) echo "--table-speed|200000|--warmup|100ms" ;;
    azure-hour) echo "" ;; # its sample is short
    single-stream) echo "--min-duration|300ms|--min-requests|5" ;;
    multi-stream) echo "--min-duration|300ms|--min-requests|16" ;;
    offline) echo "--requests|50" ;;
    scaling) echo "--requests|50|--trials|1" ;;
    accuracy) echo "--rate|100" ;; # each once
    cache-check) echo "--rate|200|--duration|500ms|--warmup|0s|--output-len|2" ;;
    closed-think) echo "--think|exponential 50ms|--duration|300ms|--warmup|100ms" ;;
    bursts) echo "--rate|50|--burst-on|50ms|--burst-off|50ms|--duration|300ms|--warmup|100ms" ;;
    closed-loop | demo | stub-llm) echo "--duration|300ms|--warmup|100ms" ;;
    trials) echo "--rate|50|--duration|300ms|--warmup|100ms|--trials|1" ;;
    mlperf*) echo "--rate|50|--min-duration|300ms|--min-requests|10" ;;
    *) echo "--rate|50|--duration|300ms|--warmup|100ms" ;;
    esac
}

# study <file> <url> <scratch>: a file for a search or a sweep as one, too.
study() {
    status=0
    case $(basename "$1" .yaml) in
    capacity)
        "$TAILGATE" search -v "$1" --url "$2" --slo 'ttft p90 < 200ms' --warmup 100ms --start 50 --max 100 --probe 300ms \
            --confirm 300ms --budget 3s --settle 10ms -q -o "$3.study" >"$3.out" 2>&1 || status=$?
        grep -q '^capacity ' "$3.out" ;;
    curve)
        "$TAILGATE" sweep -v "$1" --url "$2" --rates 50,100 --repeats 1 --duration 300ms --warmup 100ms --settle 10ms \
            -q -o "$3.study" >"$3.out" 2>&1 || status=$?
        grep -q 'values 2, runs recorded' "$3.out" ;;
    *) return 0 ;;
    esac && same_status "$3.study" "$status"
}

# same_status <recording> <status>: `report` ends with the same one.  So short a
# run may miss its SLO, be undecided, or be late on a busy machine; an error ends
# otherwise.
same_status() {
    reported=0
    "$TAILGATE" report "$1" >/dev/null 2>&1 || reported=$?
    [ "$reported" -eq "$2" ]
}

# has_requests <recording>: in the warm-up, too; a busy machine may leave none for
# so short a window.
has_requests() { [ "$("$TAILGATE" report "$1" --format csv | wc -l)" -gt 1 ]; }

# one <file> <url of the stub> <scratch directory>
one() {
    file=$1 url=${2%/} dir=$3/$(basename "$1" .yaml)
    name=$(sed -n 's/^name: //p' "$file")
    path=$(grep -o 'https*://127[^" }]*' "$file" | sed -n '1s#^https*://[^/]*##p')
    cd "$3" # not where the files are: what they name counts from there

    # A file with a stub brings its own server; a trace is the user's.
    set -- --url "$url$path"
    grep -q '^stub:' "$file" && set --
    [ "$name" = azure-hour ] && set -- "$@" --trace "$TAILGATE_SOURCE/tests/traces/azure.csv"
    "$TAILGATE" validate "$file" "$@" >"$dir.plan" 2>"$dir.warnings" || { cat "$dir.warnings"; return 1; }
    # A sample is too short for a p99; nothing else may be.
    [ "$name" = azure-hour ] || [ ! -s "$dir.warnings" ] || { cat "$dir.warnings"; return 1; }

    old_ifs=$IFS IFS='|'
    # shellcheck disable=SC2046  # meant to be split at the bars
    set -- "$@" $(shorten "$name")
    IFS=$old_ifs
    status=0
    "$TAILGATE" run -v "$file" "$@" -q -o "$dir" >"$dir.out" 2>&1 || status=$?
    # What matters is that it ran, and nothing failed.
    if same_status "$dir" "$status"; then
        # A study with variants has a table instead.
        grep -q ' variants, ' "$dir.out" && ! grep -q 'failed:' "$dir.out" && return 0
        grep -q ' + failed 0;' "$dir.out" && has_requests "$dir" && study "$file" "$url$path" "$dir" && return 0
    fi
    echo "$file: exit $status"
    cat "$dir.out"
    return 1
}

if [ "${1-}" = one ]; then
    one "$4" "$2" "$3"
    exit
fi

dir=$(mktemp -d)
"$TAILGATE" stub --port 0 >"$dir/stub" &
stub=$!
trap 'kill "$stub" 2>/dev/null || true; wait "$stub" 2>/dev/null || true; rm -rf "$dir"' EXIT
tries=0
until url=$(sed -n 's/^listening on //p' "$dir/stub") && [ -n "$url" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ]
    sleep 0.05
done

# One for each question, and each begins with it.
[ "$(find "$scenarios" -maxdepth 1 -name '*.yaml' | wc -l)" -ge 31 ]
[ "$(find "$scenarios/mlperf" -name '*.yaml' | wc -l)" -eq 21 ]
for file in "$scenarios"/*.yaml "$scenarios"/mlperf/*.yaml; do
    head -1 "$file" | grep -q '^# ' || { echo "$file: no comment first"; exit 1; }
    grep -q "tailgate run scenarios/" "$file" || { echo "$file: no example"; exit 1; }
done
printf '%s\n' "$scenarios"/*.yaml "$scenarios"/mlperf/*.yaml |
    xargs -P 4 -n 1 sh "$0" one "$url" "$dir"
