// The page: moving, finding, choosing, and what is said about it.

const thousands = n => String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const esc = s => String(s).replace(/[&<>"']/g, c => escapes[c]);

function start(d) {
  const g = new Graph(d), stage = $('stage'), panel = $('panel'), tip = $('tip');
  const view = { k: 1, x: 0, y: 0 };
  const st = { sel: -1, cone: null, heat: false, stamp: 0 };
  const painter = new Painter(g, $('canvas'));
  const picture = d.view === 'svg' ? new Picture(g, $('graph')) : null;
  let near = null; // { center, steps, full } while a neighbourhood is shown
  let kept = null; // where the whole graph was left
  const whole = d.view !== 'near';
  if (d.view === 'canvas') painter.show(null);

  // --- painting ---
  const onCanvas = () => near !== null || d.view !== 'svg';
  let queued = false, settle = 0, moving = false;
  function paint() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      if (!onCanvas()) picture.draw(view, st);
      else if (painter.x) painter.draw(view, st, moving);
    });
  }
  function moved() {
    moving = true;
    paint();
    clearTimeout(settle);
    settle = setTimeout(() => { moving = false; paint(); }, 120);
  }
  const changed = () => { st.stamp++; paint(); };

  // --- moving ---
  const size = () => onCanvas() ? painter.size || [1, 1] : picture.size;
  const least = () => Math.min(0.02, fitted().k / 2);
  // The bar and the legend lie over the stage: what is fitted stays clear of them where there is room.
  function fitted() {
    const [w, h] = size(), wide = innerWidth > 900;
    const l = wide ? $('bar').offsetWidth + 24 : 0, r = wide ? Math.max($('legend').offsetWidth, panel.offsetWidth) + 24 : 0;
    const side = wide && !panel.hidden ? panel.offsetWidth + 24 : 0;
    const room = [[innerWidth - l - r, innerHeight, l, 0], [innerWidth - side, innerHeight - $('bar').offsetHeight - 24, 0, $('bar').offsetHeight + 24]];
    let best = null;
    for (const [rw, rh, x, y] of room) {
      if (rw < 100 || rh < 100) continue;
      const k = Math.min(rw / w, rh / h, 20 / 0.95) * 0.95;
      if (!best || k > best.k) best = { k, x: x + (rw - w * k) / 2, y: y + (rh - h * k) / 2 };
    }
    best ||= { k: Math.min(innerWidth / w, innerHeight / h) * 0.95, x: 0, y: 0 };
    if (best.k > 1.5) { const [cx, cy] = [best.x + w * best.k / 2, best.y + h * best.k / 2]; best = { k: 1.5, x: cx - w * .75, y: cy - h * .75 }; }
    return best;
  }
  function fit() { Object.assign(view, fitted()); paint(); }
  function reset() { Object.assign(view, { k: 1, x: 0, y: 0 }); paint(); }
  function zoom(cx, cy, factor) {
    const k = Math.max(least(), Math.min(20, view.k * factor));
    view.x = cx - (cx - view.x) * k / view.k;
    view.y = cy - (cy - view.y) * k / view.k;
    view.k = k;
    if (!near && k > 0.2) note('');
    moved();
  }
  function place(n) {
    if (near) { const i = painter.at(n); return i === undefined ? null : [painter.x[i], painter.y[i]]; }
    return g.x ? [g.x[n], g.y[n]] : null;
  }
  function goTo(n) {
    const at = place(n);
    if (!at) return;
    view.k = Math.max(view.k, 0.9);
    const covered = innerWidth > 900 && !panel.hidden ? panel.offsetWidth + 24 : 0;
    view.x = (innerWidth - covered) / 2 - at[0] * view.k;
    view.y = innerHeight / 2 - at[1] * view.k;
    paint();
  }

  let drag = null;
  stage.addEventListener('pointerdown', ev => {
    if (ev.button !== 0) return;
    drag = { id: ev.pointerId, x: ev.clientX, y: ev.clientY, vx: view.x, vy: view.y, far: false };
    stage.setPointerCapture(ev.pointerId);
  });
  stage.addEventListener('pointermove', ev => {
    if (!drag || ev.pointerId !== drag.id) return hover(ev);
    const dx = ev.clientX - drag.x, dy = ev.clientY - drag.y;
    if (!drag.far && Math.hypot(dx, dy) <= 3) return;
    drag.far = true;
    tip.hidden = true;
    stage.classList.add('moving');
    view.x = drag.vx + dx;
    view.y = drag.vy + dy;
    moved();
  });
  const release = ev => {
    if (!drag || ev.pointerId !== drag.id) return;
    const click = !drag.far && ev.type === 'pointerup';
    drag = null;
    stage.classList.remove('moving');
    if (click) { const n = hit(ev); n >= 0 ? select(n) : select(-1); }
  };
  stage.addEventListener('pointerup', release);
  stage.addEventListener('pointercancel', release);
  stage.addEventListener('pointerleave', () => { tip.hidden = true; });
  stage.addEventListener('wheel', ev => {
    ev.preventDefault();
    tip.hidden = true;
    const unit = ev.deltaMode === 1 ? [16, 16] : ev.deltaMode === 2 ? [innerWidth, innerHeight] : [1, 1];
    if (ev.ctrlKey) return zoom(ev.clientX, ev.clientY, Math.max(0.8, Math.min(1.25, Math.exp(-ev.deltaY * unit[1] * 0.003))));
    view.x -= ev.deltaX * unit[0];
    view.y -= ev.deltaY * unit[1];
    moved();
  }, { passive: false });
  stage.addEventListener('dblclick', ev => { const n = hit(ev); if (n >= 0) nearOf(n, near ? near.steps : 2); });

  // --- hovering ---
  function under(ev) { return onCanvas() ? null : document.elementFromPoint(ev.clientX, ev.clientY); }
  function hit(ev) {
    if (onCanvas()) return painter.x ? painter.pick((ev.clientX - view.x) / view.k, (ev.clientY - view.y) / view.k) : -1;
    const el = under(ev), node = el && el.closest('.node');
    return node ? +node.dataset.n : -1;
  }
  let hovered = '';
  function hover(ev) {
    const n = hit(ev), edge = n < 0 && under(ev) ? under(ev).closest('.edge:not(.hidden)') : null;
    stage.classList.toggle('over', n >= 0);
    const what = n >= 0 ? 'n' + n : edge ? 'e' + edge.dataset.e : '';
    if (!what) { tip.hidden = true; hovered = ''; return; }
    if (what !== hovered) tip.innerHTML = n >= 0 ? nodeTip(n) : edgeTip(+edge.dataset.e);
    hovered = what;
    tip.hidden = false;
    const r = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(ev.clientX + 14, innerWidth - r.width - 6)) + 'px';
    tip.style.top = Math.max(4, ev.clientY + 16 + r.height > innerHeight ? ev.clientY - r.height - 12 : ev.clientY + 16) + 'px';
  }
  function facts(n) {
    const list = [];
    list.push(['kind', g.kind(n) + (d.look[n] === 'o' || g.kind(n) !== 'submit' ? '' : ', ' + { c: 'aic', v: 'aiv', m: 'mix' }[d.look[n]])]);
    if (g.kind(n) === 'submit') list.push(['func_id', g.func(n)]);
    if (g.kind(n) === 'submit') list.push(['block_num', g.blocks(n)]);
    if (g.took(n) !== null) list.push(['kernel', micro(g.took(n)) + ' µs on core ' + d.core[n] + ', from ' + micro(d.start[n]) + ' µs']);
    else if (d.took && g.kind(n) === 'submit') list.push(['kernel', 'no record']);
    list.push(['task_id', g.raw(n)]);
    return list;
  }
  function nodeTip(n) {
    const args = g.args(n), most = 12;
    return `<b>${esc(d.label[n])}</b>` + facts(n).map(([k, v]) => `<span class="soft">${k}</span> ${esc(v)}`).join(' &nbsp;') +
      args.slice(0, most).map(a => `<div class="mono">${esc(a)}</div>`).join('') +
      (args.length > most ? `<div class="soft">and ${args.length - most} more</div>` : '');
  }
  function edgeTip(e) {
    return `<b>${esc(d.id[g.pred[e]])} → ${esc(d.id[g.succ[e]])}</b>` + g.why(e).map(w => `<div class="mono">${esc(w)}</div>`).join('');
  }

  // --- selecting ---
  function select(n) {
    st.sel = n;
    st.cone = n >= 0 ? g.cone(n) : null;
    changed();
    panel.hidden = n < 0;
    if (n >= 0) { panel.innerHTML = details(n); panel.scrollTop = 0; }
  }
  function details(n) {
    const r = g.node(d.key[n]);
    const table = (title, side, list, of) => {
      const total = list.reduce((s, [, c]) => s + c, 0);
      return `<h3 class="${side}">${title} by name_hint (${total})</h3>` + (list.length
        ? '<table>' + list.map(([h, c]) => `<tr><td class="n">${thousands(c)}</td><td>${esc(h)}</td></tr>`).join('') + '</table>' + peers(of, side)
        : '<div class="none">none</div>');
    };
    const args = g.args(n);
    return `<button class="close" aria-label="close">×</button><h2>${esc(d.id[n])} · ${esc(r.name_hint)}</h2>` +
      `<div class="sub">↓${r.fanin} predecessors · ↑${r.fanout} successors</div>` +
      `<div class="cone">needs <b class="up">${thousands(st.cone.up)}</b> task${st.cone.up === 1 ? '' : 's'} in all · needed by <b class="down">${thousands(st.cone.down)}</b></div>` +
      '<table>' + facts(n).map(([k, v]) => `<tr><td class="k">${k}</td><td>${esc(v)}</td></tr>`).join('') + '</table>' +
      (args.length ? `<details${args.length <= 6 ? ' open' : ''}><summary>${args.length} tensor argument${args.length === 1 ? '' : 's'}</summary>${args.map(a => `<div class="mono">${esc(a)}</div>`).join('')}</details>` : '') +
      table('Predecessors', 'up', r.pred_by_hint, g.preds(n)) + table('Successors', 'down', r.succ_by_hint, g.succs(n));
  }
  // peers are the neighbours one by one, with what made each edge.
  function peers(edges, side) {
    const most = 200, end = side === 'up' ? g.pred : g.succ;
    const list = Array.from(edges.subarray(0, most), e => `<div><button class="peer" data-n="${end[e]}">${esc(d.label[end[e]])}</button>` +
      g.why(e).slice(0, 8).map(w => `<div class="why">${esc(w)}</div>`).join('') + '</div>').join('');
    return `<details${edges.length <= 8 ? ' open' : ''}><summary>each, and why</summary>${list}${edges.length > most ? `<div class="none">and ${thousands(edges.length - most)} more</div>` : ''}</details>`;
  }
  panel.addEventListener('click', ev => {
    const peer = ev.target.closest('.peer');
    if (ev.target.closest('.close')) select(-1);
    else if (peer) jump(+peer.dataset.n);
  });

  // --- the neighbourhood of a task ---
  function nearOf(n, steps) {
    if (!near && whole) kept = { ...view };
    const set = nearSet(g, n, steps);
    near = { center: n, steps, full: set.full };
    painter.show(nearLayout(g, set.nodes, d.direction));
    document.body.classList.add('isnear');
    $('near').setAttribute('aria-pressed', 'true');
    $('reach').textContent = steps + (steps === 1 ? ' step' : ' steps');
    $('fewer').disabled = steps <= 1;
    $('more').disabled = set.full || set.cut > 0;
    note(`${thousands(set.nodes.length)} of ${thousands(g.n)} tasks: what ${d.id[n]} needs and what needs it` +
      (set.cut ? `; ${thousands(set.cut)} more would be within these steps` : set.full ? ', all of it' : ''));
    select(n);
    const f = fitted();
    Object.assign(view, f);
    if (f.k < 0.45) { view.k = 0.9; goTo(n); }
    paint();
  }
  function leaveNear() {
    if (!near || !whole) return;
    near = null;
    document.body.classList.remove('isnear');
    $('near').setAttribute('aria-pressed', 'false');
    note('');
    if (d.view === 'canvas') painter.show(null);
    if (kept) Object.assign(view, kept);
    changed();
  }
  function note(text) { $('note').hidden = !text; $('note').textContent = text; }
  function toggleNear() {
    if (near && whole) { const n = near.center; leaveNear(); goTo(n); return; }
    nearOf(st.sel >= 0 ? st.sel : first(), near ? near.steps : 2);
  }
  // jump shows a task, whatever is shown now.
  function jump(n) {
    if (near && painter.at(n) === undefined || !whole) return nearOf(n, near ? near.steps : 2);
    select(n);
    goTo(n);
  }
  function first() { const i = d.kind.indexOf('s'); return i < 0 ? 0 : i; }

  // --- finding ---
  const query = $('query'), results = $('results');
  let found = [], at = 0;
  function search() {
    const limit = 60, r = g.find(query.value, limit);
    found = r.list;
    at = 0;
    $('hits').textContent = query.value.trim() ? thousands(r.total) : '';
    results.hidden = !query.value.trim();
    results.innerHTML = found.length ? found.map((n, i) => `<li data-i="${i}"${i ? '' : ' class="at"'}><i style="background:${look[d.look[n]].fill}"></i>${esc(d.label[n])}</li>`).join('') +
      (r.total > limit ? `<li class="none">${thousands(r.total - limit)} more; go on typing</li>` : '') : '<li class="none">no task has that in its id, name or function id</li>';
  }
  function choose(i) { if (found[i] !== undefined) { at = i; results.hidden = true; jump(found[i]); mark(); } }
  function mark() { [...results.children].forEach((li, i) => { li.classList.toggle('at', i === at); if (i === at) li.scrollIntoView({ block: 'nearest' }); }); }
  query.addEventListener('input', search);
  query.addEventListener('focus', () => { if (query.value.trim()) results.hidden = false; });
  query.addEventListener('keydown', ev => {
    if (ev.key === 'ArrowDown' || ev.key === 'ArrowUp') {
      at = Math.max(0, Math.min(found.length - 1, at + (ev.key === 'ArrowDown' ? 1 : -1)));
      results.hidden = false;
      mark();
      ev.preventDefault();
    } else if (ev.key === 'Enter') choose(at);
    else if (ev.key === 'Escape') { results.hidden = true; query.blur(); }
    ev.stopPropagation();
  });
  results.addEventListener('pointerdown', ev => { const li = ev.target.closest('li[data-i]'); if (li) { ev.preventDefault(); choose(+li.dataset.i); } });
  query.addEventListener('blur', () => setTimeout(() => { results.hidden = true; }, 150));

  // --- keys and buttons ---
  addEventListener('keydown', ev => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    if (ev.key === 'f') fit();
    else if (ev.key === 'r') reset();
    else if (ev.key === 'n') toggleNear();
    else if (ev.key === '+') { if (near && !$('more').disabled) nearOf(near.center, near.steps + 1); } else if (ev.key === '-') { if (near && near.steps > 1) nearOf(near.center, near.steps - 1); }
    else if (ev.key === '/') { query.focus(); query.select(); ev.preventDefault(); }
    else if (ev.key === 'Escape') select(-1);
  });
  $('fit').onclick = fit;
  $('reset').onclick = reset;
  $('near').onclick = toggleNear;
  $('more').onclick = () => near && nearOf(near.center, near.steps + 1);
  $('fewer').onclick = () => near && near.steps > 1 && nearOf(near.center, near.steps - 1);
  addEventListener('resize', () => { painter.resize(); paint(); });

  // --- counts and legend ---
  $('counts').innerHTML = `${thousands(g.n)} nodes · ${thousands(d.shown)} edges` +
    (d.shown < g.m ? ` <small>${thousands(g.m - d.shown)} hidden (${esc(d.mode)})</small>` : '');
  function legend() {
    const icon = { c: '<rect x="1" y="2" width="28" height="14" rx="4"/>', v: '<ellipse cx="15" cy="9" rx="14" ry="7.5"/>', m: '<path d="M1 9 15 1 29 9 15 17z"/>',
      a: '<path d="M1 2H24l5 5V16H1z" stroke-dasharray="4 3"/>', o: '<rect x="1" y="2" width="28" height="14" rx="4"/>' };
    const row = l => `<div class="row"><svg fill="${st.heat ? '#fff' : look[l].fill}" stroke="#45505e">${icon[l]}</svg>${look[l].name}</div>`;
    let colours = '';
    if (d.took) {
      colours = `<div class="colours"><button data-heat="0" aria-pressed="${!st.heat}">core type</button><button data-heat="1" aria-pressed="${st.heat}">kernel time</button></div>`;
      if (st.heat) {
        const stops = heatStops.map((c, i) => `rgb(${c}) ${i * 100 / (heatStops.length - 1)}%`).join(',');
        colours += `<div class="scale" style="background:linear-gradient(90deg,${stops})"></div><div class="ends"><span>${micro(g.span[0])} µs</span><span>${micro(Math.sqrt(g.span[0] * g.span[1]))} µs</span><span>${micro(g.span[1])} µs</span></div><div class="more">kernel duration, logarithmic; white: no record</div>`;
      }
    }
    $('legend').innerHTML = colours + row('c') + row('v') + row('m') + row('a') + (/o/.test(d.look) ? row('o') : '') +
      '<div class="row"><span class="x">xN</span>SPMD block num</div><div class="row"><span class="sym">↓N ↑M</span>= pred / succ</div>' +
      '<div class="row"><span class="sym">🔥 ⭐</span>early dispatch / all pred 🔥</div>' +
      (d.shown < g.m ? '<div class="more">↓ ↑ and the details count all edges, also hidden ones</div>' : '');
    for (const b of $('legend').querySelectorAll('[data-heat]')) b.onclick = () => { st.heat = b.dataset.heat === '1'; legend(); changed(); };
  }
  legend();

  // --- the begin ---
  painter.resize();
  const wanted = g.byKey.get(location.hash.slice(1));
  if (!g.n) note('The graph has no tasks.');
  else if (!whole) {
    nearOf(wanted ?? first(), 2);
    $('near').disabled = true;
    query.focus();
  } else {
    fit();
    if (d.view === 'canvas' && view.k < 0.2) note('All of it is too small to read: find a task (/), or zoom in with ctrl + scroll.');
    if (wanted !== undefined) jump(wanted);
  }
  document.body.dataset.ready = 'true';
  window.swimlane = { node: k => g.node(k), graph: g, view, state: st, near: () => near, painter };
}

unpack().then(start).catch(err => {
  $('note').hidden = false;
  $('note').textContent = 'This page cannot be shown: ' + err.message + ('DecompressionStream' in window ? '' : ' (it needs a browser of 2023 or later)');
});
