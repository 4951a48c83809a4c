"use strict";
// Currents as steps: step i lasts until end[i]. Charge up to a time is looked up and interpolated.
// Each part of the board has its own track, and the trace is their sum.
const COLOURS = ["#2a7f62", "#4c78a8", "#c8772f", "#8a5aa5", "#b5484f", "#7a7a3c"];

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function scaled(value, unit) {
  if (value === 0) return `0 ${unit}`;
  const prefixes = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];
  const [per, prefix] = prefixes.find(([p]) => Math.abs(value) >= p * 0.9995) ?? prefixes.at(-1);
  return `${(value / per).toPrecision(4)} ${prefix}${unit}`;
}

class Trace {
  constructor({ start_s, end_s, tracks, supply_v }) {
    Object.assign(this, { start: start_s, end: Float64Array.from(end_s), volt: supply_v });
    this.ampere = Float64Array.from(this.end, (_, i) => tracks.reduce((sum, track) => sum + track[i], 0));
    this.charge = this.added(this.ampere);
    this.tracks = tracks.map((ampere) => ({ ampere, charge: this.added(ampere) }));
  }
  added(ampere) {
    const charge = new Float64Array(this.end.length + 1);
    for (let i = 0; i < this.end.length; i++) charge[i + 1] = charge[i] + ampere[i] * (this.end[i] - this.begin(i));
    return charge;
  }
  begin(i) {
    return i === 0 ? this.start : this.end[i - 1];
  }
  get last() {
    return this.end.at(-1) ?? this.start;
  }
  // Index of the step at a time.
  at(time) {
    let [low, high] = [0, this.end.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  chargeTo(time, { ampere, charge } = this) {
    const i = this.at(time);
    return charge[i] + ampere[i] * (Math.min(time, this.last) - this.begin(i));
  }
  charges(from, to) {
    return this.tracks.map((track) => this.chargeTo(to, track) - this.chargeTo(from, track));
  }
  measure(from, to) {
    const charge = this.chargeTo(to) - this.chargeTo(from);
    const [first, final] = [this.at(from), this.at(to)];
    let [least, most] = [Infinity, -Infinity];
    for (let i = first; i <= final; i++) {
      if (i > first && this.begin(i) >= to) break;
      least = Math.min(least, this.ampere[i]);
      most = Math.max(most, this.ampere[i]);
    }
    return { from, length: to - from, charge, energy: charge * this.volt, mean: to > from ? charge / (to - from) : this.ampere[first], least, most };
  }
}

function show(trace) {
  const canvas = document.getElementById("trace");
  const overview = document.getElementById("overview");
  const whole = { from: trace.start, to: trace.last };
  let view = { ...whole };
  let span = null;
  const most = trace.ampere.reduce((a, b) => Math.max(a, b), 0) * 1.08 || 1;

  function colours() {
    const style = getComputedStyle(document.body);
    return { ink: style.color, quiet: "rgba(128,128,128,0.35)", chosen: "rgba(76,120,168,0.25)" };
  }
  function context(element) {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = element;
    element.width = width * ratio;
    element.height = height * ratio;
    const pen = element.getContext("2d");
    pen.scale(ratio, ratio);
    return { pen, width, height };
  }
  // For each pixel, draw the parts' means stacked, and the range of their sum.
  function curve(pen, { from, to }, width, height, shade) {
    const y = (ampere) => height - (ampere / most) * height;
    const each = (to - from) / width;
    for (let x = 0; x < width; x++) {
      const [begin, end] = [from + x * each, from + (x + 1) * each];
      let below = 0;
      trace.charges(begin, end).forEach((charge, track) => {
        const ampere = charge / (end - begin);
        pen.fillStyle = COLOURS[track % COLOURS.length];
        pen.fillRect(x, y(below + ampere), 1, y(below) - y(below + ampere));
        below += ampere;
      });
      const { least, most: peak } = trace.measure(begin, end);
      pen.fillStyle = shade;
      pen.fillRect(x, y(peak), 1, Math.max(1, y(least) - y(peak)));
    }
  }
  function draw() {
    const { ink, quiet, chosen } = colours();
    const { pen, width, height } = context(canvas);
    const bottom = height - 22;
    pen.font = "12px sans-serif";
    for (let n = 0; n <= 4; n++) {
      const y = bottom - (bottom * n) / 4;
      pen.fillStyle = quiet;
      pen.fillRect(0, y, width, 1);
      pen.fillStyle = ink;
      pen.fillText(scaled((most * n) / 4, "A"), 4, Math.max(12, y - 3));
    }
    for (let n = 0; n <= 6; n++) {
      const text = scaled(view.from + ((view.to - view.from) * n) / 6, "s");
      const x = (width * n) / 6;
      pen.fillStyle = ink;
      pen.fillText(text, Math.min(Math.max(0, x - 20), width - pen.measureText(text).width), height - 6);
    }
    if (span) {
      const x = (time) => ((time - view.from) / (view.to - view.from)) * width;
      pen.fillStyle = chosen;
      pen.fillRect(x(span.from), 0, Math.max(1, x(span.to) - x(span.from)), bottom);
    }
    curve(pen, view, width, bottom, quiet);
    const strip = context(overview);
    curve(strip.pen, whole, strip.width, strip.height, quiet);
    strip.pen.fillStyle = chosen;
    const x = (time) => ((time - whole.from) / (whole.to - whole.from)) * strip.width;
    strip.pen.fillRect(x(view.from), 0, Math.max(2, x(view.to) - x(view.from)), strip.height);
    tell();
  }
  function tell() {
    const rows = [["selected", span], ["shown", view], ["all", whole]].filter(([, range]) => range);
    document.getElementById("measured").replaceChildren(
      ...rows.map(([name, { from, to }]) => {
        const m = trace.measure(from, to);
        const line = document.createElement("tr");
        line.dataset.range = name;
        line.insertCell().textContent = name;
        const values = [[m.from, "s"], [m.length, "s"], [m.mean, "A"], [m.least, "A"], [m.most, "A"], [m.charge, "C"], [m.energy, "J"]];
        if (trace.tracks.length > 1) for (const charge of trace.charges(from, to)) values.push([charge * trace.volt, "J"]);
        for (const [value, unit] of values) {
          const cell = line.insertCell();
          cell.className = "number";
          cell.textContent = scaled(value, unit);
          cell.dataset.value = value;
        }
        return line;
      }),
    );
  }
  function look(from, to) {
    const length = Math.min(Math.max(to - from, 1e-9), whole.to - whole.from);
    const start = Math.min(Math.max(from, whole.from), whole.to - length);
    view = { from: start, to: start + length };
    draw();
  }
  function zoom(factor, at = (view.from + view.to) / 2) {
    look(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  const scroll = (part) => look(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
  const timeAt = (element, range, event) => {
    const box = element.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return range.from + part * (range.to - range.from);
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) scroll(Math.sign(event.deltaX || event.deltaY) * 0.1);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(canvas, view, event));
  }, { passive: false });
  let anchor = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    anchor = timeAt(canvas, view, event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (anchor === null) return;
    const now = timeAt(canvas, view, event);
    span = { from: Math.min(anchor, now), to: Math.max(anchor, now) };
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (anchor !== null && timeAt(canvas, view, event) === anchor) {
      span = null;
      draw();
    }
    anchor = null;
  });
  overview.addEventListener("pointerdown", (event) => {
    const middle = timeAt(overview, whole, event);
    const half = (view.to - view.from) / 2;
    look(middle - half, middle + half);
  });
  canvas.addEventListener("keydown", (event) => {
    const keys = { "+": () => zoom(0.8), "-": () => zoom(1.25), 0: () => look(whole.from, whole.to), ArrowLeft: () => scroll(-0.1), ArrowRight: () => scroll(0.1) };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  document.querySelectorAll("#legend i").forEach((sample, track) => {
    sample.style.background = COLOURS[track % COLOURS.length];
  });
  addEventListener("resize", draw);
  draw();
}

unpack("data").then((text) => {
  show(new Trace(JSON.parse(text)));
  document.documentElement.setAttribute("data-trace", "drawn");
});
