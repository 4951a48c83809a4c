"use strict";
// The question that opens the report, and its answer, as `analysis/choice.py` gives it: what a
// message costs is what the smallest measured one that holds it costs; nothing is interpolated.

const FRONT = ["time_us", "energy_net_uj", "flash_bytes", "ram_bytes"];
const STANDINGS = ["standard", "finalist", "research"];
const BELOW = { standard: "no standard", finalist: "neither a standard nor a finalist", research: "deprecated or broken" };
const UNITS = { energy_net_uj: "J", time_us: "s" };
const YEAR_S = 31557600;
const DIGITS = 12; // by which costs are compared
const BARS = 8;
const LISTED = 25;

// The builds of each place, with their records: row numbers.
function builds(columns) {
  const byName = new Map(columns.map((c) => [c.name, c]));
  const value = (name, i) => byName.get(name).values[i];
  const text = (name, i) => byName.get(name).text(i);
  const places = new Map();
  const needed = ["cycles", "time_us", "energy_net_uj", "flash_bytes"];
  for (let i = 0; i < columns[0].values.length; i++) {
    if (!needed.every((name) => !Number.isNaN(value(name, i) ?? NaN))) continue;
    if (text("build", i).includes(" +")) continue; // A place in flash that suits a build is no property of it.
    const place = text("place", i);
    if (!places.has(place)) places.set(place, new Map());
    const key = ["primitive", "implementation", "build"].map((name) => text(name, i)).join("\u0000");
    const there = places.get(place);
    if (!there.has(key)) there.set(key, []);
    there.get(key).push(i);
  }
  return { places, value, text };
}

function option({ value, text }, rows, need, size, ad) {
  const kind = text("kind", rows[0]);
  const served = need.kinds[kind];
  if (!served) return null;
  const found = new Map(served.operations.map((name) => [name, new Map()]));
  for (const i of rows) {
    const operation = text("operation", i);
    const known = found.get(operation);
    if (!known) continue;
    const fixed = served.fixed.includes(operation);
    const [message, data] = fixed ? [0, 0] : [value("message_bytes", i), value("ad_bytes", i)];
    if (!fixed && !(message >= size && (ad > 0 ? data >= ad : data === 0))) continue;
    const at = message * 65536 + data;
    if (!known.has(at) || value("energy_net_uj", i) > value("energy_net_uj", known.get(at))) known.set(at, i);
  }
  const sized = served.operations.filter((name) => !served.fixed.includes(name));
  let common = sized.length ? [...found.get(sized[0]).keys()] : [0];
  for (const name of sized) common = common.filter((at) => found.get(name).has(at));
  if (!common.length || [...found.values()].some((known) => !known.size)) return null;
  const least = Math.min(...common);
  const serve = served.operations.map((name) => found.get(name).get(served.fixed.includes(name) ? 0 : least));
  const sum = (name) => Number(serve.reduce((total, i) => total + value(name, i), 0).toPrecision(DIGITS));
  const most = (name) => rows.reduce((top, i) => Math.max(top, value(name, i) || 0), 0);
  const findings = rows.map((i) => text("finding", i));
  const [compiler, optimisation] = text("build", rows[0]).split(" -");
  return {
    primitive: text("primitive", rows[0]),
    implementation: text("implementation", rows[0]),
    build: text("build", rows[0]),
    order: [text("primitive", rows[0]), text("implementation", rows[0]), optimisation ?? "", compiler],
    status: text("status", serve[0]),
    once: text("one_time_key", serve[0]) === "yes",
    hardware: text("hardware", serve[0]) === "yes",
    claims: rows.every((i) => text("claim", i) === "yes"),
    leaks: findings.some((f) => f.includes("depend on") || f.includes("depends on")),
    timeLeaks: findings.includes("time depends on data"),
    tried: findings.some((f) => f),
    message_bytes: Math.floor(least / 65536),
    time_us: sum("time_us"),
    energy_net_uj: sum("energy_net_uj"),
    flash_bytes: most("flash_bytes"),
    ram_bytes: most("ram_bytes"),
    stack_bytes: most("stack_bytes"),
  };
}

// Why a build does not meet the demands; empty if it does.
function objections(one, asked) {
  const found = [];
  if (!STANDINGS.slice(0, STANDINGS.indexOf(asked.standing) + 1).includes(one.status)) found.push(BELOW[asked.standing]);
  if (one.once && asked.once !== "yes") found.push("a key for one message only");
  if (asked.secrets === "kept" && !one.claims) found.push("no claim of constant time");
  else if (asked.secrets === "kept" && one.leaks) found.push("secrets leak");
  if (asked.secrets === "time" && one.timeLeaks) found.push("its time depends on secrets");
  if (asked.hardware === "no" && one.hardware) found.push("hardware");
  for (const name of ["flash_bytes", "ram_bytes", "stack_bytes", "time_us"])
    if (asked[name] !== "" && one[name] > Number(asked[name])) found.push(name.split("_")[0]);
  return found;
}

function compared(by) {
  const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const keys = [by, "energy_net_uj", "flash_bytes"];
  return (a, b) => {
    for (const key of keys) if (a[key] !== b[key]) return a[key] - b[key];
    for (let i = 0; i < a.order.length; i++) if (a.order[i] !== b.order[i]) return before(a.order[i], b.order[i]);
    return 0;
  };
}

function front(options) {
  const beats = (a, b) => FRONT.every((n) => a[n] <= b[n]) && FRONT.some((n) => a[n] < b[n]);
  return new Set(options.filter((one) => !options.some((other) => beats(other, one))));
}

// All builds that serve a need, those that meet the demands in order, and what ruled out the rest.
function answered(data, asked) {
  const need = data.needs[asked.need];
  const size = need.own_size ?? (need.sized ? Number(asked.size || 64) : 0);
  const ad = Number(asked.ad || 0);
  const found = [];
  for (const rows of data.places.get(asked.place)?.values() ?? []) {
    const one = option(data, rows, need, size, ad);
    if (one) found.push(one);
  }
  const good = found.filter((one) => !objections(one, asked).length).sort(compared(asked.by));
  return { need, size, found, good };
}

const two = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
function figure(value, name) {
  if (name.endsWith("_bytes")) return `${WHOLE.format(value)} B`;
  const unit = UNITS[name];
  return value < 1e4 ? `${two.format(value)} µ${unit}` : `${two.format(value / 1e3)} m${unit}`;
}

function element(name, content, className) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...[content].flat());
  return made;
}

function adviser(columns, { needs, places: about }) {
  const form = document.getElementById("demands");
  if (!form) return null;
  const data = { ...builds(columns), needs };
  const controls = new Map([...form.querySelectorAll("[data-ask]")].map((c) => [c.dataset.ask, c]));
  const initially = {};
  const place = controls.get("place");
  place.append(...[...data.places.keys()].sort().map((name) => new Option(name, name)));

  // What was measured on the board, and only where it exists: associated data, time alone.
  function narrow() {
    const rows = [...(data.places.get(place.value)?.values() ?? [])];
    const kinds = new Set(rows.map((some) => data.text("kind", some[0])));
    const need = controls.get("need");
    const before = need.value;
    const able = needs.map((one, i) => [one, i]).filter(([one]) => Object.keys(one.kinds).some((k) => kinds.has(k)));
    need.replaceChildren(...able.map(([one, i]) => new Option(one.title, i)));
    const usual = able.find(([one]) => "aead" in one.kinds) ?? able[0];
    need.value = able.some(([, i]) => String(i) === before) ? before : String(usual?.[1] ?? "");
    const { sized, with_ad: withAd, own_size: own } = needs[need.value] ?? {};
    controls.get("size").disabled = !sized || own !== null;
    controls.get("ad").closest("label").hidden = !withAd;
    const secrets = controls.get("secrets");
    const cached = about[place.value]?.keeps_state;
    secrets.querySelector("[value=time]").disabled = cached;
    if (cached && secrets.value === "time") secrets.value = "kept";
  }
  const asked = () => Object.fromEntries([...controls].map(([name, c]) => [name, c.type === "checkbox" ? (c.checked ? "yes" : "no") : c.value]));

  function named(one) {
    return [element("strong", one.primitive), " ", element("span", `${one.implementation}, ${one.build}${one.hardware ? ", hardware" : ""}`, "quiet")];
  }

  function sentence({ need, size, good }, now) {
    const there = about[now.place];
    if (need.sized && !(Number.isInteger(size) && size >= 0)) return ["A message has a whole number of bytes, from 0 on."];
    const most = Math.max(...measuredSizes(now, need));
    if (need.sized && need.own_size === null && size > most)
      return [`No message of ${WHOLE.format(size)} bytes was measured on ${now.place}: up to ${WHOLE.format(most)} were.`];
    if (!good.length) return [`Nothing that was measured on ${now.place} meets these demands: ${need.title}. What rules it out is listed below.`];
    const [first] = good;
    const bytes = need.sized ? ` for ${WHOLE.format(size)} bytes${first.message_bytes !== size ? ` (measured with ${WHOLE.format(first.message_bytes)})` : ""}` : "";
    const often = Number(now.every) > 0 && there.supply_v
      ? `; every ${now.every} s that is ${two.format((first.energy_net_uj * 1e-6 * YEAR_S) / there.supply_v / Number(now.every) / 3.6)} mAh a year`
      : "";
    return [
      element("strong", first.primitive),
      ` (${first.implementation}, ${first.build}) takes ${figure(first.energy_net_uj, "energy_net_uj")} and ${figure(first.time_us, "time_us")}${bytes} on ${now.place}, with ${figure(first.flash_bytes, "flash_bytes")} of flash${often}. `,
      element("span", `How far off: ${there.error}.`, "small"),
    ];
  }

  // Each implementation once, in its best build.
  function bestOf(good) {
    const seen = new Set();
    return good.filter((one) => {
      const name = `${one.primitive}/${one.implementation}`;
      return !seen.has(name) && seen.add(name);
    });
  }

  function bars(good, now) {
    const shown = bestOf(good).slice(0, BARS);
    const [low, high] = about[now.place]?.time ?? [0, 0];
    const timed = now.by === "time_us" || now.by === "energy_net_uj";
    // What is emulated as v took v / (1 + error) on the chip.
    const ends = (v) => (timed ? [v / (1 + high), v / (1 + low)] : [v, v]);
    const most = Math.max(...shown.map((one) => ends(one[now.by])[1]), 1e-12);
    return shown.map((one, rank) => {
      const [from, to] = ends(one[now.by]).map((v) => (100 * v) / most);
      const bar = element("span", [], `bar${rank === 0 ? " first" : ""}${one.hardware ? " hardware" : ""}`);
      bar.style.width = `${(100 * one[now.by]) / most}%`;
      const track = element("span", [bar], "track");
      if (to > from) {
        const bound = element("span", [], "bound");
        bound.style.cssText = `left:${from}%;width:${to - from}%`;
        track.append(bound);
      }
      return element("li", [element("span", named(one), "name"), track, element("span", figure(one[now.by], now.by), "number")]);
    });
  }

  function facts({ found, good, need }, now) {
    const lines = [];
    const hard = good.find((one) => one.hardware);
    const soft = good.find((one) => !one.hardware);
    const cost = (one) => `${one.primitive} (${one.implementation}) ${figure(one[now.by], now.by)}`;
    const anyHardware = found.some((one) => one.hardware);
    if (hard && soft) lines.push(`Hardware: ${cost(hard)}; without it: ${cost(soft)}.`);
    else if (hard) lines.push(`Hardware alone does it: ${cost(hard)}.`);
    else lines.push(anyHardware ? "Hardware does it, but does not meet the demands." : "No hardware for this was measured on this board.");
    if (good.length && !good[0].tried)
      lines.push(`That ${good[0].primitive} keeps its secrets is claimed; no trial was made here: joulemark leaks makes them.`);
    const reasons = new Map();
    for (const one of found) for (const why of objections(one, now)) reasons.set(why, (reasons.get(why) ?? 0) + 1);
    const ruled = [...reasons].map(([why, count]) => `${why} ${WHOLE.format(count)}`).join(", ");
    lines.push(`${WHOLE.format(good.length)} of ${WHOLE.format(found.length)} builds meet the demands${ruled ? `; ruled out: ${ruled}` : ""}.`);
    const left = about[now.place]?.left_out[now.need];
    if (left) lines.push(`Also ${left.replaceAll("`", "")}.`);
    return lines.map((line) => element("li", line));
  }

  function measuredSizes(now, need) {
    const sizes = new Set();
    for (const rows of data.places.get(now.place)?.values() ?? [])
      for (const i of rows) if (data.text("kind", i) in need.kinds && data.value("message_bytes", i) > 0) sizes.add(data.value("message_bytes", i));
    return [...sizes].sort((a, b) => a - b);
  }

  // Where another leads: the sizes that were measured, as ranges with one winner.
  function leads(now) {
    const { need } = answered(data, now);
    if (!need.sized || need.own_size !== null) return [];
    const found = [];
    let before = 0;
    for (const size of measuredSizes(now, need)) {
      const [first] = answered(data, { ...now, size }).good;
      const last = found.at(-1);
      if (first && last && last.to === before && last.one.primitive === first.primitive && last.one.implementation === first.implementation)
        Object.assign(last, { to: size, most: first });
      else if (first) found.push({ from: before + 1, to: size, one: first, most: first });
      before = size;
    }
    return found.map(({ from, to, one, most }) =>
      element("tr", [
        element("td", from >= to ? `${WHOLE.format(to)} B` : `${WHOLE.format(from)}–${WHOLE.format(to)} B`, "nowrap"),
        element("td", named(one)),
        element("td", one === most ? figure(one[now.by], now.by) : `${figure(one[now.by], now.by).split(" ")[0]}–${figure(most[now.by], now.by)}`, "number nowrap"),
      ]),
    );
  }

  // What each need costs on this board, under the same demands.
  function overview(now) {
    return [...controls.get("need").options].map(({ value, text }) => {
      const { good, size, need } = answered(data, { ...now, need: value, ad: "" });
      const [first] = good;
      const choose = element("a", text);
      choose.href = address({ ...now, need: value });
      return element("tr", [
        element("td", [choose]),
        element("td", need.sized ? WHOLE.format(size) : "", "number"),
        element("td", first ? named(first) : "nothing meets the demands"),
        element("td", first ? figure(first.energy_net_uj, "energy_net_uj") : "", "number nowrap"),
        element("td", first ? figure(first.time_us, "time_us") : "", "number nowrap"),
        element("td", first ? figure(first.flash_bytes, "flash_bytes") : "", "number nowrap"),
      ]);
    });
  }

  function table(good, now) {
    const best = front(good);
    const volt = about[now.place]?.supply_v;
    return good.slice(0, LISTED).map((one) => {
      const charge = Number(now.every) > 0 && volt ? (one.energy_net_uj * 1e-6 * YEAR_S) / volt / Number(now.every) / 3.6 : NaN;
      const secrets = one.timeLeaks ? "time depends" : one.leaks ? "addresses depend" : one.claims ? "kept" : "no claim";
      return element("tr", [
        ...[best.has(one) ? "★" : "", one.primitive, one.implementation, one.build].map((word) => element("td", word)),
        ...[...FRONT, "stack_bytes"].map((name) => element("td", format(one[name]), "number")),
        element("td", secrets),
        element("td", Number.isNaN(charge) ? "–" : format(charge), "number"),
      ]);
    });
  }

  // The title of a need outlives its number, which depends on what else was measured.
  function address(now) {
    const kept = new URLSearchParams({ board: now.place, for: needs[now.need]?.title ?? "" });
    for (const [name, value] of Object.entries(now))
      if (!["place", "need"].includes(name) && value !== initially[name]) kept.set(name, value);
    return `#answer?${kept}`;
  }
  function recall() {
    const [anchor, query] = location.hash.split("?", 2);
    if (anchor !== "#answer" || query === undefined) return;
    const kept = new URLSearchParams(query);
    const put = (name, value) => {
      const control = controls.get(name);
      if (control.type === "checkbox") control.checked = value === "yes";
      else control.value = value;
      if (control.tagName === "SELECT" && control.selectedIndex < 0) control.selectedIndex = 0;
    };
    put("place", kept.get("board") ?? place.value);
    narrow();
    const wanted = needs.findIndex((one) => one.title === kept.get("for"));
    if (wanted >= 0) controls.get("need").value = String(wanted);
    for (const name of controls.keys()) if (!["place", "need"].includes(name)) put(name, kept.get(name) ?? initially[name]);
  }

  function draw() {
    narrow();
    const now = asked();
    const found = answered(data, now);
    const put = (id, made) => document.getElementById(id).replaceChildren(...made);
    put("sentence", sentence(found, now));
    put("ranking", bars(found.good, now));
    put("facts", facts(found, now));
    document.querySelector("#leads tbody").replaceChildren(...leads(now));
    document.getElementById("leads").closest("details").hidden = !found.need.sized || found.need.own_size !== null;
    document.querySelector("#overview tbody").replaceChildren(...overview(now));
    document.querySelector("#choices tbody").replaceChildren(...table(found.good, now));
    document.getElementById("chosen").textContent = found.good.length > LISTED ? `The first ${LISTED} of ${WHOLE.format(found.good.length)} builds:` : "";
    document.getElementById("link").href = address(now);
  }
  narrow();
  // The usual size; the largest where only smaller ones were measured.
  const most = measuredSizes(asked(), needs[controls.get("need").value] ?? { kinds: {} }).at(-1);
  const size = controls.get("size");
  if (most < Number(size.value)) size.value = most;
  Object.assign(initially, asked());
  form.addEventListener("input", () => {
    draw();
    history.replaceState(null, "", address(asked()));
  });
  addEventListener("hashchange", () => {
    recall();
    draw();
  });
  recall();
  draw();
  return { ask: (given) => answered(data, { ...initially, ...given }).good, needs };
}
