// tare/history-plot/1: the values of series over commits, change points marked; a click on a point shows its commit.
import { charts } from "./chart.js";
import { clip, exactPercent, full, plain, quality, toNumber } from "./format.js";
import { h, newId, section } from "./dom.js";
import { unpack } from "./packed.js";
import { table } from "./table.js";

const FIRST = 20; // charts that are shown at once
const LINES = 6; // conditions with a line of their own
const day = (seconds) => (Number.isFinite(seconds) && Math.abs(seconds) < 8e12 ? new Date(seconds * 1000).toISOString() : "?");
const shortCommit = (name) => (/^[0-9a-f]{40,}$/.test(name) ? name.slice(0, 12) : clip(name, 60));
const signed = (x, show) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${show(x < 0 ? -x : x)}`;

/** The commits, which all series share. The string of names is split when the first name is needed. */
function commitsOf(c) {
  const times = unpack(c.times), dirty = unpack(c.dirty);
  let names, subjects;
  return {
    time: (i) => times[i],
    dirty: (i) => dirty[i] > 0,
    name: (i) => (names ??= c.names.split("\n"))[i],
    subject: (i) => (subjects ??= c.subjects.split("\n"))[i],
  };
}

/** The numbers of a series, unpacked when its chart is first drawn. Values above 2^53 keep their digits in `digits`. */
function numbersOf(s) {
  const column = (name) => unpack(s.columns[name]), group = column("conditions"), commit = column("commit"), values = column("value");
  const digits = (name) => { const c = s.columns[name]; return Array.isArray(c) ? (i) => c[i] : (i) => column(name)[i]; };
  const exact = Array.isArray(s.columns.value) ? (i) => s.columns.value[i] : (i) => values[i];
  const before = new Int32Array(values.length).fill(-1), last = new Map(), changes = new Map();
  for (let i = 0; i < values.length; i++) {
    before[i] = last.get(group[i]) ?? -1;
    last.set(group[i], i);
    if (s.conditions[group[i]].exact && before[i] >= 0 && exact(i) !== exact(before[i])) changes.set(i, { before: exact(before[i]), after: exact(i), p: null });
  }
  for (const c of s.changes) changes.set(c.at, c.change);
  const findings = new Map((s.findings ?? []).map((f) => [f.at, f]));
  return { findings, n: values.length, group, commit, values, value: exact, before, changes, runs: column("runs"), low: s.columns.min && digits("min"), high: s.columns.max && digits("max") };
}

/** The difference of two values, with all digits, and in percent. */
function difference(from, to, unit) {
  const digits = typeof from === "string" || typeof to === "string", whole = (v) => typeof v === "string" || Number.isSafeInteger(v);
  const d = digits && whole(from) && whole(to) ? BigInt(to) - BigInt(from) : toNumber(to) - toNumber(from), base = toNumber(from);
  const amount = signed(d, (x) => plain(typeof x === "bigint" ? x.toString() : x, unit));
  return d == 0 ? "none" : base === 0 ? `${amount} (from 0)` : `${amount} (${signed(100 * Number(d) / Math.abs(base), exactPercent)})`;
}

const PARTS = { tare: "version of tare", engine: "engine", quality: "quality", isa: "CPU model", fixed: "fixed items", command: "command", machine: "machine" };
const conditionsOf = (c) => Object.entries(PARTS).filter(([key]) => c[key]).map(([key, name]) => `${name}: ${clip(c[key])}`).join("; ");
const differing = (a, b) => Object.entries(PARTS).filter(([key]) => (a[key] ?? "") !== (b[key] ?? "")).map(([key, name]) => `${name} (${clip(a[key] || "unknown", 100)}; ${clip(b[key] || "unknown", 100)})`).join(", ");

function changeText(s, data, i) {
  const c = data.changes.get(i);
  if (!c) return null;
  if (c.p === null || c.p === undefined) return difference(c.before, c.after, s.unit);
  const [a, b] = [toNumber(c.before), toNumber(c.after)];
  return `${a === 0 ? "from 0" : signed(100 * (b - a) / Math.abs(a), exactPercent)} (p = ${Number(c.p.toPrecision(2))})`;
}

/** Everything about one value. */
function details(s, data, commits, i) {
  const c = data.commit[i], unit = s.unit, before = data.before[i], rows = [];
  rows.push(["Commit", [h("code", {}, clip(commits.name(c))), commits.dirty(c) && " with uncommitted changes"]]);
  if (commits.subject(c)) rows.push(["Subject", clip(commits.subject(c))]);
  rows.push(["Date", day(commits.time(c)).replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")]);
  rows.push(["Value", [h("b", {}, plain(data.value(i), unit)), data.runs[i] > 1 && ` (${full(data.runs[i])} runs${data.low && data.low(i) !== data.high(i) ? `, ${plain(data.low(i), unit)} to ${plain(data.high(i), unit)}` : ""})`]]);
  if (before >= 0) rows.push(["Difference", [difference(data.value(before), data.value(i), unit), h("span", { class: "soft" }, ` from ${shortCommit(commits.name(data.commit[before]))}`)]]);
  else if (i > 0) rows.push(["Difference", "no earlier value has the same conditions"]);
  if (data.changes.has(i)) rows.push(["Change point", changeText(s, data, i)]);
  const found = data.findings.get(i);
  if (found?.verdict) rows.push(["Verdict", `${clip(found.verdict, 60)}${found.why ? `: ${clip(found.why, 400)}` : ""}`]);
  rows.push(["Conditions", [conditionsOf(s.conditions[data.group[i]]), i > 0 && data.group[i - 1] !== data.group[i] && h("span", { class: "soft" }, ` The previous value has other conditions, so the two are not compared: ${differing(s.conditions[data.group[i - 1]], s.conditions[data.group[i]])}.`)]]);
  return h("dl", { class: "details" }, rows.map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]));
}

/** The functions with the largest change of instructions; if the previous numbers are not known, those with the most instructions. */
function functionsOf(found) {
  if (!found?.functions) return null;
  const { rows, others } = found.functions, both = others.before !== null, all = [...rows, { function: "other code", module: "", ...others }];
  const number = (title, value) => ({ title, number: true, value: (r) => toNumber(value(r)), show: (r) => plain(value(r), "") });
  return table([
    both && { title: "Change", number: true, value: (r) => toNumber(r.after) - toNumber(r.before), show: (r) => difference(r.before, r.after, "") },
    both && number("Before", (r) => r.before), number(both ? "Now" : "Instructions", (r) => r.after),
    { title: "Function", wide: true, value: (r) => clip(r.function, 120) }, { title: "Module", value: (r) => clip(r.module, 60) },
  ].filter(Boolean), all, { caption: both ? "Instructions by function: the largest changes" : "Instructions by function", rows: all.length });
}

/** A line for each of the first kinds of conditions; values under other conditions are points. */
function linesOf(s, data) {
  const lines = s.conditions.slice(0, LINES).map(() => [[], []]), rest = [[], []];
  if (s.conditions.length === 1) return [{ values: data.values }];
  for (let i = 0; i < data.n; i++) {
    const [x, y] = lines[data.group[i]] ?? rest;
    x.push(i);
    y.push(data.values[i]);
  }
  return [...lines.map(([at, values]) => ({ at, values })), ...(rest[0].length ? [{ at: rest[0], values: rest[1], points: true }] : [])];
}

function chart(s, commits) {
  const data = numbersOf(s), panel = h("div", { class: "picked", role: "status", "aria-live": "polite" }), index = Float64Array.from({ length: data.n }, (_, i) => i);
  const marks = [...data.changes.keys()].sort((a, b) => a - b);
  const up = (i) => toNumber(data.changes.get(i).after) > toNumber(data.changes.get(i).before);
  const step = (to, name) => h("button", { type: "button", disabled: to < 0 || to >= data.n || to === undefined, onclick: () => pick(to, true) }, name);
  function pick(i, look) {
    const at = marks.findIndex((m) => m >= i), later = at < 0 ? undefined : marks[at] > i ? marks[at] : marks[at + 1], earlier = marks[(at < 0 ? marks.length : at) - 1];
    panel.replaceChildren(...[details(s, data, commits, i), functionsOf(data.findings.get(i))].filter(Boolean), h("div", { class: "tools" }, step(i - 1, "previous value"), step(i + 1, "next value"),
      marks.length > 0 && [step(earlier ?? -1, "previous change"), step(later ?? -1, "next change")]));
    plots.pick(i, look);
  }
  const said = (i) => `${shortCommit(commits.name(data.commit[i]))}${commits.dirty(data.commit[i]) ? " +" : ""} ${day(commits.time(data.commit[i])).slice(0, 10)}: ${plain(data.value(i), s.unit)}${data.changes.has(i) ? `, change ${changeText(s, data, i)}` : ""}`;
  const plots = charts({ name: "commits", unit: "", values: index }, [{ name: s.event, unit: s.unit, values: data.values, lines: linesOf(s, data) }], {
    whole: true, fit: true, heads: false, marks, up, said, pick: (i) => pick(i, false),
    labels: (i) => (Number.isInteger(i) && i >= 0 && i < data.n ? day(commits.time(data.commit[i])).slice(0, 10) : ""),
  });
  return h("div", {}, plots, s.conditions.length > 1 && legend(s), marks.length > 0 && changesOf(s, data, commits, marks, pick), panel);
}

/** The legend: the conditions of each line. */
function legend(s) {
  const swatch = (i) => h("span", { class: "swatch", style: { background: i < LINES ? `var(--c${i})` : "var(--soft)" } });
  return [h("p", { class: "about" }, "Values are compared, and connected by a line, only under the same conditions:"),
    h("ul", { class: "lines" }, s.conditions.slice(0, LINES).map((c, i) => h("li", {}, swatch(i), i ? `differs from the first in: ${differing(s.conditions[0], c)}` : conditionsOf(c))),
      s.conditions.length > LINES && h("li", {}, swatch(LINES), `${full(s.conditions.length - LINES)} other conditions, as points without a line`))];
}

function changesOf(s, data, commits, marks, pick) {
  const newest = [...marks].reverse();
  return h("details", {}, h("summary", {}, `${full(marks.length)} change${marks.length === 1 ? "" : "s"}`), table([
    { title: "Commit", value: (i) => shortCommit(commits.name(data.commit[i])), show: (i) => h("button", { type: "button", class: "plain", onclick: () => pick(i, true) }, shortCommit(commits.name(data.commit[i]))) },
    { title: "Date", value: (i) => day(commits.time(data.commit[i])).slice(0, 10) },
    { title: "Value", number: true, value: (i) => data.values[i], show: (i) => plain(data.value(i), s.unit) },
    { title: "Change", number: true, value: (i) => toNumber(data.changes.get(i).after) - toNumber(data.changes.get(i).before), show: (i) => changeText(s, data, i) },
    { title: "Subject", wide: true, value: (i) => clip(commits.subject(data.commit[i]), 120) },
  ], newest, { caption: "Changes", search: "Filter changes", rows: 10 }));
}

const nameOf = (s) => `${clip(s.benchmark)}: ${s.event}${s.region ? ` in ${s.region}` : ""}`;

/** A chart is made when it first comes into view. */
function lazily(make) {
  const box = h("div", { class: "later" });
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((e) => e.isIntersecting)) return;
    watch.disconnect();
    box.className = "";
    box.append(make());
  }, { rootMargin: "400px" });
  watch.observe(box);
  addEventListener("beforeprint", () => { if (box.className) { watch.disconnect(); box.className = ""; box.append(make()); } });
  return box;
}

function seriesBox(s, commits) {
  const last = s.conditions.at(-1);
  return h("article", { class: "series", "data-series": nameOf(s) }, h("h3", { class: "name" }, nameOf(s), s.unit && h("span", { class: "soft" }, `, ${s.unit}`), " ", last && quality(last.quality)), lazily(() => chart(s, commits)));
}

export function history(doc) {
  const commits = commitsOf(doc.commits), total = doc.series.reduce((n, s) => n + (s.columns.value.n ?? s.columns.value.length), 0);
  const rows = [["Series", full(doc.series.length)], ["Values", full(total)], ["Commits", full(doc.commits.n)]];
  const room = h("div"), count = h("span", { class: "count", role: "status", "aria-live": "polite" }), id = newId("f");
  const more = h("button", { type: "button", class: "more", onclick: () => { shown += 5 * FIRST; draw(); } });
  let words = [], shown = FIRST;
  const boxes = new Map();
  function draw() {
    const left = doc.series.filter((s) => words.every((w) => nameOf(s).toLowerCase().includes(w))), now = left.slice(0, shown);
    room.replaceChildren(...now.map((s) => { if (!boxes.has(s)) boxes.set(s, seriesBox(s, commits)); return boxes.get(s); }));
    more.hidden = now.length === left.length;
    more.textContent = `show more of ${full(left.length)} series`;
    count.textContent = words.length ? `${full(left.length)} of ${full(doc.series.length)}` : "";
    if (!left.length) room.append(h("p", { class: "empty" }, doc.series.length ? "nothing matches" : "The history has no values."));
  }
  draw();
  const filter = doc.series.length > 3 && h("div", { class: "tools" }, h("label", { for: id }, "Filter series"),
    h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", oninput: (e) => { words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean); shown = FIRST; draw(); } }), count);
  return [h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))))),
    section("Series", "Values in the order of their commits; change points are marked: ▲ more, ▼ less. Click a point for its commit; drag to zoom. The value axis does not begin at 0.", filter, room, more)];
}
export const historyTitle = () => ({ title: "", kind: "tare history" });
