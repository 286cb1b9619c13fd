# clients.sh - sourced after servers.sh by the benchmarks that compare clients:
# runs them in turn, and keeps what they did and cost.  Needs $tailgate, $tools,
# $rounds, $seconds, $body, $type, $here.
# shellcheck shell=sh disable=SC2154
printf '%s' "$body" >"$dir/body.json"

# observed <command...>: run it as a client, its output and costs in $dir.
observed() {
    (exec_on "$client_cpu" "$tools/bench_usage" "$dir/usage" $((seconds + 60)) \
        "$server_pid" "$@") >"$dir/out" 2>"$dir/err"
}

# Each of these runs a client and prints requests that were answered with
# success, and in how many seconds by its own account.

# run_tailgate <connections> <flags...>: at saturation it says that it was the
# client's limit that was measured: exit 4.
run_tailgate() {
    connected=$1
    shift
    observed "$tailgate" run "$server_url/" -c "$connected" -t 1 -d "${seconds}s" \
        -q --json -o "$dir/run" --force -H "Content-Type: $type" --body "$body" "$@" || [ $? -eq 4 ] || return
    "$tools/bench_summary" "$dir/run/summary.json" |
        awk '$1 == "requests" {n = $2} $1 == "seconds" {s = $2} END {print n, s}'
}

# run_h2load <flags...>
run_h2load() {
    observed h2load -t1 -D "$seconds" -d "$dir/body.json" -H "content-type: $type" "$@" "$server_url/" || return
    awk '/^finished in / {s = $3 + 0} /^requests:/ {for (i = 2; i <= NF; i++) if ($i ~ /^succeeded/) n = $(i - 1)}
        END {print n, s}' "$dir/out"
}

# measure <server> <round> <client>: by drive_<client>, a line of figures, kept
# and shown.
measure() {
    figures=$("drive_$3") || figures=
    case $figures in
    [1-9]*' '[0-9]*) ;;
    *)
        echo "$3 against $1: no figures; its last line was: $(cat "$dir/out" "$dir/err" | tail -n 1)"
        exit 1
        ;;
    esac
    costs=$(awk '$1 ~ /cpu_s/ {printf " %s", $2}' "$dir/usage")
    echo "$1 $2 $3 $figures$costs" >>"$dir/rounds"
    echo "$2 $3 $figures$costs" |
        awk '{printf "round %d  %-15s %8.0f/s  %6.2f us of CPU per request  client busy %3.0f %%  server busy %3.0f %%\n",
            $1, $2, $3 / $4, $5 * 1e6 / $3, $5 / $4 * 100, $6 / $4 * 100}'
}

# measure_all <server> <clients>: every round, the order rotated.
measure_all() {
    round=1
    turns=$2
    while [ "$round" -le "$rounds" ]; do
        for client in $turns; do measure "$1" "$round" "$client"; done
        turns="${turns#* } ${turns%% *}"
        round=$((round + 1))
    done
}

# table <server> <clients> <ratios>: measure them, and show medians and ratios,
# see tls.awk.
table() {
    echo
    echo "-- $1: $rounds rounds of $seconds s"
    measure_all "$1" "$2"
    echo
    awk -v server="$1" -v ratios="$3" -f "$here/median.awk" -f "$here/tls.awk" "$dir/rounds"
}
