#!/usr/bin/env node
// infer - ask kserve_server.mjs about mlp and compare with what it has to say.
// Usage: infer.mjs bodies MODELS DIRECTORY   write json.body and binary.body, and
//                                            print how long the latter's JSON is
//        infer.mjs check MODELS URL          print name=right or name=wrong for each
//                                            way to ask
// MODELS is the directory that make_onnx.py filled.
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const HEADER = 'inference-header-content-length';
const [command, models, where] = process.argv.slice(2);
if (!['bodies', 'check'].includes(command) || !where) {
  console.error('usage: infer.mjs bodies|check MODELS DIRECTORY|URL');
  process.exit(2);
}
const {x, y} = JSON.parse(readFileSync(join(models, 'mlp.json')));
const input = {name: 'x', datatype: 'FP32', shape: [x.length, x[0].length]};
const values = x.flat();

// The bytes as the protocol has them, little-endian whatever the machine.
function bytesOf(numbers) {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeFloatLE(number, 4 * i));
  return bytes;
}
const floatsOf = (bytes) => Array.from({length: bytes.length / 4}, (_, i) => bytes.readFloatLE(4 * i));

// body(isBinary, wantsBinary): the whole body, and how much of it is JSON.
function body(isBinary, wantsBinary) {
  const bytes = isBinary ? bytesOf(values) : Buffer.alloc(0);
  const tensor = isBinary ? {...input, parameters: {binary_data_size: bytes.length}} : {...input, data: values};
  const request = {id: 'one', inputs: [tensor], outputs: [{name: 'y', parameters: {binary_data: wantsBinary}}]};
  const json = Buffer.from(JSON.stringify(request));
  return {data: Buffer.concat([json, bytes]), jsonLength: json.length};
}

async function post(data, headers = {}) {
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(`${where}/v2/models/mlp/infer`, {method: 'POST', body: data, headers, signal});
  return {response, bytes: Buffer.from(await response.arrayBuffer())};
}

async function isRight(isBinary, wantsBinary) {
  const {data, jsonLength} = body(isBinary, wantsBinary);
  const {response, bytes} = await post(data, isBinary ? {[HEADER]: String(jsonLength)} : {});
  if (response.status !== 200) return false;
  const length = Number(response.headers.get(HEADER) ?? bytes.length);
  const answer = JSON.parse(bytes.subarray(0, length));
  const [output] = answer.outputs;
  const found = wantsBinary ? floatsOf(bytes.subarray(length)) : output.data;
  const shape = [y.length, y[0].length];
  return answer.id === 'one' && String(output.shape) === String(shape) && String(found) === String(y.flat());
}

// A refusal is a 400 with a sentence.
async function isRefused(data, headers) {
  const {response, bytes} = await post(data, headers);
  return response.status === 400 && typeof JSON.parse(bytes).error === 'string';
}

const checks = {
  'json-json': () => isRight(false, false),
  'json-binary': () => isRight(false, true),
  'binary-json': () => isRight(true, false),
  'binary-binary': () => isRight(true, true),
  'refuses-shape': () => isRefused(JSON.stringify({inputs: [{...input, data: [1, 2, 3]}]})),
  'refuses-type': () => isRefused(JSON.stringify({inputs: [{...input, datatype: 'INT32', data: values}]})),
  'refuses-length': () => isRefused(body(true, true).data, {[HEADER]: '999999'}),
};

if (command === 'bodies') {
  const {data, jsonLength} = body(true, true);
  writeFileSync(join(where, 'json.body'), body(false, false).data);
  writeFileSync(join(where, 'binary.body'), data);
  console.log(jsonLength);
} else {
  for (const [name, check] of Object.entries(checks)) console.log(`${name}=${(await check()) ? 'right' : 'wrong'}`);
}
