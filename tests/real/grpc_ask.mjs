#!/usr/bin/env node
// grpc_ask - a client on @grpc/grpc-js asks a server of KServe v2, such as the
// stub.  Usage: grpc_ask.mjs HOST:PORT
// Prints live, raw, typed and predict (right or wrong), stream (answers, and with
// which the final flag came), status (of a request that is none).
import {Inference, Prediction, grpc} from './grpc.mjs';

const [place] = process.argv.slice(2);
const credentials = grpc.credentials.createInsecure();
const inference = new Inference(place, credentials);
const prediction = new Prediction(place, credentials);
const deadline = () => ({deadline: Date.now() + 30_000});

const ask = (client, method, request) =>
  new Promise((resolve, reject) => {
    client[method](request, deadline(), (error, answer) => (error ? reject(error) : resolve(answer)));
  });
const floats = (...values) => Buffer.from(new Float32Array(values).buffer);
const input = {name: 'x', datatype: 'FP32', shape: [3]};
const bytes = floats(1.5, -2, 1e30);
const right = (is) => (is ? 'right' : 'wrong');

async function raw() {
  const answer = await ask(inference, 'ModelInfer', {id: '7', inputs: [input], raw_input_contents: [bytes]});
  const [output] = answer.raw_output_contents;
  return right(answer.id === '7' && answer.raw_output_contents.length === 1 && output.equals(bytes));
}

async function typed() {
  const contents = {fp32_contents: [0.5, 2, -3]};
  const {outputs} = await ask(inference, 'ModelInfer', {inputs: [{...input, contents}]});
  return right(String(outputs[0].contents.fp32_contents) === '0.5,2,-3');
}

async function predict() {
  const tensor = {dtype: 1, tensor_shape: {dim: [{size: 3}]}, tensor_content: bytes};
  const {outputs} = await ask(prediction, 'Predict', {model_spec: {name: 'm'}, inputs: {x: tensor}});
  return right(outputs.x.tensor_content.equals(bytes));
}

const stream = () =>
  new Promise((resolve, reject) => {
    const call = inference.ModelStreamInfer(deadline());
    const flags = [];
    call.on('data', ({infer_response: answer}) => flags.push(answer.parameters.triton_final_response.bool_param));
    call.on('error', reject);
    call.on('end', () => resolve(`${flags.length}:${flags.indexOf(true) + 1}`));
    call.write({
      inputs: [input],
      raw_input_contents: [bytes],
      parameters: {max_tokens: {int64_param: 5}, triton_enable_empty_final_response: {bool_param: true}},
    });
    call.end();
  });

const status = async () => ask(inference, 'ModelInfer', {}).then(() => 0, (error) => error.code);

const {yes} = await ask(inference, 'ServerLive', {});
console.log(`live=${right(yes)} raw=${await raw()} typed=${await typed()} predict=${await predict()} stream=${await stream()} status=${await status()}`);
inference.close();
prediction.close();
