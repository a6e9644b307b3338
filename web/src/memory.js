// tare/memory/1: accesses to memory, a table for each way to add them up. tare/sharing/1: lines that move between threads.
import { h, section, svg } from "./dom.js";
import { fixed, full, known, toNumber } from "./format.js";
import { doubling, histogram } from "./histogram.js";
import { table } from "./table.js";

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

const remarks = (of) => of.remarks.map((r) => h("p", { class: r.doubtful ? "remark" : "about" }, sentence(r.text)));

const lead = (facts, doc) => h("section", { class: "lead" },
  h("dl", { class: "facts" }, facts.filter(Boolean).map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
  doc.notes.map((text) => h("p", { class: "about" }, text)), remarks(doc));

function unnamed(doc) {
  return doc.unnamed.length ? section("Without names", "code with unknown functions, and remedies", table([
    { title: "Module", value: (u) => u.module, show: (u) => h("b", {}, u.module) },
    { title: "Samples", number: true, sort: "down", value: (u) => toNumber(u.samples), show: (u) => full(u.samples) },
    { title: "Why", wide: true, value: (u) => u.why },
    { title: "Remedy", wide: true, value: (u) => u.remedy },
  ], doc.unnamed, { caption: "Modules without names" })) : null;
}

const titles = { line: "Source lines", function: "Functions", instruction: "Instructions", symbol: "Accessed data", page: "Pages", level: "Data source", tlb: "Address translation",
  node: "NUMA nodes", thread: "Threads" };
const sum = (counts) => Object.values(counts).reduce((a, n) => a + toNumber(n), 0);

// The same digits as in text: put_share().
function share(part, whole) {
  const x = whole ? 100 * part / whole : 0;
  if (part && x < 0.05) return "<0.1 %";
  if (part < whole && x >= 99.95) return ">99.9 %"; // 100 % is all
  return `${fixed(x, x === 0 || (x >= 9.95 && (x < 99.5 || part === whole)) ? 0 : 1)} %`;
}

// "L1 62 %, memory 30 %": the three largest, as in the text
function places(row) {
  const all = sum(row.places), sorted = Object.entries(row.places).sort((a, b) => toNumber(b[1]) - toNumber(a[1]));
  const rest = sorted.slice(3).reduce((a, [, n]) => a + toNumber(n), 0);
  return all ? sorted.slice(0, 3).map(([place, n]) => `${place} ${share(toNumber(n), all)}`).join(", ") + (rest ? `, other ${share(rest, all)}` : "") : null;
}

// The distribution of latencies, a character for each doubling; `edges` are those of all rows together.
function spread(latencies, edges) {
  const count = new Map(latencies.histogram.map((b) => [toNumber(b.from), toNumber(b.count)])), most = Math.max(...count.values());
  return edges.map((b) => { const n = count.get(toNumber(b.from)) ?? 0; return n ? "▁▂▃▄▅▆▇█"[Math.floor(7.999 * n / most)] : "\u2007"; }).join("");
}
const bins = (latencies) => latencies.histogram.map((b) => [toNumber(b.from), toNumber(b.to), toNumber(b.count)]);

function rows(doc) {
  const all = toNumber(doc.total.samples), latency = doc.latency, walks = sum(doc.total.tlbs) > 0, placed = sum(doc.total.places) > 0;
  const of = (r) => (latency ? r.latencies[latency] : undefined);
  const cycles = (key) => ({ title: key, about: `cycles, ${doc.latency_meaning}`, number: true, value: (r) => known(of(r)) ? toNumber(of(r)[key]) : null, show: (r) => (known(of(r)) ? full(of(r)[key]) : "–") });
  const part = (r, n, whole) => (whole ? toNumber(n ?? 0) / whole : null);
  return section(titles[doc.by], toNumber(doc.rows_in_all) > doc.rows.length ? `the first ${full(doc.rows.length)} of ${full(doc.rows_in_all)}` : null, table([
    { title: titles[doc.by], wide: true, value: (r) => r.label, show: (r) => h("b", { title: r.file ?? r.module ?? null }, r.label) },
    { title: "Share", about: "of the samples", number: true, sort: latency ? undefined : "down", value: (r) => toNumber(r.samples) / all, bar: (r) => toNumber(r.samples) / all, show: (r) => share(toNumber(r.samples), all) },
    { title: "Samples", number: true, value: (r) => toNumber(r.samples), show: (r) => full(r.samples) },
    { title: "Loads", number: true, value: (r) => toNumber(r.loads) + toNumber(r.updates), show: (r) => full(toNumber(r.loads) + toNumber(r.updates)) },
    { title: "Stores", number: true, value: (r) => toNumber(r.stores) + toNumber(r.updates), show: (r) => full(toNumber(r.stores) + toNumber(r.updates)) },
    latency && { title: "Cycles", about: `sum over all samples, ${doc.latency_meaning}`, number: true, sort: "down", value: (r) => (known(of(r)) ? toNumber(of(r).sum) : null), show: (r) => (known(of(r)) ? full(of(r).sum) : "–") },
    ...(latency ? ["p50", "p99", "max"].map(cycles) : []),
    latency && { title: "Histogram", about: "the distribution: a bar for each doubling of the cycles", value: (r) => (known(of(r)) ? toNumber(of(r).p50) : null),
      show: (r) => (known(of(r)) ? h("span", { class: "spread", title: bins(of(r)).map(([from, to, n]) => `${full(from)} to ${full(to)}: ${full(n)}`).join("\n") }, spread(of(r), of(doc.total).histogram)) : "–") },
    placed && doc.by !== "level" && { title: "Served by", value: (r) => places(r), show: (r) => places(r) ?? "–" },
    toNumber(doc.total.snoops.modified ?? 0) > 0 && { title: "Hitm", about: "found the line modified in another core's cache", number: true, value: (r) => part(r, r.snoops.modified, toNumber(r.samples)), show: (r) => share(toNumber(r.snoops.modified ?? 0), toNumber(r.samples)) },
    walks && doc.by !== "tlb" && { title: "Walks", about: "translations that needed the page tables", number: true, value: (r) => part(r, r.tlbs.walk, sum(r.tlbs)), show: (r) => (sum(r.tlbs) ? share(toNumber(r.tlbs.walk ?? 0), sum(r.tlbs)) : "–") },
  ].filter(Boolean), doc.rows, { caption: titles[doc.by], search: "Filter rows", empty: "no accesses" }));
}

export function memory(doc, documents) {
  const like = documents.filter((d) => d.schema === doc.schema), first = like[0] === doc, last = like.at(-1) === doc, t = doc.total;
  return [first && lead([["Accesses", full(t.samples), doc.origins.join(", ")], ["Loads", full(t.loads)], ["Stores", full(t.stores)], toNumber(t.updates) > 0 && ["Both", full(t.updates)],
    doc.latency ? ["Latency, median", `${full(t.latencies[doc.latency].p50)} cycles`, doc.latency_meaning] : ["Latency", "not measured"],
    toNumber(doc.without_address) > 0 && ["Without an address", full(doc.without_address)]], doc),
  first && doc.latency && bins(t.latencies[doc.latency]).length > 1 && section("Latency", doc.latency_meaning,
    histogram(doubling(bins(t.latencies[doc.latency])), (v) => full(v), "cycles of all samples; each bin is twice as wide as the one before")),
  rows(doc), last && unnamed(doc)];
}
export const memoryTitle = (doc) => ({ title: doc.file, kind: "tare memory" });

const LANES = 8;

/** The bytes that each thread of a line accesses, merged: [{ name, parts: [{ from, to, loads, stores, field }] }], most samples first. */
export function lanesOf(l) {
  const threads = new Map();
  for (const c of l.cells) {
    const name = `${c.comm} ${c.pid}/${c.tid}`, t = threads.get(name) ?? threads.set(name, { name, n: 0, parts: new Map() }).get(name);
    const to = c.offset + (c.size ?? 1), key = `${c.offset} ${to}`;
    const p = t.parts.get(key) ?? t.parts.set(key, { from: c.offset, to, loads: 0, stores: 0, field: c.field }).get(key);
    p.loads += toNumber(c.loads);
    p.stores += toNumber(c.stores);
    t.n += toNumber(c.loads) + toNumber(c.stores);
  }
  return [...threads.values()].sort((a, b) => b.n - a.n).map(({ name, parts }) => ({ name, parts: [...parts.values()].sort((a, b) => a.from - b.from) }));
}

/** The line as a row of bytes for each thread. */
function bytes(doc, l) {
  const all = lanesOf(l), lanes = all.slice(0, LANES), size = toNumber(doc.line_size), left = 190, byte = Math.min(12, 768 / size), tall = 20, top = 16;
  const most = Math.max(...lanes.flatMap((t) => t.parts.map((p) => p.loads + p.stores)), 1), bottom = top + lanes.length * tall;
  const told = lanes.map((t) => `${t.name}: ${t.parts.map((p) => `${p.stores ? p.loads ? "loads and stores" : "stores" : "loads"} bytes ${p.from} to ${p.to - 1}`).join(", ")}`);
  return h("figure", { class: "bytes" }, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the bytes of the line" },
    svg("svg", { viewBox: `0 0 ${left + size * byte + 8} ${bottom + 4}`, role: "img", "aria-label": told.join("; ") },
      Array.from({ length: size / 8 + 1 }, (_, k) => [svg("line", { class: "range", x1: left + 8 * k * byte, x2: left + 8 * k * byte, y1: top - 3, y2: bottom }),
        k < size / 8 && svg("text", { class: "soft-text", x: left + 8 * k * byte + 2, y: 11 }, `+${8 * k}`)]),
      lanes.map((t, i) => [svg("text", { x: left - 8, y: top + i * tall + 14, "text-anchor": "end" }, t.name.length > 28 ? `${t.name.slice(0, 12)}…${t.name.slice(-15)}` : t.name),
        t.parts.map((p) => svg("rect", { class: p.stores ? "stored" : "loaded", x: left + p.from * byte + 0.5, y: top + i * tall + 2, width: Math.max(1, (Math.min(p.to, size) - p.from) * byte - 1), height: tall - 4,
          "fill-opacity": 0.35 + 0.65 * (p.loads + p.stores) / most },
        svg("title", {}, `${t.name}  +${p.from}${p.to > p.from + 1 ? `..${p.to - 1}` : ""}${p.field ? `  ${p.field}` : ""}: ${full(p.loads)} loads, ${full(p.stores)} stores`)))]))),
  h("figcaption", {}, h("span", { class: "swatch stored" }), "has stores ", h("span", { class: "swatch loaded" }), "loads only; the darker, the more samples", all.length > LANES && `; the table has ${full(all.length - LANES)} more threads`, "."));
}

function line(doc, l, i) {
  const latency = l.cells.some((c) => known(c.latency_mean)), moves = toNumber(l.switches_true) + toNumber(l.switches_false);
  // each instruction has a row: two of one source line are distinguished by their addresses
  const place = (c) => [c.offset, c.size, c.pid, c.tid, c.function, c.file, c.line].join(), times = new Map();
  l.cells.forEach((c) => times.set(place(c), (times.get(place(c)) ?? 0) + 1));
  return section(`${i + 1}. ${l.object ?? l.address}`, `${l.means}${known(l.sure) ? ` (${l.sure > 0.999 ? "more than 99.9" : Math.floor(100 * l.sure)} % sure)` : ""}`,
    h("p", { class: "about" }, `${l.address}${l.physical ? " (physical)" : ""}: ${full(l.samples)} samples by ${l.threads} threads${known(l.switches_true) ? `; ${full(moves)} ${moves === 1 ? "move" : "moves"} between two of them` +
      `${known(l.switches_by_chance) ? ` (${full(Math.round(l.switches_by_chance))} if their order were random)` : ""}, ${full(l.switches_true)} for the same bytes` : ""}.` +
      (known(l.part ?? null) ? ` In part of the time: ${full(l.part)} of its samples.` : "")),
    remarks(l),
    l.padding && h("p", { class: "about" }, `${l.padding.means}.`),
    l.fix && h("p", { class: "about" }, `Usual remedy: ${l.fix}.`),
    bytes(doc, l),
    table([
      { title: "At", about: "bytes of the line", number: true, value: (c) => c.offset, show: (c) => (c.size > 1 ? `+${c.offset}..${c.offset + c.size - 1}` : `+${c.offset}`) },
      l.cells.some((c) => c.field) && { title: "Field", about: "the variable and its member, by its type", value: (c) => c.field, show: (c) => c.field ?? "–" },
      { title: "Thread", value: (c) => `${c.comm} ${c.pid}/${c.tid}` },
      { title: "Loads", number: true, value: (c) => toNumber(c.loads), show: (c) => full(c.loads) },
      { title: "Stores", number: true, value: (c) => toNumber(c.stores), show: (c) => full(c.stores) },
      doc.knows_modified && { title: "Hitm", about: "found the line modified in another core's cache", number: true, value: (c) => toNumber(c.modified), show: (c) => full(c.modified) },
      latency && { title: "Cycles", about: "mean latency", number: true, value: (c) => c.latency_mean, show: (c) => (known(c.latency_mean) ? full(Math.round(c.latency_mean)) : "–") },
      { title: "Code", wide: true, value: (c) => c.function ?? c.ip, show: (c) => [h("b", {}, c.function ?? c.ip), c.file && h("span", { class: "soft" }, ` ${c.file.replace(/.*\//, "")}:${c.line}`),
        known(c.function) && times.get(place(c)) > 1 && h("span", { class: "soft" }, ` ${c.ip}`)] },
    ].filter(Boolean), l.cells, { caption: l.object ?? l.address }));
}

const fought = (l) => ["false", "true", "both", "untimed"].includes(l.verdict);

// Lines of one object and verdict, where there are several.
function objects(doc) {
  const several = doc.objects.filter((o) => toNumber(o.lines) > 1 && fought(o));
  return several.length > 0 && section("By object", "lines of one object with the same verdict, added up", table([
    { title: "Object", wide: true, value: (o) => o.object, show: (o) => h("b", {}, o.object) },
    { title: "Verdict", value: (o) => o.verdict },
    { title: "Lines", number: true, value: (o) => toNumber(o.lines), show: (o) => full(o.lines) },
    { title: "Samples", number: true, value: (o) => toNumber(o.samples), show: (o) => full(o.samples) },
    { title: "Moves", number: true, sort: "down", value: (o) => toNumber(o.moves), show: (o) => full(o.moves) },
  ], several, { caption: "By object" }));
}

export function sharing(doc) {
  const lines = doc.lines.filter(fought), rest = doc.lines.filter((l) => !fought(l));
  return [lead([["Contended lines", full(lines.filter((l) => l.verdict !== "untimed").length)], ["False sharing", full(lines.filter((l) => l.verdict === "false").length)], ["Accesses", full(doc.accesses), doc.origins.join(", ")], ["Lines", full(doc.lines_in_all)],
    ["Without a verdict", full(toNumber(doc.lines_of_too_few_samples) + doc.lines.filter((l) => l.verdict === "unclear").length)]], doc),
  objects(doc),
  ...lines.slice(0, 100).map((l, i) => line(doc, l, i)),
  rest.length > 0 && section("Other shared lines", "handed from thread to thread, or without a verdict", table([
    { title: "Line", wide: true, value: (l) => l.object ?? l.address, show: (l) => h("b", {}, l.object ?? l.address) },
    { title: "Verdict", value: (l) => l.verdict },
    { title: "Why", value: (l) => (l.verdict === "unclear" ? l.means : null), show: (l) => (l.verdict === "unclear" ? l.means : "–") },
    { title: "Samples", number: true, sort: "down", value: (l) => toNumber(l.samples), show: (l) => full(l.samples) },
    { title: "Threads", number: true, value: (l) => l.threads },
  ], rest, { caption: "Other shared lines" })), unnamed(doc)];
}
export const sharingTitle = (doc) => ({ title: doc.file, kind: "tare sharing" });
