// Opens every page of a directory in headless Chromium and looks at it as a
// reader would.  Usage: node pages.mjs DIR SHOTS HOSTILE
// Prints a line per page and what failed; exit status 1 if anything did.
import {readdirSync, statSync} from 'node:fs';
import {chromium} from 'playwright-core';

const [dir, shots, hostile] = process.argv.slice(2);
const pages = readdirSync(dir).filter(f => f.endsWith('.html')).map(f => f.slice(0, -5));
const MAX_SIZE = 1e6; // of any page, in bytes
const MAX_SHEETS = 6; // of paper, for a run

// The charts that each page has to have.  A machine may find more: a search its
// capacity, a comparison its verdict.
const whole = ['spectrum-e2e', 'heat-e2e'];
const of_time = ['rates', 'flight', 'lag'];
const streamed = ['spectrum-ttft', 'spectrum-tpot', 'spectrum-e2e'];
const load = ['latency', 'throughput'];
const dots = ['term0', 'e2e50', 'goodput', 'completed'];
const expected = {
  baseline: ['forest'],
  capacities: [],
  classes: [...whole, ...of_time, 'cpu'],
  compare: [],
  differ: ['both-e2e'],
  failed: [...streamed, ...of_time, 'cache', 'cpu'],
  five: [...streamed, 'heat-ttft', 'heat-tpot', 'heat-e2e', ...of_time, 'cache', 'plane', 'prompt'],
  hours: [...streamed, 'heat-ttft', 'heat-tpot', 'heat-e2e', 'quant-ttft', ...of_time],
  merged: [...whole, ...of_time, 'cpu'],
  millions: [...whole, 'rates', 'flight'],
  noslo: [...whole, ...of_time, 'cpu'],
  one: [...of_time, 'cache'],
  plain: [...whole, ...of_time, 'cpu'],
  scale: ['speedup', 'efficiency', 'quality'],
  search: [...load, 'missed', 'path'],
  streams: [...streamed, 'heat-ttft', 'quant-ttft', 'heat-tpot', 'quant-tpot', 'heat-e2e', ...of_time, 'cache', 'plane', 'prompt', 'cpu'],
  sweep: [...load, 'attainment'],
  trials: dots,
  trials2: dots,
  variants: ['goodput', 'p50'],
  zero: [],
};
let failures = 0;
let name = '';

function check(ok, what) {
  if (ok) return;
  failures++;
  console.log(`  FAILED ${name}: ${what}`);
}

// With an empty profile of its own.
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// A fresh context, without memory of the pages before.
async function open(file, options = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}, ...options});
  const page = await context.newPage();
  page.on('console', m => check(m.type() !== 'error', `console: ${m.text()}`));
  page.on('pageerror', e => check(false, `script: ${e.message}`));
  page.on('request', r => check(/^(file|data):/.test(r.url()), `it loads ${r.url()}`));
  await page.goto(`file://${dir}/${file}.html`);
  return {page, close: () => context.close()};
}

async function shot(page, as) {
  await page.evaluate(() => scrollTo(0, 0)).catch(() => {}); // what sticks to the window stands at the top
  await page.screenshot({path: `${shots}/${name}-${as}.png`, fullPage: true});
}

// Nothing is wider than the window, and labels of one chart do not overlap.
async function layout(page, width) {
  const found = await page.evaluate(() => {
    const over = [];
    for (const svg of document.querySelectorAll('svg.ch')) {
      const texts = [...svg.querySelectorAll('text.ax, text.axt, text.limt, text.lab')].filter(t => t.getClientRects().length && t.textContent.trim());
      const boxes = texts.map(t => [t.getBoundingClientRect(), t.textContent]);
      boxes.forEach(([a, x], i) => boxes.slice(i + 1).forEach(([b, y]) => {
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 1 && h > 4) over.push(`${svg.dataset.chart}: '${x}' on '${y}'`);
      }));
    }
    const cut = [...document.querySelectorAll('svg.ch .pl > line.bl, svg.ch .pl > text')].filter(e => e.getClientRects().length && (e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0))
      .map(e => `${e.closest('svg.ch').dataset.chart}: ${e.textContent || 'axis'}`);
    return {wide: document.documentElement.scrollWidth - innerWidth, over, cut};
  });
  check(found.cut.length === 0, `${width} px: outside the window: ${found.cut.slice(0, 3).join('; ')}`);
  check(found.wide <= 0, `${width} px: ${found.wide} px too wide`);
  check(found.over.length === 0, `${width} px: labels overlap: ${found.over.slice(0, 3).join('; ')}`);
}

// A chart without its data looks different: series, cells, failures, points.  What stays at the top while the
// page scrolls would cover it.
const data = '.z [data-s], .pl > g[data-s], .z > g.cells, .z > path.f-fail, .pl [data-tip]';
async function drawn(page) {
  // Where everything failed, the lane of failures is all there is.
  const what = name === 'failed' ? `${data}, .pl > rect.f-fail` : data;
  const pinned = position => page.$$eval('.bar, .sticky', (all, p) => all.forEach(e => { e.style.position = p; }), position);
  await pinned('relative');
  for (const svg of await page.$$('svg.ch')) {
    if (!(await svg.isVisible())) continue;
    const chart = await svg.getAttribute('data-chart');
    const full = await svg.screenshot();
    await svg.evaluate((e, w) => e.querySelectorAll(w).forEach(c => { c.style.visibility = 'hidden'; }), what);
    const empty = await svg.screenshot();
    await svg.evaluate((e, w) => e.querySelectorAll(w).forEach(c => { c.style.visibility = ''; }), what);
    check(!full.equals(empty), `chart ${chart} is empty`);
  }
  await pinned('');
}

const texts = (page, selector) => page.$$eval(selector, all => all.map(e => e.textContent));

// Pointing at one chart over time shows values at all of them; dragging zooms
// all of them.
async function over_time(page) {
  const charts = (await page.$$('svg.tc')).length;
  if (charts < 2) return;
  const rates = page.locator('svg.tc[data-chart=rates]');
  await rates.scrollIntoViewIfNeeded();
  const box = await rates.boundingBox();
  const y = box.y + box.height / 2;
  const before = await texts(page, 'figure[data-fig=flight] .what');
  await page.mouse.move(box.x + box.width * 0.5, y);
  check((await texts(page, 'figure[data-fig=rates] .what'))[0].includes(' to '), 'hover: no time in the legend');
  check((await texts(page, 'figure[data-fig=flight] .what'))[0] !== before[0], 'hover: other charts do not follow');
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, y, {steps: 4});
  await page.mouse.up();
  const views = await page.$$eval('svg.tc', all => all.map(s => s.querySelector('.z').getAttribute('viewBox').split(' ').filter((_, i) => i !== 3).join(' ')));
  check(new Set(views).size === 1 && !views[0].startsWith('0 0 1000'), `zoom: ${new Set(views).size} ranges`);
  check(await page.locator('.zoomed:not([hidden])').count() > 0, 'zoom: the range is not shown');
  await rates.focus();
  await page.keyboard.press('Escape');
  check((await rates.locator('.z').first().getAttribute('viewBox')).startsWith('0 0 1000'), 'Escape does not show all');
  await page.keyboard.press('Control+Equal');
  check((await rates.locator('.z').first().getAttribute('viewBox')).startsWith('0 0 1000'), 'Ctrl + zooms the chart, not the page');
  await page.keyboard.press('ArrowRight');
  check((await page.locator('[aria-live]').textContent()).includes('offered'), 'arrow keys say nothing');
  const heat = page.locator('svg.tc[data-chart^=heat]:visible').first();
  if (await heat.count()) {
    await heat.focus();
    await page.keyboard.press('Home');
    check(/ took .*; due at .* good/.test(await page.locator('[aria-live]').textContent()), 'heat map: the keyboard reads no cell');
    const fullest = await page.locator('.tip.on').textContent();
    await page.keyboard.press('ArrowUp');
    check(await page.locator('.tip.on').textContent() !== fullest, 'heat map: arrow up stays in its cell');
  }
  const legend = page.locator('figure[data-fig=rates] .tog').first();
  await legend.click();
  check(await legend.getAttribute('aria-pressed') === 'false', 'legend: not switched');
  check(await page.locator('figure[data-fig=rates] .plot [data-s=due].off').count() === 1, 'legend: the series is still there');
  await legend.click();
}

async function theme(page) {
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await colour();
  await page.locator('.theme').click();
  check(await colour() !== light, 'dark: the button does nothing');
  await shot(page, 'dark');
  await page.locator('.theme').click();
  check(await colour() === light, 'dark: no way back');
}

// Each figure has a caption; what is drawn is also a table, one click away.
async function tables(page) {
  const found = await page.$$eval('figure', all => all.map(f => ({
    name: f.dataset.fig, caption: !!f.querySelector('.cap')?.textContent, label: [...f.querySelectorAll('svg.ch')].every(s => s.getAttribute('role') === 'img' && s.getAttribute('aria-label')),
    rows: f.querySelectorAll('table tbody tr').length, charts: f.querySelectorAll('svg.ch').length})));
  for (const f of found) {
    check(f.caption, `figure ${f.name} has no caption`);
    check(f.label, `figure ${f.name} has no label for screen readers`);
    check(f.charts === 0 || f.rows > 0, `figure ${f.name} has no table`);
  }
  const twice = await page.$$eval('[id]', all => all.map(e => e.id).filter((id, i, ids) => ids.indexOf(id) !== i));
  check(twice.length === 0, `ids twice: ${twice.slice(0, 3)}`);
  const dead = await page.$$eval('a[href^="#"]', all => all.map(a => a.hash).filter(h => !document.getElementById(h.slice(1))));
  check(dead.length === 0, `links to nothing: ${dead.slice(0, 3)}`);
}

// A mark tells its values when it is pointed at.
async function tips(page) {
  const mark = page.locator('figure [data-tip]:visible').first();
  if (!(await mark.count())) return;
  await mark.scrollIntoViewIfNeeded();
  await mark.hover({force: true});
  check(await page.locator('.tip.on').count() === 1, 'hover: a mark says nothing');
}

// The first stops of the Tab key: the name, the sections, the buttons.
async function tabs(page) {
  const seen = [];
  const stops = await page.locator('a[href]:visible, button:visible, summary:visible, input:visible').count();
  for (let i = 0; i < Math.min(12, stops); i++) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => `${document.activeElement.tagName}.${document.activeElement.className}`));
  }
  check(seen[0] === 'A.brand', `Tab starts at ${seen[0]}`);
  check(seen.some(s => s.includes('theme')), 'Tab does not reach the buttons');
  check(!seen.some(s => s.startsWith('BODY')), `Tab leaves the page: ${seen}`);
}

for (name of pages) {
  const before = failures;
  let p = await open(name);
  check(await p.page.evaluate(() => window.hacked) === undefined, 'a name was run as script');
  if (name === 'streams')
    check((await p.page.textContent('.meta b')) === hostile, 'the name is not shown as it stands');
  check(await p.page.locator('h1.headline').isVisible(), 'no headline');
  const size = statSync(`${dir}/${name}.html`).size;
  check(size <= MAX_SIZE, `${size} bytes`);
  const charts_here = await p.page.$$eval('svg.ch', all => all.map(s => s.dataset.chart));
  const missing = (expected[name] ?? ['(an entry in the map)']).filter(c => !charts_here.includes(c));
  check(missing.length === 0, `no chart ${missing}; there are ${charts_here}`);
  await layout(p.page, 1400);
  await drawn(p.page);
  for (const id of ['m-tpot', 'm-e2e']) {
    const radio = p.page.locator(`#${id}`);
    if (!(await radio.count())) continue;
    await radio.check({force: true});
    await layout(p.page, 1400);
    await drawn(p.page);
  }
  if (await p.page.locator('#m-ttft').count()) await p.page.locator('#m-ttft').check({force: true});
  await tables(p.page);
  await over_time(p.page);
  await tips(p.page);
  await theme(p.page);
  await p.page.mouse.move(0, 0);
  await shot(p.page, 'light');
  await p.close();
  for (const width of [320, 360, 768, 1000]) {
    p = await open(name, {viewport: {width, height: 800}});
    await layout(p.page, width);
    if (width === 360) await shot(p.page, 'phone');
    await p.close();
  }
  p = await open(name, {javaScriptEnabled: false});
  check(await p.page.locator('h1.headline').isVisible(), 'without script: no headline');
  check(await p.page.locator('.tools').isHidden(), 'without script: buttons that do nothing');
  const drawn_here = await p.page.locator('svg.ch').count();
  check(drawn_here === 0 || await p.page.locator('table').count() > 0, 'without script: no tables');
  const charts = await p.page.locator('svg.ch:visible').count();
  check(charts > 0 || drawn_here === 0, 'without script: no charts');
  if (await p.page.locator('.slo').count()) check(await p.page.locator('.slo .plot svg').first().isVisible(), 'without script: no strip of objectives');
  await p.page.locator('details.nums summary').first().click().catch(() => {});
  check((await p.page.locator('details.nums').count()) === 0 || await p.page.locator('details.nums table').first().isVisible(), 'without script: the numbers do not unfold');
  await shot(p.page, 'nojs');
  await p.close();
  p = await open(name);
  await tabs(p.page);
  await p.page.emulateMedia({media: 'print'});
  await shot(p.page, 'print');
  if (name === 'streams') {
    const sheets = ((await p.page.pdf({preferCSSPageSize: true})).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length;
    check(sheets <= MAX_SHEETS, `${sheets} pages of A4`);
  }
  await p.close();
  console.log(`${failures === before ? 'ok    ' : 'FAILED'} ${name}`);
}
await browser.close();
console.log(`${pages.length} pages, ${failures} failures; screenshots in ${shots}`);
process.exit(failures ? 1 : 0);
