# hdr.sh - a part of tests/real/run: hdr-histogram-js reads the logs and the
# distributions that tailgate writes of a run against its own stub.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir, url and tailgate are those of run and lib.sh

# near IS SHOULD-BE: the upper end of a bucket and its middle, of three digits.
near() { awk -v a="$1" -v b="$2" 'BEGIN { if (a < b * 0.9989 || a > b * 1.0011) { print a " is not " b; exit 1 } }'; }

# export_run NAME: its log and distributions, next to it.  The exit status is that of
# the verdict.
export_run() {
    "$tailgate" report "$dir/$1" --format hlog >"$dir/$1.hlog" || [ $? -ne 3 ]
    for measure in e2e ttft lag; do
        "$tailgate" report "$dir/$1" --format hgrm --measure "$measure" >"$dir/$1.$measure.hgrm" || [ $? -ne 3 ]
    done
}

# check_measure NAME MEASURE VIEW: VIEW is where the summary has those with a value.
check_measure() {
    node "$here/read_hdr.mjs" "$dir/$1.hlog" "$2" "$dir/$1.$2.hgrm" >"$dir/answer" 2>"$dir/hdr.err" ||
        sed 's/^/      /' "$dir/hdr.err"
    equal "$1, $2: values" "$(figure count)" "$(summary "$1" "$3.n")"
    check "$1, $2: several intervals" less 1 "$(figure intervals)"
    for q in p50 p90 p99; do
        check "$1, $2: $q $(figure $q) ms" near "$(figure $q)" "$(summary "$1" "$3.${q}_ms")"
    done
    check "$1, $2: a distribution of many lines" less 20 "$(figure lines)"
    equal "$1, $2: lines that are not as the package prints them" "$(figure differences)" 0
}

if start "$tailgate" stub --port 0 --service llm --batching continuous --prefill 1us --decode 1ms --decode-item 0s \
    --fault 'status=503 every=10'; then
    check 'tailgate run, hdr' load hdr /v1/completions --rate 200 --warmup 500ms -n 800 --output-len 4 --metrics off
    check 'tailgate report, hlog and hgrm' export_run hdr
    check_measure hdr e2e measures.e2e.ok
    check_measure hdr ttft measures.ttft.ok
    check_measure hdr lag measures.lag
else
    check 'the stub starts' false
fi
