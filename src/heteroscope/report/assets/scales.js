// Scales: `at(value)` is the position in the range, from 0 to 1; `ticks(count)` returns about that many ticks.
const FORWARD = { log: Math.log10, asinh: Math.asinh, linear: (value) => value };

function makeScale(kind, low, high) {
  const forward = FORWARD[kind];
  const [start, end] = [forward(low), forward(high)];
  const at = (value) => (forward(value) - start) / (end - start || 1);
  return { kind, low, high, at, ticks: (count) => apart(candidates(kind, low, high, count), at, 0.55 / count) };
}

function candidates(kind, low, high, count) {
  if (kind === "log" && high / low > 10) return decades(low, high, count);
  if (kind === "asinh" && Math.max(Math.abs(low), Math.abs(high)) > 6) return bothSigns(low, high);
  return evenTicks(low, high, count);
}

function evenTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function decades(low, high, count) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const leads = last - first <= 3 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((last - first) / count));
  const ticks = [];
  for (let exponent = Math.ceil(first / stride) * stride; exponent <= last; exponent += stride) {
    for (const lead of leads) ticks.push(Number(`${lead}e${exponent}`));
  }
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

// Zero and powers of ten come first, then 2 and 5: where ticks are too close, `apart` keeps the earlier ones.
function bothSigns(low, high) {
  const ticks = [0];
  for (const lead of [1, 2, 5]) {
    for (let size = lead; size <= Math.max(Math.abs(low), Math.abs(high)); size *= 10) ticks.push(size, -size);
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

function apart(ticks, at, distance) {
  const kept = [];
  for (const tick of ticks) {
    if (kept.every((other) => Math.abs(at(other) - at(tick)) >= distance)) kept.push(tick);
  }
  return kept;
}

// Ticks of a logit axis: 10⁻ᵏ, 1/2, and 1 − 10⁻ᵏ, which is written as 10⁻ᵏ under a bar.
function logitTicks(low, high, count) {
  const ticks = low < 0 && high > 0 ? [{ z: 0, text: "1/2", bar: false }] : [];
  const perTick = (high - low) / count / Math.LN10;
  const stride = [1, 2, 3, 4, 5, 10].find((step) => step >= perTick * 0.999) ?? Math.ceil(perTick);
  for (let k = stride; k * Math.LN10 < Math.max(-low, high) + 1; k += stride) {
    const z = Math.log(10 ** k - 1);
    ticks.push({ z: -z, text: powerOfTen(-k), bar: false }, { z, text: powerOfTen(-k), bar: true });
  }
  const inside = ticks.filter((tick) => tick.z >= low - 1e-6 && tick.z <= high + 1e-6);
  return inside;
}

// The same for the cells of a grid; if it holds fewer than two such ticks, its first and last values.
function axisTicks({ logits, edges }, count) {
  const ticks = logits.length > 1 ? logitTicks(edges[0], edges.at(-1), count) : [];
  if (ticks.length > 1) return ticks;
  return [...new Set([logits[0], logits.at(-1)])].map((z) => ({ z, text: shareText(z), bar: false }));
}
