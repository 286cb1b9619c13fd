// Watches a run in headless Chromium while it goes on.
// Usage: node live.mjs TAILGATE DIR SHOTS [--short]
// DIR has watched.yaml, 15 s of streams, and capacity.yaml, a search.
// Prints a line per test and what failed; exit status 1 if anything did.
import {spawn, spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {chromium} from 'playwright-core';

const [tailgate, dir, shots, short] = process.argv.slice(2);
let failures = 0;
let name = '';

function check(ok, what) {
  if (ok) return;
  failures++;
  console.log(`  FAILED ${name}: ${what}`);
}

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// A tailgate that listens: its address, and its end.
function start(...args) {
  const child = spawn(tailgate, args, {cwd: dir, stdio: ['ignore', 'pipe', 'pipe']});
  let said = '';
  child.stdout.resume();
  const ended = new Promise(done => child.on('exit', code => done({code, at: Date.now(), said})));
  const url = new Promise((found, lost) => {
    child.stderr.on('data', bytes => {
      said += bytes;
      const line = /listening {2}(\S+)/.exec(said);
      if (line) found(line[1]);
    });
    child.on('exit', () => lost(new Error(said)));
  });
  return {child, url, ended};
}

async function open(url) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}, acceptDownloads: true});
  const page = await context.newPage();
  page.on('console', m => check(m.type() !== 'error' || /ERR_(CONNECTION|INCOMPLETE)/.test(m.text()), `console: ${m.text()}`));
  page.on('pageerror', e => check(false, `script: ${e.message}`));
  page.on('request', r => check(r.url().startsWith(url) || /^(data|blob):/.test(r.url()), `it loads ${r.url()}`));
  await page.goto(url);
  return {page, close: () => context.close()};
}

// The last tick of the time axis of a chart, in seconds.
const axis = page => page.evaluate(() => JSON.parse(document.querySelector('#data').textContent).end);
const number = (page, id) => page.locator(id).textContent().then(t => +t.replace(/[^0-9.]/g, ''));

async function run() {
  name = 'run';
  const t = start('run', 'watched.yaml', '-o', 'run', '--listen', '127.0.0.1:0');
  const url = await t.url;
  const {page, close} = await open(url);
  await page.waitForSelector('svg.tc[data-chart=rates]', {timeout: 10000});
  const first = {end: await axis(page), sent: await number(page, '#n-issued .n')};
  check(await page.locator('#live-state').textContent() === 'Updated each second.', 'it does not say that it is live');

  // What the reader does stays.
  await page.locator('#m-e2e').check({force: true});
  await page.locator('figure[data-fig=rates] .tog').first().click();
  await page.locator('figure[data-fig=flight] details summary').click();
  await page.mouse.move(5, 5);
  const grown = end => JSON.parse(document.querySelector('#data').textContent).end > end + 1;
  await page.waitForFunction(grown, first.end, {timeout: 8000}).catch(() => {});
  const second = {end: await axis(page), sent: await number(page, '#n-issued .n')};
  check(second.end > first.end + 1, `the charts do not grow: ${first.end} s, ${second.end} s`);
  check(second.sent > first.sent, `requests do not grow: ${first.sent}, ${second.sent}`);
  check(await page.locator('#m-e2e').isChecked(), 'the measure is forgotten');
  check(await page.locator('figure[data-fig=rates] .tog').first().getAttribute('aria-pressed') === 'false', 'the legend is forgotten');
  check(await page.locator('figure[data-fig=flight] details').evaluate(d => d.open), 'the table is closed again');
  check(await page.locator('.slo .row').count() === 4, 'the objectives are not shown');
  for (const chart of ['heat-e2e', 'rates', 'flight', 'lag', 'cpu'])
    check(await page.locator(`svg[data-chart=${chart}]`).count() === 1, `no chart ${chart}`);
  await page.screenshot({path: `${shots}/live-run.png`, fullPage: true});

  // It waits while the pointer is on a chart.
  await page.locator('svg.tc[data-chart=rates]').hover();
  const held = await axis(page);
  await page.waitForTimeout(1500);
  check(await axis(page) === held, 'it changes under the pointer');
  check((await page.locator('figure[data-fig=rates] .what').textContent()).includes(' to '), 'no values under the pointer');

  // A click does not hold it, and the keyboard stays where it is.
  await page.locator('svg.tc[data-chart=rates]').click();
  await page.mouse.move(5, 5);
  await page.waitForFunction(grown, held, {timeout: 8000}).catch(() => check(false, 'it does not go on after a click'));
  const at = () => page.evaluate(() => `${document.activeElement.dataset.chart ?? document.activeElement.dataset.s}`);
  check(await at() === 'rates', `a click gave the focus to ${await at()}`);
  await page.keyboard.press('Home');
  const told = await page.locator('figure[data-fig=rates] .what').textContent();
  check(/^0\s.*1\ss/.test(told), `Home tells of ${told}`);
  const then = await axis(page);
  await page.waitForFunction(grown, then, {timeout: 8000}).catch(() => check(false, 'it does not go on with the focus on a chart'));
  check(await at() === 'rates', `the focus went to ${await at()}`);
  check(await page.locator('figure[data-fig=rates] .what').textContent() === told, 'the values at the place of the keyboard are forgotten');
  await page.locator('figure[data-fig=lag] .tog').first().focus();
  const lag = await at();
  await page.waitForFunction(grown, await axis(page), {timeout: 8000}).catch(() => check(false, 'it does not go on with the focus on a legend'));
  check(lag !== 'undefined' && await at() === lag, `the focus went from ${lag} to ${await at()}`);
  await page.locator('#m-ttft').check({force: true});
  await page.waitForSelector('svg[data-chart=quant-ttft]', {timeout: 10000}); // from 6 s on

  // The end: the report, and the file.
  await page.waitForSelector('#download', {timeout: 30000});
  const ended = await t.ended;
  check([0, 1, 4].includes(ended.code), `status ${ended.code}: ${ended.said}`);
  check(/^(PASS|FAIL|UNDECIDED|INVALID)$/.test(await page.locator('.badge span').textContent()), 'no verdict');
  check((await page.title()).startsWith(await page.locator('.badge span').textContent()), 'the title has no verdict');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  const got = readFileSync(await download.path());
  spawnSync(tailgate, ['report', 'run', '--html', 'report.html'], {cwd: dir});
  check(got.equals(readFileSync(`${dir}/report.html`)), 'the file is not that of report --html');

  // The page is usable without its server.
  await page.locator('svg.tc[data-chart=rates]').hover();
  check((await page.locator('figure[data-fig=rates] .what').textContent()).includes(' to '), 'the report does not answer the pointer');
  await page.locator('#m-ttft').check({force: true});
  check(await page.locator('svg[data-chart=spectrum-ttft]').isVisible(), 'no spectrum');
  await page.screenshot({path: `${shots}/live-end.png`, fullPage: true});
  await close();
}

// A search: which probe, the bracket, the curve.
async function search() {
  name = 'search';
  const t = start('search', 'capacity.yaml', '-o', 'search', '--listen', '127.0.0.1:0');
  const {page, close} = await open(await t.url);
  await page.waitForSelector('#point', {timeout: 10000});
  check(/^(look|probe)-1: /.test(await page.locator('#point').textContent()), 'it does not say which probe');
  await page.waitForSelector('#bracket', {timeout: 60000});
  await page.waitForSelector('#study svg', {timeout: 60000});
  await page.screenshot({path: `${shots}/live-search.png`, fullPage: true});
  await page.waitForSelector('#download', {timeout: 120000});
  await t.ended;
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  spawnSync(tailgate, ['report', 'search', '--html', 'report.html'], {cwd: dir});
  check(readFileSync(await download.path()).equals(readFileSync(`${dir}/report.html`)), 'the file is not that of report --html');
  await page.screenshot({path: `${shots}/live-search-end.png`, fullPage: true});
  await close();
}

for (const test of short ? [run] : [run, search]) {
  const before = failures;
  try {
    await test();
  } catch (e) {
    check(false, e.message);
  }
  console.log(`${failures === before ? 'ok    ' : 'FAILED'} live ${name}`);
}
await browser.close();
process.exit(failures ? 1 : 0);
