// What the programs here on @grpc/grpc-js share: the services, a port of
// loopback, and an end when asked for one.
import {fileURLToPath} from 'node:url';
import {load} from './packages.mjs';

export const {default: grpc} = await load('@grpc/grpc-js');
const {default: loader} = await load('@grpc/proto-loader');
const options = {keepCase: true, longs: String, defaults: true, oneofs: true};
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const all = grpc.loadPackageDefinition(loader.loadSync([here('kserve.proto'), here('serving.proto')], options));

export const Inference = all.inference.GRPCInferenceService;
export const Prediction = all.tensorflow.serving.PredictionService;

// rawService(service): the same, with each message's length in `message_length`
// of the request; and an answer {raw: Buffer} goes out as these bytes.
export function rawService(service) {
  const wrap = (method) => ({
    ...method,
    requestDeserialize: (bytes) => ({...method.requestDeserialize(bytes), message_length: bytes.length}),
    responseSerialize: (answer) => (Buffer.isBuffer(answer.raw) ? answer.raw : method.responseSerialize(answer)),
  });
  return Object.fromEntries(Object.entries(service).map(([name, method]) => [name, wrap(method)]));
}

export function serve(port, services) {
  const server = new grpc.Server({'grpc.max_receive_message_length': 64 << 20});
  for (const [service, handlers] of services) server.addService(service, handlers);
  server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, bound) => {
    if (error) {
      console.error(error.message);
      process.exit(3);
    }
    console.log(`listening on grpc://127.0.0.1:${bound}`);
  });
  for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => process.exit(0));
}
