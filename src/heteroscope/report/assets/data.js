// Unpack the page's data. report/packing.py packs them and explains the codes.
const STEPS = 65534;
const SHARES = 250;
const ABSENT = 255;

function unpack(text, Type) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Type(bytes.buffer);
}

// Rows of every model as 16-bit codes between the model's lowest and highest value.
class CodedRows {
  constructor(packed) {
    this.codes = unpack(packed.codes, Uint16Array);
    this.low = unpack(packed.low, Float32Array);
    this.high = unpack(packed.high, Float32Array);
  }

  rowsOf(model) {
    const rows = this.codes.length / this.low.length;
    const [low, high] = [this.low[model], this.high[model]];
    const codes = this.codes.subarray(model * rows, (model + 1) * rows);
    return Array.from(codes, (code) => (code > STEPS ? NaN : low + (code / STEPS) * (high - low)));
  }
}

// One phase diagram. Slots of a measure: with several seeds 0 is their mean, 1 their std, and 2 + k is seed k; with one seed
// there is slot 0 alone. A cell is a pair [index of rho, index of gamma].
class Diagram {
  constructor(raw) {
    const { source, details, columns, rho, gamma, seeds, splits, limits, n_absent, diagonal, start, fold, rows } = raw;
    Object.assign(this, { source, details, columns, rho, gamma, seeds, splits, limits, n_absent, diagonal, start, fold, rows });
    this.shape = [raw.rho.values.length, raw.gamma.values.length];
    this.size = this.shape[0] * this.shape[1];
    this.manySeeds = raw.seeds.length > 1;
    this.arrays = Object.fromEntries(Object.entries(raw.values).map(([name, text]) => [name, unpack(text, Float32Array)]));
    this.phases = unpack(raw.phase, Uint8Array);
    this.statuses = unpack(raw.status, Uint8Array);
    this.shares = unpack(raw.calibration, Uint8Array);
    this.mean = new CodedRows(raw.predictions.mean);
    this.logStd = new CodedRows(raw.predictions.std);
  }

  // The slot of the chosen seeds ("mean", "std" or an index); null for the std of a single seed.
  slot(seeds) {
    if (!this.manySeeds) return seeds === "std" ? null : 0;
    return { mean: 0, std: 1 }[seeds] ?? 2 + seeds;
  }

  // The index of the seed whose model is drawn.
  seed(seeds) {
    return this.manySeeds && typeof seeds === "number" ? seeds : 0;
  }

  split(name) {
    const place = this.splits.indexOf(name);
    return place < 0 ? 0 : place;
  }

  bySplit(measure) {
    return this.splits.length > 1 && this.arrays[measure].length > this.size * this.slots();
  }

  slots() {
    return this.manySeeds ? this.seeds.length + 2 : 1;
  }

  cell([i, j]) {
    return i * this.shape[1] + j;
  }

  value(measure, split, slot, cell) {
    const values = this.arrays[measure];
    if (!values || slot === null) return NaN;
    const block = (this.bySplit(measure) ? this.split(split) : 0) * this.slots() + slot;
    return values[block * this.size + this.cell(cell)];
  }

  phase(slot, cell) {
    return this.phases[(slot ?? 0) * this.size + this.cell(cell)];
  }

  status(slot, cell) {
    return this.statuses[(slot ?? 0) * this.size + this.cell(cell)];
  }

  // Count the codes of a cell's seeds: pairs [code, count], the most frequent first.
  tally(codes, cell) {
    const counts = new Map();
    const first = this.manySeeds ? 2 : 0;
    for (let slot = first; slot < this.slots(); slot++) {
      const code = codes[slot * this.size + this.cell(cell)];
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    return [...counts].sort((one, other) => other[1] - one[1]);
  }

  model(cell, seed) {
    const place = this.cell(cell) * this.seeds.length + seed;
    return { mean: this.mean.rowsOf(place), std: this.logStd.rowsOf(place).map(Math.exp) };
  }

  // The calibration curve of a model, or null if the split has no rows.
  calibration(split, cell, seed) {
    const place = ((split * this.size + this.cell(cell)) * this.seeds.length + seed) * LEVELS.length;
    const shares = Array.from(this.shares.subarray(place, place + LEVELS.length));
    return shares.includes(ABSENT) ? null : shares.map((share) => share / SHARES);
  }

  logits([i, j]) {
    return [this.rho.logits[i], this.gamma.logits[j]];
  }

  nearest([zRho, zGamma]) {
    return [closest(this.rho.logits, zRho), closest(this.gamma.logits, zGamma)];
  }

  covers([zRho, zGamma]) {
    const within = (axis, z) => z >= axis.edges[0] && z <= axis.edges.at(-1);
    return within(this.rho, zRho) && within(this.gamma, zGamma);
  }

  placeOnDiagonal([i, j]) {
    return this.diagonal.findIndex((cell) => cell[0] === i && cell[1] === j);
  }
}

function closest(values, wanted) {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (Math.abs(values[k] - wanted) < Math.abs(values[best] - wanted)) best = k;
  return best;
}

const DATA = JSON.parse(document.getElementById("data").textContent);
const { phases: PHASES, statuses: STATUSES, levels: LEVELS, colours: COLOURS } = DATA;
const MEASURES = Object.fromEntries(DATA.measures.map((measure) => [measure.name, measure]));
const DIAGRAMS = DATA.diagrams.map((raw) => new Diagram(raw));
const colourAt = (share) => COLOURS[Math.round(Math.max(0, Math.min(1, share)) * (COLOURS.length - 1))];
const splitWords = { train: "training rows", test: "test rows" };

// The colour scale of the chosen measure, or of its std over seeds.
function scaleOf(diagram, state) {
  const spread = state.seeds === "std" && diagram.manySeeds;
  const limits = diagram.limits[state.measure].map((split) => split[spread ? "spread" : "value"]);
  const [low, high] = limits[diagram.split(state.split)];
  return makeScale(spread ? "log" : MEASURES[state.measure].scale, low, high);
}

// The same scale, wide enough for all splits.
function commonScale(diagram, state) {
  const scales = diagram.splits.map((split) => scaleOf(diagram, { ...state, split }));
  return makeScale(scales[0].kind, Math.min(...scales.map(({ low }) => low)), Math.max(...scales.map(({ high }) => high)));
}

// A cell's value as text, with the std over seeds if it is their mean.
function valueText(diagram, measure, split, seeds, cell) {
  const value = diagram.value(measure, split, diagram.slot(seeds), cell);
  return seeds === "mean" && diagram.manySeeds ? spreadText(value, diagram.value(measure, split, 1, cell)) : numberText(value);
}

// Phases or statuses of a cell's seeds as text: "converged", or "runaway in 4 of 6 seeds, converged in 2".
function tallyText(diagram, codes, names, seeds, cell) {
  const name = (code) => (code === ABSENT ? "not trained yet" : names[code].name);
  const slot = diagram.slot(seeds) ?? 0;
  const oneSeed = !diagram.manySeeds || typeof seeds === "number";
  if (oneSeed) return name(codes[slot * diagram.size + diagram.cell(cell)]);
  const counts = diagram.tally(codes, cell);
  if (counts.length === 1) return name(counts[0][0]);
  const total = diagram.seeds.length;
  return counts.map(([code, count], k) => `${name(code)} in ${count}${k ? "" : ` of ${total} seeds`}`).join(", ");
}
