#!/usr/bin/env node
// stream_server - a made-up OpenAI API on node's HTTP server, which streams one
// and the same answer in every way that a server may cut and dress it.
// Usage: stream_server.mjs [--port N]
// POST /MODE/v1/chat/completions or /MODE/v1/completions with max_tokens; the modes are
// in stream_modes.json.  stream_server.py is the same on another HTTP server.
import {readFileSync} from 'node:fs';
import {setImmediate, setTimeout} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {Refusal, parseJson, readBody, serve} from './http.mjs';

const {values: flags} = parseArgs({options: {port: {type: 'string', default: '0'}}});
const table = JSON.parse(readFileSync(new URL('stream_modes.json', import.meta.url)));
const MAX_TOKENS = 10_000;

const escaped = (json) =>
  json.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

// The JSON of each event, in order; tokens counts what the usage says so far.
function* chunks(mode, isChat, maxTokens) {
  const object = isChat ? 'chat.completion.chunk' : 'text_completion';
  const head = {id: 'stream-1', created: 1, model: 'stream', object};
  const usage = (tokens) => ({prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1});
  const choice = (text, finish) => {
    const part = isChat ? {delta: text === null ? {} : {content: text}} : {text: text ?? ''};
    return {index: 0, ...part, finish_reason: finish};
  };
  const chunk = (choices, tokens, isLast = false) => {
    const has = mode.usage === 'every' || (mode.usage === 'end' && isLast);
    return {...head, choices, ...(has ? {usage: usage(tokens)} : mode.usage === 'end' ? {usage: null} : {})};
  };
  if (isChat) yield chunk([{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}], 0);
  for (let made = 0; made < maxTokens; ) {
    const count = Math.min(mode.merge, maxTokens - made);
    const texts = Array.from({length: count}, (_, i) => table.tokens[(made + i) % table.tokens.length]);
    made += count;
    yield chunk([choice(texts.join(''), null)], made);
  }
  yield chunk([choice(null, 'length')], maxTokens);
  if (mode.usage !== 'none') yield chunk([], maxTokens, true);
}

function eventOf(mode, value, index) {
  const space = mode.fields ? '' : ' ';
  let json = typeof value === 'string' ? value : JSON.stringify(value);
  if (mode.ascii) json = escaped(json);
  // Between two members a line break is white space of the JSON.
  const lines = mode.twoLines && typeof value !== 'string' ? [json.slice(0, 1), json.slice(1)] : [json];
  const dressed = lines.map((line) => `data:${space}${line}`);
  if (mode.fields) dressed.unshift('event: message', `id: ${index}`, 'retry: 1000');
  const comment = mode.comments ? `: still here${mode.eol}${mode.eol}` : '';
  return `${comment}${dressed.join(mode.eol)}${mode.eol}${mode.eol}`;
}

// All events as text, up to where the mode ends them.
function eventsOf(mode, isChat, maxTokens) {
  const values = [...chunks(mode, isChat, maxTokens)];
  const half = values.length >> 1;
  const error = {message: 'made up', type: 'server_error', code: 500};
  if (mode.end === 'error') values.splice(half, Infinity, {error});
  if (mode.end === 'break') values.splice(half);
  if (mode.end === 'done') values.push('[DONE]');
  const events = values.map((value, index) => eventOf(mode, value, index));
  if (mode.bom) events[0] = `\uFEFF${events[0]}`;
  return events.map((event) => Buffer.from(event));
}

function cut(event) {
  const inside = event.findIndex((byte) => byte >= 0x80 && byte < 0xc0);
  const at = inside > 0 ? inside : event.length >> 1;
  return [event.subarray(0, at), event.subarray(at)];
}

// What goes out in one piece each.
function piecesOf(mode, events) {
  if (mode.write === 'byte') return events.flatMap((event) => Array.from(event, (byte) => Buffer.of(byte)));
  if (mode.write === 'split') return events.flatMap(cut);
  const count = mode.write === 'all' ? events.length : mode.write === 'event' ? 1 : mode.write;
  return Array.from({length: Math.ceil(events.length / count)}, (_, i) =>
    Buffer.concat(events.slice(i * count, (i + 1) * count)),
  );
}

// send(res, piece, closed): one write, and a turn of the event loop so that it is
// not joined with the next.
async function send(res, piece, closed) {
  await Promise.race([new Promise((resolve) => res.write(piece, resolve)), closed]);
  await setImmediate();
}

async function stream(res, mode, isChat, maxTokens) {
  const pieces = piecesOf(mode, eventsOf(mode, isChat, maxTokens));
  const headers = {'content-type': 'text/event-stream'};
  if (mode.framing === 'length') headers['content-length'] = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (mode.framing === 'close') {
    res.useChunkedEncodingByDefault = false;
    res.shouldKeepAlive = false;
    headers.connection = 'close';
  }
  res.writeHead(200, headers);
  res.flushHeaders();
  const closed = new Promise((resolve) => res.once('close', resolve));
  const first = isChat && mode.write === 'event' ? 1 : 0; // the role goes out at once
  for (let i = 0; i < pieces.length && !res.destroyed; i++) {
    if (i === first && mode.firstMs) await setTimeout(mode.firstMs);
    else if (mode.delayMs) await setTimeout(mode.delayMs);
    await send(res, pieces[i], closed);
  }
  if (mode.end === 'break') res.destroy();
  else res.end();
}

async function handle(req, res) {
  const [, name, api] = /^\/([^/]+)\/v1\/(chat\/completions|completions)$/.exec(req.url) ?? [];
  if (req.method !== 'POST' || !Object.hasOwn(table.modes, name ?? ''))
    throw new Refusal(404, `no ${req.method} ${req.url} here`);
  const body = parseJson(await readBody(req));
  const maxTokens = body.max_tokens ?? 16;
  if (!Number.isInteger(maxTokens) || maxTokens < 1 || maxTokens > MAX_TOKENS)
    throw new Refusal(400, `max_tokens is not an integer from 1 to ${MAX_TOKENS}`);
  await stream(res, {...table.defaults, ...table.modes[name]}, api !== 'completions', maxTokens);
}

serve(Number(flags.port), handle, (error) => ({error: {message: error.message, type: 'invalid_request_error'}}));
