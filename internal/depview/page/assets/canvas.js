// The painter of large graphs and of neighbourhoods.

class Painter {
  constructor(g, canvas) {
    this.g = g;
    this.canvas = canvas;
    this.ctx = canvas.getContext('2d');
    this.far = null; // the last whole picture of a large scene, moved about until a new one is there
  }

  // show chooses what is painted: all, or the layout of a neighbourhood.
  show(scene) {
    const g = this.g;
    this.scene = scene;
    this.far = null;
    this.nodes = scene ? scene.nodes : Int32Array.from({ length: g.n }, (_, i) => i);
    this.edges = scene ? scene.edges : Int32Array.from({ length: g.m }, (_, i) => i);
    this.x = scene ? scene.x : g.x;
    this.y = scene ? scene.y : g.y;
    this.at = scene ? n => scene.local.get(n) : n => n;
    let w = 1, h = 1;
    for (let i = 0; i < this.nodes.length; i++) {
      const n = this.nodes[i];
      w = Math.max(w, this.x[i] + g.w[n] / 2);
      h = Math.max(h, this.y[i] + g.h[n] / 2);
    }
    this.size = [w, h];
  }

  resize() {
    const r = devicePixelRatio || 1;
    this.canvas.width = Math.round(innerWidth * r);
    this.canvas.height = Math.round(innerHeight * r);
    this.far = null;
  }

  pick(px, py) {
    const g = this.g;
    for (let i = this.nodes.length - 1; i >= 0; i--) {
      const n = this.nodes[i];
      if (Math.abs(px - this.x[i]) <= g.w[n] / 2 && Math.abs(py - this.y[i]) <= g.h[n] / 2) return n;
    }
    return -1;
  }

  // draw paints the scene. moving says that more calls follow at once, so that a large
  // one may be the last picture, shifted and scaled.
  draw(view, st, moving) {
    const c = this.ctx, r = devicePixelRatio || 1;
    const heavy = this.edges.length + this.nodes.length > 12000;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (heavy && moving && this.far && this.far.st === st.stamp) {
      const f = this.far.view, k = view.k / f.k;
      c.setTransform(k, 0, 0, k, (view.x - f.x * k) * r, (view.y - f.y * k) * r);
      c.drawImage(this.far.image, 0, 0);
      return false;
    }
    c.setTransform(view.k * r, 0, 0, view.k * r, view.x * r, view.y * r);
    const box = [-view.x / view.k, -view.y / view.k, (innerWidth - view.x) / view.k, (innerHeight - view.y) / view.k];
    this.paintEdges(c, view, st, box);
    this.paintNodes(c, view, st, box);
    if (heavy) {
      const image = this.far ? this.far.image : document.createElement('canvas');
      image.width = this.canvas.width; image.height = this.canvas.height;
      image.getContext('2d').drawImage(this.canvas, 0, 0);
      this.far = { image, view: { ...view }, st: st.stamp };
    }
    return true;
  }

  paintEdges(c, view, st, box) {
    const g = this.g, k = view.k, dir = g.d.direction, lit = st.sel >= 0;
    const straight = !this.scene && g.d.engine !== 'dot';
    const layers = [[], [], [], [], []]; // hidden, plain, up, down, far
    for (let i = 0; i < this.edges.length; i++) {
      const e = this.edges[i];
      const a = this.at(g.pred[e]), b = this.at(g.succ[e]);
      const x1 = this.x[a], y1 = this.y[a], x2 = this.x[b], y2 = this.y[b], pad = 200;
      if (Math.max(x1, x2) + pad < box[0] || Math.min(x1, x2) - pad > box[2] || Math.max(y1, y2) + pad < box[1] || Math.min(y1, y2) - pad > box[3]) continue;
      if (g.hidden[e]) layers[0].push(e);
      else {
        const side = lit ? g.edgeSide(e, st.sel, st.cone.mark) : 0;
        layers[side ? 1 + side : !straight && Math.abs(x1 - x2) + Math.abs(y1 - y2) > 900 ? 4 : 1].push(e);
      }
    }
    const many = layers[1].length > 20000;
    const style = [['#eef2f7', 1], ['#888', lit ? 0.1 : many ? 0.35 : 0.8], ['#2563eb', 0.85], ['#c2410c', 0.85], ['#888', lit ? 0.04 : 0.16]];
    const order = [0, 4, 1, 2, 3];
    const arrows = k > 0.35;
    for (const l of order) {
      const list = layers[l];
      if (!list.length) continue;
      c.strokeStyle = c.fillStyle = style[l][0];
      c.globalAlpha = style[l][1];
      c.lineWidth = Math.max(l === 2 || l === 3 ? 1.6 : 1, (many ? 0.6 : 0.8) / k);
      c.beginPath();
      const heads = [];
      for (const e of list) this.edge(c, e, dir, straight, k, arrows && l > 0 ? heads : null);
      c.stroke();
      if (heads.length) {
        c.beginPath();
        for (const [x, y, dx, dy] of heads) {
          const n = Math.hypot(dx, dy) || 1, ux = dx / n * 7, uy = dy / n * 7;
          c.moveTo(x, y); c.lineTo(x - ux - uy * .45, y - uy + ux * .45); c.lineTo(x - ux + uy * .45, y - uy - ux * .45); c.closePath();
        }
        c.fill();
      }
    }
    c.globalAlpha = 1;
  }

  edge(c, e, dir, straight, k, heads) {
    const g = this.g, p = g.pred[e], s = g.succ[e], a = this.at(p), b = this.at(s);
    let x1 = this.x[a], y1 = this.y[a], x2 = this.x[b], y2 = this.y[b];
    if (straight) {
      [x1, y1, x2, y2] = [...leave(x1, y1, g.w[p], g.h[p], x2, y2), ...leave(x2, y2, g.w[s], g.h[s], x1, y1)];
      c.moveTo(x1, y1); c.lineTo(x2, y2);
      if (heads) heads.push([x2, y2, x2 - x1, y2 - y1]);
      return;
    }
    const upright = dir === 'TB' || dir === 'BT', sign = dir === 'RL' || dir === 'BT' ? -1 : 1;
    if (upright) { y1 += sign * g.h[p] / 2; y2 -= sign * g.h[s] / 2; } else { x1 += sign * g.w[p] / 2; x2 -= sign * g.w[s] / 2; }
    c.moveTo(x1, y1);
    const d = upright ? y2 - y1 : x2 - x1;
    const r = sign * Math.max(18, Math.min(Math.abs(d) / 2, 160));
    if (k * (Math.abs(x2 - x1) + Math.abs(y2 - y1)) < 6) c.lineTo(x2, y2);
    else if (upright) c.bezierCurveTo(x1, y1 + r, x2, y2 - r, x2, y2);
    else c.bezierCurveTo(x1 + r, y1, x2 - r, y2, x2, y2);
    if (heads) heads.push(upright ? [x2, y2, 0, sign] : [x2, y2, sign, 0]);
  }

  paintNodes(c, view, st, box) {
    const g = this.g, d = g.d, k = view.k, lit = st.sel >= 0;
    const texts = k > 0.28, shapes = k > 0.08;
    c.textAlign = 'center'; c.textBaseline = 'middle';
    c.font = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
    for (let i = 0; i < this.nodes.length; i++) {
      const n = this.nodes[i], x = this.x[i], y = this.y[i], w = g.w[n], h = g.h[n];
      if (x + w / 2 < box[0] || x - w / 2 > box[2] || y + h / 2 < box[1] || y - h / 2 > box[3]) continue;
      const side = !lit ? 0 : n === st.sel ? 4 : st.cone.mark[n];
      c.globalAlpha = lit && !side ? 0.16 : 1;
      c.fillStyle = st.heat ? heat(g.took(n), g.span) : look[d.look[n]].fill;
      const blocks = g.blocks(n);
      if (!shapes) { // a few pixels: the colour tells
        if (side) c.fillStyle = side === 4 ? '#1d4ed8' : side & 1 ? '#2563eb' : '#c2410c';
        const least = (side === 4 ? 5 : 1) / k;
        c.fillRect(x - Math.max(w, least) / 2, y - Math.max(h, least) / 2, Math.max(w, least), Math.max(h, least));
        continue;
      }
      c.strokeStyle = side === 4 ? '#2563eb' : side & 1 ? '#2563eb' : side & 2 ? '#c2410c' : blocks > 1 ? '#C62828' : '#45505e';
      c.lineWidth = side === 4 ? 2.5 : side ? 1.6 : blocks > 1 ? 1.5 : 1;
      const rows = d.rows && d.rows[n].length ? d.rows[n] : null;
      if (rows) { this.table(c, n, rows, x, y, w, h, texts); } else { this.shape(c, d.look[n], x, y, w, h); }
      if (texts) {
        c.fillStyle = '#12181f';
        if (!rows) { const l = d.wrap[n]; if (l) l.forEach((t, i) => c.fillText(t.trim(), x, y + 13.5 * (i - (l.length - 1) / 2))); else c.fillText(d.label[n], x, y); }
        if (blocks > 1) { c.fillStyle = '#C62828'; c.textAlign = 'left'; c.fillText('x' + blocks, x + w / 2 + 3, y - 8); c.textAlign = 'center'; }
      }
    }
    c.globalAlpha = 1;
  }

  shape(c, l, x, y, w, h) {
    c.beginPath();
    if (l === 'v') c.ellipse(x, y, w / 2, h / 2, 0, 0, 2 * Math.PI);
    else if (l === 'm') { c.moveTo(x - w / 2, y); c.lineTo(x, y - h / 2); c.lineTo(x + w / 2, y); c.lineTo(x, y + h / 2); c.closePath(); }
    else if (l === 'a') { c.moveTo(x - w / 2, y - h / 2); c.lineTo(x + w / 2 - 7, y - h / 2); c.lineTo(x + w / 2, y - h / 2 + 7); c.lineTo(x + w / 2, y + h / 2); c.lineTo(x - w / 2, y + h / 2); c.closePath(); c.setLineDash([4, 3]); }
    else if (c.roundRect) c.roundRect(x - w / 2, y - h / 2, w, h, 6);
    else c.rect(x - w / 2, y - h / 2, w, h);
    c.fill();
    c.stroke();
    c.setLineDash([]);
  }

  // table is a node of the tensor view; its text is drawn where it can be read.
  table(c, n, rows, x, y, w, h, texts) {
    const t = this.g.d.texts, fill = this.g.d.look[n] === 'o' ? '#D8D8D8' : c.fillStyle;
    let top = y - h / 2, headed = false;
    const head = () => {
      c.fillStyle = fill; c.fillRect(x - w / 2, top, w, 24);
      if (texts) { c.fillStyle = '#12181f'; c.fillText(this.g.d.label[n], x, top + 12); }
      top += 24; headed = true;
    };
    for (const r of rows) {
      if (r.o && !headed) head();
      const rh = r.l.length * 12.5 + 6;
      c.fillStyle = r.o ? '#FFF2E5' : '#EAF2FF'; c.fillRect(x - w / 2, top, w, rh);
      if (texts) {
        c.save(); c.fillStyle = '#12181f'; c.textAlign = 'left'; c.font = c.font.replace('11px', '10px');
        r.l.forEach((i, k) => c.fillText(t[i], x - w / 2 + 6, top + 3 + 12.5 * (k + .5)));
        c.restore();
      }
      c.save(); c.strokeStyle = '#5f6b7a'; c.lineWidth = .5; c.strokeRect(x - w / 2, top, w, rh); c.restore();
      top += rh;
    }
    if (!headed) head();
    c.strokeRect(x - w / 2, y - h / 2, w, h);
  }
}

// leave is where the line from the middle of a box to another place crosses its border.
function leave(x, y, w, h, tx, ty) {
  const dx = tx - x, dy = ty - y;
  if (!dx && !dy) return [x, y];
  const k = Math.min(w / 2 / Math.abs(dx), h / 2 / Math.abs(dy));
  return [x + dx * k, y + dy * k];
}
