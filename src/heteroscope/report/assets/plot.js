// A chart with axes, and what it needs.
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function extent(values) {
  const finite = values.filter(Number.isFinite);
  return finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
}

let n_plots = 0;

// About `count` ticks; more if only one or two of them fall inside.
function enoughTicks(scale, count) {
  let ticks = scale.ticks(count);
  for (let more = count + 1; ticks.length < 3 && more < 2 * count + 2; more++) {
    const denser = scale.ticks(more);
    if (denser.length > ticks.length) ticks = denser;
  }
  return ticks;
}

// A tick is a number, or a place with its text.
const ready = (tick) => (typeof tick === "number" ? { z: tick, text: tickText(tick), bar: false } : tick);

// A chart with axes on the left and below; added elements are clipped to its inside.
class Plot {
  constructor(drawing, tall, xScale, yScale, xLabel, yLabel, left = 50) {
    const width = Math.max(drawing.clientWidth, 140);
    const [right, top, bottom] = [width - 6, 8, tall - 34];
    this.box = { left, right, top, bottom };
    this.x = (value) => left + xScale.at(value) * (right - left);
    this.y = (value) => bottom - yScale.at(value) * (bottom - top);
    const canvas = svg("svg", { viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
    for (const { z, text, bar } of enoughTicks(yScale, 4).map(ready)) {
      canvas.append(svg("path", { d: `M${left},${this.y(z)}H${right}`, class: "gridline" }),
        svg("text", { x: left - 6, y: this.y(z) + 4, class: bar ? "tick bar" : "tick", "text-anchor": "end" }, text));
    }
    for (const { z, text, bar } of enoughTicks(xScale, Math.max(2, (right - left) / 55)).map(ready)) {
      canvas.append(svg("path", { d: `M${this.x(z)},${bottom}v4`, class: "ticks" }),
        svg("text", { x: this.x(z), y: bottom + 16, class: bar ? "tick bar" : "tick", "text-anchor": "middle" }, text));
    }
    const clip = `plot-${n_plots++}`;
    this.inside = svg("g", { "clip-path": `url(#${clip})` });
    canvas.append(
      svg("clipPath", { id: clip }, svg("rect", { x: left, y: top - 3, width: right - left + 4, height: bottom - top + 3 })),
      this.inside,
      svg("path", { d: `M${left},${top}V${bottom}H${right}`, class: "spine" }),
      svg("text", { x: (left + right) / 2, y: tall - 3, class: "label", "text-anchor": "middle" }, shortened(xLabel, (right - left) / 7)),
      svg("text", { transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)`, class: "label", "text-anchor": "middle" }, shortened(yLabel, tall / 9)),
    );
    drawing.replaceChildren(canvas);
  }

  add(element) {
    this.inside.append(element);
  }
}

const shortened = (text, length) => (text.length > length ? `${text.slice(0, Math.max(3, length - 1))}…` : text);
