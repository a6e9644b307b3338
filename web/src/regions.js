// tare/summarize/1 and tare/stacks/1: the regions of a recording.
import { h, section } from "./dom.js";
import { codeOf } from "./code.js";
import { flame } from "./flame.js";
import { brokeOff, full, percent, plain, quality, toNumber } from "./format.js";
import { table } from "./table.js";
import { chosen, makeSamples, rootsOf, timeline } from "./timeline.js";
import { frames, inverted, makeTree, relatives, rooted, under } from "./tree.js";

/** The error limit of the subtracted cost, in the same words as text. */
function offBy(off, unit) {
  const digit = unit !== "ns" || off < 1e3 ? 1 : off < 1e6 ? 1e2 : off < 1e9 ? 1e4 : off < 1e11 ? 1e6 : 1e7; // the last digit shown: a limit is rounded up
  return off > 0 ? `≤ ${plain(Math.ceil(off / digit) * digit, unit)}` : "";
}

const where = (l) => [l.kind, ...(l.arguments ?? [])].filter(Boolean).join(", ");

function facts(doc) {
  const rows = [...doc.counters.map((c) => [c.counter, plain(c.whole, c.unit), toNumber(c.outside) !== 0 && `${plain(c.outside, c.unit)} in no region`]),
    ...doc.counters.filter((c) => doc.own_cost_subtracted && c.whole_own_off > 0).map((c) => [`${c.counter} off by`, offBy(c.whole_own_off, c.unit), c.outside_own_off > 0 && `${offBy(c.outside_own_off, c.unit)} in no region`]),
    ["Regions", full(doc.regions), `${full(doc.labels.length)} labels`], ["Threads", full(doc.threads.length)], ["Recordings", full(doc.recordings.length), doc.recordings[0]?.format]];
  const remarks = doc.counters.map((c) => c.note && `${c.counter}: ${c.note}.`).concat(
    doc.lost > 0 && `${full(doc.lost)} points are missing in the recording.`, doc.lost_unknown && "An unknown number of points is missing.",
    doc.unmatched > 0 && `${full(doc.unmatched)} detached timings have only one end.`, doc.own_cost_subtracted && "The overhead of recording was subtracted.",
    doc.recordings.flatMap((r) => [r.damage, r.remark, r.live].filter(Boolean).map((what) => `${r.path}: ${what}.`))).flat().filter(Boolean);
  return h("section", { class: "lead" },
    h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    remarks.map((text) => h("p", { class: "remark" }, text)));
}

/** One table for each counter: labels with their share. */
export function summarize(doc) {
  const threaded = doc.labels.some((l) => l.thread !== undefined);
  const tables = doc.counters.map(({ counter: name, unit, quality: q }) => {
    const rows = doc.labels.filter((l) => l.counters[name]), of = (l) => l.counters[name];
    const column = (title, field, about) => ({ title, about, number: true, value: (l) => toNumber(of(l)[field]),
      show: (l) => h("span", { title: full(of(l)[field], unit) + (of(l)[`${field}_error`] ? `, off by at most ${full(of(l)[`${field}_error`], unit)}` : "") }, plain(of(l)[field], unit)) });
    return section(`Regions by ${name}`, ["Each number is ", quality(q), "."], table([
      { title: "Label", wide: true, value: (l) => l.label, text: (l) => `${l.label} ${where(l)}`, show: (l) => [h("b", {}, l.label), " ", h("span", { class: "soft" }, where(l))] },
      threaded && { title: "Thread", value: (l) => { const t = doc.threads[l.thread]; return t ? t.name || String(t.tid) : ""; } },
      { ...column("Self", "self", "without the regions inside"), sort: "down" },
      doc.own_cost_subtracted && rows.some((l) => of(l).self_own_off > 0) && { title: "Off by", about: "the error limit of the subtracted cost", number: true, value: (l) => of(l).self_own_off ?? null, show: (l) => offBy(of(l).self_own_off, unit) },
      { title: "Share", number: true, value: (l) => of(l).share, show: (l) => percent(of(l).share, 2), bar: (l) => of(l).share },
      column("Total", "total", "with the regions inside; a region nested in one of its own label counts once"),
      { title: "Count", number: true, value: (l) => toNumber(l.count), show: (l) => full(l.count) },
      column("Min", "min"), column("Median", "median"), column("p99", "p99", "99 of 100 are not above it"), column("Max", "max"),
      rows.some((l) => toNumber(of(l).unknown)) && { title: "Unknown", about: "regions with unknown cost", number: true, value: (l) => toNumber(of(l).unknown), show: (l) => full(of(l).unknown) },
    ].filter(Boolean), rows, { caption: `Regions by ${name}`, search: "Filter labels" }));
  });
  return [facts(doc), ...tables, integers(doc)];
}

/** Labels with their own numbers: sizes, hits. */
function integers(doc) {
  const rows = doc.labels.filter((l) => l.integers), count = (title, field) => ({ title, number: true, value: (l) => toNumber(l.integers[field]), show: (l) => full(l.integers[field]) });
  return rows.length ? section("Numbers", "recorded by the program itself", table([
    { title: "Label", wide: true, value: (l) => l.label, text: (l) => `${l.label} ${where(l)}`, show: (l) => [h("b", {}, l.label), " ", h("span", { class: "soft" }, where(l))] },
    count("Times", "count"), { ...count("Sum", "sum"), sort: "down" }, count("Min", "min"), count("Max", "max"), count("Last", "last"),
  ], rows, { caption: "Numbers", search: "Filter labels" })) : null;
}
export const summarizeTitle = (doc) => ({ title: doc.recordings.length === 1 ? doc.recordings[0].command ?? doc.recordings[0].path : doc.recordings.map((r) => r.path).join(" "), kind: "tare summarize" });

const leftOut = (doc) => doc.left_out > 0 && h("p", { class: "about" }, `${full(doc.left_out)} stacks are too small to be visible: their amounts are added to their callers.`);

const difference = (doc) => section(doc.title ?? "Flame graph of the difference",
  "The width is the count after the change, or before it, which shows frames that are gone. The colour shows the change. Click or Enter zooms, the arrow keys move.",
  flame(doc, makeTree(doc)), leftOut(doc));

/** A flame graph with selectable roots. Commands or processes are the default if there are several. */
function rootedFlame(doc, show, state = { way: null }) {
  const room = h("div"), draw = (d) => flame(d, makeTree(d), show), ways = [["all together", () => draw(doc)]];
  if (doc.by_thread) {
    const parts = doc.by_thread, { threads } = doc.samples, pids = new Set(threads.map((t) => t.pid)).size;
    if (pids > 1) ways.unshift(["processes", () => draw(under(doc, parts, rootsOf(threads, "process")))]);
    if (threads.length > 1) ways.push(["processes and threads", () => draw(under(doc, parts, rootsOf(threads, "thread")))]);
  } else if (doc.processes) {
    const { command } = doc.processes, commands = new Set(command).size, own = [["commands", commands > 1, false], ["commands and processes", command.length > commands, true]];
    const more = own.filter(([, is]) => is).map(([name, , each]) => [name, () => draw(rooted(doc, each))]);
    ways.splice(commands > 1 ? 0 : 1, 0, ...more);
  }
  if (doc.samples) ways.push(["innermost function (inverted)", () => draw(inverted(doc))]);
  const set = (i) => { state.way = i; room.replaceChildren(ways[i][1]()); show(0); };
  set(state.way ?? 0);
  return [ways.length > 1 && h("div", { class: "tools" }, h("label", {}, "Roots: ", h("select", { onchange: (e) => set(e.target.selectedIndex) },
    ways.map(([name], i) => h("option", { selected: i === (state.way ?? 0) }, name))))), room];
}

/** The functions of a document, and the callers and callees of the selected one. */
function functions(doc, state, code) {
  const tree = makeTree(doc), around = h("div", { class: "around", "aria-live": "polite" }), { unit } = doc.columns[state.column];
  const all = tree.total[state.column][0], amount = (v) => h("span", { title: full(v, unit) }, plain(v, unit));
  const link = (r) => h("button", { type: "button", class: "plain", title: r.name, onclick: () => choose(r) }, r.name);
  const share = (title, of, whole) => ({ title, number: true, value: (r) => of(r) / whole, show: (r) => percent(of(r) / whole, 2), bar: (r) => of(r) / whole });
  function choose(r) {
    state.key = r.key;
    const f = relatives(tree, state.column, r.key);
    const one = (title, list) => h("div", {}, h("h3", {}, title), table([
      { title: "Function", wide: true, value: (x) => x.name, show: link },
      { title: "Amount", number: true, sort: "down", value: (x) => x.amount, show: (x) => amount(x.amount) },
      share("Of it", (x) => x.amount, f.total),
    ], list, { caption: title, rows: 10, empty: "none" }));
    around.replaceChildren(h("p", {}, h("b", {}, r.name), ` ${plain(f.total, unit)} (${percent(f.total / all, 2)}), alone ${plain(f.self, unit)} `, h("span", { class: "soft" }, r.about), code?.has(r.name, r.about) && [" ", h("button", { type: "button", class: "plain", onclick: () => code.open(r.name, r.about) }, "source and instructions")]),
      h("div", { class: "two" }, one("Callers", f.callers), one("Callees", f.callees)));
  }
  const list = frames(doc, tree, state.column).filter((r) => r.key !== doc.program), kept = list.find((r) => r.key === state.key);
  if (kept) choose(kept);
  return [table([
    { title: "Function", wide: true, value: (r) => r.name, show: link },
    { title: "Self", about: "without its callees", number: true, sort: "down", value: (r) => r.self, show: (r) => amount(r.self) },
    share("Share", (r) => r.self, all),
    { title: "Total", about: "with its callees; recursion counts once", number: true, value: (r) => r.total, show: (r) => amount(r.total) },
    share("Share of total", (r) => r.total, all),
    { title: "Of", value: (r) => r.about },
  ], list, { caption: "Functions", search: "Filter functions", empty: "no samples are selected" }), around];
}

/** A recording of samples: the selected ones are shown by the flame graph and the functions. */
function profiler(doc, all) {
  const s = makeSamples(doc), graph = h("div"), list = h("div"), note = h("p", { class: "about" });
  const roots = { way: null }, state = { column: 0, key: null };
  let now;
  const showList = () => list.replaceChildren(...functions(now, state, codeOf(all)).filter(Boolean));
  const lanes = timeline(doc, s, (choice) => {
    now = chosen(doc, s, choice);
    note.textContent = now.selected !== null && all.some((d) => d.schema === "tare/report/1" && d.events.some((e) => e.exact)) ? "The amounts of a selection are estimates from its samples." : "";
    graph.replaceChildren(...rootedFlame(now, (column) => { if (column !== state.column) { state.column = column; showList(); } }, roots).filter(Boolean));
    showList();
    return now.selected;
  });
  return [
    section("Timeline", "Samples over time. Drag over a lane to select a range; a click on a thread's name selects the thread. The graph and the functions below show the selection.", lanes, note),
    section(doc.title ?? "Flame graph", [doc.about ?? "The width is the count.", "Click or Enter zooms, the arrow keys move."].join(" "), doc.broke_off && h("p", { class: "remark" }, brokeOff), graph, leftOut(doc)),
    section("Functions", "of the selection; a click on a name shows its callers and callees", list), codeOf(all)?.section,
  ];
}

/** If the page has a table for it (tare/report/1), a flame graph needs no other. */
export function stacks(doc, all) {
  if (doc.difference) return [difference(doc)];
  if (doc.samples) return profiler(doc, all);
  const room = h("div"), tree = makeTree(doc);
  function show(column) {
    const { unit, quality: q } = doc.columns[column], all = tree.total[column][0];
    const count = (title, field, about) => ({ title, about, number: true, value: (r) => r[field], show: (r) => h("span", { title: full(r[field], unit) }, plain(r[field], unit)) });
    room.replaceChildren(table([
      { title: "Frame", wide: true, value: (r) => r.name, show: (r) => h("b", {}, r.name) },
      { ...count("Self", "self", "without what it contains"), sort: "down" },
      { title: "Share", number: true, value: (r) => r.self / all, show: (r) => percent(r.self / all, 2), bar: (r) => r.self / all },
      count("Total", "total", "with what it contains; recursion counts once"),
      { title: "Share of total", number: true, value: (r) => r.total / all, show: (r) => percent(r.total / all, 2), bar: (r) => r.total / all },
      { title: "Of", value: (r) => r.about },
    ], frames(doc, tree, column), { caption: "Frames", search: "Filter frames" }), q ? h("p", { class: "about quality-line" }, "These numbers are ", quality(q), ".") : "");
  }
  show(0);
  const about = [doc.about ?? "The width is the count.", "Click or Enter zooms, the arrow keys move."].join(" ");
  return [
    section(doc.title ?? "Flame graph", about, doc.broke_off && h("p", { class: "remark" }, brokeOff), rootedFlame(doc, show), leftOut(doc)),
    all.some((d) => (d.schema === "tare/report/1" && d.rows) || d.schema === "tare/summarize/1") ? null : section("Frames", "the same, added up by name", room), codeOf(all)?.section,
  ];
}
