# stream.sh - a part of tests/real/run: one answer streamed in many ways, by node's
# HTTP server and by aiohttp.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir and url are those of run and lib.sh

tokens=40
requests=3
echo "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": $tokens, \"stream\": true}" >"$dir/body"
modes=$(node -p 'Object.keys(JSON.parse(require("fs").readFileSync(process.argv[1])).modes).join(" ")' \
    "$here/stream_modes.json")

# expect MODE: what a client has to find in one answer, in the words of ask.mjs.
expect() {
    ok=1 chunks=$tokens usage=$tokens done=1 errors=0
    case $1 in
    merged) chunks=$(((tokens + 2) / 3)) ;;
    usage-none) usage=0 ;;
    silent) done=0 ;;
    error) chunks=$((tokens / 2)) usage=0 done=0 errors=1 ;;
    break) ok=0 chunks=$((tokens / 2)) usage=0 done=0 ;;
    esac
    echo "$((ok * requests)) $((chunks * requests)) $((usage * requests)) $((done * requests)) $((errors * requests))"
}

whole_ms() { figure "$1_ms" | cut -d . -f 1; }

# check_mode SERVER MODE: what another client finds, and whether tailgate gets it all.
check_mode() {
    path=/$2/v1/chat/completions
    ask "$path" "$dir/body" --requests "$requests"
    found="$(figure ok) $(figure chunks) $(figure usage) $(figure 'done') $(figure errors)"
    check "$1, $2: ok, chunks, usage, done, errors" same "$found" "$(expect "$2")"
    if [ "$2" = slow-first ]; then # the role comes at once, and is no text
        check "$1, $2: text comes 400 ms after the first byte, or later" \
            less "$(whole_ms ttfb)" $(($(whole_ms ttft) - 400))
    fi
    curl -sN -m 30 --data-binary "@$dir/body" "$url$path" | sha256sum >"$dir/$2.$1"
    for transport in native curl; do
        run=$1-$2-$transport
        check "$run: tailgate run" load "$run" "$path" --body "@$dir/body" -n 5 --clients 1 --transport $transport
        check_run "$run" "$2"
    done
}

# outcome_of MODE: ok, or how a stream of it fails.
outcome_of() {
    case $1 in
    silent | break) echo truncated ;;
    error) echo 'in-band error' ;;
    *) echo ok ;;
    esac
}

# check_run NAME MODE: tailgate's own view of the same answers.
check_run() {
    outcome=$(outcome_of "$2")
    if [ "$outcome" = ok ]; then
        chunks=$tokens
        [ "$2" != merged ] || chunks=$(((tokens + 2) / 3))
        equal "$1: ok" "$(summary "$1" requests.ok)" 5
        equal "$1: output tokens" "$(summary "$1" tokens.output)" $((5 * tokens))
        equal "$1: events" "$(summary "$1" tokens.streams.events)" $((5 * chunks))
    else
        equal "$1: $outcome" "$(summary "$1" "requests.by_outcome.$outcome")" 5
    fi
}

for kind in mjs py; do
    interpreter=node
    [ $kind = mjs ] || interpreter=/usr/bin/python3
    if ! start $interpreter "$here/stream_server.$kind"; then
        check "stream_server.$kind starts" false
        continue
    fi
    for mode in $modes; do check_mode $kind "$mode"; done
    check "$kind: the server said nothing of errors" same "$(cat "$dir/server.err")" ''
    stop
done
for mode in $modes; do check "$mode: both servers send the same bytes" cmp "$dir/$mode.mjs" "$dir/$mode.py"; done
