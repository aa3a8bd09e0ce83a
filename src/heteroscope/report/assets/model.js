// Panel of the selected cell's model: its predictions, calibration, residuals and a table of its measures.
class ModelPanel {
  constructor(diagram, number) {
    this.diagram = diagram;
    this.number = number;
    this.element = html("section", { class: "model", "aria-label": `The selected cell, ${titleOf(diagram).toLowerCase()}` });
    this.top = html("div");
    this.charts = html("div", { class: "charts" });
    this.numbers = html("div");
    this.element.append(this.top, this.charts, this.numbers);
  }

  // `linked`: the logits of the cell selected in the other diagram, if this cell is only the nearest to it.
  draw(state, cell, linked) {
    const { diagram } = this;
    const slot = diagram.slot(state.seeds) ?? 0;
    const phase = diagram.phase(slot, cell);
    this.element.style.setProperty("--phase", phase === ABSENT ? "var(--muted)" : PHASES[phase].colour);
    this.top.replaceChildren(this.#place(cell, phase), this.#description(state, cell, phase, linked));
    this.#drawCharts(state, cell, slot);
    this.numbers.replaceChildren(this.#table(state, cell));
  }

  #place(cell, phase) {
    const badge = phase === ABSENT ? [] : [html("span", { class: "badge" }, phaseName(PHASES[phase].name))];
    const heading = html("h3", {}, ...placeWords(this.diagram.logits(cell)));
    return html("div", { class: "place" }, heading, ...badge);
  }

  #description(state, cell, phase, linked) {
    const { diagram } = this;
    const words = [];
    if (phase !== ABSENT) {
      const votes = tallyText(diagram, diagram.phases, PHASES, state.seeds, cell).replaceAll("_", " ");
      words.push(`${capital(PHASES[phase].meaning)}${votes.includes(" of ") ? ` (${votes})` : ""}.`);
    }
    const notes = [`${capital(tallyText(diagram, diagram.statuses, STATUSES, state.seeds, cell))}.`];
    if (linked) notes.push(diagram.covers(linked) ? "This is the nearest cell of this grid." : "This is the nearest cell: the other cell lies outside this grid.");
    return html("p", { class: "description" }, ...words, html("span", { class: "note" }, notes.join(" ")));
  }

  #drawCharts(state, cell, slot) {
    const { diagram } = this;
    const seed = diagram.seed(state.seeds);
    const seedSlot = diagram.manySeeds ? 2 + seed : 0;
    const model = diagram.model(cell, seed);
    if (!model.mean.some(Number.isFinite)) {
      const code = diagram.status(seedSlot, cell);
      const words = code === ABSENT ? "This cell has not been trained yet." : `No model to draw: ${STATUSES[code].meaning}.`;
      return this.charts.replaceChildren(html("p", { class: "empty-model wide" }, words));
    }
    const split = this.#drawnSplit(state);
    const word = diagram.manySeeds ? `, seed ${diagram.seeds[seed]}` : "";
    const figure = (caption, wide) => {
      const drawing = html("div", { class: "drawing" });
      this.charts.append(html("figure", wide ? { class: "wide" } : {}, html("figcaption", {}, caption), drawing));
      return drawing;
    };
    this.charts.replaceChildren();
    if (diagram.rows.x) {
      const others = diagram.manySeeds && typeof state.seeds !== "number";
      const drawn = `Mean, ±1 and ±2 std${word}${others ? "; thin lines: means of the other seeds" : ""}; ${splitWords[diagram.splits[split]]}`;
      this.#fit(figure(drawn, true), model, cell, seed, split, others);
    }
    this.#calibration(figure(`Calibration${word}`), cell, seed);
    this.#residuals(figure(`Residual against std${word}, ${splitWords[diagram.splits[split]]}`), model, split);
  }

  // The chosen split, or the first one that has rows to draw.
  #drawnSplit(state) {
    const chosen = this.diagram.split(state.split);
    return this.diagram.rows.split.includes(chosen) ? chosen : (this.diagram.rows.split[0] ?? 0);
  }

  #fit(drawing, { mean, std }, cell, seed, split, others) {
    const { x, y, target } = this.diagram.rows;
    const [low, high] = extent(y);
    const room = 0.15 * (high - low || 1);
    const plot = new Plot(drawing, 230, makeScale("linear", ...extent(x)), makeScale("linear", low - room, high + room), this.diagram.columns[0], target);
    const at = (values) => values.map((value, k) => [plot.x(x[k]), bounded(plot.y(value))]);
    for (const [width, name] of [[2, "two"], [1, "one"]]) {
      const upper = at(mean.map((value, k) => value + width * std[k]));
      const lower = at(mean.map((value, k) => value - width * std[k]));
      const around = [...upper, ...lower.reverse()].filter(([, pixel]) => Number.isFinite(pixel));
      plot.add(svg("path", { d: `${pathOf(around)}Z`, class: `band ${name}` }));
    }
    for (let k = 0; others && k < this.diagram.seeds.length; k++) {
      if (k !== seed) plot.add(svg("path", { d: pathOf(at(this.diagram.model(cell, k).mean)), class: "others" }));
    }
    plot.add(svg("path", { d: pathOf(at(mean)), class: "curve" }));
    this.#dots(plot, split, (k) => [x[k], y[k]]);
  }

  #residuals(drawing, { mean, std }, split) {
    const { y, split: splits } = this.diagram.rows;
    const shown = y.map((_, k) => k).filter((k) => splits[k] === split && Number.isFinite(mean[k]) && Number.isFinite(std[k]));
    const widest = Math.max(...shown.map((k) => std[k])) || 1;
    const farthest = Math.max(...shown.map((k) => Math.abs(y[k] - mean[k]))) || widest;
    const [end, reach] = [1.08 * widest, 1.1 * farthest];
    const plot = new Plot(drawing, 190, makeScale("linear", 0, end), makeScale("linear", -reach, reach), "std", "residual");
    for (const [width, name] of [[2, "two"], [1, "one"]]) {
      const corners = [[0, 0], [end, width * end], [end, -width * end]].map(([s, r]) => [plot.x(s), bounded(plot.y(r))]);
      plot.add(svg("path", { d: `${pathOf(corners)}Z`, class: `band ${name}` }));
    }
    this.#dots(plot, split, (k) => [std[k], y[k] - mean[k]]);
  }

  #dots(plot, split, place) {
    const { split: splits } = this.diagram.rows;
    const test = this.diagram.splits[split] === "test";
    const group = svg("g", { class: test ? "rows test" : "rows" });
    splits.forEach((own, k) => {
      const [x, y] = place(k);
      if (own === split && Number.isFinite(x) && Number.isFinite(y)) group.append(svg("circle", { cx: plot.x(x), cy: plot.y(y), r: test ? 2.1 : 1.9 }));
    });
    plot.add(group);
  }

  #calibration(drawing, cell, seed) {
    const plot = new Plot(drawing, 190, makeScale("linear", 0, 1), makeScale("linear", 0, 1), "predicted probability", "observed share");
    plot.add(svg("path", { d: pathOf([[plot.x(0), plot.y(0)], [plot.x(1), plot.y(1)]]), class: "guide" }));
    this.diagram.splits.forEach((name, split) => {
      const shares = this.diagram.calibration(split, cell, seed);
      if (!shares) return;
      const corners = [[0, 0], ...shares.map((share, k) => [LEVELS[k], share]), [1, 1]];
      plot.add(svg("path", { d: pathOf(corners.map(([x, y]) => [plot.x(x), plot.y(y)])), class: `split-${name}`, "data-split": name }));
    });
  }

  #table(state, cell) {
    const { diagram } = this;
    const measures = DATA.measures.filter(({ name }) => name in diagram.arrays);
    const seeds = state.seeds === "std" && !diagram.manySeeds ? "mean" : state.seeds;
    const head = { mean: "mean ± std over seeds", std: "std over seeds" }[diagram.manySeeds ? seeds : ""] ?? "";
    const rows = measures.map(({ name, label }) => {
      const cells = diagram.bySplit(name)
        ? diagram.splits.map((split) => html("td", {}, ...rich(valueText(diagram, name, split, seeds, cell))))
        : [html("td", { colspan: diagram.splits.length, class: "all" }, ...rich(valueText(diagram, name, state.split, seeds, cell)))];
      return html("tr", name === state.measure ? { class: "current" } : {}, html("th", { scope: "row" }, label), ...cells);
    });
    const columns = diagram.splits.map((split) => html("th", { scope: "col" }, split));
    return html("table", {}, html("thead", {}, html("tr", {}, html("th", { scope: "col" }, head), ...columns)), html("tbody", {}, ...rows));
  }
}
