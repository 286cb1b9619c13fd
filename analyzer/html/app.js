/* What the static page lacks: values under the pointer, zoom over all charts of
   time at once, legends that switch series, light and dark, copying.  Only text
   is put into the page, never markup: names come from servers and files. */
(function () {
  'use strict';
  var root = document.documentElement;
  root.className = 'js-on';
  try {
    var kept = localStorage.getItem('tailgate-theme');
    if (kept) root.dataset.theme = kept;
  } catch (e) { /* no storage here */ }

  function one(s, e) { return (e || document).querySelector(s); }
  function all(s, e) { return Array.prototype.slice.call((e || document).querySelectorAll(s)); }

  /* ---- numbers, as the static part writes them ---- */
  var NB = '\u202f';
  function num(v) {
    if (!v) return '0';
    var a = Math.abs(v), e = Math.floor(Math.log10(a) + 1e-9), d;
    if (a >= Math.pow(10, e + 1) - 0.5 * Math.pow(10, e - 2)) e++; /* 9.996 becomes 10.0 */
    d = Math.max(0, 2 - e);
    return v.toLocaleString('en-US', { minimumFractionDigits: d, maximumFractionDigits: d });
  }
  function int(n) { return Math.round(n).toLocaleString('en-US'); }
  function dur(ns) {
    var a = Math.abs(ns);
    if (!a) return '0' + NB + 'ms';
    if (a < 1e3) return num(ns) + NB + 'ns';
    if (a < 1e6) return num(ns / 1e3) + NB + '\u00b5s';
    if (a < 1e9) return num(ns / 1e6) + NB + 'ms';
    if (a < 1.2e11) return num(ns / 1e9) + NB + 's';
    return num(ns / 6e10) + NB + 'min';
  }
  function share(x) {
    var p = 100 * x;
    if (p > 0 && p < 0.001) return '<0.001%';
    if (p >= 99.95 && p < 100) p = Math.floor(p * 100) / 100;
    return p.toFixed(p === 0 || p === 100 ? 0 : p >= 99.95 ? 2 : p >= 1 ? 1 : p >= 0.1 ? 2 : 3) + '%';
  }
  function two(n) { return ('0' + n).slice(-2); }
  function time(s) {
    var w = Math.floor(s + 1e-9);
    if (s < 600) return +s.toFixed(3) + NB + 's';
    if (s < 3600) return Math.floor(w / 60) + ':' + two(w % 60);
    return Math.floor(w / 3600) + ':' + two(Math.floor(w / 60) % 60) + ':' + two(w % 60);
  }
  function show(v, kind) {
    if (v == null) return '\u2013';
    if (v === 'inf') return 'failed';
    return kind === 'ns' ? dur(v) : kind === 'share' ? share(v) : num(v) + (kind === 'rate' ? '/s' : '');
  }

  /* ---- small things ---- */
  var NS = 'http://www.w3.org/2000/svg';
  function make(name, attributes, into) {
    var e = document.createElementNS(NS, name);
    for (var k in attributes) e.setAttribute(k, attributes[k]);
    into.appendChild(e);
    return e;
  }
  function tipOf(plot) {
    var t = one('.tip', plot);
    if (!t) {
      t = document.createElement('div');
      t.className = 'tip';
      t.setAttribute('aria-hidden', 'true');
      plot.appendChild(t);
    }
    return t;
  }
  function tip(plot, x, y, lines) {
    var t = tipOf(plot), w;
    t.textContent = '';
    lines.forEach(function (l, i) {
      if (i) t.appendChild(document.createElement('br'));
      t.appendChild(document.createTextNode(l));
    });
    t.classList.add('on');
    w = t.offsetWidth;
    t.style.left = Math.max(0, x + 14 + w > plot.clientWidth ? x - w - 14 : x + 14) + 'px';
    t.style.top = Math.max(0, y - t.offsetHeight - 10) + 'px';
  }
  function untip(plot) { tipOf(plot).classList.remove('on'); }
  function copy(button, text) {
    var old = button.textContent;
    function done() { button.textContent = 'Copied'; setTimeout(function () { button.textContent = old; }, 1400); }
    function byHand() {
      var t = document.createElement('textarea');
      t.value = text;
      document.body.appendChild(t);
      t.select();
      try { document.execCommand('copy'); done(); } catch (e) { /* not allowed */ }
      t.remove();
    }
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  }

  var keptRange = null; /* of a page that updates itself */
  function start() {
    var D = JSON.parse(one('#data').textContent || '{}');

    /* ---- theme, print, copy ---- */
    all('.theme').forEach(function (b) {
      b.onclick = function () {
        var now = root.dataset.theme || (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light');
        root.dataset.theme = now === 'dark' ? 'light' : 'dark';
        try { localStorage.setItem('tailgate-theme', root.dataset.theme); } catch (e) { /* not kept */ }
      };
    });
    all('.printb').forEach(function (b) { b.onclick = function () { print(); }; });
    function csv(b) {
      copy(b, all('tr', b.closest('details')).map(function (r) {
        return all('th,td', r).map(function (c) {
          var s = c.textContent.trim();
          return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
        }).join(',');
      }).join('\n') + '\n');
    }
    function buttons(e) {
      all('.copy', e).forEach(function (b) { b.onclick = function () { copy(b, one('pre', b.parentNode).textContent); }; });
      all('.csv', e).forEach(function (b) { b.onclick = function () { csv(b); }; });
    }
    if ('IntersectionObserver' in window) {
      var seen = new IntersectionObserver(function (es) {
        es.forEach(function (e) {
          if (e.isIntersecting) all('.bar nav a').forEach(function (a) {
            a.classList.toggle('on', a.hash === '#' + e.target.id);
          });
        });
      }, { rootMargin: '-20% 0px -70% 0px' });
      all('section.sec').forEach(function (s) { seen.observe(s); });
    }

    /* ---- legends: their values, and what they switch ---- */
    function values(f, map, what) {
      all('.tog', f).forEach(function (b) {
        if (b.dataset.s in map) one('.v', b).textContent = map[b.dataset.s];
      });
      var w = one('.what', f);
      if (w) w.textContent = what;
    }
    function rest(f) { f.rest.forEach(function (r) { r[0].textContent = r[1]; }); }
    function toggle(f, b, on) {
      b.setAttribute('aria-pressed', on);
      all('.plot [data-s="' + b.dataset.s + '"]', f).forEach(function (g) { g.classList.toggle('off', !on); });
    }
    function legend(f) {
      f.rest = all('.tog .v,.what', f).map(function (e) { return [e, e.textContent]; });
      all('.tog', f).forEach(function (b) {
        b.onclick = function () { toggle(f, b, b.getAttribute('aria-pressed') !== 'true'); };
      });
    }

    /* ---- charts over time: one pointer, one range for all ---- */
    var END = D.end || 1, range = [0, END];
    var voice = one('body > .vh[aria-live]') || document.createElement('div');
    voice.className = 'vh';
    voice.setAttribute('aria-live', 'polite');
    document.body.appendChild(voice);
    var charts = [];
    function width(svg) { return svg.getBoundingClientRect().width; }
    function placed(svg, e) { return (e.clientX - svg.getBoundingClientRect().left) / width(svg); }
    function timeAt(c, e) { return range[0] + Math.min(1, Math.max(0, placed(c.svg, e))) * (range[1] - range[0]); }
    function hair(c, t) {
      if (!c.hair) c.hair = make('line', { class: 'hair', y1: 0, y2: c.svg.dataset.h }, c.pl);
      var x = t == null ? -1 : (t - range[0]) / (range[1] - range[0]);
      c.hair.classList.toggle('off', !(x >= 0 && x <= 1));
      c.hair.setAttribute('x1', 100 * x + '%');
      c.hair.setAttribute('x2', 100 * x + '%');
    }
    function read(c, t) {
      var d = c.data, map = {}, k;
      hair(c, t);
      if (!d || !d.s) return;
      if (t == null) { rest(c.fig); return; }
      k = Math.floor(t / d.step + 1e-9);
      Object.keys(d.s).forEach(function (key) {
        var a = d.s[key], i = Math.min(k, a.length - 1);
        while (i > 0 && a[i] == null && k - i < 3) i--;
        map[key] = show(a[i], d.kind);
      });
      values(c.fig, map, time(k * d.step) + ' to ' + time(Math.min(END, (k + 1) * d.step)));
    }
    function point(t) { charts.forEach(function (c) { read(c, t); }); }
    function heatLines(d, row, i) {
      var col = d.cols[i], n = col ? col[row - col[0] + 1] || 0 : 0, kinds = d.kinds || {};
      return [
        (n ? int(n) + (n === 1 ? ' request' : ' requests') : 'no request') + ' took ' + dur(d.base * Math.pow(2, (row + d.k0) / d.per)) + ' to ' + dur(d.base * Math.pow(2, (row + 1 + d.k0) / d.per)),
        'due at ' + time(i * d.step) + ': ' + int(d.due[i]) + ' due, ' + int(d.good[i]) + ' good, ' + int(d.failed[i]) + ' failed'
          + Object.keys(kinds).filter(function (k) { return kinds[k][i]; }).map(function (k) { return ', ' + int(kinds[k][i]) + ' \u00d7 ' + k; }).join('')];
    }
    function heatTip(c, e, t) {
      var d = c.data, r = c.svg.getBoundingClientRect(), y = e.clientY - r.top - c.svg.dataset.top;
      var row = Math.floor(d.rows * (1 - y / c.svg.dataset.h)), i = Math.floor(t / d.step);
      if (!d.cols[i] || row >= d.rows || row < 0) { untip(c.plot); return; }
      tip(c.plot, e.clientX - c.plot.getBoundingClientRect().left, y + +c.svg.dataset.top, heatLines(d, row, i));
    }
    /* From the keyboard: the fullest cell of the column, or the next one up or
       down.  Its words. */
    function heatCell(c, t, up) {
      var d = c.data, i = Math.min(Math.floor(t / d.step + 1e-9), d.cols.length - 1), col = d.cols[i] || [0], lines;
      if (up == null || c.row == null) c.row = col[0] + Math.max(0, col.slice(1).indexOf(Math.max.apply(null, col.slice(1))));
      else c.row = Math.min(d.rows - 1, Math.max(0, c.row + up));
      lines = heatLines(d, c.row, i);
      tip(c.plot, c.svg.getBoundingClientRect().left - c.plot.getBoundingClientRect().left + width(c.svg) * (t - range[0]) / (range[1] - range[0]), c.svg.dataset.h * (1 - (c.row + 0.5) / d.rows) + +c.svg.dataset.top, lines);
      return lines.join('; ');
    }
    function steps(raw) {
      return [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].find(function (s) { return s >= raw; }) || 86400;
    }
    function ticks(c, zoomed) {
      all('.xt', c.svg).forEach(function (e) { e.remove(); });
      all('.wt', c.svg).forEach(function (e) { e.classList.toggle('off', zoomed); });
      if (!zoomed) { c.ticks.forEach(function (e) { c.pl.appendChild(e); }); return; }
      var span = range[1] - range[0], step = steps(span / Math.max(2, width(c.svg) / 90));
      for (var k = Math.ceil(range[0] / step - 1e-9); k * step <= range[1] + 1e-9; k++)
        make('text', { class: 'ax xt', x: 100 * (k * step - range[0]) / span + '%', y: +c.svg.dataset.h + 18, 'text-anchor': 'middle' }, c.pl).textContent = time(k * step);
    }
    function zoom(a, b) {
      var min = 2 * (D.step || 1), m = (a + b) / 2, zoomed;
      if (b - a < min) { a = m - min / 2; b = m + min / 2; }
      range = [Math.max(0, a), Math.min(END, b)];
      zoomed = range[0] > 1e-9 || range[1] < END - 1e-9;
      keptRange = zoomed ? range : null;
      charts.forEach(function (c) {
        c.z.forEach(function (z) {
          var v = z.getAttribute('viewBox').split(' ');
          z.setAttribute('viewBox', +(1000 * range[0] / END).toFixed(6) + ' 0 ' + +(1000 * (range[1] - range[0]) / END).toFixed(6) + ' ' + v[3]);
        });
        ticks(c, zoomed);
      });
      all('.zoomed').forEach(function (e) {
        e.hidden = !zoomed;
        one('.zr', e).textContent = time(range[0]) + ' to ' + time(range[1]);
      });
    }
    function showAll() { zoom(0, END); }
    all('.zreset').forEach(function (b) { b.onclick = showAll; });
    function keys(c, e) {
      var step = (c.data && c.data.step) || D.step, k = e.key, t = c.at, w = range[1] - range[0];
      var heat = c.data && c.data.cols, up = heat && { ArrowUp: 1, ArrowDown: -1 }[k];
      if (e.ctrlKey || e.altKey || e.metaKey) return; /* the browser's own */
      if (k === 'ArrowRight' || k === 'ArrowLeft' || k === 'Home' || k === 'End' || up) {
        t = t == null ? range[0] + step / 2 : t + (k === 'ArrowRight' ? step : k === 'ArrowLeft' ? -step : 0);
        if (k === 'Home') t = range[0] + step / 2;
        if (k === 'End') t = range[1] - step / 2;
        c.at = t = Math.min(range[1] - 1e-6, Math.max(range[0], t));
        c.svg.dataset.at = t; /* for the chart that takes its place in a live page */
        point(t);
        voice.textContent = heat ? heatCell(c, t, up) : time(t) + ': ' + all('.tog', c.fig).map(function (b) { return one('.nm', b).textContent + ' ' + one('.v', b).textContent; }).join(', ');
      } else if (k === '+' || k === '=' || k === '-') {
        t = t == null ? (range[0] + range[1]) / 2 : t;
        w *= k === '-' ? 2 : 0.5;
        zoom(t - w / 2, t + w / 2);
      } else if (k === 'Escape') { showAll(); } else { return; }
      e.preventDefault();
    }
    function timeChart(svg) {
      var from = null, box = null;
      var c = { svg: svg, pl: one('.pl', svg), z: all('.z', svg), data: D[svg.dataset.chart], fig: svg.closest('figure'), plot: svg.closest('.plot'), ticks: all('.xt', svg), at: null };
      charts.push(c);
      c.svg.setAttribute('tabindex', '0');
      c.svg.setAttribute('aria-roledescription', 'chart; arrow keys move through time' + (c.data && c.data.cols ? ' and through its rows' : '') + ', plus and minus zoom, Escape shows all');
      c.svg.addEventListener('keydown', function (e) { keys(c, e); });
      c.svg.addEventListener('focus', function () {
        if (!c.svg.dataset.at) return;
        c.at = +c.svg.dataset.at;
        point(c.at);
      });
      c.svg.addEventListener('blur', function () { c.at = c.row = null; untip(c.plot); delete c.svg.dataset.at; point(null); });
      c.svg.addEventListener('pointerdown', function (e) {
        if (e.button) return;
        from = placed(c.svg, e);
        c.svg.setPointerCapture(e.pointerId);
      });
      c.svg.addEventListener('pointermove', function (e) {
        var t = timeAt(c, e), x = Math.min(1, Math.max(0, placed(c.svg, e)));
        point(t);
        if (c.data && c.data.cols) heatTip(c, e, t);
        if (from == null || Math.abs(x - from) * width(c.svg) < 6) return;
        box = box || make('rect', { class: 'sel', y: 0, height: c.svg.dataset.h }, c.pl);
        box.setAttribute('x', 100 * Math.min(from, x) + '%');
        box.setAttribute('width', 100 * Math.abs(x - from) + '%');
      });
      c.svg.addEventListener('pointerup', function (e) {
        var x = placed(c.svg, e), w = range[1] - range[0], a = range[0];
        if (box) {
          box.remove();
          box = null;
          zoom(a + w * Math.max(0, Math.min(from, x)), a + w * Math.min(1, Math.max(from, x)));
        }
        from = null;
      });
      c.svg.addEventListener('pointercancel', function () { from = null; if (box) box.remove(); box = null; });
      c.svg.addEventListener('pointerleave', function () { if (from == null) { point(null); untip(c.plot); } });
      c.svg.addEventListener('dblclick', showAll);
    }

    /* ---- spectra ---- */
    function spectrum(svg) {
      var d = D[svg.dataset.chart], fig = svg.closest('figure'), pl = one('.pl', svg), line;
      if (!d) return;
      svg.addEventListener('pointermove', function (e) {
        var top = Math.max(2, d.x[d.x.length - 1]), x = placed(svg, e) * top, i = 0, p, map = {};
        d.x.forEach(function (v, k) { if (Math.abs(v - x) < Math.abs(d.x[i] - x)) i = k; });
        line = line || make('line', { class: 'hair', y1: 0, y2: svg.dataset.h }, pl);
        line.classList.remove('off');
        line.setAttribute('x1', 100 * d.x[i] / top + '%');
        line.setAttribute('x2', 100 * d.x[i] / top + '%');
        p = 100 * (1 - Math.pow(10, -d.x[i]));
        map.due = show(d.due[i], 'ns');
        if (d.sent) map.sent = show(d.sent[i], 'ns');
        values(fig, map, 'p' + +p.toFixed(p < 99 ? 1 : p < 99.9 ? 2 : 4) + (d.x[i] > 0.3 ? ', 1 in ' + int(Math.pow(10, d.x[i])) + ' is slower' : ''));
      });
      svg.addEventListener('pointerleave', function () { rest(fig); if (line) line.classList.add('off'); });
    }

    /* ---- cells of two quantities ---- */
    function cells(svg) {
      var d = D[svg.dataset.chart], map = {}, plot, spot;
      if (!d) return;
      plot = svg.closest('.plot');
      for (var k = 0; k < d.cells.length; k += 3) map[d.cells[k] + ',' + d.cells[k + 1]] = d.cells[k + 2];
      function edge(a, k) { return a.base * Math.pow(2, (k + a.k0) / a.per); }
      svg.addEventListener('pointermove', function (e) {
        var r = svg.getBoundingClientRect(), h = +svg.dataset.h, y = e.clientY - r.top - svg.dataset.top;
        var i = Math.floor(placed(svg, e) * d.x.n), j = Math.floor((1 - y / h) * d.y.n), n = map[i + ',' + j];
        spot = spot || make('rect', { class: 'spot' }, one('.pl', svg));
        spot.classList.toggle('off', !n);
        if (!n) { untip(plot); return; }
        spot.setAttribute('x', 100 * i / d.x.n + '%');
        spot.setAttribute('width', 100 / d.x.n + '%');
        spot.setAttribute('y', h * (1 - (j + 1) / d.y.n));
        spot.setAttribute('height', h / d.y.n);
        tip(plot, e.clientX - plot.getBoundingClientRect().left, e.clientY - r.top, [int(n) + (n === 1 ? ' request' : ' requests'),
          d.tokens ? 'prompt of ' + int(edge(d.x, i)) + ' to ' + int(edge(d.x, i + 1)) + ' tokens' : 'first token ' + dur(edge(d.x, i)) + ' to ' + dur(edge(d.x, i + 1)),
          (d.tokens ? 'first token ' : 'then per token ') + dur(edge(d.y, j)) + ' to ' + dur(edge(d.y, j + 1))]);
      });
      svg.addEventListener('pointerleave', function () { untip(plot); if (spot) spot.classList.add('off'); });
    }

    /* ---- marks with words of their own ---- */
    function marks(f) {
      all('[data-tip]', f).forEach(function (m) {
        var plot = m.closest('.plot');
        if (!plot) return;
        m.addEventListener('pointerenter', function () {
          var r = m.getBoundingClientRect(), p = plot.getBoundingClientRect();
          tip(plot, r.left - p.left + r.width / 2, r.top - p.top, m.dataset.tip.split('|'));
        });
        m.addEventListener('pointerleave', function () { untip(plot); });
      });
    }

    /* ---- a figure; one that fails is left as it is, without interaction ---- */
    function setUp(f) {
      try {
        legend(f);
        buttons(f);
        all('svg.tc', f).forEach(timeChart);
        all('svg[data-chart^="spectrum"]', f).forEach(spectrum);
        all('svg[data-chart="plane"],svg[data-chart="prompt"]', f).forEach(cells);
        marks(f);
      } catch (e) { console.warn(e); }
    }
    all('figure').forEach(setUp);
    buttons(document);

    if (keptRange) zoom(keptRange[0], keptRange[1]);
  }
  document.addEventListener('tailgate-update', start);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}());
