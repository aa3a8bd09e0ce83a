// The charts of a fit. Each function draws into an element that is on the page, whose width it takes.
const DATA = JSON.parse(document.getElementById("data").textContent);
const UNIT = DATA.target;
const linear = (low, high) => makeScale("linear", low, high);

// Limits with room on both sides.
function roomy(values, share = 0.06) {
  const [low, high] = extent(values);
  const room = share * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

const polygon = (plot, upper, lower, name) =>
  svg("path", { d: `${pathOf([...upper, ...[...lower].reverse()].map(([x, y]) => [plot.x(x), bounded(plot.y(y))]))}Z`, class: name });
const curve = (plot, points, name) => svg("path", { d: pathOf(points.map(([x, y]) => [plot.x(x), bounded(plot.y(y))])), class: name });
const titled = (element, text) => (element.append(svg("title", {}, text)), element);

function rowName(k) {
  const { numbers } = DATA.rows;
  return numbers ? `row ${numbers[k]}` : "a row";
}

const rowText = (k) => `${rowName(k)}: ${numberText(DATA.rows.y[k])}, predicted ${numberText(DATA.rows.mean[k])} with a std of ${numberText(DATA.rows.std[k])}`;

function drawCalibration(drawing, part) {
  const { levels } = DATA.calibration;
  const plot = new Plot(drawing, 260, linear(0, 1), linear(0, 1), "predicted probability", "observed share of rows");
  const band = (values) => [[0, 0], ...levels.map((level, k) => [level, values[k]]), [1, 1]];
  plot.add(polygon(plot, band(part.observed_high), band(part.observed_low), "right-band"));
  plot.add(curve(plot, [[0, 0], [1, 1]], "guide"));
  plot.add(curve(plot, band(part.observed), "main-curve"));
}

function drawPit(drawing, part) {
  const { bins } = DATA.calibration;
  const top = 1.08 * Math.max(2, part.density_high, ...part.density);
  const plot = new Plot(drawing, 260, linear(0, 1), linear(0, top), "probability below the target (PIT)", "density of rows");
  const half = 1 / bins.length / 2;
  const rect = (from, to, low, high) => ({ x: plot.x(from), y: plot.y(high), width: plot.x(to) - plot.x(from), height: plot.y(low) - plot.y(high) });
  const bars = bins.map((middle, k) => titled(svg("rect", rect(middle - half + 0.006, middle + half - 0.006, 0, part.density[k])),
    `${numberText(middle - half)} to ${numberText(middle + half)}: density ${numberText(part.density[k])}`));
  plot.add(svg("rect", { ...rect(0, 1, part.density_low, part.density_high), class: "right-band" }));
  plot.add(svg("g", { class: "bars" }, ...bars));
  plot.add(curve(plot, [[0, 1], [1, 1]], "guide"));
}

function dots(plot, xs, ys) {
  const radius = xs.length > 400 ? 1.6 : 2.2;
  const group = svg("g", { class: "dots" });
  xs.forEach((x, k) => group.append(titled(svg("circle", { cx: plot.x(x), cy: plot.y(ys[k]), r: radius }), rowText(k))));
  plot.add(group);
}

// Forecasts of a logarithm are shown as such: there, residuals are even.
const LOGGED = DATA.rows !== null && "log_std" in DATA.rows;
const SCALED_UNIT = LOGGED ? `log ${UNIT}` : UNIT;

// Scale with room on both sides for values in the units of the target.
function targetScale(values) {
  if (!LOGGED) return linear(...roomy(values));
  const [low, high] = roomy(values.map(Math.log)).map(Math.exp);
  return makeScale("log", low, high);
}

const residuals = () => DATA.rows.y.map((y, k) => (LOGGED ? Math.log(y) - DATA.rows.log_mean[k] : y - DATA.rows.mean[k]));

function drawResidualsByMean(drawing) {
  const { mean } = DATA.rows;
  const found = residuals();
  const scale = targetScale(mean);
  const plot = new Plot(drawing, 260, scale, linear(...roomy([...found, 0])), `predicted mean of ${UNIT}`, `residual of ${SCALED_UNIT}`);
  plot.add(curve(plot, [[scale.low, 0], [scale.high, 0]], "zero"));
  dots(plot, mean, found);
}

// The wedges are 1 and 2 predicted std wide; a wide range of stds has a logarithmic axis.
function drawResidualsByStd(drawing) {
  const std = LOGGED ? DATA.rows.log_std : DATA.rows.std;
  const found = residuals();
  const [least, most] = extent(std);
  const wide = most / least > 20;
  const [low, high] = wide ? [least / 1.15, most * 1.15] : [0, 1.06 * most];
  const scale = makeScale(wide ? "log" : "linear", low, high);
  const plot = new Plot(drawing, 260, scale, linear(...roomy([...found, 0])), `predicted std of ${SCALED_UNIT}`, `residual of ${SCALED_UNIT}`);
  const along = Array.from({ length: 41 }, (_, k) => (wide ? low * (high / low) ** (k / 40) : (high * k) / 40));
  for (const width of [2, 1]) plot.add(polygon(plot, along.map((s) => [s, width * s]), along.map((s) => [s, -width * s]), "wedge"));
  plot.add(curve(plot, [[low, 0], [high, 0]], "zero"));
  dots(plot, std, found);
}

function drawIntervals(drawing) {
  const { y, mean, lower, upper, intervals } = DATA.rows;
  const all = intervals.flatMap((k) => [y[k], lower[k], upper[k]]);
  const places = { kind: "linear", low: -1, high: intervals.length, at: (k) => (k + 1) / (intervals.length + 1), ticks: () => [] };
  const plot = new Plot(drawing, 280, places, targetScale(all), "rows by predicted mean", UNIT);
  intervals.forEach((k, place) => {
    const x = plot.x(place);
    const inside = y[k] >= lower[k] && y[k] <= upper[k];
    const dot = inside ? svg("circle", { cx: x, cy: plot.y(y[k]), r: 2.6, class: "seen" })
      : svg("path", { d: `M${x - 3.2},${plot.y(y[k]) - 3.2}l6.4,6.4m0,-6.4l-6.4,6.4`, class: "missed" });
    plot.add(titled(svg("g", {},
      svg("path", { d: `M${x},${plot.y(lower[k])}V${plot.y(upper[k])}`, class: "interval" }),
      svg("path", { d: `M${x - 3},${plot.y(mean[k])}h6`, class: "centre" }), dot), rowText(k)));
  });
}

// Scale of a logit axis, with 1 − 10⁻ᵏ in full.
function logitScale(values) {
  const [low, high] = roomy(values, 0.08);
  const ticks = (count) => {
    const found = logitTicks(low, high, 0.7 * count).map(({ z, text, bar }) => ({ z, text: bar ? `1 − ${text}` : text, bar: false }));
    return found.length > 1 ? found : [low, high].map((z) => ({ z, text: shareText(z), bar: false }));
  };
  return { low, high, at: (z) => (z - low) / (high - low), ticks };
}

function drawPath(drawing) {
  const { logit_rho: rho, logit_gamma: gamma, phase, max_steps: steps, n_folds: folds, chosen } = DATA.path;
  const [x, y] = [logitScale(rho), logitScale(gamma)];
  const plot = new Plot(drawing, 340, x, y, "ρ, weight of the likelihood", "γ, share of the mean's penalty");
  plot.add(curve(plot, [[x.low, -x.low], [x.high, -x.high]], "line-of-search"));
  const longest = Math.max(...steps);
  const mark = (k, size) => {
    const [cx, cy] = [plot.x(rho[k]), plot.y(gamma[k])];
    return steps[k] === longest ? svg("rect", { x: cx - size, y: cy - size, width: 2 * size, height: 2 * size })
      : svg("circle", { cx, cy, r: size });
  };
  const order = rho.map((_, k) => k).sort((a, b) => (a === chosen) - (b === chosen));
  for (const k of order) {
    const point = mark(k, folds[k] > 1 ? 6 : 4.5);
    point.setAttribute("class", folds[k] > 1 ? "point" : "point first-fold");
    point.setAttribute("fill", DATA.phases[phase[k]].colour);
    point.setAttribute("data-point", k);
    plot.add(titled(point, pointText(k)));
  }
  const ring = mark(chosen, 9.5);
  ring.setAttribute("class", "chosen-ring");
  plot.add(ring);
}

function pointText(k) {
  const { logit_rho: rho, logit_gamma: gamma, phase, max_steps: steps, n_folds: folds, held_out_loss: loss, loss: name } = DATA.path;
  return `ρ = ${shareText(rho[k])}, γ = ${shareText(gamma[k])}: ${phase[k]}, ${name} ${numberText(loss[k])} on ${folds[k]} fold${folds[k] > 1 ? "s" : ""}, ${steps[k]} steps`;
}

const MOST_CATEGORIES = 24;

// The places of the categories to draw, by their mean, the highest first; if there are many, both ends.
function shownCategories(effect) {
  const order = effect.mean.map((_, k) => k).sort((a, b) => effect.mean[b] - effect.mean[a]);
  return order.length <= MOST_CATEGORIES ? order : [...order.slice(0, MOST_CATEGORIES / 2), ...order.slice(-MOST_CATEGORIES / 2)];
}

// The effect of an input with many categories, or with long names: one line for each.
function drawCategories(drawing, effect, what, limits) {
  const shown = shownCategories(effect);
  const width = Math.min(120, 0.4 * (drawing.clientWidth || 300));
  const named = { at: (k) => 1 - (k + 0.5) / shown.length, ticks: () => shown.map((place, z) => ({ z, text: shortened(effect.values[place], width / 7), bar: false })) };
  const plot = new Plot(drawing, 50 + 16 * shown.length, linear(...limits), named, UNIT, "", width);
  shown.forEach((place, k) => {
    const [low, high, middle] = [effect[`${what}_low`][place], effect[`${what}_high`][place], effect[what][place]];
    plot.add(svg("path", { d: `M${plot.x(low)},${plot.y(k)}H${plot.x(high)}`, class: "interval" }));
    plot.add(titled(svg("circle", { cx: plot.x(middle), cy: plot.y(k), r: 3.5, class: "accent-dot" }), `${effect.values[place]}: ${numberText(middle)}`));
  });
}

// One input's effect on the mean or on the std, with the range of the members.
function drawEffect(drawing, effect, what) {
  const [middle, low, high] = [effect[what], effect[`${what}_low`], effect[`${what}_high`]];
  const all = DATA.effects.flatMap((other) => [...other[what], ...other[`${what}_low`], ...other[`${what}_high`]]).filter((value) => value !== null);
  const [bottom, top] = what === "std" ? [0, 1.08 * Math.max(...all)] : roomy(all); // the same for all inputs
  const places = effect.numeric ? effect.values : effect.values.map((_, k) => k);
  const room = ((drawing.clientWidth || 300) - 56) / places.length / 7;
  if (!effect.numeric && Math.max(...effect.values.map((text) => text.length)) > room) {
    drawCategories(drawing, effect, what, [bottom, top]);
    return;
  }
  const named = { at: (k) => (k + 0.5) / places.length, ticks: () => effect.values.map((text, z) => ({ z, text: shortened(text, room), bar: false })) };
  const plot = new Plot(drawing, 200, effect.numeric ? linear(...extent(places)) : named, linear(bottom, top), effect.input, UNIT);
  if (effect.numeric && places.length > 2) {
    plot.add(polygon(plot, places.map((x, k) => [x, high[k]]), places.map((x, k) => [x, low[k]]), "accent-band"));
    plot.add(curve(plot, places.map((x, k) => [x, middle[k]]), "main-curve"));
    return;
  }
  places.forEach((x, k) => {
    const text = `${effect.numeric ? numberText(x) : effect.values[k]}: ${numberText(middle[k])}`;
    plot.add(svg("path", { d: `M${plot.x(x)},${plot.y(low[k])}V${plot.y(high[k])}`, class: "interval" }));
    plot.add(titled(svg("circle", { cx: plot.x(x), cy: plot.y(middle[k]), r: 4, class: "accent-dot" }), text));
  });
}
