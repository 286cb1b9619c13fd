// What the servers here share: a port of loopback, bodies with a bound, JSON
// answers, and an end when asked for one.
import http from 'node:http';

const MAX_BODY = 16 << 20;

// A request that cannot be answered: status and the message for the client.
export class Refusal extends Error {
  constructor(status, message, param = null) {
    super(message);
    this.status = status;
    this.param = param;
  }
}

export async function readBody(req) {
  const parts = [];
  let size = 0;
  for await (const part of req) {
    size += part.length;
    if (size > MAX_BODY) throw new Refusal(413, 'the body is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function parseJson(data) {
  let value;
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${error.message}`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Refusal(400, 'the body is not a JSON object');
  return value;
}

export function sendJson(res, status, value, headers = {}) {
  const data = Buffer.from(JSON.stringify(value));
  res.writeHead(status, {'content-type': 'application/json', 'content-length': data.length, ...headers});
  res.end(data);
}

// serve(port, handle, describe): listens on loopback and says where.  handle(req, res)
// may throw a Refusal; describe(error) is the body that the API has for one.
// The process ends at SIGTERM or SIGINT, whatever is under way.
export function serve(port, handle, describe) {
  const server = http.createServer(async (req, res) => {
    try {
      await handle(req, res);
    } catch (error) {
      if (!(error instanceof Refusal)) console.error(error);
      if (res.headersSent) res.destroy();
      else sendJson(res, error.status ?? 500, describe(error));
    }
  });
  server.keepAliveTimeout = 60_000; // longer than a client pauses here
  server.on('error', (error) => {
    console.error(error.message);
    process.exit(3);
  });
  server.listen(port, '127.0.0.1', 1024, () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
  });
  for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => process.exit(0));
  return server;
}
