// The graph: what the page knows, and questions to it.

const $ = id => document.getElementById(id);
const look = {
  c: { fill: '#66A3FF', name: 'AIC (cube)' },
  v: { fill: '#FFB366', name: 'AIV (vector)' },
  m: { fill: '#66CC99', name: 'mix' },
  a: { fill: '#EAEAEA', name: 'alloc' },
  o: { fill: '#E0E0E0', name: 'dummy / unknown' },
};
const kinds = { s: 'submit', a: 'alloc', d: 'dummy' };

async function unpack() {
  const el = $('graph-data');
  if (el.dataset.packing !== 'gzip') return JSON.parse(el.textContent);
  const bytes = Uint8Array.from(atob(el.textContent), c => c.charCodeAt(0));
  el.textContent = '';
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

class Graph {
  constructor(d) {
    this.d = d;
    this.n = d.key.length;
    this.m = d.pred.length;
    this.pred = Int32Array.from(d.pred);
    this.succ = Int32Array.from(d.succ);
    this.hidden = new Uint8Array(this.m);
    for (const e of d.hidden) this.hidden[e] = 1;
    this.w = new Float32Array(this.n);
    this.h = new Float32Array(this.n);
    for (let i = 0; i < this.n; i++) [this.w[i], this.h[i]] = d.sizes[d.size[i]];
    if (d.x) { this.x = Float64Array.from(d.x); this.y = Float64Array.from(d.y); }
    [this.outAt, this.out] = this.index(this.pred);
    [this.inAt, this.into] = this.index(this.succ);
    this.byKey = new Map(d.key.map((k, i) => [k, i]));
    if (d.took) {
      let lo = Infinity, hi = 0;
      for (const t of d.took) if (t !== null) { lo = Math.min(lo, t); hi = Math.max(hi, t); }
      this.span = [lo, hi];
    }
  }

  // index lists the edges by one of their ends.
  index(end) {
    const at = new Int32Array(this.n + 1), list = new Int32Array(this.m);
    for (const v of end) at[v + 1]++;
    for (let i = 0; i < this.n; i++) at[i + 1] += at[i];
    const next = at.slice();
    for (let e = 0; e < this.m; e++) list[next[end[e]]++] = e;
    return [at, list];
  }

  preds(n) { return this.into.subarray(this.inAt[n], this.inAt[n + 1]); }
  succs(n) { return this.out.subarray(this.outAt[n], this.outAt[n + 1]); }
  hint(n) { return this.d.hints[this.d.hint[n]]; }
  kind(n) { return kinds[this.d.kind[n]]; }
  func(n) { return this.d.funcs[this.d.func[n]]; }
  blocks(n) { return this.d.spmd[this.d.key[n]] || 1; }
  took(n) { return this.d.took ? this.d.took[n] : null; }
  args(n) { return this.slice(this.d.arg, this.d.argEnd, n); }
  why(e) { return this.slice(this.d.why, this.d.whyEnd, e); }
  slice(list, end, i) { return list.slice(i ? end[i - 1] : 0, end[i]).map(t => this.d.texts[t]); }
  raw(n) { return (BigInt(this.d.high[n]) << 32n | BigInt(this.d.low[n])).toString(); }

  byHint(list) {
    const count = new Map();
    for (const p of list) count.set(this.hint(p), (count.get(this.hint(p)) || 0) + 1);
    return [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }

  // node is the record of a node by its key, as small pages hold it ready.
  node(key) {
    if (this.d.nodes) return this.d.nodes[key];
    const n = this.byKey.get(key);
    if (n === undefined) return undefined;
    const pred = Array.from(this.preds(n), e => this.pred[e]), succ = Array.from(this.succs(n), e => this.succ[e]);
    return { label: this.d.label[n], name_hint: this.hint(n), fanin: pred.length, fanout: succ.length,
      pred_by_hint: this.byHint(pred), succ_by_hint: this.byHint(succ) };
  }

  // cone marks what a node needs (1) and what needs it (2), over all edges.
  cone(n) {
    const mark = new Uint8Array(this.n), count = [0, 0, 0];
    for (const [bit, at, list, end] of [[1, this.inAt, this.into, this.pred], [2, this.outAt, this.out, this.succ]]) {
      const stack = [n];
      while (stack.length) {
        const p = stack.pop();
        for (let i = at[p]; i < at[p + 1]; i++) {
          const q = end[list[i]];
          if (q !== n && !(mark[q] & bit)) { mark[q] |= bit; count[bit]++; stack.push(q); }
        }
      }
    }
    return { mark, up: count[1], down: count[2] };
  }

  // edgeSide is 1 if an edge leads to the selected node, 2 if it comes from it, else 0.
  edgeSide(e, sel, mark) {
    const p = this.pred[e], s = this.succ[e];
    if (mark[p] & 1 && (s === sel || mark[s] & 1)) return 1;
    if (mark[s] & 2 && (p === sel || mark[p] & 2)) return 2;
    return 0;
  }

  // find lists tasks for a text: exact ids first, then whatever has it in label, hint or function.
  find(text, limit) {
    const q = text.trim().toLowerCase();
    if (!q) return { list: [], total: 0 };
    const exact = [], rest = [], d = this.d;
    let total = 0;
    const pair = q.match(/^[(t]?\s*r?(\d+)\s*[,:t_]\s*t?(\d+)\s*\)?$/);
    const one = q.match(/^[tg]?(\d+)$/);
    if (!this.hay) this.hay = d.label.map((l, i) => (l + ' ' + d.key[i] + ' ' + this.hint(i)).toLowerCase());
    const fn = q.match(/^f(\d+)$/);
    const hasFunc = fn && d.funcs.map(f => f.startsWith('[') && f.slice(1, -1).split(',').includes(fn[1]));
    for (let i = 0; i < this.n; i++) {
      let is = d.id[i].toLowerCase() === q || d.key[i].toLowerCase() === q;
      if (pair) is = is || d.high[i] % 256 === +pair[1] && d.low[i] === +pair[2];
      if (one && !is) is = d.low[i] === +one[1] && (d.high[i] % 256 === 0 || q[0] === 't') || q.length > 9 && this.raw(i) === q;
      if (is) { total++; exact.push(i); continue; }
      if (hasFunc && hasFunc[d.func[i]] || this.hay[i].includes(q)) { total++; if (rest.length < limit) rest.push(i); }
    }
    return { list: exact.concat(rest).slice(0, limit), total };
  }
}

const micro = t => t >= 100 ? t.toFixed(0) : t >= 10 ? t.toFixed(1) : t >= 1 ? t.toFixed(2) : t.toFixed(3);
const heatStops = [[255, 247, 204], [254, 217, 118], [253, 141, 60], [227, 74, 51]];

// heat is the colour of a duration between two others, on a logarithmic scale.
function heat(t, [lo, hi]) {
  if (t === null) return '#FFFFFF';
  const a = Math.log(Math.max(lo, 1e-3)), b = Math.log(Math.max(hi, 1e-3));
  const at = (b > a ? (Math.log(Math.max(t, 1e-3)) - a) / (b - a) : 0) * (heatStops.length - 1);
  const i = Math.min(Math.floor(at), heatStops.length - 2), f = at - i;
  return 'rgb(' + heatStops[i].map((v, k) => Math.round(v + (heatStops[i + 1][k] - v) * f)).join(',') + ')';
}
