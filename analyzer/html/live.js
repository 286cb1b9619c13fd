/* A page that a run serves: each second it takes over what the server has drawn
   anew, at the end the whole report.  What the reader has done stays as it is:
   legends, measures, open tables, zoom, the keyboard's place.  While the pointer
   is on a chart, or text is selected, the page waits. */
(function () {
  'use strict';
  var waiting = null, isOver = false, lastAt = 0;
  function one(s, e) { return (e || document).querySelector(s); }
  function all(s, e) { return Array.prototype.slice.call((e || document).querySelectorAll(s)); }
  function say(text) {
    var e = one('#live-state');
    if (e && e.textContent !== text) e.textContent = text; /* else it is spoken again */
  }
  function figureOf(e) {
    var f = e.closest('[data-fig]');
    return f ? f.dataset.fig : '';
  }
  function stops(e) { return all('a[href],button,input,summary,[tabindex]', e); }
  /* The element with the focus: the nearest one with an id, and which of its
     stops it is. */
  function focused() {
    var e = document.activeElement, home;
    if (!e || !one('main').contains(e)) return null;
    home = e.closest('[id]') || one('main');
    return { id: home.id, stop: stops(home).indexOf(e), at: e.dataset.at };
  }
  function focusAgain(was) {
    var home = was && (was.id ? document.getElementById(was.id) : one('main')), e;
    if (!home) return;
    e = was.stop < 0 ? home : stops(home)[was.stop];
    if (!e) return;
    if (was.at) e.dataset.at = was.at;
    e.focus({ preventScroll: true });
  }
  function remember() {
    return {
      focus: focused(),
      open: all('details[open]').map(figureOf),
      off: all('.tog[aria-pressed=false]').map(function (b) { return [figureOf(b), b.dataset.s]; }),
      radio: all('input[type=radio]:checked').map(function (r) { return r.id; }),
    };
  }
  function restore(kept) {
    kept.open.forEach(function (name) {
      var d = name && one('[data-fig="' + name + '"] details');
      if (d) d.open = true;
    });
    kept.radio.forEach(function (id) {
      var r = id && document.getElementById(id);
      if (r) r.checked = true;
    });
    document.dispatchEvent(new Event('tailgate-update'));
    kept.off.forEach(function (k) {
      var b = one('[data-fig="' + k[0] + '"] .tog[data-s="' + k[1] + '"]');
      if (b) b.click();
    });
    focusAgain(kept.focus);
  }
  function isBusy() {
    var s = window.getSelection && getSelection();
    return !!one('figure .plot:hover') || !!(s && !s.isCollapsed);
  }
  function setHead(title, body) {
    document.title = title;
    document.body.className = body;
  }
  function apply(u) {
    var kept = remember();
    one('main').innerHTML = u.main;
    one('#data').textContent = u.data;
    setHead(u.title, u.body);
    restore(kept);
  }
  function flush() {
    if (!waiting || isOver || isBusy()) return;
    apply(waiting);
    waiting = null;
  }
  /* The file is offered from here: the run may have ended already. */
  function offer(html) {
    var bar = one('.live-bar'), a = document.createElement('a');
    a.className = 'btn';
    a.id = 'download';
    a.textContent = 'Download report.html';
    a.download = 'report.html';
    a.href = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
    one('b', bar).textContent = 'ENDED';
    say('This is the report.');
    bar.appendChild(a);
  }
  function end(html) {
    isOver = true;
    if (!html) { say('The run has ended.'); return; }
    var kept = remember(), bar = one('.live-bar'), next = new DOMParser().parseFromString(html, 'text/html');
    all('script', next.body).forEach(function (s) { if (s.id !== 'data') s.remove(); });
    document.body.replaceChildren.apply(document.body, Array.prototype.slice.call(next.body.childNodes));
    document.body.insertBefore(bar, document.body.firstChild);
    setHead(next.title, next.body.className);
    var icon = one('link[rel=icon]'), newer = one('link[rel=icon]', next);
    if (icon && newer) icon.href = newer.href;
    restore(kept);
    offer(html);
  }
  function start() {
    var es = new EventSource('events');
    es.addEventListener('page', function (e) {
      lastAt = Date.now();
      waiting = JSON.parse(e.data);
      say(isBusy() ? 'Waits while you point at a chart.' : 'Updated each second.');
      flush();
    });
    es.addEventListener('end', function (e) {
      es.close();
      end(JSON.parse(e.data).html);
    });
    es.onerror = function () {
      if (!isOver) say('No connection to the run. It may have ended.');
    };
    setInterval(function () {
      flush();
      if (!isOver && lastAt && Date.now() - lastAt > 5000) say('No news for ' + Math.round((Date.now() - lastAt) / 1000) + ' s.');
    }, 250);
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}());
