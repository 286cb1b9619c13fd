#!/usr/bin/env node
// kserve_server - the KServe v2 inference protocol over HTTP, with ONNX Runtime
// behind it: health, metadata, and inference with tensors as JSON or as bytes
// behind it (the binary-tensor extension).
// Usage: kserve_server.mjs --models DIRECTORY [--port N]
// Every NAME.onnx in the directory is served as NAME.
import {parseArgs} from 'node:util';
import {Refusal, parseJson, readBody, sendJson, serve} from './http.mjs';
import {VERSION, describeTensor, kindOf, loadModels, metadata, ort} from './onnx.mjs';

const {values: flags} = parseArgs({options: {models: {type: 'string'}, port: {type: 'string', default: '0'}}});
if (!flags.models) {
  console.error('kserve_server: --models DIRECTORY is needed');
  process.exit(2);
}
const HEADER = 'inference-header-content-length';

const models = await loadModels(flags.models);

// split(req, data): the JSON and the bytes behind it.
function split(req, data) {
  const header = req.headers[HEADER];
  if (header === undefined) return [parseJson(data), Buffer.alloc(0)];
  const length = Number(header);
  if (!Number.isInteger(length) || length < 0 || length > data.length)
    throw new Refusal(400, `${HEADER} is ${header}, and the body has ${data.length} bytes`);
  return [parseJson(data.subarray(0, length)), data.subarray(length)];
}

function fromBytes(input, kind, data) {
  if (data.length % kind.array.BYTES_PER_ELEMENT !== 0)
    throw new Refusal(400, `input '${input.name}' has ${data.length} bytes, no whole number of ${kind.kserve}`);
  const own = new Uint8Array(data); // a copy, for a typed array has to be aligned
  return new kind.array(own.buffer);
}

function fromJson(input, kind) {
  if (!Array.isArray(input.data)) throw new Refusal(400, `input '${input.name}' has no data`);
  try {
    return kind.array.from(input.data.flat(Infinity), kind.of);
  } catch (error) {
    throw new Refusal(400, `input '${input.name}': ${error.message}`);
  }
}

// checkShape(input, values, expected): as many values as the shape says, and the
// shape that the model has.
function checkShape(input, values, expected) {
  const shape = input.shape;
  if (!Array.isArray(shape) || !shape.every((size) => Number.isInteger(size) && size >= 0))
    throw new Refusal(400, `input '${input.name}' has no shape`);
  const fits = shape.length === expected.length && expected.every((size, i) => size === -1 || size === shape[i]);
  if (!fits) throw new Refusal(400, `input '${input.name}' has the shape [${shape}], the model takes [${expected}]`);
  const count = shape.reduce((product, size) => product * size, 1);
  if (values.length !== count)
    throw new Refusal(400, `input '${input.name}' has ${values.length} values, its shape [${shape}] has ${count}`);
}

// feedsOf(request, bytes, session): a tensor for each input; the bytes belong to
// those that say how many of them are theirs, in the order of the inputs.
function feedsOf(request, bytes, session) {
  const known = new Map(session.inputMetadata.map((meta) => [meta.name, meta]));
  const feeds = {};
  let at = 0;
  for (const input of Array.isArray(request.inputs) ? request.inputs : []) {
    const meta = known.get(input?.name);
    if (!meta) throw new Refusal(400, `unknown input '${input?.name}'`);
    const kind = kindOf(meta.type);
    if (input.datatype !== kind.kserve)
      throw new Refusal(400, `input '${input.name}' is ${input.datatype}, the model takes ${kind.kserve}`);
    const size = input.parameters?.binary_data_size;
    if (size !== undefined && !(Number.isInteger(size) && size >= 0 && at + size <= bytes.length))
      throw new Refusal(400, `input '${input.name}' has a binary_data_size beyond the body`);
    const values = size === undefined ? fromJson(input, kind) : fromBytes(input, kind, bytes.subarray(at, at + size));
    at += size ?? 0;
    checkShape(input, values, describeTensor(meta).shape);
    feeds[input.name] = new ort.Tensor(meta.type, values, input.shape);
  }
  const missing = session.inputNames.filter((name) => !(name in feeds));
  if (missing.length) throw new Refusal(400, `no input '${missing[0]}'`);
  if (at !== bytes.length) throw new Refusal(400, `${bytes.length - at} bytes behind the last input`);
  return feeds;
}

// wanted(request, session): name of each output asked for, and whether as bytes.
function wanted(request, session) {
  const fallback = request.parameters?.binary_data_output === true;
  const outputs = request.outputs ?? session.outputNames.map((name) => ({name}));
  return outputs.map((output) => {
    if (!session.outputNames.includes(output?.name)) throw new Refusal(400, `unknown output '${output?.name}'`);
    return {name: output.name, isBinary: output.parameters?.binary_data ?? fallback};
  });
}

const jsonValues = (tensor) =>
  Array.from(tensor.data, (value) => (tensor.type === 'bool' ? Boolean(value) : Number(value)));

function answer(res, head, outputs, results) {
  const parts = [];
  const described = outputs.map(({name, isBinary}) => {
    const tensor = results[name];
    const output = {name, datatype: kindOf(tensor.type).kserve, shape: tensor.dims};
    if (!isBinary) return {...output, data: jsonValues(tensor)};
    const {buffer, byteOffset, byteLength} = tensor.data;
    parts.push(Buffer.from(buffer, byteOffset, byteLength));
    return {...output, parameters: {binary_data_size: byteLength}};
  });
  const value = {...head, outputs: described};
  if (parts.length === 0) return sendJson(res, 200, value);
  const json = Buffer.from(JSON.stringify(value));
  const body = Buffer.concat([json, ...parts]);
  res.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': body.length,
    [HEADER]: json.length,
  });
  res.end(body);
}

async function infer(req, res, name, session) {
  const [request, bytes] = split(req, await readBody(req));
  const feeds = feedsOf(request, bytes, session);
  const outputs = wanted(request, session);
  const results = await session.run(feeds, outputs.map((output) => output.name));
  const id = request.id === undefined ? {} : {id: request.id};
  answer(res, {model_name: name, model_version: VERSION, ...id}, outputs, results);
}

// Of a model: /v2/models/NAME[/versions/VERSION][/ready|/infer]
function handleModel(req, res, rest) {
  const [name, ...more] = rest;
  const session = models.get(decodeURIComponent(name));
  if (!session) throw new Refusal(404, `unknown model '${name}'`);
  if (more[0] === 'versions') {
    if (more[1] !== VERSION) throw new Refusal(404, `model '${name}' has no version '${more[1]}'`);
    more.splice(0, 2);
  }
  const call = `${req.method} ${more.join('/')}`;
  if (call === 'GET ') return sendJson(res, 200, metadata(name, session));
  if (call === 'GET ready') return sendJson(res, 200, {name, ready: true});
  if (call === 'POST infer') return infer(req, res, name, session);
  throw new Refusal(404, `no ${req.method} ${req.url} here`);
}

const server = {name: 'tailgate-onnxruntime', version: ort.env.versions.node ?? '', extensions: ['binary_tensor_data']};
const routes = {
  'GET /v2': server,
  'GET /v2/health/live': {live: true},
  'GET /v2/health/ready': {ready: true},
};

function handle(req, res) {
  const path = req.url.split('?')[0].replace(/\/$/, '');
  const fixed = routes[`${req.method} ${path}`];
  if (fixed) return sendJson(res, 200, fixed);
  if (path.startsWith('/v2/models/')) return handleModel(req, res, path.split('/').slice(3));
  throw new Refusal(404, `no ${req.method} ${req.url} here`);
}

serve(Number(flags.port), handle, (error) => ({error: error.message}));
