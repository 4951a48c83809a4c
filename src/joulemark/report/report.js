"use strict";
// Plots. The theme follows the reader's; text is never smaller on a phone than on a desk.
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const options = { actions: false, renderer: "svg", theme: dark ? "dark" : undefined, config: { background: "transparent" } };
const plotted = Promise.all(
  Object.entries(SPECIFICATIONS).map(([id, spec]) => vegaEmbed(document.getElementById(id), spec, options)),
).then(() => document.documentElement.setAttribute("data-plots", "drawn"));

// The table: filter, sort, and draw a page of rows at a time.
const PAGE = 100;
const index = Object.fromEntries(COLUMNS.map((name, i) => [name, i]));
const visible = COLUMNS.slice(2);
const words = ROWS.map((row) => row.join(" ").toLowerCase());
const state = { sort: null, ascending: true, limit: PAGE };
const body = document.querySelector("#table tbody");
const search = document.getElementById("search");
const filters = [...document.querySelectorAll("[data-filter]")];

for (const filter of filters) {
  const values = [...new Set(ROWS.map((row) => row[index[filter.dataset.filter]]))];
  values.sort((a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(b)));
  filter.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
  filter.addEventListener("change", restart);
}
search.addEventListener("input", restart);
document.getElementById("more").addEventListener("click", () => {
  state.limit += 5 * PAGE;
  draw();
});
for (const header of document.querySelectorAll("th[data-column]")) {
  header.firstChild.addEventListener("click", () => {
    const column = header.dataset.column;
    state.ascending = state.sort === column ? !state.ascending : true;
    state.sort = column;
    for (const other of document.querySelectorAll("th[data-column]")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
    restart();
  });
}

function restart() {
  state.limit = PAGE;
  draw();
}

function chosen() {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = filters.filter((f) => f.value !== "").map((f) => [index[f.dataset.filter], f.value]);
  const rows = ROWS.filter(
    (row, i) => terms.every((t) => words[i].includes(t)) && wanted.every(([c, v]) => String(row[c]) === v),
  );
  if (state.sort) {
    const c = index[state.sort];
    const direction = state.ascending ? 1 : -1;
    // What was not measured comes last either way.
    rows.sort((a, b) => {
      if (a[c] === null || b[c] === null) return (a[c] === null) - (b[c] === null);
      return direction * (typeof a[c] === "number" ? a[c] - b[c] : String(a[c]).localeCompare(String(b[c])));
    });
  }
  return rows;
}

function draw() {
  const rows = chosen();
  body.replaceChildren(
    ...rows.slice(0, state.limit).map((row) => {
      const line = document.createElement("tr");
      for (const name of visible) {
        const value = row[index[name]];
        const cell = line.insertCell();
        cell.textContent = value === null ? "–" : typeof value === "number" ? value.toLocaleString("en") : value;
        if (typeof value === "number") cell.className = "number";
      }
      return line;
    }),
  );
  const drawn = Math.min(rows.length, state.limit);
  document.getElementById("shown").textContent = `${drawn} of ${rows.length} shown`;
  document.getElementById("more").hidden = drawn === rows.length;
}
draw();
