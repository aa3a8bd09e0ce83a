// Numbers as text: three significant digits, powers of ten, a true minus sign.
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const superscript = (integer) => [...String(integer)].map((sign) => SUPERSCRIPTS[sign]).join("");
const powerOfTen = (exponent) => `10${superscript(exponent)}`;
const withMinus = (text) => text.replace("-", "−");

function numberText(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) {
    return withMinus(size < 10 ** digits ? value.toPrecision(digits) : Math.round(value).toString());
  }
  const [lead, exponent] = value.toExponential(digits - 1).split("e");
  return withMinus(`${lead} × ${powerOfTen(Number(exponent))}`);
}

// Mean and standard deviation with a common exponent: 0.93 ± 0.012, (6.2 ± 1.3) × 10⁻⁵.
function spreadText(value, spread) {
  if (!Number.isFinite(value) || !Number.isFinite(spread)) return numberText(value);
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e5)) {
    const small = spread < 1e-4 ? "<0.0001" : spread.toPrecision(2);
    return `${numberText(value)} ± ${spread > 0 && spread < 1 ? small : numberText(spread, 2)}`;
  }
  const exponent = Number(value.toExponential(2).split("e")[1]);
  const part = (number) => (number / 10 ** exponent).toFixed(2);
  return withMinus(`(${part(value)} ± ${part(spread)}) × ${powerOfTen(exponent)}`);
}

// The label of a tick, without trailing zeros.
function tickText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e4) return withMinus(String(Number(value.toPrecision(6))));
  const [lead, exponent] = value.toExponential(3).split("e");
  const short = String(Number(lead));
  const power = powerOfTen(Number(exponent));
  return withMinus(short === "1" ? power : short === "-1" ? `-${power}` : `${short}×${power}`);
}

// "ρ = 0.9, γ = 0.1" as elements, from the two logits.
function placeWords([zRho, zGamma]) {
  return [symbol("ρ"), " = ", ...rich(shareText(zRho)), ", ", symbol("γ"), " = ", ...rich(shareText(zGamma))];
}

function smallText(value) {
  const [lead, exponent] = value.toExponential(2).split("e");
  if (Number(lead) === 1) return powerOfTen(Number(exponent));
  return `${Number(lead)} × ${powerOfTen(Number(exponent))}`;
}

// Turn superscript characters into <sup> elements, which look better in most fonts.
function rich(text) {
  return text.split(/([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/).map((part, k) => (k % 2 ? html("sup", {}, withMinus(plainDigits(part))) : part));
}

const plainDigits = (raised) => [...raised].map((sign) => Object.keys(SUPERSCRIPTS).find((key) => SUPERSCRIPTS[key] === sign)).join("");

// rho or gamma as text, from its logit, which keeps the distance from 1: 0.3, 10⁻⁴ or 1 − 10⁻⁴.
function shareText(z) {
  const below = 1 / (1 + Math.exp(-z));
  const above = 1 / (1 + Math.exp(z));
  if (below < 0.0995) return smallText(below);
  if (above < 0.0995) return `1 − ${smallText(above)}`;
  return String(Number(below.toPrecision(3)));
}
