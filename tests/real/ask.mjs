#!/usr/bin/env node
// ask - POST a body some times and say what came back: a second opinion on the
// streams that tailgate measures, with a reader of server-sent events that
// follows the standard and shares no code with tailgate.
// Usage: ask.mjs URL BODY-FILE [--requests N] [--clients N]
// Prints name=value pairs: requests, ok, chunks (events with text), usage (sum of
// completion_tokens), done (streams that ended in [DONE]), errors (events that
// carry one), roles, broken (responses cut off), bad (events that are no JSON), the
// SHA-256 of all texts in order, and means over the requests: ttfb_ms, ttft_ms,
// e2e_ms; and tokens_per_s over all of them.  ttfb is that of the body here.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import {parseArgs} from 'node:util';

const {values: flags, positionals} = parseArgs({
  allowPositionals: true,
  options: {requests: {type: 'string', default: '1'}, clients: {type: 'string', default: '1'}},
});
const [url, file] = positionals;
if (!url || !file) {
  console.error('usage: ask.mjs URL BODY-FILE [--requests N] [--clients N]');
  process.exit(2);
}
const body = readFileSync(file);
const agent = new http.Agent({keepAlive: true});
const TIMEOUT_MS = 60_000;

// events(text): the data of each event, as the standard says it: lines end in
// CRLF, LF or CR, a leading BOM does not count, nor an event without its end.
function events(text) {
  const found = [];
  let data = null;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data !== null) found.push(data);
      data = null;
      continue;
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === 'data') data = data === null ? (value ?? '') : `${data}\n${value ?? ''}`;
  }
  return found;
}

// The part of a chunk or of a whole answer that is text.
const textOf = (value) => {
  const choice = value.choices?.[0];
  return choice?.delta?.content ?? choice?.message?.content ?? choice?.text ?? '';
};

// ask(): one request.  Times are taken when bytes come in; which bytes hold the
// first text is found out afterwards.
function ask() {
  return new Promise((resolve) => {
    const result = {status: 0, broken: false, parts: [], t0: performance.now(), end: 0};
    const finish = (broken) => {
      result.broken = broken;
      result.end = performance.now();
      resolve(result);
    };
    const headers = {'content-type': 'application/json', 'content-length': body.length};
    const req = http.request(url, {method: 'POST', agent, headers, timeout: TIMEOUT_MS}, (res) => {
      result.status = res.statusCode;
      result.isStream = /^text\/event-stream/.test(res.headers['content-type'] ?? '');
      res.on('data', (data) => result.parts.push({data, at: performance.now()}));
      res.on('end', () => finish(!res.complete));
      res.on('error', () => finish(true));
    });
    req.on('timeout', () => req.destroy(new Error('timeout')));
    req.on('error', () => finish(true));
    req.end(body);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// When the first event with text was complete: bytes up to there, by bisection.
function firstText(result) {
  const holdsText = (count) => {
    const text = Buffer.concat(result.parts.slice(0, count).map((part) => part.data)).toString();
    return events(text).some((data) => textOf(parsed(data) ?? {}) !== '');
  };
  if (!holdsText(result.parts.length)) return null;
  let [low, high] = [1, result.parts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holdsText(middle)) high = middle;
    else low = middle + 1;
  }
  return result.parts[low - 1].at - result.t0;
}

function judge(result) {
  const text = Buffer.concat(result.parts.map((part) => part.data)).toString();
  const datas = result.isStream ? events(text) : [text];
  const values = datas.filter((data) => data !== '[DONE]').map(parsed);
  const good = values.filter((value) => value !== null);
  const usages = good.map((value) => value.usage?.completion_tokens).filter((count) => count !== undefined);
  return {
    ok: result.status === 200 && !result.broken ? 1 : 0,
    chunks: good.filter((value) => textOf(value) !== '').length,
    usage: usages.at(-1) ?? 0,
    done: datas.at(-1) === '[DONE]' ? 1 : 0,
    errors: good.filter((value) => value.error).length,
    roles: good.filter((value) => value.choices?.[0]?.delta?.role).length,
    broken: result.broken ? 1 : 0,
    bad: values.length - good.length,
    text: good.map(textOf).join(''),
    ttfb_ms: result.parts.length ? result.parts[0].at - result.t0 : null,
    ttft_ms: result.isStream ? firstText(result) : null,
    e2e_ms: result.end - result.t0,
  };
}

const results = [];
let left = Number(flags.requests);
async function client() {
  while (left-- > 0) results.push(await ask());
}
const start = performance.now();
await Promise.all(Array.from({length: Number(flags.clients)}, client));
const seconds = (performance.now() - start) / 1000;
agent.destroy();

const all = results.map(judge);
const sum = (name) => all.reduce((total, one) => total + (one[name] ?? 0), 0);
const mean = (name) => {
  const values = all.map((one) => one[name]).filter((value) => value !== null);
  return values.length ? (values.reduce((a, b) => a + b, 0) / values.length).toFixed(2) : 'none';
};
const counted = ['ok', 'chunks', 'usage', 'done', 'errors', 'roles', 'broken', 'bad'];
const counts = counted.map((name) => `${name}=${sum(name)}`);
const means = ['ttfb_ms', 'ttft_ms', 'e2e_ms'].map((name) => `${name}=${mean(name)}`);
const hash = createHash('sha256').update(all.map((one) => one.text).join('\0')).digest('hex').slice(0, 16);
const rate = `tokens_per_s=${(sum('usage') / seconds).toFixed(0)}`;
console.log([`requests=${all.length}`, ...counts, `sha=${hash}`, ...means, rate].join(' '));
