// read_hdr.mjs - what hdr-histogram-js makes of our files.
// Usage: node read_hdr.mjs LOG TAG DISTRIBUTION
// Adds up the intervals of the log that have this tag, and compares what the package
// prints of the sum with the distribution of the same measure, line by line.
// Prints name=value, separated by blanks; times in ms.
import {readFileSync} from 'node:fs';
import {load} from './packages.mjs';

const hdr = await load('hdr-histogram-js');
const {HistogramLogReader, listTags} = hdr.default ?? hdr;
const [log, tag, distribution] = process.argv.slice(2);

function addUp(text) {
  const reader = new HistogramLogReader(text);
  const out = {intervals: 0, sum: null, startS: NaN};
  for (let one; (one = reader.nextIntervalHistogram()) !== null; ) {
    if (one.tag !== tag) continue;
    out.intervals++;
    if (out.sum) out.sum.add(one);
    else out.sum = one;
  }
  out.startS = reader.startTimeSec;
  return out;
}

// Rows of numbers, without header and comments.
function table(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => /^[0-9]/.test(line)).map((line) => line.split(/ +/).map(Number));
}

// The package prints three decimals, we print six.
function differences(ours, theirs) {
  const isSame = (row, i) =>
    theirs[i] !== undefined &&
    Math.abs(row[0] - theirs[i][0]) <= 0.00051 &&
    Math.abs(row[1] - theirs[i][1]) < 1e-9 &&
    row[2] === theirs[i][2];
  return Math.abs(ours.length - theirs.length) + ours.filter((row, i) => !isSame(row, i)).length;
}

const text = readFileSync(log, 'utf8');
const {intervals, sum, startS} = addUp(text);
const ours = table(readFileSync(distribution, 'utf8'));
const theirs = table(sum.outputPercentileDistribution(5, 1e6));
const figures = {
  tags: listTags(text).length,
  start_s: startS,
  intervals,
  count: sum.totalCount,
  p50: sum.getValueAtPercentile(50) / 1e6,
  p90: sum.getValueAtPercentile(90) / 1e6,
  p99: sum.getValueAtPercentile(99) / 1e6,
  lines: ours.length,
  differences: differences(ours, theirs),
};
console.log(Object.entries(figures).map(([name, value]) => `${name}=${value}`).join(' '));
