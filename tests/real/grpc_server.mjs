#!/usr/bin/env node
// grpc_server - KServe v2, Triton's streams and TensorFlow Serving's Predict on
// @grpc/grpc-js.  Tensors come back as they are, input n as OUTPUTn.
// Usage: grpc_server.mjs [--port N] [--log FILE]
// The name of the model says what else happens:
//   status-N    the status N instead of an answer
//   malformed   bytes that are no message
//   stream-N    ModelStreamInfer: N answers, then the flag or an empty final one
//   inband-N    N answers, then error_message
//   early-N     N answers that are not final, and the end
//   late-N-S    N answers, then the status S
// The log has a line of JSON for each tensor: the method, the length of the whole
// message, the tensor's name, type, shape and bytes (length and SHA-256).
import {createHash} from 'node:crypto';
import {appendFileSync} from 'node:fs';
import {parseArgs} from 'node:util';
import {Inference, Prediction, rawService, serve} from './grpc.mjs';

const {values: flags} = parseArgs({options: {port: {type: 'string', default: '0'}, log: {type: 'string'}}});

// By type: the list that it has its values in, and how one is written as bytes.
const typed = {
  FP32: ['fp32_contents', 4, (bytes, value, at) => bytes.writeFloatLE(value, at)],
  FP64: ['fp64_contents', 8, (bytes, value, at) => bytes.writeDoubleLE(value, at)],
  INT32: ['int_contents', 4, (bytes, value, at) => bytes.writeInt32LE(value, at)],
  INT64: ['int64_contents', 8, (bytes, value, at) => bytes.writeBigInt64LE(BigInt(value), at)],
  UINT8: ['uint_contents', 1, (bytes, value, at) => bytes.writeUInt8(value, at)],
};

function bytesOf(tensor) {
  const [list, size, write] = typed[tensor.datatype];
  const values = tensor.contents?.[list] ?? [];
  const bytes = Buffer.alloc(size * values.length);
  values.forEach((value, i) => write(bytes, value, size * i));
  return bytes;
}

function log(method, length, tensor, bytes) {
  if (!flags.log) return;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const {name, datatype, shape} = tensor;
  appendFileSync(flags.log, `${JSON.stringify({method, length, name, datatype, shape, bytes: bytes.length, sha256})}\n`);
}

function logTensors(method, request) {
  request.inputs.forEach((tensor, i) =>
    log(method, request.message_length, tensor, request.raw_input_contents[i] ?? bytesOf(tensor)),
  );
}

const answerTo = (request, parameters = {}) => ({
  model_name: request.model_name,
  model_version: '1',
  id: request.id,
  parameters,
  outputs: request.inputs.map((input, i) => ({...input, name: `OUTPUT${i}`})),
  raw_output_contents: request.raw_input_contents,
});

// What the name of a model says: a word and its numbers.
const orders = (request) => request.model_name.split('-').map((part, i) => (i ? Number(part) : part));
const refusal = (code) => ({code, details: 'as asked for'});

function infer({request}, callback) {
  const [word, number] = orders(request);
  logTensors('ModelInfer', request);
  if (word === 'status') callback(refusal(number));
  else if (word === 'malformed') callback(null, {raw: Buffer.from([0x7f, 0xff, 0xff])});
  else callback(null, answerTo(request));
}

const final = (is) => ({triton_final_response: {bool_param: is}});

function answerStream(call, request) {
  const [word, number, status] = orders(request);
  const wantsEmpty = request.parameters.triton_enable_empty_final_response?.bool_param === true;
  for (let i = 0; i < number; i++) {
    const isLast = word === 'stream' && i === number - 1 && !wantsEmpty;
    call.write({infer_response: answerTo(request, final(isLast))});
  }
  if (word === 'stream' && wantsEmpty)
    call.write({infer_response: {model_name: request.model_name, id: request.id, parameters: final(true)}});
  if (word === 'inband') call.write({error_message: 'as asked for'});
  if (word === 'late') call.emit('error', refusal(status));
}

function stream(call) {
  call.on('data', (request) => {
    logTensors('ModelStreamInfer', request);
    answerStream(call, request);
  });
  call.on('end', () => call.end());
}

function predict({request}, callback) {
  const [word, number] = orders(request.model_spec ? {model_name: request.model_spec.name} : {model_name: ''});
  for (const [name, tensor] of Object.entries(request.inputs)) {
    const values = Buffer.alloc(4 * tensor.float_val.length);
    tensor.float_val.forEach((value, i) => values.writeFloatLE(value, 4 * i));
    const shape = tensor.tensor_shape?.dim.map(({size}) => size);
    const bytes = tensor.tensor_content.length ? tensor.tensor_content : values;
    log('Predict', request.message_length, {name, datatype: tensor.dtype, shape}, bytes);
  }
  if (word === 'status') callback(refusal(number));
  else callback(null, {outputs: request.inputs, model_spec: request.model_spec});
}

const yes = (call, callback) => callback(null, {yes: true});
const anyShape = (name) => ({name, datatype: 'FP32', shape: ['4', '16']});
const handlers = {
  ServerLive: yes,
  ServerReady: yes,
  ModelReady: yes,
  ServerMetadata: (call, callback) => callback(null, {name: 'grpc-js', version: '1', extensions: []}),
  ModelMetadata: ({request}, callback) =>
    callback(null, {
      name: request.name,
      versions: ['1'],
      platform: 'node',
      inputs: [anyShape('x')],
      outputs: [anyShape('OUTPUT0')],
    }),
  ModelInfer: infer,
  ModelStreamInfer: stream,
};
serve(flags.port, [
  [rawService(Inference.service), handlers],
  [rawService(Prediction.service), {Predict: predict}],
]);
