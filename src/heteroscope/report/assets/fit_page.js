// The page of a fit: its sections, and the redrawing when its width or a choice changes.
const byId = (id) => document.getElementById(id);
const redraw = [];
const TRUST = {
  yes: ["light-dark(#007a59, #3dc79d)", "✓"],
  "with care": ["light-dark(#b26f00, #f0b429)", "!"],
  no: ["light-dark(#c44900, #ff8a4c)", "✕"],
  "not known": ["var(--muted)", "?"],
};

function addSection(id, heading, lead, ...children) {
  const words = lead ? [html("p", { class: "lead" }, lead)] : [];
  byId("sections").append(html("section", { id }, html("h2", {}, heading), ...words, ...children));
  byId("contents").append(html("a", { href: `#${id}` }, heading));
}

// A figure that is drawn again when the page's width changes.
function chart(caption, draw) {
  const drawing = html("div", { class: "drawing" });
  redraw.push(() => draw(drawing));
  return html("figure", {}, html("figcaption", {}, caption), drawing);
}

function choices(id, legend, options, chosen, then) {
  const place = html("div", { class: "choices" });
  for (const [value, words] of options) {
    const input = html("input", { type: "radio", name: id, value, ...(value === chosen ? { checked: "" } : {}) });
    input.addEventListener("change", () => then(value));
    place.append(html("label", {}, input, html("span", {}, words)));
  }
  return html("fieldset", { class: "field choices-row", id }, html("legend", {}, legend), place);
}

function table(head, rows) {
  const cells = (row, name) => row.map((cell, k) => html(k ? name : "th", k ? {} : { scope: name === "th" ? "col" : "row" }, ...rich(String(cell))));
  return html("div", { class: "scroll" }, html("table", {},
    html("thead", {}, html("tr", {}, ...cells(head, "th"))),
    html("tbody", {}, ...rows.map((row) => html("tr", {}, ...cells(row, "td"))))));
}

const list = (lines) => html("ul", { class: "plain-list" }, ...lines.map((line) => html("li", {}, line)));

// The table of scores, and for narrow screens the same with one row for each score.
function scoreTables(scores) {
  const [head, ...rows] = [scores[0].map((name) => name.replace("^2", "²")), ...scores.slice(1)];
  const names = [head[0], "these", "one std", "constant"];
  const turned = head.slice(1).map((name, k) => [name, ...rows.map((row) => row[k + 1])]);
  return [table(head, rows), table(names, turned)].map((part, k) => html("div", { class: k ? "narrow-only" : "wide-only" }, part));
}

function addVerdict() {
  const { trust, answer, why, scores, advice, networks, phase } = DATA.verdict;
  const [colour, glyph] = TRUST[trust];
  const box = html("div", { class: "verdict", style: `--trust: ${colour}` },
    html("p", { class: "answer" }, html("span", { class: "glyph", "aria-hidden": "true" }, glyph), html("span", {}, answer)),
    html("p", {}, why.join(" ")),
    ...(scores.length ? scoreTables(scores) : []),
    html("p", {}, html("strong", {}, "What to do: "), advice.join(" ")));
  addSection("verdict", "Verdict", "", box);
  const badge = html("span", { class: "badge", style: `--phase: ${DATA.phases[phase].colour}` }, phaseName(phase));
  byId("verdict").append(html("p", { class: "prose", style: "margin-top: 0.8rem; max-width: 80ch" }, badge, " ", networks.join(" ")));
}

function addCalibration() {
  if (!DATA.calibration) return;
  const { parts } = DATA.calibration;
  let part = parts[0];
  const calibrated = chart("Calibration curve: share of rows whose target lies below the quantile of this probability. Grey: where right forecasts of as many rows lie, 9 times in 10 at each place.", (drawing) => drawCalibration(drawing, part));
  const histogram = chart("PIT histogram: right forecasts are flat. A hump in the middle: the std is too large; at both ends: too small; on one side: the mean is off.", (drawing) => drawPit(drawing, part));
  const chosen = parts.length > 1 ? [choices("part", "Rows by predicted std", parts.map(({ name }) => [name, capital(name)]), part.name, (name) => {
    part = parts.find((other) => other.name === name);
    drawAll();
  })] : [];
  const rows = parts.map((own) => [own.name, own.n_rows, `${numberText(own.std_low)} to ${numberText(own.std_high)}`,
    `${(100 * own.coverage).toFixed(0)} % ± ${(100 * own.coverage_error).toFixed(0)}`, numberText(own.squared_score)]);
  addSection("calibration", "Calibration",
    "By held-out rows, of models that were not trained on them. The std is real if the rows that it calls sure are met more closely than those it calls unsure: then each quarter by predicted std is calibrated by itself.",
    ...chosen, html("div", { class: "two" }, calibrated, histogram),
    table(["rows", "number", `std of ${UNIT}`, "90 % intervals hold", "mean ((y − mean) / std)²"], rows));
}

function addRows() {
  if (!DATA.rows) return;
  const drawn = DATA.rows.y.length < DATA.rows.n ? ` ${DATA.rows.y.length} of ${DATA.rows.n} rows are drawn.` : "";
  const minus = LOGGED ? `Logarithm of ${UNIT} minus its predicted mean, of held-out rows: the networks predict logarithms.` : `Target minus predicted mean of held-out rows, in the units of ${UNIT}.`;
  addSection("residuals", "Residuals", `${minus}${drawn}`, html("div", { class: "two" },
    chart("Against the predicted mean: no trend should be left.", drawResidualsByMean),
    chart("Against the predicted std, with wedges of ± 1 and ± 2 std: two thirds of the rows lie in the inner one, at every std.", drawResidualsByStd)));
  addSection("intervals", "Intervals of some rows", "90 % intervals with the mean (bar) and what happened: a dot inside, a cross outside. About one in ten is outside.",
    chart(`${DATA.rows.intervals.length} of ${DATA.rows.n} held-out rows, ordered by predicted mean`, drawIntervals));
}

function key(shape, words) {
  return html("li", {}, svg("svg", { viewBox: "0 0 16 12", "aria-hidden": "true" }, shape), words);
}

function addPath() {
  if (!DATA.path) return;
  const { phase, max_steps: steps, chosen } = DATA.path;
  const seen = Object.keys(DATA.phases).filter((name) => phase.includes(name));
  const keys = seen.map((name) => key(svg("circle", { cx: 8, cy: 6, r: 5, fill: DATA.phases[name].colour }), html("span", {}, phaseName(name), `, ${DATA.phases[name].meaning.split(":")[0]}`)));
  const longest = Math.max(...steps);
  if (Math.min(...steps) < longest) {
    keys.push(key(svg("circle", { cx: 8, cy: 6, r: 4.5, class: "nothing", stroke: "currentColor" }), "shorter training"),
      key(svg("rect", { x: 3.5, y: 1.5, width: 9, height: 9, class: "nothing", stroke: "currentColor" }), "longer training"));
  }
  keys.push(key(svg("circle", { cx: 8, cy: 6, r: 5, class: "chosen-ring" }), "chosen"));
  const rows = phase.map((name, k) => [`${k === chosen ? "→ " : ""}${shareText(DATA.path.logit_rho[k])}`, shareText(DATA.path.logit_gamma[k]), steps[k],
    DATA.path.n_folds[k], numberText(DATA.path.std_scale[k]), numberText(DATA.path.held_out_loss[k]), name.replace("_", " ")]);
  addSection("path", "The search",
    "Points (ρ, γ) of the phase diagram that were tried, each by the phase of its networks before their std is scaled. Pale points lost on the first fold; compare scores only between points of equally many folds.",
    chart("", drawPath), html("ul", { class: "keys" }, ...keys),
    html("details", {}, html("summary", {}, `All ${phase.length} points`), table(["ρ", "γ", "steps", "folds", "std ×", DATA.path.loss, "networks"], rows)));
}

const MEASURES = {
  crps: ["Shuffling: CRPS", (what) => `Increase of the CRPS, in the units of ${UNIT}, when the ${what} is predicted from rows in which the input is shuffled`],
  nll: ["Shuffling: NLL", (what) => `Increase of the NLL, in nats per row, when the ${what} is predicted from rows in which the input is shuffled`],
  slope: ["Slope", (what) => (what === "mean" ? `Change of the mean${DATA.drivers.logged ? ` of log ${UNIT}` : `, in the units of ${UNIT},`} for a typical step of the input (its std); ↗ rising, ↘ falling`
    : "Change of log std for a typical step of the input (its std): 0.1 is about 10 %; ↗ rising, ↘ falling")],
};
const SHOWN_INPUTS = 12;

function driverBars(measure, what) {
  const { inputs, measures, signs } = DATA.drivers;
  const values = measures[measure][what];
  const order = inputs.map((_, k) => k).sort((a, b) => (values[b][0] ?? -1) - (values[a][0] ?? -1)).slice(0, SHOWN_INPUTS);
  const largest = Math.max(...order.map((k) => values[k][2] ?? 0));
  const most = Math.max(largest, leastScale(measure, what), 1e-300);
  const nothing = what === "std" && largest < leastScale(measure, what) ? " No input matters: the std is nearly the same for all rows." : "";
  const percent = (value) => `${(100 * Math.max(0, Math.min(1, (value ?? 0) / most))).toFixed(2)}%`;
  const grid = html("div", { class: "drivers", "data-driven": what });
  for (const k of order) {
    const [value, low, high] = values[k];
    const arrow = measure === "slope" && Math.abs(signs[what][k] ?? 0) > 0.5 ? (signs[what][k] > 0 ? " ↗" : " ↘") : "";
    const width = `${(100 * Math.max(0, (Math.min(high ?? 0, most) - Math.max(low ?? 0, 0)) / most)).toFixed(2)}%`;
    grid.append(html("span", { class: "name" }, inputs[k]),
      html("span", { class: "track" }, html("span", { class: "length", style: `width: ${percent(value)}` }),
        html("span", { class: "spread-line", style: `left: ${percent(low)}; width: ${width}` })),
      html("span", { class: "value" }, ...rich(`${numberText(value, 2)}${arrow}`)));
  }
  return [html("h3", {}, what === "mean" ? "What drives the mean" : "What drives the std"), html("p", { class: "lead" }, `${MEASURES[measure][1](what)}.${nothing}`), grid];
}

// What a full bar stands for at least: 1 % of the CRPS, 0.01 nats, or a std that changes by 1 %.
function leastScale(measure, what) {
  if (measure === "slope") return what === "std" ? 0.01 : 0;
  return measure === "crps" ? 0.01 * DATA.drivers.base.crps : 0.01;
}

function addDrivers() {
  if (!DATA.drivers) return;
  const { inputs, n_rows, members, repeats, base } = DATA.drivers;
  const places = { mean: html("div"), std: html("div") };
  const show = (measure) => Object.entries(places).forEach(([what, place]) => place.replaceChildren(...driverBars(measure, what)));
  show("crps");
  const spread = `Lines: lowest to highest of ${repeats} shuffles, or of ${members} member${members > 1 ? "s" : ""}.`;
  const all = inputs.length > SHOWN_INPUTS ? ` The ${SHOWN_INPUTS} largest of ${inputs.length} inputs are drawn.` : "";
  addSection("drivers", "What drives mean and std",
    `What the final model uses, on ${n_rows} rows of its fit or as given (CRPS ${numberText(base.crps)}, NLL ${numberText(base.nll)} there). ${spread}${all} Inputs that say the same share their importance, and none of this is a cause.`,
    choices("measure", "Measured by", Object.entries(MEASURES).map(([name, [words]]) => [name, words]), "crps", show),
    html("div", { class: "two" }, places.mean, places.std));
  const half = MOST_CATEGORIES / 2;
  const some = (effect, what) => {
    if (effect.numeric || effect.values.length <= MOST_CATEGORIES) return what;
    return what === "mean" ? `mean: the ${half} highest and the ${half} lowest of ${effect.values.length}` : "std of the same categories";
  };
  const effects = DATA.effects.map((effect) => html("div", { class: "effect" }, html("h3", {}, effect.input), html("div", { class: "pair-of-plots" },
    chart(some(effect, "mean"), (drawing) => drawEffect(drawing, effect, "mean")), chart(some(effect, "std"), (drawing) => drawEffect(drawing, effect, "std")))));
  addSection("effects", "Effects of the most important inputs",
    `Average mean and typical std if the input had this value in all rows, in the units of ${UNIT}; axes are the same for all inputs. Bands: lowest to highest member; the std of the ensemble also counts their disagreement.`,
    html("div", { class: "two" }, ...effects));
}

const lookedUp = (number) => (number === null ? "–" : String(number));

function addOddRows() {
  if (!DATA.rows && !DATA.far) return;
  const parts = [];
  if (DATA.rows) {
    parts.push(html("h3", {}, "Missed by far (the most extreme)"));
    parts.push(DATA.missed.length ? table(["row", `${UNIT}`, "predicted mean", "std", "(y − mean) / std", "expected number of such rows"],
      DATA.missed.map((row) => [lookedUp(row.number), numberText(row.y), numberText(row.mean), numberText(row.std), numberText(row.score), row.chance > 0 ? numberText(row.chance, 2) : "< 10⁻¹⁰"]))
      : html("p", { class: "prose" }, "None: no held-out row is missed by more than can happen among so many."));
  }
  if (DATA.far) {
    parts.push(html("h3", { style: "margin-top: 1rem" }, "Far from the other rows (the farthest)"));
    parts.push(DATA.far.length ? table(["row", "distance / typical distance", "most unusual input", "its value", "std from its mean"],
      DATA.far.map((row) => [lookedUp(row.number), numberText(row.distance), row.input, numberText(row.value), numberText(row.deviation)]))
      : html("p", { class: "prose" }, "None: every row has others near it."));
  }
  addSection("odd", "Rows that deserve a look", "Row numbers are counted from 0. An error in the data shows here first; what is no error tells where the forecasts end.", ...parts);
}

function addCard() {
  const sections = DATA.facts.map(([name, pairs]) => html("div", {}, html("h3", {}, name), html("dl", {}, ...pairs.flatMap(([term, text]) => [html("dt", {}, term), html("dd", {}, text)]))));
  addSection("card", DATA.drivers || DATA.path ? "Model card" : "About these forecasts", "", html("h3", {}, "Limits"), list(DATA.limits), html("div", { class: "card" }, ...sections));
}

function addTheme() {
  const place = byId("theme").querySelector(".choices");
  for (const [value, words] of [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]]) {
    const input = html("input", { type: "radio", name: "theme", value, ...(value === "auto" ? { checked: "" } : {}) });
    input.addEventListener("change", () => { document.documentElement.dataset.theme = value; });
    place.append(html("label", {}, input, html("span", {}, words)));
  }
}

function drawAll() {
  for (const draw of redraw) draw();
}

function start() {
  addTheme();
  addVerdict();
  addCalibration();
  addRows();
  addDrivers();
  addPath();
  addOddRows();
  addCard();
  byId("subtitle").textContent = DATA.rows ? `Target: ${UNIT} · judged on ${DATA.rows.n} held-out rows` : `Target: ${UNIT} · no held-out rows`;
  byId("made").textContent = `Made with heteroscope ${DATA.version}. This file needs no network connection.`;
  drawAll();
  let width = byId("sections").clientWidth;
  new ResizeObserver(() => {
    const now = byId("sections").clientWidth;
    if (now !== width) drawAll();
    width = now;
  }).observe(byId("sections"));
}

start();
