// tare/diff/1: recordings of regions, before and after a change; what changed by more than the noise.
import { h, section } from "./dom.js";
import { full, plain, quality, short, toNumber } from "./format.js";
import { table } from "./table.js";

const reasons = { lost: "points lost", few_runs: "too few runs to tell", resolution: "too few runs to tell" };
const signed = (x, show) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${show(Math.abs(x))}`;
const counters = (doc, of) => doc.counters.filter((c) => of.counters[c.counter]);
const change = (c, unit) => [h(c.beyond ? "b" : "span", {}, signed(toNumber(c.change), (x) => plain(x, unit))), c.half_95 !== undefined && h("span", { class: "margin" }, ` ± ${plain(Number(c.half_95.toPrecision(3)), unit)}`)];
const percentOf = (c) => (c.percent === null ? (toNumber(c.after.mean) ? "new" : "") : toNumber(c.after.mean) === 0 && toNumber(c.before.mean) ? "gone" : signed(c.percent, (x) => short(x, "%", 3)));

function facts(doc) {
  const runs = (n) => `${full(n)} ${n === 1 ? "recording" : "recordings"}`;
  const rows = [...counters(doc, doc.all).map((c) => { const w = doc.all.counters[c.counter].whole ?? doc.all.counters[c.counter].self; return w && [c.counter, [percentOf(w) || "no change"], [plain(w.before.mean, c.unit), " → ", plain(w.after.mean, c.unit), w.beyond === false && toNumber(w.change) !== 0 ? (w.reason ? `, ${reasons[w.reason]}` : ", within the noise") : ""].join("")]; }).filter(Boolean),
    ["Before", runs(doc.before.length)], ["After", runs(doc.after.length)], ["Labels", full(doc.labels.length)]];
  const remarks = [doc.test === null && "With one recording on each side nothing is known of the noise: no change here is called sure.", doc.own_cost_subtracted && "What the recording itself cost was taken off.",
    ...[...doc.before, ...doc.after].map((r) => r.copy_of && `${r.path} has the very content of ${r.copy_of}: a copy is no further run, and hides the noise.`),
    ...[...doc.before, ...doc.after].map((r) => r.damage && `${r.path} is damaged: ${r.damage}`)].filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    remarks.map((text) => h("p", { class: "remark" }, text)));
}

function one(doc, { counter, unit, quality: q }) {
  const rows = doc.labels.filter((l) => l.counters[counter]?.self), of = (l, what = "self") => l.counters[counter][what];
  const mean = (side, title) => ({ title, number: true, value: (l) => toNumber(of(l)[side].mean), show: (l) => h("span", { title: of(l)[side].runs.map((v) => full(v, unit)).join(", ") }, plain(of(l)[side].mean, unit)) });
  const changed = (what, title, about) => ({ title, about, number: true, value: (l) => (of(l, what) ? toNumber(of(l, what).change) : null), show: (l) => (of(l, what) ? change(of(l, what), unit) : "") });
  return section(`What changed in ${counter}`, ["Each number is ", quality(q), ", the mean of its recordings."], table([
    { title: "Label", wide: true, value: (l) => l.label, text: (l) => `${l.label} ${[l.kind, ...l.arguments].filter(Boolean).join(", ")}`, show: (l) => [h("b", {}, l.label), " ", h("span", { class: "soft" }, [l.kind, ...l.arguments].filter(Boolean).join(", "))] },
    doc.test && { title: "Sure", about: "more or less: it exceeds the noise; of what is said so a twentieth at most is by chance", value: (l) => (!of(l).beyond ? reasons[of(l).reason] ?? "" : toNumber(of(l).change) > 0 ? "more" : "less") },
    { ...changed("self", "Self changed", "without the regions inside; ± its interval of 95 %")},
    { title: "In percent", number: true, value: (l) => of(l).percent, show: (l) => percentOf(of(l)) },
    mean("before", "Before"), mean("after", "After"), changed("total", "Total changed", "with the regions inside"),
  ].filter(Boolean), rows, { caption: `What changed in ${counter}`, search: "Filter labels" }));
}

export const diff = (doc) => [facts(doc), ...doc.counters.map((c) => one(doc, c))];
export const diffTitle = (doc) => ({ title: `${doc.after.map((r) => r.path).join(" ")}, before: ${doc.before.map((r) => r.path).join(" ")}`, kind: "tare diff" });
