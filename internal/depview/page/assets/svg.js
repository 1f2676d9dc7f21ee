// The picture that stands in the page as SVG.

class Picture {
  constructor(g, svg) {
    this.g = g;
    this.svg = svg;
    this.world = svg.querySelector('#world');
    this.node = [];
    for (const el of svg.querySelectorAll('.node')) this.node[+el.dataset.n] = el;
    this.edges = [...svg.querySelectorAll('.edge')];
    svg.classList.toggle('dense', this.edges.length > 800);
    let w = 1, h = 1;
    for (let i = 0; i < g.n; i++) { w = Math.max(w, g.x[i] + g.w[i] / 2); h = Math.max(h, g.y[i] + g.h[i] / 2); }
    this.size = [w, h];
    this.stamp = -1;
  }

  draw(view, st) {
    this.world.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
    if (this.stamp === st.stamp) return;
    this.stamp = st.stamp;
    const lit = st.sel >= 0;
    this.svg.classList.toggle('lit', lit);
    this.node.forEach((el, n) => {
      const m = lit ? st.cone.mark[n] : 0, sel = n === st.sel;
      el.classList.toggle('sel', sel);
      el.classList.toggle('up', !sel && !!(m & 1));
      el.classList.toggle('down', !sel && !(m & 1) && !!(m & 2));
      const fill = st.heat ? heat(this.g.took(n), this.g.span) : '';
      const shape = el.querySelector('.head') || el.querySelector('.shape');
      shape.style.fill = fill;
    });
    for (const el of this.edges) {
      const side = lit ? this.g.edgeSide(+el.dataset.e, st.sel, st.cone.mark) : 0;
      el.classList.toggle('up', side === 1);
      el.classList.toggle('down', side === 2);
    }
  }
}
