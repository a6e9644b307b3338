// tare/diff/1: recordings of regions, before and after a change, and the changes that exceed the noise.
import { h, section } from "./dom.js";
import { full, plain, quality, short, toNumber } from "./format.js";
import { table } from "./table.js";

const reasons = { lost: "points lost", names: "names lost", few_runs: "too few runs to tell", resolution: "too few runs to tell" };
const signed = (x, show) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${show(Math.abs(x))}`;
const counters = (doc, of) => doc.counters.filter((c) => of.counters[c.counter]);
const change = (c, unit) => c.change === null ? ["unknown"] : [h(c.beyond ? "b" : "span", {}, signed(toNumber(c.change), (x) => plain(x, unit))), c.half_95 > 0 && c.reason !== "names" && h("span", { class: "margin" }, ` ± ${plain(Math.round(c.half_95), unit)}`)];
const percentOf = (c) => (c.change === null || (c.reason === "names" && (c.percent === null || toNumber(c.after.mean) === 0)) ? "" : c.percent === null ? (toNumber(c.after.mean) ? "new" : "") : toNumber(c.after.mean) === 0 && toNumber(c.before.mean) ? "gone" : signed(c.percent, (x) => short(x, "%", 3)));

const tests = { welch: "Welch's t test, or Student's if its p is larger", student: "Student's t test, assuming that the single recording has the noise of the others", rank: "rank (a single recording is the smallest or the largest of all), if its p is larger", barnard: "Barnard's test, if the recordings of each side are equal" };
const changes = (doc) => doc.counters.flatMap(({ counter, quality: q }) => [doc.all, ...doc.labels].flatMap((l) => ["whole", "outside", "detached", "self", "total"].map((what) => l.counters[counter]?.[what]).filter(Boolean).map((c) => ({ ...c, counter, exact: q === "exact" }))));

// Notes about the verdicts: the test, whether there are too few runs, other possible causes.
export function remarksOf(doc) {
  const all = changes(doc).filter((c) => c.change !== null && toNumber(c.change) !== 0), by = Object.keys(tests).filter((t) => all.some((c) => c.test === t && c.reason !== "lost"));
  const enough = (reason) => Math.max(0, ...all.filter((c) => c.reason === reason).map((c) => c.enough_runs)), few = enough("few_runs"), small = enough("resolution");
  const exact = doc.one_thread && all.find((c) => c.exact && (c.beyond || c.reason === "few_runs"));
  return [doc.test === null && "With one recording on each side the noise is not known: no change here is judged.",
    by.length > 0 && `p is by ${by.map((t) => tests[t]).join(", or ")}. A change exceeds the noise if q, which is p adjusted by Benjamini and Hochberg, is at most 0.05: of all reported changes, at most 5 % are expected to be by chance.`,
    few > 0 && doc.test && `Too few runs to tell: if the recordings of each side are equal, or one side has a single one, some changes may be noise that shows in only some runs. ${few} + ${few} runs are enough.`,
    small > 0 && `Too few runs to tell: exact counts of several threads that differ by at most 4,000, or 0.01 %, which the order of threads can explain. ${small} + ${small} runs are enough.`,
    changes(doc).some((c) => c.reason === "names") && "Names of labels were lost: their regions may belong to any label that the recording does not show, or shows in part. Changes of those are not judged.",
    exact && `${exact.counter} is exact, and each recording has points of one thread: the executed code differs. The cause may be the change, or input, environment (its size, paths), addresses, random numbers or time, or other threads, if there are any without regions.`].filter(Boolean);
}

function facts(doc) {
  const runs = (n) => `${full(n)} ${n === 1 ? "recording" : "recordings"}`;
  const rows = [...counters(doc, doc.all).map((c) => { const w = doc.all.counters[c.counter].whole ?? doc.all.counters[c.counter].self; return w && [c.counter, [percentOf(w) || "no change"], [plain(w.before.mean, c.unit), " → ", plain(w.after.mean, c.unit), w.beyond === false && toNumber(w.change) !== 0 ? (w.reason ? `, ${reasons[w.reason]}` : ", within the noise") : ""].join("")]; }).filter(Boolean),
    ["Before", runs(doc.before.length)], ["After", runs(doc.after.length)], ["Labels", full(doc.labels.length)]];
  const remarks = [...remarksOf(doc), doc.own_cost_subtracted && "The overhead of recording was subtracted.",
    ...[...doc.before, ...doc.after].map((r) => r.copy_of && `${r.path} has exactly the content of ${r.copy_of}: a copy is not a further run, and hides the noise.`),
    ...[...doc.before, ...doc.after].map((r) => r.damage && `${r.path} is damaged: ${r.damage}`),
    ...[...doc.before, ...doc.after].map((r) => r.live && `${r.path}: ${r.live}`)].filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    remarks.map((text) => h("p", { class: "remark" }, text)));
}

function one(doc, { counter, unit, quality: q }) {
  // Without them the rows do not add up to the whole.
  const single = [["outside", "(in no region)"], ["detached", "(detached timings, not in all)"]].map(([what, label]) => ({ label, arguments: [], counters: { [counter]: { self: doc.all.counters[counter]?.[what] } } }));
  const thereIs = (c) => c && [...c.before.runs, ...c.after.runs].some((v) => toNumber(v) !== 0), of = (l, what = "self") => l.counters[counter][what];
  const rows = [...doc.labels.filter((l) => l.counters[counter]?.self), ...single.filter((l) => thereIs(l.counters[counter].self))];
  const mean = (side, title) => ({ title, number: true, value: (l) => (of(l)[side] ? toNumber(of(l)[side].mean) : null), show: (l) => (of(l)[side] ? h("span", { title: of(l)[side].runs.map((v) => full(v, unit)).join(", ") }, plain(of(l)[side].mean, unit)) : "?") });
  const changed = (what, title, about) => ({ title, about, number: true, value: (l) => (of(l, what) && of(l, what).change !== null ? toNumber(of(l, what).change) : null), show: (l) => (of(l, what) ? change(of(l, what), unit) : "") });
  return section(`Changes of ${counter}`, ["Each number is ", quality(q), ", the mean of its recordings."], table([
    { title: "Label", wide: true, value: (l) => l.label, text: (l) => `${l.label} ${[l.kind, ...l.arguments].filter(Boolean).join(", ")}`, show: (l) => [h("b", {}, l.label), " ", h("span", { class: "soft" }, [l.kind, ...l.arguments].filter(Boolean).join(", "))] },
    doc.test && { title: "Sure", about: "more or less: it exceeds the noise, with a q of at most 0.05", value: (l) => (!of(l).beyond ? reasons[of(l).reason] ?? "" : toNumber(of(l).change) > 0 ? "more" : "less") },
    { ...changed("self", "Self changed", "without the regions inside; ± half of its 95 % confidence interval")},
    { title: "In percent", number: true, value: (l) => of(l).percent, show: (l) => percentOf(of(l)) },
    mean("before", "Before"), mean("after", "After"), changed("total", "Total changed", "with the regions inside"),
  ].filter(Boolean), rows, { caption: `Changes of ${counter}`, search: "Filter labels" }));
}

export const diff = (doc) => [facts(doc), ...doc.counters.map((c) => one(doc, c))];
export const diffTitle = (doc) => ({ title: `${doc.after.map((r) => r.path).join(" ")}, before: ${doc.before.map((r) => r.path).join(" ")}`, kind: "tare diff" });
