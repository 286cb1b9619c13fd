#!/usr/bin/env node
// grpc_log - what the servers' log says, against the file of tensors that was
// sent.  Usage: grpc_log.mjs LOG DATA SAMPLE-BYTES METHOD
// Prints tensors=N (of that method), right=N (bytes of a sample of the file, to
// the last bit), samples=N (different ones), least=N (bytes of the shortest
// message).
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';

const [logPath, dataPath, size, method] = process.argv.slice(2);
const data = readFileSync(dataPath);
const known = new Set();
for (let at = 0; at < data.length; at += Number(size))
  known.add(createHash('sha256').update(data.subarray(at, at + Number(size))).digest('hex'));

const lines = readFileSync(logPath, 'utf8').trim().split('\n').filter(Boolean);
const rows = lines.map((line) => JSON.parse(line)).filter((row) => row.method === method);
const right = rows.filter((row) => row.bytes === Number(size) && known.has(row.sha256));
const least = Math.min(...rows.map((row) => row.length));
console.log(`tensors=${rows.length} right=${right.length} samples=${new Set(right.map((row) => row.sha256)).size} least=${least}`);
