# openai.sh - a part of tests/real/run: llama.cpp behind OpenAI's API.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir and url are those of run and lib.sh

tokens=48
requests=32
chat=/v1/chat/completions
text=/v1/completions

# chat_body MORE, text_body PROMPT MORE: JSON on standard output.
chat_body() {
    messages='[{"role": "user", "content": "How far is 東京?"}]'
    echo "{\"model\": \"tailgate-tiny\", \"messages\": $messages, \"max_tokens\": $tokens, $1}"
}
text_body() { echo "{\"model\": \"tailgate-tiny\", \"prompt\": $1, \"max_tokens\": $tokens, $2}"; }
stream='"stream": true, "stream_options": {"include_usage": true}'

make_bodies() {
    chat_body "\"ignore_eos\": true, $stream" >"$dir/chat"
    chat_body "\"seed\": 1, $stream" >"$dir/seed-1"
    chat_body "\"seed\": 2, $stream" >"$dir/seed-2"
    chat_body '"seed": 1' >"$dir/whole"
    chat_body "\"seed\": 1, \"stop\": [\" \"], $stream" >"$dir/stop"
    text_body '"Once upon a time"' "$stream" >"$dir/text"
    text_body '[0, 112, 109, 116, 116, 119]' "$stream" >"$dir/ids"
}

check_model() {
    python=/usr/bin/python3 # Debian's, whatever else is in the path
    "$python" "$here/make_gguf.py" "$dir/tiny.gguf" >/dev/null
    "$python" "$here/make_gguf.py" "$dir/again.gguf" >/dev/null
    "$python" "$here/make_gguf.py" --seed 2 "$dir/other.gguf" >/dev/null
    check 'model: same seed, same bytes' cmp "$dir/tiny.gguf" "$dir/again.gguf"
    check 'model: other seed, other bytes' differs "$(sha256sum <"$dir/tiny.gguf")" "$(sha256sum <"$dir/other.gguf")"
}

# Every chunk has one token, and the usage says as many as were asked for.
check_streams() {
    for body in chat text ids; do
        path=$text
        [ "$body" != chat ] || path=$chat
        ask "$path" "$dir/$body" --requests "$requests" --clients 4
        equal "$body: ok" "$(figure ok)" "$requests"
        equal "$body: chunks" "$(figure chunks)" $((requests * tokens))
        equal "$body: usage" "$(figure usage)" $((requests * tokens))
        equal "$body: ended in [DONE]" "$(figure 'done')" "$requests"
        echo "      $body, 4 at a time: $(figure tokens_per_s) tokens/s, mean ttft $(figure ttft_ms) ms, e2e $(figure e2e_ms) ms"
    done
}

check_answers() {
    ask $chat "$dir/seed-1"
    streamed=$(figure sha)
    ask $chat "$dir/whole"
    equal 'whole: same seed, same text, streamed or not' "$(figure sha)" "$streamed"
    equal 'whole: usage' "$(figure usage)" "$tokens"
    ask $chat "$dir/seed-2"
    check 'seed: another seed, another text' differs "$(figure sha)" "$streamed"
    ask $chat "$dir/stop" --requests 4
    check 'stop: fewer tokens than asked for' less "$(figure usage)" $((4 * tokens))
    equal 'stop: ended in [DONE]' "$(figure 'done')" 4
}

check_refusals() {
    equal 'refused: unknown model' "$(status $chat '{"model": "gpt", "messages": [{"role": "user", "content": "x"}]}')" 404
    equal 'refused: token beyond the vocabulary' "$(status $text '{"prompt": [1, 100000]}')" 400
    equal 'refused: longer than the context' "$(status $text '{"prompt": "x", "max_tokens": 100000}')" 400
    equal 'refused: no JSON' "$(status $text '{')" 400
}

# logged EXPRESSION: its value over the lines of the server's log.
logged() {
    node -e '
        const text = require("fs").readFileSync(process.argv[1], "utf8");
        const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
        console.log(eval(process.argv[2]));
    ' "$dir/log" "$1"
}

# log_says WHAT EXPRESSION VALUE: the log has it, at the latest in 10 s.
log_says() {
    tries=0
    until [ "$(logged "$2")" = "$3" ] || [ "$tries" -ge 50 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    equal "$1" "$(logged "$2")" "$3"
}

check_loads() {
    : >"$dir/log"
    all_ok chat-closed "$requests" $chat --body "@$dir/chat" --clients 4
    measured chat-closed
    all_ok chat-open "$requests" $chat --body "@$dir/chat" --rate 10
    measured chat-open
    all_ok chat-overload "$requests" $chat --body "@$dir/chat" --rate 1000
    measured chat-overload
    all_ok text-closed "$requests" $text --body "@$dir/text" --clients 4
    all_ok ids-closed "$requests" $text --body "@$dir/ids" --clients 4
    all_ok whole-closed "$requests" $chat --body "@$dir/whole" --clients 4
    measured whole-closed
    for run in chat-closed chat-open chat-overload text-closed ids-closed whole-closed; do
        equal "$run: output tokens" "$(summary $run tokens.output)" $((requests * tokens))
    done
    for run in chat-closed text-closed ids-closed; do
        equal "$run: events" "$(summary $run tokens.streams.events)" $((requests * tokens))
    done
    log_says 'tokens the server generated for tailgate' \
        'lines.reduce((sum, line) => sum + line.tokens, 0)' $((6 * requests * tokens))
    log_says 'requests that tailgate left' 'lines.filter((line) => line.aborted).length' 0
    # Without a file: the model is found, prompts are made.
    for api in $chat $text; do
        name=made-$(basename "$(dirname "$api")")
        all_ok "$name" "$requests" $api --clients 4 --input-len 20 --output-len "$tokens" --ignore-eos --first-id 300 --last-id 600
        equal "$name: output tokens" "$(summary "$name" tokens.output)" $((requests * tokens))
        measured "$name"
    done
    equal 'made: prompts of ids are as long as asked' "$(summary made-v1 tokens.prompt)" $((requests * 20))
    check 'tailgate run, refused' load refused $text -n 5 --clients 1 --body '{}'
    equal 'refused: failed' "$(summary refused requests.failed)" 5
}

# A client that leaves frees its place: as many leave as there are places.
check_leavers() {
    leavers=
    : >"$dir/log"
    chat_body "\"max_completion_tokens\": 900, $stream" >"$dir/long"
    for _ in 1 2 3 4; do
        curl -s -m 0.3 -o /dev/null -d "@$dir/long" "$url$chat" &
        leavers="$leavers $!"
    done
    # shellcheck disable=SC2086  # a list
    wait $leavers || true
    log_says 'leavers: noticed halfway' 'lines.filter((line) => line.aborted && line.tokens < 900).length' 4
    ask $chat "$dir/chat" --requests 4 --clients 4
    equal 'leavers: those behind them are answered' "$(figure usage)" $((4 * tokens))
}

make_bodies
check_model
if start node "$here/openai_server.mjs" --model "$dir/tiny.gguf" --sequences 4 --log "$dir/log"; then
    check 'models: listed' sh -c "curl -s -m 30 '$url/v1/models' | grep tailgate-tiny"
    check_streams
    check_answers
    check_refusals
    check_leavers
    shown 'ends in [DONE]' 'data: \[DONE\]' $chat --body "@$dir/chat"
    shown 'outcome' 'outcome *ok, HTTP status 200' $chat --body "@$dir/chat"
    check_loads
    check 'the server said nothing of errors' same "$(cat "$dir/server.err")" ''
else
    check 'openai_server starts' false
fi
