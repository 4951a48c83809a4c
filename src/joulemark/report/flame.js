"use strict";
// A zoomable flame graph. Nodes are [parent, name, then what the node itself spent in each weight:
// cycles, nanoseconds, nanojoules], parents before their children.

const ROW = 20;
const LEAST = 0.4; // Smallest width of a box, in pixels.

function said(x, unit) {
  if (unit === "cycles") return `${Math.round(x).toLocaleString("en")} cycles`;
  return `${(x / 1e3).toLocaleString("en", { maximumSignificantDigits: 4 })} µ${unit}`;
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function hue(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 60;
  return sum;
}

async function start() {
  const { names, nodes, units } = await unpacked("data");
  const children = nodes.map(() => []);
  nodes.forEach((node, index) => index && children[node[0]].push(index));
  const flame = document.getElementById("flame");
  const weight = document.getElementById("weight");
  const find = document.getElementById("find");
  let focus = 0;

  function totals(column) {
    const sums = nodes.map((node) => node[column]);
    for (let i = nodes.length - 1; i > 0; i--) sums[nodes[i][0]] += sums[i];
    return sums;
  }

  function draw() {
    const column = 2 + weight.selectedIndex;
    const text = (x) => said(x, units[weight.selectedIndex]);
    const sums = totals(column);
    const width = flame.clientWidth;
    const wanted = find.value.trim().toLowerCase();
    const boxes = [];
    const above = [];
    for (let i = nodes[focus][0]; i >= 0; i = nodes[i][0]) above.unshift(i);
    let rows = 0;
    let matching = 0;
    const box = (index, x, size, row, isAbove) => {
      const name = names[nodes[index][1]];
      const share = (100 * sums[index]) / (sums[0] || 1);
      const says = `${name}: ${text(sums[index])}, ${share.toFixed(2)}%; itself ${text(nodes[index][column])}`;
      const button = document.createElement("button");
      button.style.cssText = `left:${x}px;top:${row * ROW}px;width:${size}px`;
      const found = wanted && name.toLowerCase().includes(wanted);
      button.style.background = found ? "hsl(210,80%,75%)" : `hsl(${hue(name)},75%,72%)`;
      if (isAbove) button.className = "above";
      if (size > 25) button.textContent = name;
      button.title = says;
      button.setAttribute("aria-label", says);
      button.dataset.node = index;
      button.dataset.value = sums[index];
      button.addEventListener("click", () => show(index));
      boxes.push(button);
      rows = Math.max(rows, row + 1);
    };
    above.forEach((index, row) => box(index, 0, width, row, true));
    const left = [[focus, 0, above.length, false]];
    while (left.length) {
      const [index, x, row, counted] = left.pop();
      const size = (width * sums[index]) / (sums[focus] || 1);
      const isFound = Boolean(wanted) && names[nodes[index][1]].toLowerCase().includes(wanted);
      if (isFound && !counted) matching += sums[index];
      if (size >= LEAST) box(index, x, size, row, false);
      let at = x;
      for (const child of [...children[index]].sort((a, b) => sums[b] - sums[a])) {
        left.push([child, at, row + 1, counted || isFound]);
        at += (width * sums[child]) / (sums[focus] || 1);
      }
    }
    flame.replaceChildren(...boxes);
    flame.style.height = `${rows * ROW}px`;
    const part = ((100 * sums[focus]) / (sums[0] || 1)).toFixed(1);
    const found = wanted ? `; ${text(matching)} in what matches` : "";
    document.getElementById("shown").textContent =
      `${names[nodes[focus][1]]}: ${text(sums[focus])}, ${part}% of all${found}`;
    document.documentElement.dataset.flame = "drawn";
  }

  function show(index) {
    focus = index;
    draw();
    const own = flame.querySelector(`[data-node="${index}"]`);
    if (own) own.focus();
  }

  weight.addEventListener("change", draw);
  find.addEventListener("input", draw);
  window.addEventListener("resize", draw);
  window.addEventListener("keydown", (event) => event.key === "Escape" && show(0));
  draw();
}

start();
