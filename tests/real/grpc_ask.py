#!/usr/bin/python3
"""grpc_ask - grpc_ask.mjs once more, on Debian's python3-grpcio.

Usage: grpc_ask.py MESSAGES HOST:PORT
"""
import struct
import sys

import grpc

sys.path.insert(0, sys.argv[1])
import kserve_pb2 as kserve  # pylint: disable=wrong-import-position
import serving_pb2 as serving  # pylint: disable=wrong-import-position

SERVICE = "/inference.GRPCInferenceService/"
BYTES = struct.pack("<3f", 1.5, -2, 1e30)
channel = grpc.insecure_channel(sys.argv[2])


def ask(path, request, answer):
    call = channel.unary_unary(path, type(request).SerializeToString, answer.FromString)
    return call(request, timeout=30)


def request_of(raw=None, typed=None):
    request = kserve.ModelInferRequest(id="7")
    tensor = request.inputs.add(name="x", datatype="FP32", shape=[3])
    if raw:
        request.raw_input_contents.append(raw)
    if typed:
        tensor.contents.fp32_contents.extend(typed)
    return request


def right(is_right):
    return "right" if is_right else "wrong"


def infer(**contents):
    return ask(SERVICE + "ModelInfer", request_of(**contents), kserve.ModelInferResponse)


def predict():
    request = serving.PredictRequest()
    request.inputs["x"].dtype = 1
    request.inputs["x"].tensor_shape.dim.add(size=3)
    request.inputs["x"].tensor_content = BYTES
    answer = ask("/tensorflow.serving.PredictionService/Predict", request, serving.PredictResponse)
    return answer.outputs["x"].tensor_content == BYTES


def stream():
    request = request_of(raw=BYTES)
    request.parameters["max_tokens"].int64_param = 5
    request.parameters["triton_enable_empty_final_response"].bool_param = True
    call = channel.stream_stream(
        SERVICE + "ModelStreamInfer",
        kserve.ModelInferRequest.SerializeToString,
        kserve.ModelStreamInferResponse.FromString,
    )
    flags = [
        event.infer_response.parameters["triton_final_response"].bool_param for event in call(iter([request]), timeout=30)
    ]
    return f"{len(flags)}:{flags.index(True) + 1}"


def status():
    try:
        ask(SERVICE + "ModelInfer", kserve.ModelInferRequest(), kserve.ModelInferResponse)
        return 0
    except grpc.RpcError as error:
        return error.code().value[0]


answer = infer(raw=BYTES)
print(
    f"live={right(ask(SERVICE + 'ServerLive', kserve.Nothing(), kserve.Yes).yes)}",
    f"raw={right(answer.id == '7' and list(answer.raw_output_contents) == [BYTES])}",
    f"typed={right(list(infer(typed=[0.5, 2, -3]).outputs[0].contents.fp32_contents) == [0.5, 2, -3])}",
    f"predict={right(predict())} stream={stream()} status={status()}",
)
