#!/usr/bin/python3
"""make_onnx - write the models of kserve_server.mjs, with Debian's python3-onnx.

Usage: make_onnx.py [--seed N] DIRECTORY

simple.onnx  two INT32 tensors of 16 in, their sum and their difference out
mlp.onnx     FP32 [n, 64] in, two hidden layers of 256, FP32 [n, 10] out

The weights of mlp are -1, 0 or 1 and few, so that from small integers it
computes small integers: exact in FP32 in whatever order an engine adds them up.
mlp.json holds an input and the output that goes with it.
"""
import argparse
import json
import os

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

OPSET = 13
SIZES = [64, 256, 256, 10]
FILLED = 0.1  # share of the weights that are not 0


def model(name, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="tailgate")
    made.ir_version = 8
    checker.check_model(made)
    return made


def tensor(name, kind, width):
    return helper.make_tensor_value_info(name, kind, ["batch", width])


def simple():
    inputs, outputs = ([tensor(f"{side}{i}", TensorProto.INT32, 16) for i in range(2)] for side in ("INPUT", "OUTPUT"))
    nodes = [
        helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
        helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"]),
    ]
    return model("simple", nodes, inputs, outputs)


def layers(rng):
    """Weights and biases: numpy arrays of small integers."""
    made = []
    for rows, columns in zip(SIZES, SIZES[1:]):
        weights = rng.choice([-1, 1], size=(rows, columns)) * (rng.random(size=(rows, columns)) < FILLED)
        made.append((weights.astype(numpy.int64), rng.integers(-2, 3, size=columns)))
    return made


def mlp(parts):
    nodes, initializers, last = [], [], "x"
    for i, (weights, bias) in enumerate(parts):
        name = "y" if i == len(parts) - 1 else f"h{i}"
        initializers.append(numpy_helper.from_array(weights.astype(numpy.float32), f"w{i}"))
        initializers.append(numpy_helper.from_array(bias.astype(numpy.float32), f"b{i}"))
        nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [name]))
        if name != "y":
            nodes.append(helper.make_node("Relu", [name], [f"r{i}"]))
        last = f"r{i}"
    x, y = tensor("x", TensorProto.FLOAT, SIZES[0]), tensor("y", TensorProto.FLOAT, SIZES[-1])
    return model("mlp", nodes, [x], [y], initializers)


def expected(parts, x):
    """What mlp computes, in integers."""
    for weights, bias in parts[:-1]:
        x = numpy.maximum(x @ weights + bias, 0)
    weights, bias = parts[-1]
    return x @ weights + bias


def main():
    parser = argparse.ArgumentParser(description="write the models of kserve_server.mjs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("directory")
    options = parser.parse_args()
    rng = numpy.random.Generator(numpy.random.PCG64(options.seed))
    parts = layers(rng)
    x = rng.integers(-3, 4, size=(4, SIZES[0]))
    y = expected(parts, x)
    assert abs(y).max() < 2**24, "not exact in FP32"
    save(simple(), os.path.join(options.directory, "simple.onnx"))
    save(mlp(parts), os.path.join(options.directory, "mlp.onnx"))
    with open(os.path.join(options.directory, "mlp.json"), "w", encoding="ascii") as file:
        json.dump({"x": x.tolist(), "y": y.tolist()}, file)
        file.write("\n")


if __name__ == "__main__":
    main()
