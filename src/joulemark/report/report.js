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

// For each service, the cheapest is the first step that fits into the flash. Sizes with the same
// winner share a line.
function advise(advice) {
  const MICROJOULE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  function cell(className, ...content) {
    const made = document.createElement("td");
    made.className = className;
    made.append(...content);
    return made;
  }
  function line({ from, to, last, choice: [primitive, how, bits, , flash], least, most }) {
    const name = document.createElement("strong");
    const built = document.createElement("span");
    name.textContent = primitive;
    built.className = "quiet";
    built.textContent = how + (bits ? `, ${bits}\u2011bit` : "");
    const row = document.createElement("tr");
    const [low, high] = [least, most].map((cost) => MICROJOULE.format(cost));
    row.append(
      cell("nowrap", to === 0 ? "–" : last ? `from ${from} B` : from === to ? `${to} B` : `${from}–${to} B`),
      cell("", name, " ", built),
      cell("number", flash === null ? "–" : WHOLE.format(flash)),
      cell("number nowrap", low === high ? low : `${low}–${high}`),
    );
    return row;
  }
  function leads(sizes, fits) {
    const found = [];
    let before = 0;
    for (const size of Object.keys(sizes).map(Number).sort((a, b) => a - b)) {
      const choice = sizes[size].find(([, , , , flash]) => fits(flash));
      const last = found.at(-1);
      if (choice && last && last.to === before && last.choice[0] === choice[0] && last.choice[1] === choice[1])
        Object.assign(last, { to: size, most: choice[3] });
      else if (choice) found.push({ from: Math.min(before + 1, size), to: size, choice, least: choice[3], most: choice[3] });
      before = size;
    }
    if (found.length && found.at(-1).to === before) found.at(-1).last = true;
    return found;
  }
  for (const controls of document.querySelectorAll("[data-advice]")) {
    const [among, flash] = [controls.querySelector("select"), controls.querySelector("input")];
    const cards = [...controls.parentElement.querySelectorAll(".card")];
    const draw = () => {
      const fits = (needed) => flash.value === "" || (needed !== null && needed <= Number(flash.value));
      advice[controls.dataset.advice].forEach((requirements, i) => {
        const found = leads(requirements[among.value], fits);
        cards[i].querySelector("table").hidden = found.length === 0;
        cards[i].querySelector("tbody").replaceChildren(...found.map(line));
        const measured = found.at(-1)?.to;
        cards[i].querySelector(".measured").textContent =
          measured === undefined
            ? "Nothing measured meets these conditions."
            : measured > 0
              ? `Measured up to ${WHOLE.format(measured)} bytes.`
              : "";
      });
    };
    controls.addEventListener("input", draw);
    draw();
  }
}

// The demands, the front of what meets them, and its plot, as in `joulemark choose`.
function choose(columns, { supply, specification }) {
  const controls = document.getElementById("demands");
  if (!controls) return;
  const FRONT = ["time_us", "energy_net_uj", "flash_bytes", "ram_bytes"];
  const STANDINGS = ["standard", "finalist", "research"];
  const SHOWN = 25;
  const byName = new Map(columns.map((c) => [c.name, c]));
  const value = (name, i) => byName.get(name).values[i];
  const text = (name, i) => byName.get(name).text(i);
  const selects = [...controls.querySelectorAll("[data-choice]")];
  const limits = [...controls.querySelectorAll("[data-limit]")];
  const [standing, constant, rank, every] = ["standing", "constant", "rank", "every"].map((name) =>
    controls.querySelector(`[data-${name}]`),
  );
  const priced = (i) => FRONT.every((name) => value(name, i) !== undefined && !Number.isNaN(value(name, i)));
  const all = Array.from(columns[0].values.keys()).filter(priced);

  // Each choice offers what is left by those before it.
  function narrow() {
    let rows = all;
    for (const select of selects) {
      const name = select.dataset.choice;
      const present = [...new Set(rows.map((i) => text(name, i)))];
      const numbers = !byName.get(name).words;
      present.sort((a, b) => (numbers ? a - b : a < b ? -1 : 1));
      const before = select.value;
      const preferred = select.dataset.first?.split(" ").find((v) => present.includes(v));
      select.replaceChildren(...present.map((v) => new Option(v, v)));
      select.value = present.includes(before) ? before : (preferred ?? present[0] ?? "");
      rows = rows.filter((i) => text(name, i) === select.value);
    }
    return rows;
  }

  function front(rows) {
    const beats = (a, b) =>
      FRONT.every((n) => value(n, a) <= value(n, b)) && FRONT.some((n) => value(n, a) < value(n, b));
    return new Set(rows.filter((i) => !rows.some((other) => beats(other, i))));
  }

  function draw() {
    const sized = narrow();
    const able = sized.filter(
      (i) =>
        STANDINGS.slice(0, STANDINGS.indexOf(standing.value) + 1).includes(text("status", i)) &&
        (constant.value === "" || text("constant_time", i) === "yes") &&
        (constant.value === "" || text("claim", i) === "yes") &&
        limits.every((l) => l.value === "" || value(l.dataset.limit, i) <= Number(l.value)),
    );
    const best = front(able);
    able.sort((a, b) => value(rank.value, a) - value(rank.value, b) || a - b);
    const volt = supply[selects[0].value];
    const seconds = Number(every.value);
    const shown = able.slice(0, SHOWN);
    document.querySelector("#choices tbody").replaceChildren(
      ...shown.map((i) => {
        const line = document.createElement("tr");
        const charge = seconds > 0 && volt ? (value("energy_net_uj", i) * 1e-6 * 31557600) / volt / seconds / 3.6 : NaN;
        const words = [best.has(i) ? "★" : "", ...["primitive", "implementation", "build"].map((n) => text(n, i))];
        const numbers = [...FRONT, "stack_bytes"].map((n) => value(n, i));
        for (const word of words) line.insertCell().textContent = word;
        for (const number of numbers) line.insertCell().textContent = Number.isNaN(number) ? "–" : format(number);
        line.insertCell().textContent = text("constant_time", i) + (text("claim", i) === "yes" ? "" : " (no claim)");
        line.insertCell().textContent = Number.isNaN(charge) ? "–" : format(charge);
        [...line.cells].forEach((cell, n) => (cell.className = n > 3 && n !== 9 ? "number" : ""));
        return line;
      }),
    );
    document.getElementById("chosen").textContent =
      `${WHOLE.format(able.length)} of ${WHOLE.format(sized.length)} builds satisfy the demands` +
      `, ${WHOLE.format(best.size)} on the front${able.length > SHOWN ? `; the first ${SHOWN} are listed` : ""}.`;
    const points = able.map((i) => ({
      primitive: text("primitive", i),
      build: `${text("implementation", i)}, ${text("build", i)}`,
      front: best.has(i),
      ...Object.fromEntries([...FRONT, "stack_bytes"].map((n) => [n, value(n, i)])),
    }));
    const figure = document.getElementById("plot-choice");
    figure.replaceChildren();
    if (points.length) plot(figure.id, { ...specification, data: { values: points } });
  }

  controls.addEventListener("input", draw);
  draw();
}

async function start() {
  const data = JSON.parse(await unpack("data"));
  const columns = data.columns.map(column);
  advise(data.advice);
  cases(columns);
  document.documentElement.setAttribute("data-cases", "drawn");
  await plots(data.plots);
  choose(columns, data.choice);
  document.documentElement.setAttribute("data-choices", "drawn");
}
start();
