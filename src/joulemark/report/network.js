// The timeline of a network: a canvas, redrawn for each view. Times are in nanoseconds.
"use strict";
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());

  const box = document.getElementById("timeline"), canvas = box.querySelector("canvas");
  const tip = document.getElementById("tip"), paper = canvas.getContext("2d");
  const TOP = 24, FRAME = 14, ROW = 12, GAP = 12;
  const fates = { received: "#2e9e5b", corrupted: "#d6453d", collided: "#d6453d", lost: "#d6453d", weak: "#b8860b", busy: "#b8860b", late: "#b8860b", abandoned: "#b8860b" };
  // Similar states share a colour; the pointer shows which one it is.
  const known = { off: "#0000", active: "#f0a53a" };
  for (const asleep of ["power-down", "sleep", "standby", "lpm2", "lpm3", "lpm4"]) known[asleep] = "#cfd4db";
  for (const waiting of ["idle", "lpm0", "lpm1"]) known[waiting] = "#9db4d3";
  const palette = ["#72b7b2", "#b279a2", "#9d755d", "#bab0ac", "#ff9da6", "#eeca3b"];
  let others = 0;
  const colours = data.states.map(state =>
    known[state] || (state.startsWith("tx") ? "#e45756" : state.startsWith("rx") ? "#4c78a8" : palette[others++ % palette.length]));

  const rows = [];
  let height = TOP;
  data.motes.forEach((mote, number) => {
    const row = { number, frames: height, tracks: [] };
    height += FRAME;
    mote.tracks.forEach(([part, intervals]) => { row.tracks.push({ part, intervals, y: height }); height += ROW; });
    height += GAP;
    rows.push(row);
  });

  let from = 0, to = data.end || 1;
  const ink = () => getComputedStyle(document.body).color;
  const label = () => Math.min(150, .3 * canvas.clientWidth), across = () => canvas.clientWidth - label();
  const at = time => label() + (time - from) / (to - from) * across();
  const time = x => from + (x - label()) / across() * (to - from);

  // Index of the first of sorted intervals that ends after a time.
  function first(intervals, time, end) {
    let low = 0, high = intervals.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (intervals[middle][end] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  function text(ns) {
    const step = to - from;
    if (step > 2e9) return (ns / 1e9).toFixed(step > 2e10 ? 0 : 2) + " s";
    if (step > 2e6) return (ns / 1e6).toFixed(step > 2e7 ? 1 : 3) + " ms";
    return (ns / 1e3).toFixed(1) + " µs";
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, left = label();
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + "px";
    paper.scale(ratio, ratio);
    paper.font = "11px system-ui, sans-serif";
    paper.textBaseline = "middle";
    const colour = ink();
    const raw = (to - from) / Math.max(width / 130, 1), power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= raw);
    paper.strokeStyle = "#8884";
    paper.fillStyle = colour;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      paper.beginPath(); paper.moveTo(at(t), TOP - 6); paper.lineTo(at(t), height); paper.stroke();
      paper.fillText(text(t), at(t) + 2, 10);
    }
    for (const row of rows) {
      const mote = data.motes[row.number];
      paper.fillStyle = colour;
      paper.font = "600 12px system-ui, sans-serif";
      paper.fillText(mote.name, 6, row.frames + FRAME / 2, left - 10);
      paper.font = "11px system-ui, sans-serif";
      for (const track of row.tracks) {
        paper.fillStyle = colour;
        paper.globalAlpha = .6;
        paper.fillText(track.part, 14, track.y + ROW / 2, left - 18);
        paper.globalAlpha = 1;
        let drawn = -1;
        for (let i = first(track.intervals, from, 1); i < track.intervals.length; i++) {
          const [start, end, state] = track.intervals[i];
          if (start > to) break;
          const begin = Math.max(at(start), left), right = Math.min(at(end), width);
          // Draw intervals narrower than a pixel only once per pixel.
          if (right - begin < .5 && Math.floor(right) === drawn) continue;
          drawn = Math.floor(right);
          paper.fillStyle = colours[state];
          paper.fillRect(begin, track.y + 1, Math.max(right - begin, .5), ROW - 2);
        }
      }
    }
    for (const frame of data.frames) {
      const [mote, begin, end, , , , heard] = frame;
      if (end < from || begin > to) continue;
      const x = Math.max(at(begin), left), wide = Math.max(Math.min(at(end), width) - x, 1);
      if (rows[mote]) {
        paper.fillStyle = colour;
        paper.fillRect(x, rows[mote].frames + 1, wide, FRAME - 3);
      }
      for (const [hearer, fate] of heard) {
        if (!(fate in fates) || !rows[hearer]) continue;
        paper.fillStyle = fates[fate];
        paper.fillRect(x, rows[hearer].frames + 5, wide, FRAME - 7);
      }
    }
    box.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
  }

  function look(x, y) {
    const t = time(x), slack = 2 * (to - from) / canvas.clientWidth;
    const row = rows.find(row => y >= row.frames && y < (row.tracks.at(-1)?.y ?? row.frames) + ROW);
    if (!row || x < label()) return "";
    const track = row.tracks.find(track => y >= track.y && y < track.y + ROW);
    if (track) {
      const interval = track.intervals[first(track.intervals, t, 1)];
      if (!interval || interval[0] > t) return "";
      const clock = interval[3] ? ` at ${(interval[3] / 1e6).toFixed(3)} MHz` : "";
      return `${data.motes[row.number].name} ${track.part}: ${data.states[interval[2]]}${clock}\n${text(interval[0])}, for ${((interval[1] - interval[0]) / 1e3).toFixed(1)} µs`;
    }
    const on = data.frames.find(f => f[1] - slack <= t && t <= f[2] + slack && (f[0] === row.number || f[6].some(h => h[0] === row.number && h[1] in fates)));
    if (!on) return "";
    const heard = on[6].slice(0, 8).map(([mote, fate]) => `${data.names[mote]}: ${fate}`).join("\n");
    return `${data.names[on[0]]} on ${on[3]}: ${on[4]}, ${on[5]} B\n${text(on[1])}, for ${((on[2] - on[1]) / 1e3).toFixed(1)} µs\n${heard}`;
  }

  function show(begin, end) {
    const span = Math.min(Math.max(end - begin, 1000), data.end);
    from = Math.min(Math.max(begin, 0), data.end - span);
    to = from + span;
    requestAnimationFrame(draw);
  }
  function zoom(x, factor) {
    const t = time(Math.max(x, label()));
    show(t - (t - from) * factor, t + (to - t) * factor);
  }

  // Pointers that are down (fingers, a mouse button), each with the time that it holds on to.
  const held = new Map();
  function hold() {
    const [one, other] = held.values();
    if (other && Math.abs(other.x - one.x) < 10) return;
    const span = other ? (other.time - one.time) / (other.x - one.x) * across() : to - from;
    const begin = one.time - (one.x - label()) / across() * span;
    if (span > 0) show(begin, begin + span);
  }
  function release(e) {
    held.delete(e.pointerId);
    for (const other of held.values()) other.time = time(other.x);
  }
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(e.offsetX, e.deltaY > 0 ? 1.25 : .8); }, { passive: false });
  canvas.addEventListener("pointerdown", e => { held.set(e.pointerId, { x: e.offsetX, time: time(e.offsetX) }); canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointermove", e => {
    if (held.has(e.pointerId)) {
      held.get(e.pointerId).x = e.offsetX;
      hold();
    }
    const found = held.size ? "" : look(e.offsetX, e.offsetY);
    tip.hidden = !found;
    tip.textContent = found;
    tip.style.left = Math.min(e.offsetX + 12, canvas.clientWidth - tip.offsetWidth - 4) + "px";
    tip.style.top = Math.min(e.offsetY + 12, height - tip.offsetHeight - 2) + "px";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  box.addEventListener("keydown", e => {
    const middle = label() + across() / 2, step = (to - from) / 8;
    if (e.key === "+") zoom(middle, .8);
    else if (e.key === "-") zoom(middle, 1.25);
    else if (e.key === "ArrowLeft") show(from - step, to - step);
    else if (e.key === "ArrowRight") show(from + step, to + step);
    else return;
    e.preventDefault();
  });
  document.getElementById("whole").addEventListener("click", () => show(0, data.end));
  window.addEventListener("resize", draw);

  const legend = document.getElementById("legend");
  function entry(colour, name) {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = colour;
    item.append(swatch, name);
    legend.append(item);
  }
  const alike = Map.groupBy(data.states.filter((_, i) => colours[i] !== "#0000"), state => colours[data.states.indexOf(state)]);
  for (const [colour, states] of alike) entry(colour, states.join(", "));
  entry("currentColor", "frame sent");
  entry(fates.received, "frame received");
  entry(fates.lost, "corrupted, collided, lost");
  entry(fates.weak, "weak, busy, late, abandoned");

  // A page may be opened at a view: #0.1-0.2, in seconds.
  const view = /^#([0-9.]+)-([0-9.]+)$/.exec(location.hash);
  if (view) show(view[1] * 1e9, view[2] * 1e9); else draw();
})();
