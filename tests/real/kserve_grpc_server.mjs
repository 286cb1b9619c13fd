#!/usr/bin/env node
// kserve_grpc_server - kserve_server.mjs over gRPC, on @grpc/grpc-js: the same
// models behind ModelInfer, with raw contents.
// Usage: kserve_grpc_server.mjs --models DIRECTORY [--port N]
import {parseArgs} from 'node:util';
import {Inference, grpc, rawService, serve} from './grpc.mjs';
import {VERSION, kindOf, loadModels, metadata, ort} from './onnx.mjs';

const {values: flags} = parseArgs({options: {models: {type: 'string'}, port: {type: 'string', default: '0'}}});
if (!flags.models) {
  console.error('kserve_grpc_server: --models DIRECTORY is needed');
  process.exit(2);
}
const models = await loadModels(flags.models);

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function sessionOf(name) {
  const session = models.get(name);
  if (!session) throw new Refusal(grpc.status.NOT_FOUND, `unknown model '${name}'`);
  return session;
}

// feed(input, raw, meta): the tensor; its bytes must be those of its shape.
function feed(input, raw, meta) {
  const kind = meta && kindOf(meta.type);
  if (!kind || input.datatype !== kind.kserve)
    throw new Refusal(grpc.status.INVALID_ARGUMENT, `input '${input.name}' of ${input.datatype} is none of the model's`);
  const shape = input.shape.map(Number);
  const length = shape.reduce((product, size) => product * size, kind.array.BYTES_PER_ELEMENT);
  if (raw?.length !== length)
    throw new Refusal(grpc.status.INVALID_ARGUMENT, `input '${input.name}' has ${raw?.length} bytes, not ${length}`);
  return new ort.Tensor(meta.type, new kind.array(new Uint8Array(raw).buffer), shape);
}

async function infer(request) {
  const session = sessionOf(request.model_name);
  const known = new Map(session.inputMetadata.map((meta) => [meta.name, meta]));
  const feeds = {};
  request.inputs.forEach((input, i) => {
    feeds[input.name] = feed(input, request.raw_input_contents[i], known.get(input.name));
  });
  const results = await session.run(feeds);
  return {
    model_name: request.model_name,
    model_version: VERSION,
    id: request.id,
    outputs: session.outputNames.map((name) => ({
      name,
      datatype: kindOf(results[name].type).kserve,
      shape: results[name].dims,
    })),
    raw_output_contents: session.outputNames.map((name) => {
      const {buffer, byteOffset, byteLength} = results[name].data;
      return Buffer.from(buffer, byteOffset, byteLength);
    }),
  };
}

// unary(answer): a handler for what answers a request, or throws.
const unary = (answer) => async (call, callback) => {
  try {
    callback(null, await answer(call.request));
  } catch (error) {
    callback({code: error.code ?? grpc.status.INVALID_ARGUMENT, details: error.message});
  }
};

const handlers = {
  ServerLive: unary(() => ({yes: true})),
  ServerReady: unary(() => ({yes: true})),
  ModelReady: unary(({name}) => ({yes: models.has(name)})),
  ServerMetadata: unary(() => ({name: 'tailgate-onnxruntime', version: VERSION})),
  ModelMetadata: unary(({name}) => metadata(name, sessionOf(name))),
  ModelInfer: unary(infer),
};
serve(flags.port, [[rawService(Inference.service), handlers]]);
