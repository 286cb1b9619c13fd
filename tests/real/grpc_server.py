#!/usr/bin/python3
"""grpc_server - grpc_server.mjs once more, on Debian's python3-grpcio.

Usage: grpc_server.py --messages DIRECTORY [--port N] [--log FILE]

DIRECTORY holds kserve_pb2.py and serving_pb2.py, made by protoc from the .proto
files here.  Models and log are as described there.
"""
import argparse
import hashlib
import json
import signal
import struct
import sys
import threading
from concurrent import futures

import grpc

TYPED = {
    "FP32": ("fp32_contents", "f"),
    "FP64": ("fp64_contents", "d"),
    "INT32": ("int_contents", "i"),
    "INT64": ("int64_contents", "q"),
    "UINT8": ("uint_contents", "B"),
}
SERVICE = "inference.GRPCInferenceService"
CODES = {code.value[0]: code for code in grpc.StatusCode}


def orders(name):
    """What the name of a model says: a word and its numbers."""
    word, *numbers = name.split("-")
    return word, [int(number) for number in numbers]


def bytes_of(tensor):
    name, letter = TYPED[tensor.datatype]
    values = getattr(tensor.contents, name)
    return struct.pack(f"<{len(values)}{letter}", *values)


class Server:
    def __init__(self, kserve, serving, log):
        self.kserve, self.serving, self.log_path = kserve, serving, log
        self.lock = threading.Lock()

    def log(self, method, length, described, data):
        if not self.log_path:
            return
        name, datatype, shape = described
        line = {
            "method": method,
            "length": length,
            "name": name,
            "datatype": datatype,
            "shape": [str(size) for size in shape],
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        with self.lock, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def log_tensors(self, method, message, request):
        for i, tensor in enumerate(request.inputs):
            raw = request.raw_input_contents
            data = raw[i] if raw else bytes_of(tensor)
            self.log(method, len(message), (tensor.name, tensor.datatype, tensor.shape), data)

    def answer(self, request, final=None):
        answer = self.kserve.ModelInferResponse(model_name=request.model_name, model_version="1", id=request.id)
        for i, tensor in enumerate(request.inputs):
            answer.outputs.add().CopyFrom(tensor)
            answer.outputs[i].name = f"OUTPUT{i}"
        answer.raw_output_contents.extend(request.raw_input_contents)
        if final is not None:
            answer.parameters["triton_final_response"].bool_param = final
        return answer

    def infer(self, message, context):
        request = self.kserve.ModelInferRequest.FromString(message)
        word, numbers = orders(request.model_name)
        self.log_tensors("ModelInfer", message, request)
        if word == "status":
            context.abort(CODES[numbers[0]], "as asked for")
        if word == "malformed":
            return b"\x7f\xff\xff"
        return self.answer(request).SerializeToString()

    def event(self, **fields):
        return self.kserve.ModelStreamInferResponse(**fields).SerializeToString()

    def stream(self, messages, context):
        for message in messages:
            request = self.kserve.ModelInferRequest.FromString(message)
            word, numbers = orders(request.model_name)
            wants_empty = request.parameters["triton_enable_empty_final_response"].bool_param
            self.log_tensors("ModelStreamInfer", message, request)
            for i in range(numbers[0]):
                is_last = word == "stream" and i == numbers[0] - 1 and not wants_empty
                yield self.event(infer_response=self.answer(request, is_last))
            if word == "stream" and wants_empty:
                last = self.kserve.ModelInferResponse(model_name=request.model_name, id=request.id)
                last.parameters["triton_final_response"].bool_param = True
                yield self.event(infer_response=last)
            if word == "inband":
                yield self.event(error_message="as asked for")
            if word == "late":
                context.abort(CODES[numbers[1]], "as asked for")

    def predict(self, message, context):
        request = self.serving.PredictRequest.FromString(message)
        word, numbers = orders(request.model_spec.name)
        for name, tensor in request.inputs.items():
            data = tensor.tensor_content or struct.pack(f"<{len(tensor.float_val)}f", *tensor.float_val)
            shape = [dim.size for dim in tensor.tensor_shape.dim]
            self.log("Predict", len(message), (name, tensor.dtype, shape), data)
        if word == "status":
            context.abort(CODES[numbers[0]], "as asked for")
        answer = self.serving.PredictResponse(model_spec=request.model_spec)
        for name, tensor in request.inputs.items():
            answer.outputs[name].CopyFrom(tensor)
        return answer.SerializeToString()

    def describe(self, message, _context):
        name = self.kserve.Which.FromString(message).name
        answer = self.kserve.ModelMetadataResponse(name=name, versions=["1"], platform="python")
        for described, side in ((answer.inputs.add(), "x"), (answer.outputs.add(), "OUTPUT0")):
            described.name, described.datatype = side, "FP32"
            described.shape.extend([4, 16])
        return answer.SerializeToString()

    def yes(self, _message, _context):
        return self.kserve.Yes(yes=True).SerializeToString()

    def name(self, _message, _context):
        return self.kserve.ServerMetadataResponse(name="grpcio", version="1").SerializeToString()


def listen(server, port):
    """Messages stay bytes to gRPC: their length is what came over the wire."""
    unary = grpc.unary_unary_rpc_method_handler
    handlers = {
        "ServerLive": unary(server.yes),
        "ServerReady": unary(server.yes),
        "ModelReady": unary(server.yes),
        "ServerMetadata": unary(server.name),
        "ModelMetadata": unary(server.describe),
        "ModelInfer": unary(server.infer),
        "ModelStreamInfer": grpc.stream_stream_rpc_method_handler(server.stream),
    }
    made = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    made.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(SERVICE, handlers),
            grpc.method_handlers_generic_handler(
                "tensorflow.serving.PredictionService", {"Predict": unary(server.predict)}
            ),
        )
    )
    bound = made.add_insecure_port(f"127.0.0.1:{port}")
    made.start()
    print(f"listening on grpc://127.0.0.1:{bound}", flush=True)
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log")
    flags = parser.parse_args()
    sys.path.insert(0, flags.messages)
    import kserve_pb2  # pylint: disable=import-outside-toplevel
    import serving_pb2  # pylint: disable=import-outside-toplevel

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    made = listen(Server(kserve_pb2, serving_pb2, flags.log), flags.port)
    ended.wait()
    made.stop(None)


main()
