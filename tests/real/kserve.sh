# kserve.sh - a part of tests/real/run: ONNX Runtime behind KServe's v2 protocol.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir and url are those of run and lib.sh

infer=/v2/models/mlp/infer
requests=200

# An answer that is not as computed beforehand, to the last bit, is wrong.
check_answers() {
    timeout --foreground 60 node "$here/infer.mjs" check "$dir/models" "$url" >"$dir/answer" 2>&1 || cat "$dir/answer"
    for way in json-json json-binary binary-json binary-binary refuses-shape refuses-type refuses-length; do
        equal "mlp, $way" "$(figure $way)" right
    done
    simple='{"inputs": [
        {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16], "data": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]},
        {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16], "data": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}]}'
    curl -s -m 30 -d "$simple" "$url/v2/models/simple/infer" >"$dir/simple"
    check 'simple: sums' grep -F '[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]' "$dir/simple"
    check 'simple: differences' grep -F '[-1,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]' "$dir/simple"
}

check_status() {
    for path in /v2 /v2/health/live /v2/health/ready /v2/models/mlp /v2/models/mlp/ready /v2/models/simple/versions/1; do
        equal "GET $path" "$(curl -s -m 30 -o /dev/null -w '%{http_code}' "$url$path")" 200
    done
    equal 'unknown model' "$(status /v2/models/none/infer '{}')" 404
    equal 'no inputs' "$(status $infer '{}')" 400
}

check_loads() {
    length=$(node "$here/infer.mjs" bodies "$dir/models" "$dir")
    set -- --body "@$dir/binary.body" -H 'Content-Type: application/octet-stream' -H "Inference-Header-Content-Length: $length"
    all_ok json-closed "$requests" $infer --body "@$dir/json.body" --clients 4
    measured json-closed
    all_ok json-open "$requests" $infer --body "@$dir/json.body" --rate 100
    measured json-open
    all_ok binary-closed "$requests" $infer --clients 4 "$@"
    measured binary-closed
    # Without a file: the model says what it takes.
    all_ok made-json "$requests" $infer --clients 4
    all_ok made-binary "$requests" $infer --clients 4 --binary-tensors
    all_ok checked 50 /v2/models/simple/infer --clients 1 --body "$simple" --check 'tensor OUTPUT0 = 1 2 3 4 5' \
        --check 'json /outputs/1/data/0 = -1'
    equal 'checked: quality' "$(summary checked quality.share)" 1
    all_ok wrong 50 /v2/models/simple/infer --clients 1 --body "$simple" --check 'tensor OUTPUT0 = 1 2 4'
    equal 'wrong: quality' "$(summary wrong quality.share)" 0
    shown 'binary' 'outcome *ok, HTTP status 200' $infer "$@"
    shown 'json' '"model_name":"mlp"' $infer --body "@$dir/json.body"
}

mkdir -p "$dir/models"
check 'models: made' /usr/bin/python3 "$here/make_onnx.py" "$dir/models"
if start node "$here/kserve_server.mjs" --models "$dir/models"; then
    check_status
    check_answers
    check_loads
    check 'the server said nothing of errors' same "$(cat "$dir/server.err")" ''
else
    check 'kserve_server starts' false
fi
