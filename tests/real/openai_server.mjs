#!/usr/bin/env node
// openai_server - the part of OpenAI's HTTP API that load testers use, with a
// model behind it: chat and text completions, streamed or not.
// Usage: openai_server.mjs --model FILE.gguf [--port N] [--sequences N]
//            [--context N] [--max-waiting N] [--log FILE]
// --log gets a line of JSON a request: when its first token and its end came,
// by the server's own clock, counted from when the request had been read.
import {createWriteStream} from 'node:fs';
import {parseArgs} from 'node:util';
import {Refusal, parseJson, readBody, sendJson, serve} from './http.mjs';
import {Engine} from './llama.mjs';

const {values: flags} = parseArgs({
  options: {
    model: {type: 'string'},
    port: {type: 'string', default: '0'},
    sequences: {type: 'string', default: '8'},
    context: {type: 'string', default: '1024'},
    'max-waiting': {type: 'string', default: '1024'},
    log: {type: 'string'},
  },
});
if (!flags.model) {
  console.error('openai_server: --model FILE.gguf is needed');
  process.exit(2);
}
const engine = await Engine.open({
  modelPath: flags.model,
  sequences: Number(flags.sequences),
  contextSize: Number(flags.context),
  maxWaiting: Number(flags['max-waiting']),
});
const log = flags.log ? createWriteStream(flags.log, {flags: 'a'}) : null;
const started = Math.floor(Date.now() / 1000);
const roles = new Set(['system', 'user', 'assistant', 'tool']);
let counter = 0;

function number(body, name, least, most, fallback) {
  const value = body[name] ?? fallback;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw new Refusal(400, `${name} is not a number from ${least} to ${most}`, name);
  return value;
}

function whole(body, name, least, most, fallback) {
  const value = number(body, name, least, most, fallback);
  if (value !== undefined && !Number.isInteger(value)) throw new Refusal(400, `${name} is not an integer`, name);
  return value;
}

function contentOf(message) {
  if (!roles.has(message?.role)) throw new Refusal(400, `unknown role '${message?.role}'`, 'messages');
  if (typeof message.content === 'string') return message.content;
  if (Array.isArray(message.content) && message.content.every((part) => part?.type === 'text'))
    return message.content.map((part) => part.text).join('');
  throw new Refusal(400, 'content is neither a string nor a list of texts', 'messages');
}

function chatPrompt(body) {
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    throw new Refusal(400, 'messages is not a list, or empty', 'messages');
  const turns = body.messages.flatMap((message) => [
    engine.control(`<|${message?.role}|>`),
    ...engine.tokenize(contentOf(message)),
    engine.control('<|end|>'),
  ]);
  return [engine.control('<|bos|>'), ...turns, engine.control('<|assistant|>')];
}

function isToken(id) {
  return Number.isInteger(id) && id >= 0 && id < engine.vocabularySize;
}

// A string or token ids, or a list of one of these.
function textPrompt(body) {
  let prompt = body.prompt;
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] !== 'number') [prompt] = prompt;
  if (typeof prompt === 'string') return [engine.control('<|bos|>'), ...engine.tokenize(prompt)];
  if (!Array.isArray(prompt) || prompt.length === 0)
    throw new Refusal(400, 'prompt is neither a string nor a list of token ids', 'prompt');
  if (!prompt.every(isToken))
    throw new Refusal(400, `a token id is an integer from 0 to ${engine.vocabularySize - 1}`, 'prompt');
  return prompt;
}

function stopsOf(body) {
  const stops = [body.stop ?? []].flat();
  if (!stops.every((stop) => typeof stop === 'string' && stop !== ''))
    throw new Refusal(400, 'stop is neither a string nor a list of them', 'stop');
  return stops;
}

// The two APIs differ in the prompt and in how a piece of the answer looks.
const chat = {
  prefix: 'chatcmpl',
  promptOf: chatPrompt,
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  opening: {delta: {role: 'assistant', content: ''}},
  piece: (text) => ({delta: {content: text}}),
  last: {delta: {}},
  answer: (text) => ({message: {role: 'assistant', content: text}}),
};
const completions = {
  prefix: 'cmpl',
  promptOf: textPrompt,
  object: 'text_completion',
  chunkObject: 'text_completion',
  opening: null,
  piece: (text) => ({text}),
  last: {text: ''},
  answer: (text) => ({text}),
};

function parse(api, body) {
  if (body.model !== undefined && body.model !== engine.name)
    throw new Refusal(404, `the model '${body.model}' does not exist`, 'model');
  whole(body, 'n', 1, 1);
  const prompt = api.promptOf(body);
  const room = engine.contextSize - prompt.length;
  if (room < 1) throw new Refusal(400, `${prompt.length} tokens of prompt, and the context has ${engine.contextSize}`);
  const asked = whole(body, body.max_completion_tokens ? 'max_completion_tokens' : 'max_tokens', 1, 1e6, 16);
  if (asked > room) throw new Refusal(400, `${asked} tokens asked for, and the context has room for ${room}`, 'max_tokens');
  return {
    prompt,
    stops: stopsOf(body),
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    generation: {
      maxTokens: asked,
      ignoreEos: body.ignore_eos === true,
      temperature: number(body, 'temperature', 0, 2, 1),
      topP: number(body, 'top_p', 0, 1, 1),
      seed: whole(body, 'seed', 0, 2 ** 32 - 1, undefined) ?? Math.floor(Math.random() * 2 ** 32),
    },
  };
}

// Where the first of these strings begins in the text, or -1.
function firstStop(stops, whole) {
  const found = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
  return found.length ? Math.min(...found) : -1;
}

// run(request, signal, emit): generates, and gives the text to emit() token by
// token.  The token that completes a stop string counts in the usage, but its text
// from the stop on is not given out; what earlier tokens had of the stop is, for
// nothing is held back.
async function run(request, signal, emit) {
  const t0 = performance.now();
  const result = {text: '', tokens: 0, finish: 'length', queueMs: null, ttftMs: null, e2eMs: null};
  const onStart = () => (result.queueMs = performance.now() - t0);
  for await (const piece of engine.generate(request.prompt, {...request.generation, signal, onStart})) {
    result.ttftMs ??= performance.now() - t0;
    result.tokens++;
    const stop = firstStop(request.stops, result.text + piece);
    const shown = stop < 0 ? piece : piece.slice(0, Math.max(0, stop - result.text.length));
    result.text += shown;
    emit(shown);
    if (stop < 0) continue;
    result.text = result.text.slice(0, stop);
    result.finish = 'stop';
    break;
  }
  if (result.finish === 'length' && result.tokens < request.generation.maxTokens) result.finish = 'stop';
  result.e2eMs = performance.now() - t0;
  return result;
}

function usageOf(request, result) {
  const prompt = request.prompt.length;
  return {prompt_tokens: prompt, completion_tokens: result.tokens, total_tokens: prompt + result.tokens};
}

async function answerWhole(api, head, request, signal, res) {
  const result = await run(request, signal, () => {});
  const choice = {index: 0, ...api.answer(result.text), logprobs: null, finish_reason: result.finish};
  sendJson(res, 200, {...head, object: api.object, choices: [choice], usage: usageOf(request, result)});
  return result;
}

// The status and, of a chat, the role go out before there is a sequence free,
// long before the first token: the first byte says nothing about the model.
async function answerStream(api, head, request, signal, res) {
  const send = (choices, more = {}) => {
    const usage = request.includeUsage ? {usage: null} : {};
    const chunk = {...head, object: api.chunkObject, choices, ...usage, ...more};
    res.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const choice = (piece, finish = null) => [{index: 0, ...piece, logprobs: null, finish_reason: finish}];
  res.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache'});
  res.flushHeaders();
  if (api.opening) send(choice(api.opening));
  const result = await run(request, signal, (piece) => piece !== '' && send(choice(api.piece(piece))));
  send(choice(api.last, result.finish));
  if (request.includeUsage) send([], {usage: usageOf(request, result)});
  res.end('data: [DONE]\n\n');
  return result;
}

async function complete(api, req, res) {
  const body = parseJson(await readBody(req));
  const request = parse(api, body);
  if (engine.isFull) throw new Refusal(429, 'too many requests are waiting');
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const id = `${api.prefix}-${++counter}`;
  const head = {id, created: Math.floor(Date.now() / 1000), model: engine.name};
  const answer = request.stream ? answerStream : answerWhole;
  const result = await answer(api, head, request, gone.signal, res);
  const {text: _, ...figures} = result;
  log?.write(`${JSON.stringify({id, prompt: request.prompt.length, aborted: gone.signal.aborted, ...figures})}\n`);
}

const modelCard = () => ({
  id: engine.name,
  object: 'model',
  created: started,
  owned_by: 'tailgate',
  meta: {n_vocab: engine.vocabularySize, n_ctx: engine.contextSize},
});

const routes = {
  'GET /health': (req, res) => sendJson(res, 200, {status: 'ok'}),
  'GET /v1/models': (req, res) => sendJson(res, 200, {object: 'list', data: [modelCard()]}),
  'POST /v1/chat/completions': (req, res) => complete(chat, req, res),
  'POST /v1/completions': (req, res) => complete(completions, req, res),
};

function handle(req, res) {
  const route = routes[`${req.method} ${req.url.split('?')[0]}`];
  if (!route) throw new Refusal(404, `no ${req.method} ${req.url} here`);
  return route(req, res);
}

function describe(error) {
  const type = error.status < 500 ? 'invalid_request_error' : 'server_error';
  return {error: {message: error.message, type, param: error.param ?? null, code: null}};
}

serve(Number(flags.port), handle, describe);
