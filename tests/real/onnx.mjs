// ONNX Runtime with one thread, and what KServe says of its models; for both
// servers, of HTTP and of gRPC.
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {load} from './packages.mjs';

export const {default: ort} = await load('onnxruntime-node');
export const VERSION = '1';

// What KServe, ONNX Runtime and JavaScript call the same thing.
const kinds = [
  {kserve: 'FP32', ort: 'float32', array: Float32Array, of: Number},
  {kserve: 'FP64', ort: 'float64', array: Float64Array, of: Number},
  {kserve: 'INT8', ort: 'int8', array: Int8Array, of: Number},
  {kserve: 'UINT8', ort: 'uint8', array: Uint8Array, of: Number},
  {kserve: 'INT32', ort: 'int32', array: Int32Array, of: Number},
  {kserve: 'INT64', ort: 'int64', array: BigInt64Array, of: BigInt},
  {kserve: 'BOOL', ort: 'bool', array: Uint8Array, of: Number},
];
export const kindOf = (type) => kinds.find((kind) => kind.ort === type);

export async function loadModels(directory) {
  const models = new Map();
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.onnx')).sort()) {
    const options = {intraOpNumThreads: 1, interOpNumThreads: 1};
    models.set(file.slice(0, -'.onnx'.length), await ort.InferenceSession.create(join(directory, file), options));
  }
  return models;
}
export const describeTensor = ({name, type, shape}) => ({
  name,
  datatype: kindOf(type)?.kserve ?? 'UNKNOWN',
  shape: shape.map((size) => (typeof size === 'number' ? size : -1)), // a name stands for any size
});

export function metadata(name, session) {
  return {
    name,
    versions: [VERSION],
    platform: 'onnxruntime_onnx',
    inputs: session.inputMetadata.map(describeTensor),
    outputs: session.outputMetadata.map(describeTensor),
  };
}
