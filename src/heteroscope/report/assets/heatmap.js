// Heat map of one diagram: cells, colour bar, phase boundaries, and marks of the selected cell and the cell under the pointer.
const MARGIN = { left: 46, right: 62, top: 8, bottom: 40 };

class HeatMap {
  constructor(diagram, number, actions) {
    this.diagram = diagram;
    this.number = number;
    this.actions = actions;
    this.drawing = html("div", { class: "drawing focusable", tabindex: "0", role: "application", "aria-roledescription": "heat map" });
    this.tip = html("div", { class: "tip", hidden: "" });
    this.keys = html("ul", { class: "keys" });
    this.note = html("span", { class: "note" });
    const heading = html("div", { class: "caption" }, html("h2", {}, titleOf(diagram)), this.note);
    this.element = html("figure", { class: "map" }, heading, this.drawing, this.keys);
    this.drawing.addEventListener("pointermove", (event) => this.#point(event, (cell) => actions.hover(number, cell)));
    this.drawing.addEventListener("pointerleave", () => actions.hover(number, null));
    this.drawing.addEventListener("click", (event) => this.#point(event, (cell) => cell && actions.select(number, cell)));
  }

  draw(state) {
    this.state = state;
    const width = Math.max(this.drawing.clientWidth, 240);
    const side = width - MARGIN.left - MARGIN.right;
    this.box = { width, side, tall: Math.min(side, 430), left: MARGIN.left, top: MARGIN.top };
    const { tall } = this.box;
    const canvas = svg("svg", { viewBox: `0 0 ${width} ${tall + MARGIN.top + MARGIN.bottom}`, "aria-hidden": "true" });
    this.x = this.#place(this.diagram.rho, (share) => MARGIN.left + share * side);
    this.y = this.#place(this.diagram.gamma, (share) => MARGIN.top + (1 - share) * tall);
    this.marks = svg("g", { class: "marks" });
    canvas.append(this.#patterns(), this.#cells(), this.#diagonalLine());
    if (state.boundaries) canvas.append(this.#boundaries());
    canvas.append(...this.#axes(), this.#colourBar(), this.#emptyText(), this.marks);
    this.drawing.replaceChildren(canvas, this.tip);
    this.drawing.setAttribute("aria-label", this.#label());
    this.note.textContent = this.#noteText();
    this.#drawKeys();
  }

  // Mark two cells; `selected` and `hovered` are {cell, linked} or null.
  mark(selected, hovered) {
    const marks = [];
    if (selected) marks.push(this.#outline(selected, "selected"));
    if (hovered) marks.push(this.#outline(hovered, "hover"));
    const shown = hovered ?? selected;
    if (shown) marks.push(this.#pointerOnBar(shown.cell));
    this.marks.replaceChildren(...marks.filter(Boolean));
    this.tip.hidden = !hovered;
    if (hovered) this.#showTip(hovered.cell);
  }

  #place(axis, toPixels) {
    const [low, high] = [axis.edges[0], axis.edges.at(-1)];
    const at = (z) => toPixels((z - low) / (high - low));
    return { at, edges: axis.edges.map((z) => Math.round(at(z))) }; // whole pixels leave no gaps between cells
  }

  #point(event, then) {
    const bounds = this.drawing.getBoundingClientRect();
    const find = (edges, pixel) => edges.findIndex((edge, k) => k && (pixel - edge) * (pixel - edges[k - 1]) <= 0) - 1;
    const i = find(this.x.edges, event.clientX - bounds.left);
    const j = find(this.y.edges, event.clientY - bounds.top);
    then(i < 0 || j < 0 ? null : [i, j]);
  }

  // Patterns for cells without a usable value: runaway, not finite, not trained yet.
  #patterns() {
    const id = (name) => `${name}-${this.number}`;
    const tile = (name, size, ...shapes) =>
      svg("pattern", { id: id(name), width: size, height: size, patternUnits: "userSpaceOnUse" }, ...shapes);
    const line = (d) => svg("path", { d, class: "hatch-line" });
    const slash = "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2";
    const cross = `${slash} M-1,5 l2,2 M0,0 l6,6 M5,-1 l2,2`;
    const over = tile("over", 6, svg("g", { transform: "translate(1 1)", class: "shade" }, line(slash)), line(slash));
    over.setAttribute("class", "over"); // light and dark lines side by side are visible on every colour
    return svg("defs", {}, tile("runaway", 6, line(slash)), over, tile("broken", 6, line(cross)),
      tile("absent", 7, svg("circle", { cx: 3.5, cy: 3.5, r: 0.9, class: "dot" })), this.#gradient());
  }

  #gradient() {
    const stops = COLOURS.filter((_, k) => k % 15 === 0);
    return svg("linearGradient", { id: `bar-${this.number}`, x1: 0, x2: 0, y1: 1, y2: 0 },
      ...stops.map((colour, k) => svg("stop", { offset: k / (stops.length - 1), "stop-color": colour })));
  }

  #cells() {
    const { diagram, state } = this;
    const slot = diagram.slot(state.seeds);
    const scale = this.#hasScale() ? scaleOf(diagram, state) : null;
    const group = svg("g", { class: "cells" });
    this.kinds = new Set();
    this.beyond = { low: false, high: false };
    this.n_values = 0;
    for (let i = 0; i < diagram.shape[0]; i++) {
      for (let j = 0; j < diagram.shape[1]; j++) {
        const cell = [i, j];
        const place = this.#rectangle(cell);
        const { fill, phase } = this.#paint(cell, slot, scale);
        const paint = fill ? { fill, ...(phase ? { class: "phase" } : {}) } : { class: "nothing" };
        group.append(svg("rect", { ...place, ...paint, "data-cell": `${i},${j}` }));
        const kind = this.#kind(cell, slot, Boolean(fill));
        if (!kind) continue;
        this.kinds.add(kind);
        const pattern = kind === "runaway" && fill ? "over" : kind;
        group.append(svg("rect", { ...place, fill: `url(#${pattern}-${this.number})`, "data-kind": kind }));
      }
    }
    return group;
  }

  #hasScale() {
    return this.state.measure !== "phase" && this.state.measure in this.diagram.arrays && this.diagram.slot(this.state.seeds) !== null;
  }

  #paint(cell, slot, scale) {
    const { diagram, state } = this;
    if (state.measure === "phase") {
      const code = diagram.phase(slot, cell);
      this.n_values += code !== ABSENT;
      if (code === ABSENT) return {};
      const faded = state.seeds === "std" && diagram.manySeeds;
      const agreeing = faded ? diagram.tally(diagram.phases, cell)[0][1] / diagram.seeds.length : 1;
      return { fill: agreeing === 1 ? PHASES[code].colour : mixed(PHASES[code].colour, agreeing), phase: true };
    }
    const value = diagram.value(state.measure, state.split, slot, cell);
    if (!scale || !Number.isFinite(value)) return {};
    this.n_values++;
    const share = value <= 0 && scale.kind === "log" ? -1 : scale.at(value);
    this.beyond.low ||= share < -1e-6;
    this.beyond.high ||= share > 1 + 1e-6;
    return { fill: colourAt(share) };
  }

  #kind(cell, slot, hasNumber) {
    const code = this.diagram.status(slot, cell);
    if (code === ABSENT) return "absent";
    if (STATUSES[code].name === "runaway") return "runaway";
    return STATUSES[code].name === "not finite" || (!hasNumber && this.#hasScale()) ? "broken" : null;
  }

  #rectangle([i, j]) {
    const [x, right] = [this.x.edges[i], this.x.edges[i + 1]];
    const [bottom, y] = [this.y.edges[j], this.y.edges[j + 1]];
    return { x, y, width: right - x, height: bottom - y };
  }

  // Borders between neighbouring cells of different phases, and the fold of the theory.
  #boundaries() {
    const { diagram } = this;
    const slot = diagram.slot(this.state.seeds);
    const [n, m] = diagram.shape;
    let path = "";
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const here = diagram.phase(slot, [i, j]);
        const differs = (other) => here !== ABSENT && other !== ABSENT && here !== other;
        if (i + 1 < n && differs(diagram.phase(slot, [i + 1, j]))) {
          path += `M${this.x.edges[i + 1]},${this.y.edges[j]}V${this.y.edges[j + 1]}`;
        }
        if (j + 1 < m && differs(diagram.phase(slot, [i, j + 1]))) {
          path += `M${this.x.edges[i]},${this.y.edges[j + 1]}H${this.x.edges[i + 1]}`;
        }
      }
    }
    const { left, top, side, tall } = this.box;
    const clip = svg("clipPath", { id: `clip-${this.number}` }, svg("rect", { x: left, y: top, width: side, height: tall }));
    const fold = pathOf(diagram.fold.map(([zRho, zGamma]) => [this.x.at(zRho), this.y.at(zGamma)]));
    return svg("g", { class: `boundaries over-${this.state.measure === "phase" ? "phases" : "colours"}`, "clip-path": `url(#clip-${this.number})` }, clip,
      svg("path", { d: path, class: "boundary-halo" }), svg("path", { d: path, class: "boundary" }),
      ...(fold ? [svg("path", { d: fold, class: "boundary-halo" }), svg("path", { d: fold, class: "fold" })] : []));
  }

  #diagonalLine() {
    const cells = this.diagram.diagonal.map((cell) => this.diagram.logits(cell));
    if (cells.length < 2) return svg("g");
    const [from, to] = [cells[0], cells.at(-1)];
    const ends = { x1: this.x.at(from[0]), y1: this.y.at(from[1]), x2: this.x.at(to[0]), y2: this.y.at(to[1]) };
    return svg("g", { class: "diagonal-line" }, svg("line", { ...ends, class: "under" }), svg("line", ends));
  }

  #axes() {
    const { left, top, side, tall } = this.box;
    const tick = (attributes, { text, bar }) => svg("text", { class: bar ? "tick bar" : "tick", ...attributes }, text);
    const parts = [svg("rect", { x: left, y: top, width: side, height: tall, class: "spine" })];
    for (const mark of axisTicks(this.diagram.rho, Math.max(3, side / 42))) {
      const x = this.x.at(mark.z);
      parts.push(svg("path", { d: `M${x},${top + tall}v4`, class: "ticks" }));
      parts.push(tick({ x, y: top + tall + 18, "text-anchor": "middle" }, mark));
    }
    for (const mark of axisTicks(this.diagram.gamma, Math.max(3, tall / 30))) {
      const y = this.y.at(mark.z);
      parts.push(svg("path", { d: `M${left},${y}h-4`, class: "ticks" }));
      parts.push(tick({ x: left - 7, y: y + 4, "text-anchor": "end" }, mark));
    }
    parts.push(svg("text", { x: left + side / 2, y: top + tall + 36, class: "symbol", "text-anchor": "middle" }, "ρ"));
    parts.push(svg("text", { x: 8, y: top + tall / 2, class: "symbol", "text-anchor": "middle" }, "γ"));
    return parts;
  }

  #colourBar() {
    const group = svg("g", { class: "colour-bar" });
    this.bar = null;
    if (!this.#hasScale() || !this.n_values) return group;
    const scale = scaleOf(this.diagram, this.state);
    const { left, top, side, tall } = this.box;
    const x = left + side + 12;
    const [first, height] = [top + 7, tall - 14];
    this.bar = { x, scale, at: (value) => first + height * (1 - Math.max(-0.01, Math.min(1.01, scale.at(value)))) };
    group.append(svg("rect", { x, y: first, width: 11, height, fill: `url(#bar-${this.number})` }));
    if (this.beyond.high) group.append(svg("path", { d: `M${x},${first}h11l-5.5,-7z`, fill: COLOURS.at(-1) }));
    if (this.beyond.low) group.append(svg("path", { d: `M${x},${first + height}h11l-5.5,7z`, fill: COLOURS[0] }));
    for (const value of scale.ticks(Math.max(3, height / 45))) {
      const y = this.bar.at(value);
      group.append(svg("path", { d: `M${x + 11},${y}h3`, class: "ticks" }));
      group.append(svg("text", { x: x + 17, y: y + 4, class: "tick" }, tickText(value)));
    }
    return group;
  }

  #pointerOnBar(cell) {
    const value = this.diagram.value(this.state.measure, this.state.split, this.diagram.slot(this.state.seeds), cell);
    if (!this.bar || !Number.isFinite(value)) return null;
    const y = this.bar.at(value <= 0 && this.bar.scale.kind === "log" ? this.bar.scale.low : value);
    return svg("path", { d: `M${this.bar.x - 1},${y}l-6,-4v8z`, class: "pointer" });
  }

  #emptyText() {
    if (this.n_values) return svg("g");
    const { left, top, side, tall } = this.box;
    const { diagram, state } = this;
    const words = diagram.n_absent === diagram.size * diagram.seeds.length ? "no model is trained yet"
      : diagram.slot(state.seeds) === null ? "one solution per cell: no std over seeds"
      : "not measured here";
    return svg("text", { x: left + side / 2, y: top + tall / 2, class: "empty", "text-anchor": "middle" }, words);
  }

  #outline({ cell, linked }, kind) {
    const place = this.#rectangle(cell);
    return svg("g", { class: `mark ${kind}${linked ? " linked" : ""}`, "data-cell": cell.join(",") },
      svg("rect", { ...place, class: "outer" }), svg("rect", { ...place, class: "inner" }));
  }

  #showTip(cell) {
    const { diagram, state } = this;
    const lines = [html("div", {}, ...placeWords(diagram.logits(cell)))];
    if (state.measure !== "phase") {
      const text = state.seeds === "std" && diagram.manySeeds ? "std over seeds of " : "";
      const value = valueText(diagram, state.measure, state.split, state.seeds, cell);
      lines.push(html("div", {}, `${text}${MEASURES[state.measure].label} `, html("strong", {}, ...rich(value))));
    }
    const phase = diagram.phase(diagram.slot(state.seeds), cell);
    const parts = phase === ABSENT ? [] : [phaseName(PHASES[phase].name), ", "];
    parts.push(tallyText(diagram, diagram.statuses, STATUSES, state.seeds, cell));
    lines.push(html("div", { class: "note" }, ...parts));
    this.tip.replaceChildren(...lines);
    const place = this.#rectangle(cell);
    const middle = place.x + place.width / 2;
    const left = middle > this.box.width / 2 ? middle - this.tip.offsetWidth - 14 : middle + 14;
    this.tip.style.left = `${Math.max(0, Math.min(left, this.box.width - this.tip.offsetWidth))}px`;
    const above = place.y - this.tip.offsetHeight - 10;
    this.tip.style.top = `${above < -30 ? place.y + place.height + 10 : above}px`;
  }

  #label() {
    const measure = this.state.measure === "phase" ? "phase" : MEASURES[this.state.measure].label;
    return `${titleOf(this.diagram)}: heat map of ${measure} over rho (across) and gamma (up). Arrow keys move the selected cell.`;
  }

  #noteText() {
    const { diagram, state } = this;
    if (state.measure === "phase") {
      if (!diagram.manySeeds || typeof state.seeds === "number") return "phase of each cell";
      return state.seeds === "std" ? "phase of most seeds, paler where seeds disagree" : "phase of most seeds";
    }
    const label = MEASURES[state.measure].label;
    if (!(state.measure in diagram.arrays)) return label;
    const rows = diagram.bySplit(state.measure) || diagram.splits.length === 1
      ? `, ${splitWords[diagram.splits[diagram.split(state.split)]]}` : "";
    const only = diagram.splits.includes(state.split) ? "" : " (there are no others)";
    return `${label}${rows}${only}`;
  }

  #drawKeys() {
    const icon = (...shapes) => svg("svg", { viewBox: "0 0 22 17", "aria-hidden": "true" }, ...shapes);
    const box = (attributes) => svg("rect", { x: 0.5, y: 0.5, width: 21, height: 16, ...attributes });
    const entry = (drawn, ...words) => html("li", {}, drawn, html("span", {}, ...words));
    const keys = [];
    if (this.state.measure === "phase") {
      PHASES.forEach(({ name, colour }, code) => {
        if (this.diagram.phases.includes(code)) keys.push(entry(icon(box({ fill: colour, class: "swatch" })), phaseName(name)));
      });
    }
    const runaway = this.diagram.source === "field theory" ? "runaway: descent from the flat field diverges" : "runaway: precision at its ceiling";
    const words = { runaway, broken: "not finite", absent: "not trained yet" };
    for (const kind of Object.keys(words)) {
      if (!this.kinds.has(kind)) continue;
      keys.push(entry(icon(box({ class: "nothing" }), box({ fill: `url(#${kind}-${this.number})` })), words[kind]));
    }
    if (this.state.boundaries && this.diagram.fold.length) {
      keys.push(entry(icon(svg("path", { d: "M0,8.5h22", class: "fold" })), "fold: beyond it descent runs away"));
    }
    this.keys.replaceChildren(...keys);
  }
}

const titleOf = (diagram) => (diagram.source === "field theory" ? "Field theory" : "Networks");

// Mix a colour with the panel's background; the smaller the share of agreeing seeds, the paler.
const mixed = (colour, share) => `color-mix(in srgb, ${colour} ${Math.round(100 * share ** 2)}%, var(--panel))`;
