// The neighbourhood of a task, laid out in layers: nodes stand by the longest way that
// leads to them, ordered so that few edges cross.

const nearMost = 600;

// nearSet is what a node needs and what needs it, up to a number of steps, nearest first.
function nearSet(g, center, steps) {
  const depth = new Map([[center, 0]]);
  let cut = 0, full = true;
  for (const [at, list, end] of [[g.inAt, g.into, g.pred], [g.outAt, g.out, g.succ]]) {
    let front = [center];
    const seen = new Set(front);
    for (let s = 1; s <= steps && front.length; s++) {
      const next = [];
      for (const p of front) {
        for (let i = at[p]; i < at[p + 1]; i++) {
          const q = end[list[i]];
          if (seen.has(q)) continue;
          seen.add(q);
          if (!depth.has(q)) {
            if (depth.size >= nearMost) { cut++; continue; }
            depth.set(q, s);
          }
          next.push(q);
        }
      }
      front = next;
    }
    if (front.some(p => { for (let i = at[p]; i < at[p + 1]; i++) if (!seen.has(end[list[i]])) return true; return false; })) full = false;
  }
  return { nodes: [...depth.keys()].sort((a, b) => a - b), cut, full: full && !cut };
}

// nearLayout gives the nodes of a set places, and the edges among them.
function nearLayout(g, nodes, direction) {
  const local = new Map(nodes.map((n, i) => [n, i]));
  const k = nodes.length, edges = [], ins = nodes.map(() => []), outs = nodes.map(() => []);
  for (const n of nodes) {
    for (const e of g.succs(n)) {
      const s = local.get(g.succ[e]);
      if (s === undefined) continue;
      edges.push(e);
      outs[local.get(n)].push(s);
      ins[s].push(local.get(n));
    }
  }
  // Ranks; what lies on a cycle stands where it is first reached.
  const rank = new Int32Array(k), waits = ins.map(l => l.length), queue = [];
  const done = new Uint8Array(k);
  const enter = i => { done[i] = 1; queue.push(i); };
  for (let i = 0; i < k; i++) if (!waits[i]) enter(i);
  for (let at = 0, next = 0; queue.length < k || at < queue.length;) {
    if (at === queue.length) { while (done[next]) next++; enter(next); }
    const i = queue[at++];
    for (const s of outs[i]) {
      if (done[s]) continue;
      rank[s] = Math.max(rank[s], rank[i] + 1);
      if (--waits[s] === 0) enter(s);
    }
  }
  // Sources stand right before the first that needs them.
  for (let i = 0; i < k; i++) if (!ins[i].length && outs[i].length) rank[i] = Math.max(0, Math.min(...outs[i].map(s => rank[s])) - 1);
  const layers = [];
  for (let i = 0; i < k; i++) (layers[rank[i]] ||= []).push(i);
  for (let r = 0; r < layers.length; r++) layers[r] ||= [];
  const upright = direction === 'TB' || direction === 'BT';
  const thick = i => upright ? g.w[nodes[i]] : g.h[nodes[i]];
  const deep = i => upright ? g.h[nodes[i]] : g.w[nodes[i]];
  const pos = new Float64Array(k);
  for (const l of layers) { let y = 0; for (const i of l) { pos[i] = y + thick(i) / 2; y += thick(i) + 14; } }
  const mean = list => { let s = 0; for (const j of list) s += pos[j]; return s / list.length; };
  for (let sweep = 0; sweep < 12; sweep++) {
    const down = sweep % 2 === 0;
    for (let r = 0; r < layers.length; r++) {
      const l = layers[down ? r : layers.length - 1 - r];
      const want = new Map(l.map(i => {
        const near = down ? ins[i] : outs[i], other = down ? outs[i] : ins[i];
        return [i, near.length ? mean(near) : sweep > 1 && other.length ? mean(other) : pos[i]];
      }));
      l.sort((a, b) => want.get(a) - want.get(b) || nodes[a] - nodes[b]);
      spread(l, want, thick, pos);
    }
  }
  // Places along the flow, and everything moved to begin at 0.
  const x = new Float64Array(k), y = new Float64Array(k);
  let depth = 0, low = Infinity;
  for (const l of layers) {
    const w = Math.max(0, ...l.map(deep));
    for (const i of l) x[i] = depth + w / 2;
    if (l.length) depth += w + 60 + Math.min(140, l.length * 2);
  }
  for (let i = 0; i < k; i++) low = Math.min(low, pos[i] - thick(i) / 2);
  for (let i = 0; i < k; i++) {
    y[i] = pos[i] - low;
    if (direction === 'RL' || direction === 'BT') x[i] = depth - x[i];
  }
  return upright ? { nodes, edges, x: y, y: x, local } : { nodes, edges, x, y, local };
}

// spread puts nodes, in their order, as near to where they want to be as they can
// without touching: neighbours that would are joined and share the mean of their wishes.
function spread(list, want, thick, pos) {
  const gap = 14, blocks = [];
  let offset = 0;
  for (const i of list) {
    const half = thick(i) / 2;
    offset += half;
    blocks.push({ sum: want.get(i) - offset, n: 1, items: [[i, offset]] });
    offset += half + gap;
    while (blocks.length > 1) {
      const b = blocks[blocks.length - 1], a = blocks[blocks.length - 2];
      if (a.sum / a.n <= b.sum / b.n) break;
      a.sum += b.sum; a.n += b.n; a.items = a.items.concat(b.items);
      blocks.pop();
    }
  }
  for (const b of blocks) for (const [i, o] of b.items) pos[i] = b.sum / b.n + o;
}
