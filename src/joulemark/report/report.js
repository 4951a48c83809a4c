"use strict";
// Beside plots.js: the advice, and the cases, which come column by column.
const MISSING = -1; // code of a missing word; a missing number is NaN

// Words are stored as codes in the words' sort order, so that all columns compare as numbers.
function column({ name, words, values }) {
  if (words) {
    const codes = Int32Array.from(values);
    return { name, words, values: codes, text: (i) => (codes[i] === MISSING ? "" : words[codes[i]]) };
  }
  const numbers = Float64Array.from(values, (v) => (v === null ? NaN : v));
  return { name, values: numbers, text: (i) => (Number.isNaN(numbers[i]) ? "" : String(numbers[i])) };
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const format = (value) => (Number.isInteger(value) || Math.abs(value) >= 1e4 ? WHOLE : FINE).format(value);

function cases(columns) {
  const PAGE = 50;
  const count = columns[0].values.length;
  const byName = new Map(columns.map((c) => [c.name, c]));
  const headers = [...document.querySelectorAll("#table th")];
  const body = document.querySelector("#table tbody");
  const search = document.getElementById("search");
  const filters = [...document.querySelectorAll("[data-filter]")];
  const limits = [...document.querySelectorAll("[data-most]")];
  const choices = [...document.querySelectorAll("[data-show]")];
  const initially = new Map(choices.map((box) => [box.dataset.show, box.defaultChecked]));
  const state = { sort: null, ascending: true, rows: PAGE };

  for (const header of headers) header.classList.toggle("number", !byName.get(header.dataset.column).words);
  for (const filter of filters) {
    const { words, values } = byName.get(filter.dataset.filter);
    const present = words ?? [...new Set(values)].filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
    filter.append(...present.map((value) => new Option(value, value)));
  }

  // A row matches a term if a word in any of its columns contains it; looked up by the word's code.
  function fits(term) {
    const columnsWithIt = columns
      .filter((c) => c.words)
      .map(({ words, values }) => ({ values, has: words.map((word) => word.toLowerCase().includes(term)) }))
      .filter(({ has }) => has.includes(true));
    return (i) => columnsWithIt.some(({ values, has }) => has[values[i]]);
  }

  function chosen() {
    const tests = [];
    for (const filter of filters.filter((f) => f.value !== "")) {
      const { words, values } = byName.get(filter.dataset.filter);
      const wanted = words ? words.indexOf(filter.value) : Number(filter.value);
      tests.push((i) => values[i] === wanted);
    }
    for (const limit of limits.filter((l) => l.value !== "")) {
      const { values } = byName.get(limit.dataset.most);
      const most = Number(limit.value);
      tests.push((i) => values[i] <= most);
    }
    tests.push(...search.value.toLowerCase().split(/\s+/).filter(Boolean).map(fits));
    const rows = [];
    for (let i = 0; i < count; i++) if (tests.every((test) => test(i))) rows.push(i);
    if (state.sort) {
      const { values, words } = byName.get(state.sort);
      const direction = state.ascending ? 1 : -1;
      // Cases that were not measured come last in both directions.
      const keys = Float64Array.from(values, (v) =>
        Number.isNaN(v) || (words && v === MISSING) ? Infinity : direction * v,
      );
      rows.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
    }
    return rows;
  }

  function draw() {
    const rows = chosen();
    const shown = new Set(choices.filter((box) => box.checked).map((box) => box.dataset.show));
    for (const header of headers) {
      const { column: name } = header.dataset;
      header.hidden = !shown.has(name);
      if (name === state.sort) header.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
      else header.removeAttribute("aria-sort");
    }
    const visible = headers.filter((h) => !h.hidden).map((h) => byName.get(h.dataset.column));
    const lines = rows.slice(0, state.rows).map((i) => {
      const line = document.createElement("tr");
      for (const { name, words, values, text } of visible) {
        const cell = document.createElement("td");
        if (words) {
          cell.textContent = text(i) || "–";
          if (name === "finding") cell.className = text(i).includes("depend on") || text(i).includes("depends on") ? "bad" : "";
        } else {
          cell.textContent = Number.isNaN(values[i]) ? "–" : format(values[i]);
          cell.className = "number";
        }
        line.append(cell);
      }
      return line;
    });
    body.replaceChildren(...lines);
    const drawn = lines.length;
    document.getElementById("shown").textContent =
      rows.length === 0
        ? "No case fits."
        : `${WHOLE.format(rows.length)} of ${WHOLE.format(count)} cases${drawn < rows.length ? `, the first ${drawn} shown` : ""}`;
    document.getElementById("more").hidden = drawn === rows.length;
  }

  // The selection is kept in the address, after #cases?, so that links preserve it.
  function remember() {
    const kept = new URLSearchParams();
    if (search.value) kept.set("search", search.value);
    for (const f of filters) if (f.value !== "") kept.set(f.dataset.filter, f.value);
    for (const l of limits) if (l.value !== "") kept.set(`${l.dataset.most}_most`, l.value);
    if (state.sort) kept.set("sort", (state.ascending ? "" : "-") + state.sort);
    const changed = choices.filter((b) => b.checked !== initially.get(b.dataset.show));
    if (changed.length) kept.set("toggle", changed.map((b) => b.dataset.show).join(" "));
    history.replaceState(null, "", kept.size ? `#cases?${kept}` : "#cases");
  }

  function recall() {
    const [anchor, query] = location.hash.split("?", 2);
    if (anchor !== "#cases" || query === undefined) return;
    const kept = new URLSearchParams(query);
    search.value = kept.get("search") ?? "";
    for (const f of filters) {
      f.value = kept.get(f.dataset.filter) ?? "";
      if (f.selectedIndex < 0) f.value = "";
    }
    for (const l of limits) l.value = kept.get(`${l.dataset.most}_most`) ?? "";
    const sort = kept.get("sort") ?? "";
    state.ascending = !sort.startsWith("-");
    state.sort = byName.has(sort.replace(/^-/, "")) ? sort.replace(/^-/, "") : null;
    const toggled = (kept.get("toggle") ?? "").split(" ");
    for (const b of choices) b.checked = initially.get(b.dataset.show) !== toggled.includes(b.dataset.show);
    document.getElementById("cases").scrollIntoView();
  }

  function update() {
    state.rows = PAGE;
    remember();
    draw();
  }
  for (const control of [search, ...filters, ...limits, ...choices]) control.addEventListener("input", update);
  document.getElementById("clear").addEventListener("click", () => {
    for (const control of [search, ...filters, ...limits]) control.value = "";
    state.sort = null;
    update();
  });
  document.getElementById("more").addEventListener("click", () => {
    state.rows += 5 * PAGE;
    draw();
  });
  for (const header of headers) {
    header.firstElementChild.addEventListener("click", () => {
      const name = header.dataset.column;
      state.ascending = state.sort === name ? !state.ascending : true;
      state.sort = name;
      update();
    });
  }
  addEventListener("hashchange", () => {
    recall();
    draw();
  });
  recall();
  draw();
}
