# lib.sh - what tests/real/run and its parts share: checks, servers, loads.
# Expects $here (this directory), $dir (scratch), $tailgate.
# shellcheck shell=sh
# shellcheck disable=SC2154  # those three are the caller's

passed=0
failed=0
url=
server=

# check WHAT COMMAND...: one line for the command's success or failure.
check() {
    what=$1
    shift
    if "$@" >"$dir/check.out" 2>&1; then
        passed=$((passed + 1))
        echo "ok    $what"
    else
        failed=$((failed + 1))
        echo "FAIL  $what"
        head -n 20 "$dir/check.out" | sed 's/^/      /'
    fi
}

same() { [ "$1" = "$2" ] || { echo "is '$1', not '$2'"; return 1; }; }
differs() { [ "$1" != "$2" ] || { echo "both are '$1'"; return 1; }; }
less() { [ "$1" -lt "$2" ] || { echo "'$1' is not less than '$2'"; return 1; }; }

# equal WHAT IS SHOULD-BE
equal() { check "$1: $3" same "$2" "$3"; }

# figure NAME: its value in the last answer of ask (name=value, separated by blanks).
figure() { tr ' ' '\n' <"$dir/answer" | sed -n "s/^$1=//p"; }

# ask PATH BODY FLAGS...: a second client's view; figure has the results.
ask() {
    ask_path=$1 ask_body=$2
    shift 2
    timeout --foreground 120 node "$here/ask.mjs" "$url$ask_path" "$ask_body" "$@" >"$dir/answer" 2>"$dir/ask.err" ||
        sed 's/^/      /' "$dir/ask.err"
}

# status PATH BODY: the HTTP status of one POST.
status() {
    curl -s -m 30 -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "$2" "$url$1"
}

# start COMMAND...: a server; waits until it says where it listens, in $url.
start() {
    : >"$dir/server.out"
    "$@" >"$dir/server.out" 2>"$dir/server.err" &
    server=$!
    tries=0
    until url=$(sed -n 's/^listening on //p' "$dir/server.out") && [ -n "$url" ]; do
        tries=$((tries + 1))
        if [ "$tries" -ge 600 ] || ! kill -0 "$server" 2>/dev/null; then
            echo "      not listening: $*"
            sed 's/^/      /' "$dir/server.err"
            stop
            return 1
        fi
        sleep 0.1
    done
}

# stop: ends the server, with force if it takes longer than 5 s.
stop() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    tries=0
    while kill -0 "$server" 2>/dev/null && [ "$tries" -lt 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -9 "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

# load NAME PATH FLAGS...: a run of tailgate; summary has the results.  What is to
# be found in them is for other checks: here it is enough that there are some.  A
# short run may be undecided, or late on a busy machine.
load() {
    load_name=$1 load_path=$2 code=0
    shift 2
    timeout --foreground 120 "$tailgate" run "$url$load_path" "$@" -q --no-color \
        -o "$dir/$load_name" >"$dir/$load_name.out" 2>&1 || code=$?
    case $code in
    0 | 1 | 4) ;;
    *)
        echo "exit status $code"
        cat "$dir/$load_name.out"
        return 1
        ;;
    esac
}

# summary NAME KEY: a value of the run's summary.json, such as requests.ok.
summary() {
    node -e '
        const value = JSON.parse(require("fs").readFileSync(process.argv[1]));
        console.log(process.argv[2].split(".").reduce((at, key) => at?.[key] ?? "none", value));
    ' "$dir/$1/summary.json" "$2"
}

# all_ok NAME N PATH FLAGS...: a load, of which all N requests were answered well.
all_ok() {
    all=$1 count=$2 all_path=$3
    shift 3
    check "tailgate run, $all" load "$all" "$all_path" -n "$count" "$@"
    equal "$all: scheduled" "$(summary "$all" requests.scheduled)" "$count"
    equal "$all: ok" "$(summary "$all" requests.ok)" "$count"
}

# measured NAME: figures of a load, for the reader.
measured() {
    echo "      $1: $(summary "$1" throughput_rps | cut -c 1-6) requests/s;" \
        "means: ttfb $(mean "$1" ttfb), ttft $(mean "$1" ttft), e2e $(mean "$1" e2e)"
}
mean() { echo "$(summary "$1" "measures.$2.mean_ms" | cut -c 1-6) ms"; }

# shown WHAT PATTERN PATH FLAGS...: --show prints a line that matches.
shown() {
    what=$1 pattern=$2 show_path=$3
    shift 3
    timeout --foreground 60 "$tailgate" run "$url$show_path" "$@" --show --no-color >"$dir/show" 2>&1 || true
    check "tailgate run --show, $what" grep -a "$pattern" "$dir/show"
}
