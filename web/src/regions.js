// tare/summarize/1 and tare/stacks/1: the regions of a recording.
import { h, section } from "./dom.js";
import { flame } from "./flame.js";
import { full, percent, plain, quality, toNumber } from "./format.js";
import { table } from "./table.js";
import { makeTree } from "./tree.js";

/** One table for each counter: labels with their share. */
export function summarize(doc) {
  const counters = [...new Set(doc.labels.flatMap((l) => Object.keys(l.counters ?? {})))];
  return counters.map((name) => {
    const rows = doc.labels.filter((l) => l.counters?.[name]), of = (l) => l.counters[name];
    const unit = rows[0] ? of(rows[0]).unit ?? "" : "", sum = rows.reduce((s, l) => s + (toNumber(of(l).self) || 0), 0);
    const column = (title, field, about) => ({ title, about, number: true, value: (l) => toNumber(of(l)[field]), show: (l) => h("span", { title: full(of(l)[field], unit) }, plain(of(l)[field], unit)) });
    return section(`Regions by ${name}`, null, table([
      { title: "Label", wide: true, value: (l) => l.label, show: (l) => h("b", {}, l.label) },
      { ...column("Self", "self", "without the regions inside"), sort: "down" },
      { title: "Share", number: true, value: (l) => toNumber(of(l).self) / sum, show: (l) => percent(toNumber(of(l).self) / sum, 2), bar: (l) => toNumber(of(l).self) / sum },
      column("Total", "total", "with the regions inside; recursion once"),
      { title: "Count", number: true, value: (l) => toNumber(l.count), show: (l) => full(l.count) },
      column("Smallest", "min"), column("Median", "median"), column("99 %", "p99", "99 of 100 are not above it"), column("Largest", "max"),
      rows.some((l) => of(l).quality) && { title: "Quality", value: (l) => of(l).quality, show: (l) => quality(of(l).quality) },
    ].filter(Boolean), rows, { caption: `Regions by ${name}`, search: "Filter labels" }));
  });
}

/** Frames by name, the whole graph's: self time, and total with a frame inside itself counted once. */
function frames(doc, tree, column) {
  const rows = new Map(), inside = new Map(), total = tree.total[column], own = tree.own[column];
  const keys = Array.from({ length: tree.n }, (_, i) => (i === 0 ? doc.program : `${tree.name(i)}\0${tree.about(i)}`));
  const walk = [[0, false]];
  while (walk.length) {
    const [i, done] = walk.pop(), key = keys[i];
    if (done) {
      inside.set(key, inside.get(key) - 1);
      continue;
    }
    const row = rows.get(key) ?? rows.set(key, { name: tree.name(i), about: tree.about(i), self: 0, total: 0 }).get(key);
    row.self += own[i];
    if (!inside.get(key)) row.total += total[i];
    inside.set(key, (inside.get(key) ?? 0) + 1);
    walk.push([i, true]);
    for (const c of tree.children[i]) walk.push([c, false]);
  }
  return [...rows.values()].filter((r) => r.total);
}

/** With a table of its own beside it (tare/report/1), a flame graph needs no other. */
export function stacks(doc, all) {
  const room = h("div"), tree = makeTree(doc);
  function show(column) {
    const { unit, quality: q } = doc.columns[column], all = tree.total[column][0];
    const count = (title, field, about) => ({ title, about, number: true, value: (r) => r[field], show: (r) => h("span", { title: full(r[field], unit) }, plain(r[field], unit)) });
    room.replaceChildren(table([
      { title: "Frame", wide: true, value: (r) => r.name, show: (r) => h("b", {}, r.name) },
      { ...count("Self", "self", "without what it contains"), sort: "down" },
      { title: "Share", number: true, value: (r) => r.self / all, show: (r) => percent(r.self / all, 2), bar: (r) => r.self / all },
      count("Total", "total", "with what it contains; inside itself it counts once"),
      { title: "Share of total", number: true, value: (r) => r.total / all, show: (r) => percent(r.total / all, 2), bar: (r) => r.total / all },
      { title: "Of", value: (r) => r.about },
    ], frames(doc, tree, column), { caption: "Frames", search: "Filter frames" }), q ? h("p", { class: "about quality-line" }, "These numbers are ", quality(q), ".") : "");
  }
  show(0);
  const about = [doc.about ?? "The wider, the more was counted in it.", "Click or Enter zooms, the arrow keys walk."].join(" ");
  return [
    section(doc.title ?? "Flame graph", about, flame(doc, tree, show),
      doc.left_out > 0 && h("p", { class: "about" }, `${full(doc.left_out)} stacks too small to be seen are counted to the one above them.`)),
    all.some((d) => d.schema === "tare/report/1" && d.rows) ? null : section("Frames", "the same, added up by name", room),
  ];
}
