// The page: its state, its controls, and the redrawing when one of them changes.
const state = {
  measure: "phase",
  split: DIAGRAMS[0].splits.at(-1),
  seeds: "mean", // or "std", or the index of one seed
  boundaries: true,
  walk: "diagonal",
  cursor: { view: 0, cell: DIAGRAMS[0].start },
  hover: null,
};
const byId = (id) => document.getElementById(id);
const actions = { select, hover };
const VIEWS = DIAGRAMS.map((diagram, number) => ({
  diagram,
  map: new HeatMap(diagram, number, actions),
  diagonal: new DiagonalChart(diagram, number, actions),
  model: new ModelPanel(diagram, number),
}));

function select(view, cell) {
  state.cursor = { view, cell };
  drawSelection();
  byId("live").textContent = spoken();
}

function hover(view, cell) {
  const same = state.hover && cell && state.hover.view === view && String(state.hover.cell) === String(cell);
  if (same) return;
  state.hover = cell && { view, cell };
  drawMarks();
}

// A cursor of the other diagram is shown at the cell nearest in the logits of rho and gamma.
function seenFrom(number, cursor) {
  if (!cursor) return null;
  if (cursor.view === number) return { cell: cursor.cell, linked: false };
  const place = DIAGRAMS[cursor.view].logits(cursor.cell);
  return { cell: DIAGRAMS[number].nearest(place), linked: true, place };
}

function drawMarks() {
  VIEWS.forEach(({ map }, number) => map.mark(seenFrom(number, state.cursor), seenFrom(number, state.hover)));
}

function drawSelection() {
  drawMarks();
  VIEWS.forEach(({ diagonal, model }, number) => {
    const { cell, place } = seenFrom(number, state.cursor);
    diagonal.mark(cell);
    model.draw(state, cell, place);
  });
}

function drawAll() {
  state.hover = null;
  const measure = MEASURES[state.measure];
  byId("explained").textContent = measure ? `${capital(measure.label)}: ${measure.what}.`
    : "Phase: in which of five ways the model of a cell fits the data.";
  for (const { map, diagonal } of VIEWS) {
    map.draw(state);
    diagonal.draw(state);
  }
  drawSelection();
}

// The selected cell in words, for screen readers.
function spoken() {
  const { view, cell } = state.cursor;
  const diagram = DIAGRAMS[view];
  const [zRho, zGamma] = diagram.logits(cell);
  const phase = diagram.phase(diagram.slot(state.seeds), cell);
  const words = [`rho ${shareText(zRho)}, gamma ${shareText(zGamma)}`];
  if (state.measure !== "phase") {
    const rows = diagram.bySplit(state.measure) ? ` on ${splitWords[diagram.splits[diagram.split(state.split)]]}` : "";
    words.push(`${MEASURES[state.measure].label} ${valueText(diagram, state.measure, state.split, state.seeds, cell)}${rows}`);
  }
  words.push(phase === ABSENT ? "not trained yet" : `phase ${PHASES[phase].name.replace("_", " ")}, ${PHASES[phase].meaning}`);
  words.push(tallyText(diagram, diagram.statuses, STATUSES, state.seeds, cell));
  return `${words.join("; ")}.`;
}

// Arrow keys

const STEPS_OF_KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

function walkGrid([di, dj]) {
  const { view, cell: [i, j] } = state.cursor;
  const [n, m] = DIAGRAMS[view].shape;
  select(view, [Math.max(0, Math.min(n - 1, i + di)), Math.max(0, Math.min(m - 1, j + dj))]);
}

// Right and up move towards rho = 1; from a cell beside the diagonal the first step moves onto it.
function walkDiagonal([di, dj]) {
  const { view, cell } = state.cursor;
  const diagram = DIAGRAMS[view];
  const place = diagram.placeOnDiagonal(cell);
  const [zRho, zGamma] = diagram.logits(cell);
  const along = diagram.diagonal.map((other) => diagram.logits(other)[0]);
  const next = place < 0 ? closest(along, (zRho - zGamma) / 2) : place + di + dj;
  select(view, diagram.diagonal[Math.max(0, Math.min(along.length - 1, next))]);
}

function onKey(event, number, onlyDiagonal) {
  const step = STEPS_OF_KEYS[event.key];
  const end = { Home: 0, End: -1 }[event.key];
  if ((!step && end === undefined) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (state.cursor.view !== number) state.cursor = { view: number, cell: seenFrom(number, state.cursor).cell };
  const { diagonal } = DIAGRAMS[number];
  const walksDiagonal = diagonal.length > 1 && (onlyDiagonal || (state.walk === "diagonal" && !event.shiftKey));
  if (end !== undefined) {
    if (diagonal.length) select(number, diagonal.at(end));
  } else if (walksDiagonal) walkDiagonal(step);
  else walkGrid(step);
}

// Controls

function addChoices(id, options, chosen, then) {
  const place = byId(id).querySelector(".choices");
  for (const [value, words] of options) {
    const input = html("input", { type: "radio", name: id, value, ...(value === chosen ? { checked: "" } : {}) });
    input.addEventListener("change", () => then(value));
    place.append(html("label", {}, input, html("span", {}, words)));
  }
}

function addControls() {
  const first = DIAGRAMS[0];
  const groups = new Map([["", [["phase", "Phase"]]]]);
  for (const { name, label, group } of DATA.measures) groups.set(group, [...(groups.get(group) ?? []), [name, capital(label)]]);
  for (const [group, options] of groups) {
    const entries = options.map(([value, words]) => html("option", { value }, words));
    byId("measure").append(...(group ? [html("optgroup", { label: group }, ...entries)] : entries));
  }
  byId("measure").addEventListener("change", (event) => change({ measure: event.target.value }));

  addChoices("split", first.splits.map((name) => [name, capital(name)]), state.split, (split) => change({ split }));
  byId("split").hidden = first.splits.length < 2;

  const seeds = [["mean", `Mean of ${first.seeds.length} seeds`], ["std", "Std over seeds"]];
  first.seeds.forEach((seed, k) => seeds.push([String(k), `Seed ${seed}`]));
  byId("seed").append(...seeds.map(([value, words]) => html("option", { value }, words)));
  byId("seed").addEventListener("change", ({ target: { value } }) => change({ seeds: value in { mean: 0, std: 0 } ? value : Number(value) }));
  byId("seed-field").hidden = !first.manySeeds;

  addChoices("boundaries", [["on", "On"], ["off", "Off"]], "on", (value) => change({ boundaries: value === "on" }));
  if (!DIAGRAMS.some(({ diagonal }) => diagonal.length > 1)) state.walk = "grid";
  addChoices("walk", [["diagonal", "Diagonal"], ["grid", "Grid"]], state.walk, (walk) => change({ walk }));
  byId("walk").hidden = state.walk === "grid";
  addChoices("theme", [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]], "auto", (theme) => {
    document.documentElement.dataset.theme = theme;
  });
}

function change(part) {
  Object.assign(state, part);
  drawAll();
}

function addWords() {
  const first = DIAGRAMS[0];
  const facts = Object.fromEntries(first.details);
  const named = [["data set", (v) => `data: ${v}`], ["target", (v) => `target: ${v}`], ["hidden", (v) => `hidden layers: ${v}`], ["activation", (v) => v]];
  const words = named.filter(([name]) => facts[name]).map(([name, write]) => write(facts[name]));
  byId("subtitle").textContent = [...words, facts.grid].join(" · ");
  const absent = DIAGRAMS.filter((diagram) => diagram.n_absent);
  byId("unfinished").hidden = !absent.length;
  byId("unfinished").textContent = absent.map((diagram) => {
    const total = diagram.size * diagram.seeds.length;
    return `${titleOf(diagram)}: this diagram is not finished: ${total - diagram.n_absent} of ${total} models are trained.`;
  }).join(" ");
  byId("facts").append(...DIAGRAMS.map(factsOf), reading());
  byId("made").textContent = `Made with heteroscope ${DATA.version}. This file needs no network connection.`;
}

function factsOf(diagram) {
  const entries = diagram.details.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]);
  const columns = [html("dt", {}, `${diagram.columns.length} column${diagram.columns.length > 1 ? "s" : ""}`), html("dd", { class: "columns" }, diagram.columns.join(", "))];
  const drawn = diagram.splits.map((name, split) => [name, diagram.rows.split.filter((own) => own === split).length, diagram.rows.kept[split]]);
  const rows = drawn.filter(([, count]) => count).map(([name, count, kept]) => `${count} of ${kept} stored ${splitWords[name]}`).join(", ");
  return html("section", {}, html("h3", {}, titleOf(diagram)), html("dl", {}, ...entries, ...columns, html("dt", {}, "drawn rows"), html("dd", {}, rows)));
}

function reading() {
  const lines = [
    "Scores are computed on all rows, in units of the training targets' standard deviation. Models are drawn at some of the rows, in the target's own units.",
    "Both axes are logit scales; a bar over 10⁻ᵏ means 1 − 10⁻ᵏ. Colours run from the 2 % to the 98 % quantile of all cells and seeds; a triangle at the end of a colour bar means that some cells lie beyond.",
    "Keys: arrows move along the diagonal or over the grid, as chosen above; Shift with an arrow always moves over the grid; Home and End go to the ends of the diagonal.",
  ];
  return html("section", {}, html("h3", {}, "How to read this page"), ...lines.map((line) => html("p", { class: "prose" }, line)));
}

function start() {
  addControls();
  addWords();
  byId("views").className = VIEWS.length > 1 ? "pair" : "alone";
  VIEWS.forEach(({ diagram, map, diagonal, model }, number) => {
    const left = html("div", {}, map.element, diagonal.element);
    byId("views").append(html("section", { class: "view", "aria-label": titleOf(diagram) }, left, model.element));
    map.drawing.addEventListener("keydown", (event) => onKey(event, number, false));
    diagonal.drawing.addEventListener("keydown", (event) => onKey(event, number, true));
  });
  // Without a focused element, left and right move the cursor, too; up and down scroll the page.
  document.addEventListener("keydown", (event) => {
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (event.target === document.body && sideways) onKey(event, state.cursor.view, false);
  });
  drawAll();
  let width = byId("views").clientWidth;
  new ResizeObserver(() => {
    const now = byId("views").clientWidth;
    if (now !== width) drawAll();
    width = now;
  }).observe(byId("views"));
}

start();
