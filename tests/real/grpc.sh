# grpc.sh - a part of tests/real/run: gRPC by @grpc/grpc-js and by Debian's
# python3-grpcio, as servers of tailgate and as clients of its stub; and ONNX
# Runtime over gRPC.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir, url and tailgate are those of run and lib.sh

service=/inference.GRPCInferenceService
requests=40
sample=256 # bytes: 4x16 FP32
codes='1:CANCELLED 2:UNKNOWN 3:INVALID_ARGUMENT 4:DEADLINE_EXCEEDED 5:NOT_FOUND 6:ALREADY_EXISTS 7:PERMISSION_DENIED
8:RESOURCE_EXHAUSTED 9:FAILED_PRECONDITION 10:ABORTED 11:OUT_OF_RANGE 12:UNIMPLEMENTED 13:INTERNAL 14:UNAVAILABLE
15:DATA_LOSS 16:UNAUTHENTICATED'

# Eight samples, all different; the first four values of each are 1, 2, 3 and its number.
make_tensors() {
    node -e '
        const values = Float32Array.from({length: 8 * 64}, (_, i) => Math.sin(i + 1));
        for (let i = 0; i < 8; i++) values.set([1, 2, 3, i], 64 * i);
        require("fs").writeFileSync(process.argv[1], new Uint8Array(values.buffer));
    ' "$dir/tensors.bin"
    echo '{"prompt":"say \"hi\""}' >"$dir/prompts.jsonl"
}

# tensors METHOD COUNT WHAT: the log has COUNT tensors, each a sample to the last bit.
tensors() {
    node "$here/grpc_log.mjs" "$dir/log" "$dir/tensors.bin" "$sample" "$1" >"$dir/answer" 2>&1 || cat "$dir/answer"
    equal "$3: tensors arrived" "$(figure tensors)" "$2"
    equal "$3: byte for byte" "$(figure right)" "$2"
    equal "$3: different samples" "$(figure samples)" 8
    check "$3: no message is shorter than its tensor" less "$sample" "$(figure least)"
    : >"$dir/log"
}

# failed NAME PATH COUNT OUTCOME PART FLAGS...: a load that fails whole, and says so.
failed() {
    fail_name=$1 fail_path=$2 count=$3 outcome=$4 part=$5
    shift 5
    check "tailgate run, $fail_name" load "$fail_name" "$fail_path" -n "$count" --clients 1 "$@"
    equal "$fail_name: ok" "$(summary "$fail_name" requests.ok)" 0
    equal "$fail_name: $outcome" "$(failures "$fail_name" "$outcome" "$part")" "$count"
}

# failures NAME OUTCOME PART: how many failed so, in words with this part.
failures() {
    node -e '
        const {failures} = JSON.parse(require("fs").readFileSync(process.argv[1]));
        const those = failures.filter((f) => f.outcome === process.argv[2] && f.text.includes(process.argv[3]));
        console.log(those.reduce((sum, f) => sum + f.count, 0));
    ' "$dir/$1/summary.json" "$2" "$3"
}

# check_unary SERVER
check_unary() {
    set -- "$1" --data "$dir/tensors.bin" --data-format tensors --tensor 'x FP32 4x16' --select order --clients 2
    server_name=$1
    shift
    all_ok "$server_name-raw" $requests '' --model m "$@" --check 'tensor OUTPUT0 = 1 2 3'
    equal "$server_name-raw: quality" "$(summary "$server_name-raw" quality.share)" 1
    tensors ModelInfer $requests "$server_name-raw"
    all_ok "$server_name-typed" $requests '' --model m --typed-tensors "$@" --check 'tensor OUTPUT0 = 1 2 3'
    equal "$server_name-typed: quality" "$(summary "$server_name-typed" quality.share)" 1
    tensors ModelInfer $requests "$server_name-typed"
    all_ok "$server_name-wrong" 8 '' --model m "$@" --check 'tensor OUTPUT0 = 1 2 4'
    equal "$server_name-wrong: quality" "$(summary "$server_name-wrong" quality.share)" 0
    : >"$dir/log"
    all_ok "$server_name-predict" $requests '' --api tfserving-grpc --model m "$@" --check 'tensor x = 1 2 3'
    equal "$server_name-predict: quality" "$(summary "$server_name-predict" quality.share)" 1
    tensors Predict $requests "$server_name-predict"
    : >"$dir/log"
    all_ok "$server_name-prompts" 8 '' --model m --clients 1 --data "$dir/prompts.jsonl" --unique false \
        --tensor 't BYTES 1' --check 'exact say "hi"'
    equal "$server_name-prompts: quality" "$(summary "$server_name-prompts" quality.share)" 1
    equal "$server_name-prompts: bytes of each tensor" "$(sort -u "$dir/log" | sed 's/.*"bytes": *\([0-9]*\).*/\1/')" 12
    all_ok "$server_name-made" 8 '' --model m --clients 1
    measured "$server_name-raw"
    failed "$server_name-malformed" '' 4 malformed '' --model malformed --tensor 'x FP32 1'
}

# check_streams SERVER
check_streams() {
    set -- "$1" --data "$dir/tensors.bin" --data-format tensors --tensor 'x FP32 4x16' --select order
    server_name=$1
    shift
    : >"$dir/log"
    all_ok "$server_name-stream" $requests $service/ModelStreamInfer --model stream-5 --clients 2 "$@" \
        --check 'tensor OUTPUT0 = 1 2 3'
    equal "$server_name-stream: quality" "$(summary "$server_name-stream" quality.share)" 1
    equal "$server_name-stream: gaps" "$(summary "$server_name-stream" measures.gap.n)" $((4 * requests))
    tensors ModelStreamInfer $requests "$server_name-stream"
    failed "$server_name-inband" $service/ModelStreamInfer 4 'in-band error' 'as asked for' --model inband-2 "$@"
    failed "$server_name-early" $service/ModelStreamInfer 4 truncated 'without its terminator' --model early-2 "$@"
    failed "$server_name-late" $service/ModelStreamInfer 4 status 'RESOURCE_EXHAUSTED: as asked for' --model late-2-8 "$@"
}

# check_statuses SERVER
check_statuses() {
    for code in $codes; do
        failed "$1-status-${code%%:*}" '' 3 status "gRPC status ${code#*:}: as asked for" --tensor 'x FP32 1' \
            --model "status-${code%%:*}"
    done
}

# check_server NAME COMMAND...
check_server() {
    which=$1
    shift
    : >"$dir/log"
    if start "$@" --log "$dir/log"; then
        check_unary "$which"
        check_streams "$which"
        check_statuses "$which"
        check "$which said nothing of errors" same "$(cat "$dir/server.err")" ''
        stop
    else
        check "$which starts" false
    fi
}

# check_asked WHO COMMAND...: another client's view of the stub.
check_asked() {
    who=$1
    shift
    timeout --foreground 60 "$@" "$place" >"$dir/answer" 2>&1 || cat "$dir/answer"
    for way in live raw typed predict; do
        equal "the stub, asked by $who, $way" "$(figure $way)" right
    done
    equal "the stub, asked by $who, answers and the final one" "$(figure stream)" 6:6
    equal "the stub, asked by $who, a request that is none" "$(figure status)" 3
}

check_stub() {
    if start "$tailgate" stub --grpc-port 0; then
        tries=0
        until place=$(sed -n 's,^listening on grpc://,,p' "$dir/server.out") && [ -n "$place" ] || [ $tries -ge 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        check_asked grpc-js node "$here/grpc_ask.mjs"
        check_asked grpcio /usr/bin/python3 "$here/grpc_ask.py" "$dir/messages"
        stop
    else
        check 'the stub starts' false
    fi
}

# mlp's own input, whose answers are known to the last bit.
check_onnx() {
    # shellcheck disable=SC2016  # node fills it in
    node -e '
        const {x, y} = JSON.parse(require("fs").readFileSync(process.argv[1] + "/mlp.json"));
        require("fs").writeFileSync(process.argv[2], new Uint8Array(Float32Array.from(x.flat()).buffer));
        console.log(`mlp_shape=${x.length}x${x[0].length} mlp_check=${y.flat().slice(0, 10).join(",")}`);
    ' "$dir/models" "$dir/mlp.bin" >"$dir/answer"
    shape=$(figure mlp_shape)
    values=$(figure mlp_check | tr , ' ')
    all_ok onnx-mlp 200 '' --model mlp --clients 4 --data "$dir/mlp.bin" --data-format tensors --tensor "x FP32 $shape" \
        --check "tensor y = $values"
    equal 'onnx-mlp: quality' "$(summary onnx-mlp quality.share)" 1
    measured onnx-mlp
    all_ok onnx-made 200 '' --model simple --clients 4 # the model says what it takes
    all_ok onnx-open 200 '' --model mlp --rate 100 --tensor "x FP32 $shape"
    failed onnx-unknown '' 4 status 'gRPC status NOT_FOUND' --model none --tensor 'x FP32 1'
    failed onnx-shape '' 4 status 'gRPC status INVALID_ARGUMENT' --model mlp --tensor 'x FP32 1x3'
}

mkdir -p "$dir/messages" "$dir/models"
make_tensors
check 'messages: made' protoc "--proto_path=$here" "--python_out=$dir/messages" "$here/kserve.proto" "$here/serving.proto"
check_server grpc-js node "$here/grpc_server.mjs"
check_server grpcio /usr/bin/python3 "$here/grpc_server.py" --messages "$dir/messages"
check_stub
check 'models: made' /usr/bin/python3 "$here/make_onnx.py" "$dir/models"
if start node "$here/kserve_grpc_server.mjs" --models "$dir/models"; then
    check_onnx
    check 'the ONNX server said nothing of errors' same "$(cat "$dir/server.err")" ''
else
    check 'kserve_grpc_server starts' false
fi
