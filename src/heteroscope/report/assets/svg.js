// Create elements. Text children become text nodes, so that names from the data are never read as markup.
const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const svg = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
const html = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const symbol = (letter) => html("i", {}, letter);

// The name of a phase: U_I becomes an italic U with the subscript I.
function phaseName(name) {
  const [letter, index] = name.split("_");
  return html("span", { class: "phase-name" }, symbol(letter), ...(index ? [html("sub", {}, index)] : []));
}

function phaseText(name, attributes) {
  const [letter, index] = name.split("_");
  const small = index ? [svg("tspan", { dy: 3, "font-size": 9, "font-style": "normal" }, index)] : [];
  return svg("text", { class: "symbol", "text-anchor": "middle", ...attributes }, letter, ...small);
}

// A path through points; a point that is not finite interrupts it.
function pathOf(points) {
  let path = "";
  let pen = "M";
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      path += `${pen}${x.toFixed(2)},${y.toFixed(2)}`;
      pen = "L";
    } else pen = "M";
  }
  return path;
}

// Limit pixels to numbers that a path can hold.
const bounded = (pixels) => Math.max(-1e5, Math.min(1e5, pixels));
