// Chart of a measure along the diagonal rho = 1 - gamma; the background shows the phases.
class DiagonalChart {
  constructor(diagram, number, actions) {
    this.diagram = diagram;
    this.drawing = html("div", { class: "drawing focusable", tabindex: "0", role: "application", "aria-roledescription": "line chart" });
    this.heading = html("figcaption", { class: "caption" });
    this.element = html("figure", { class: "diagonal" }, this.heading, this.drawing);
    this.element.hidden = diagram.diagonal.length < 2;
    this.drawing.addEventListener("click", (event) => {
      const pixel = event.clientX - this.drawing.getBoundingClientRect().left;
      const distances = diagram.diagonal.map((cell) => Math.abs(this.x(diagram.logits(cell)[0]) - pixel));
      actions.select(number, diagram.diagonal[distances.indexOf(Math.min(...distances))]);
    });
  }

  draw(state) {
    if (this.element.hidden) return;
    const { diagram } = this;
    this.measure = state.measure === "phase" || !(state.measure in diagram.arrays) ? "nll" : state.measure;
    if (!(this.measure in diagram.arrays)) this.measure = Object.keys(diagram.arrays)[0];
    const width = Math.max(this.drawing.clientWidth, 240);
    const [left, right, top, tall] = [MARGIN.left, width - MARGIN.right, 20, 110];
    const logits = diagram.diagonal.map((cell) => diagram.logits(cell)[0]);
    const edges = logits.map((z, k) => (k ? (z + logits[k - 1]) / 2 : z));
    const [low, high] = [logits[0], logits.at(-1)];
    this.x = (z) => left + ((z - low) / (high - low)) * (right - left);
    this.span = [top, top + tall];
    this.marks = svg("g");
    const canvas = svg("svg", { viewBox: `0 0 ${width} ${top + tall + 24}`, "aria-hidden": "true" });
    canvas.append(this.#stripes(state, [...edges, high]), ...this.#lines({ ...state, measure: this.measure }, left, right));
    for (const { z, text, bar } of logitTicks(low, high, (right - left) / 42)) {
      canvas.append(svg("path", { d: `M${this.x(z)},${top + tall}v4`, class: "ticks" }),
        svg("text", { x: this.x(z), y: top + tall + 18, class: bar ? "tick bar" : "tick", "text-anchor": "middle" }, text));
    }
    canvas.append(svg("path", { d: `M${left},${top}v${tall}H${right}`, class: "spine" }), this.marks);
    this.drawing.replaceChildren(canvas);
    this.#caption(state);
    this.drawing.setAttribute("aria-label",
      `${titleOf(diagram)}: ${MEASURES[this.measure].label} along the diagonal rho = 1 - gamma. Left and right arrow keys move along it.`);
  }

  mark(cell) {
    if (this.element.hidden) return;
    const place = this.diagram.placeOnDiagonal(cell);
    if (place < 0) return this.marks.replaceChildren();
    const x = this.x(this.diagram.logits(cell)[0]);
    this.marks.replaceChildren(svg("path", { d: `M${x},${this.span[0]}V${this.span[1]}`, class: "here", "data-place": place }));
  }

  #caption() {
    const what = html("span", { class: "note" }, `${MEASURES[this.measure].label} along the diagonal `, symbol("ρ"), " = 1 − ", symbol("γ"), ":");
    const lines = this.diagram.splits.map((split) =>
      html("li", {}, svg("svg", { viewBox: "0 0 22 17", "aria-hidden": "true" }, svg("path", { d: "M0,8.5h22", class: `split-${split}` })), splitWords[split]));
    const keys = html("ul", { class: "keys", style: "margin: 0" }, ...(this.diagram.bySplit(this.measure) ? lines : []));
    this.heading.replaceChildren(what, keys);
  }

  #stripes(state, edges) {
    const { diagram } = this;
    const slot = diagram.slot(state.seeds);
    const group = svg("g", { class: "stripes" });
    const phases = diagram.diagonal.map((cell) => diagram.phase(slot, cell));
    for (let k = 0; k < phases.length; k++) {
      const first = k;
      while (k + 1 < phases.length && phases[k + 1] === phases[first]) k++;
      if (phases[first] === ABSENT) continue;
      const [x, end] = [this.x(edges[first]), this.x(edges[k + 1])];
      const { colour, name } = PHASES[phases[first]];
      group.append(svg("rect", { x, y: this.span[0], width: end - x, height: this.span[1] - this.span[0], fill: colour, "fill-opacity": 0.17 }));
      if (end - x > 18) group.append(phaseText(name, { x: (x + end) / 2, y: this.span[0] - 6, "font-size": 13 }));
    }
    return group;
  }

  #lines(state, left, right) {
    const { diagram } = this;
    const slot = diagram.slot(state.seeds);
    if (slot === null) {
      return [svg("text", { x: (left + right) / 2, y: (this.span[0] + this.span[1]) / 2, class: "empty", "text-anchor": "middle" }, "one solution per cell: no std over seeds")];
    }
    const scale = commonScale(diagram, state);
    const y = (value) => {
      const share = value <= 0 && scale.kind === "log" ? 0 : scale.at(value);
      return this.span[1] - Math.max(0, Math.min(1, share)) * (this.span[1] - this.span[0]);
    };
    const parts = [];
    for (const tick of scale.ticks(4)) {
      parts.push(svg("path", { d: `M${left},${y(tick)}H${right}`, class: "gridline" }),
        svg("text", { x: left - 7, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, tickText(tick)));
    }
    for (const split of diagram.bySplit(state.measure) ? diagram.splits : [diagram.splits.at(-1)]) {
      const values = diagram.diagonal.map((cell) => [this.x(diagram.logits(cell)[0]), diagram.value(state.measure, split, slot, cell), cell]);
      parts.push(svg("path", { d: pathOf(values.map(([x, value]) => [x, y(value)])), class: `split-${split}`, "data-split": split }));
      for (const [x, value, cell] of values.filter(([, value]) => Number.isFinite(value))) {
        const spread = state.seeds === "mean" && diagram.manySeeds ? diagram.value(state.measure, split, 1, cell) : NaN;
        if (Number.isFinite(spread)) {
          parts.push(svg("path", { d: `M${x},${y(value - spread)}V${y(value + spread)}`, class: `split-${split} spread` }));
        }
        parts.push(svg("circle", { cx: x, cy: y(value), r: 2.2, class: `dots-${split}` }));
      }
    }
    return parts;
  }
}
