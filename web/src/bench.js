// tare/bench/1: the cost of a few lines of code; each counter's distribution, and the runs in their order, which shows a drift.
import { charts } from "./chart.js";
import { h, section } from "./dom.js";
import { fixed, full, quality, real, short } from "./format.js";
import { bin, histogram } from "./histogram.js";
import { table } from "./table.js";

const plainName = (event) => event.match(/^exact\/(.+)\/$/)?.[1] ?? event;
// The same digits as in text: digits_of(); two numbers of one kind get as many as the one with more.
const digitsOf = (v) => (Number.isInteger(v) ? 0 : Math.abs(v) >= 1000 ? 0 : Math.abs(v) >= 100 ? 1 : Math.abs(v) >= 1 ? 2 : 4);
const value = (v) => (v === null ? "" : real(v, digitsOf(v)));
function both(v, other) {
  if (v === null || other === null) return value(v);
  const most = Math.max(digitsOf(v), digitsOf(other));
  return real(v, most > 2 && Math.max(Math.abs(v), Math.abs(other)) >= 1 ? 2 : most);
}
const varies = (r) => r.min !== r.max || r.low !== r.high;

function facts(doc) {
  const c = doc.conditions, one = doc.variants.length === 1;
  const order = { one: "", abba: "interleaved: A B B A", shuffled: `shuffled, seed ${c.seed}` }[c.order];
  const rows = [["Runs", full(c.runs), [!one && "of each", order].filter(Boolean).join(", ")], ["Warm-up", full(c.warmup)], ["Baselines", full(c.baselines)],
    ["CPU", c.cpu ?? "any"], ["Caches", { none: "warm", flush: "buffers flushed", evict: "emptied" }[c.cold]], c.clock_hz && ["Clock", `${short(c.clock_hz / 1e6)} MHz`]].filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, String(v)), more && h("dd", { class: "more-soft" }, more)))),
    doc.counters.filter((k) => k.reason).map((k) => h("p", { class: "remark" }, `${k.event} is unavailable: ${k.reason}`)), doc.remarks.map((r) => h("p", { class: "remark" }, r)));
}

function results(doc) {
  const rows = doc.results.filter((r) => r.value !== 0 || varies(r)), zero = [...new Set(doc.results.map((r) => r.event))].filter((e) => !rows.some((r) => r.event === e));
  const bytes = rows.some((r) => r.per_byte !== null), many = doc.variants.length > 1;
  return section("Per operation", "The mean of the middle half of the runs, minus the same of the baseline. The interval is a 95 % confidence interval that includes the baseline's uncertainty.", table([
    many && { title: "Test", wide: true, value: (r) => doc.variants[r.variant].name },
    { title: "Counter", value: (r) => plainName(r.event) },
    { title: "Value", number: true, value: (r) => r.value, show: (r) => (varies(r) || Number.isInteger(r.value) ? value(r.value) : real(r.value, 4)) },
    { title: "From", number: true, value: (r) => r.low, show: (r) => (!varies(r) ? "" : r.low === null ? "too few to say" : both(r.low, r.high)) },
    { title: "To", number: true, value: (r) => r.high, show: (r) => (varies(r) ? both(r.high, r.low) : "") },
    { title: "Smallest run", number: true, value: (r) => r.min, show: (r) => (varies(r) ? both(r.min, r.max) : "") },
    { title: "Largest run", number: true, value: (r) => r.max, show: (r) => (varies(r) ? both(r.max, r.min) : "") },
    { title: "Outliers", number: true, value: (r) => r.outliers, show: (r) => (r.outliers ? full(r.outliers) : "") },
    bytes && { title: "Per byte", number: true, value: (r) => r.per_byte, show: (r) => value(r.per_byte) },
    { title: "Start and stop", about: "the cost of a pair of marks, which is already subtracted", number: true, value: (r) => r.baseline.value, show: (r) => value(r.baseline.value) },
    { title: "", value: (r) => r.quality, show: (r) => quality(r.quality) },
  ].filter(Boolean), rows, { caption: "Per operation", search: "Filter counters" }), zero.length > 0 && h("p", { class: "about" }, `0 in every run: ${zero.map(plainName).join(", ")}.`));
}

function verdicts(doc) {
  const rows = doc.verdicts.filter((v) => v.verdict !== "no difference" || v.half > 0);
  if (!doc.verdicts.length) return null;
  return section("Compared", `Against ${doc.variants[0].name}. The middles of batches of runs, by Student's test, with the baselines' uncertainty added.`, table([
    { title: "Test", wide: true, value: (v) => doc.variants[v.variant].name },
    { title: "Counter", value: (v) => plainName(v.event) },
    { title: "Verdict", value: (v) => v.verdict },
    { title: "Change", number: true, value: (v) => v.change, show: (v) => (v.half ? both(v.change, v.half) : value(v.change)) },
    { title: "±", number: true, value: (v) => v.half, show: (v) => (v.half ? both(v.half, v.change) : "") },
    { title: "Percent", number: true, value: (v) => v.percent, show: (v) => (v.percent === null ? "" : `${fixed(v.percent, Math.abs(v.percent) >= 100 ? 0 : 1)} %`) },
    { title: "p", number: true, value: (v) => v.p, show: (v) => (v.p === null ? "" : v.p < 0.0001 ? "< 0.0001" : fixed(v.p, 4)) },
  ], rows, { caption: "Compared", empty: "no difference in any counter" }));
}

/** One counter at a time, first one that varies; the table shows the others. */
function plots(doc) {
  const events = [...new Set(doc.results.filter(varies).map((r) => r.event))], room = h("div");
  if (!events.length) return null;
  const show = (event) => {
    const of = doc.results.filter((r) => r.event === event), runs = Array.from({ length: doc.conditions.runs }, (_, i) => i + 1);
    room.replaceChildren(charts({ name: "run", unit: "", values: runs }, of.map((r) => ({ name: doc.variants[r.variant].name, unit: "", values: r.per_operation })), { points: true, whole: true }),
      ...of.map((r) => histogram(bin(r.per_operation), (v) => short(v), `how often each value of ${plainName(event)} occurred: ${doc.variants[r.variant].name}`)));
  };
  show(events[0]);
  return section("Runs", "In the order in which they ran, and how they are distributed.", events.length > 1 && h("div", { class: "tools" }, h("label", {}, "Counter: ",
    h("select", { onchange: (e) => show(events[e.target.selectedIndex]) }, events.map((e) => h("option", {}, plainName(e)))))), room);
}

export const bench = (doc) => [facts(doc), results(doc), verdicts(doc), plots(doc)].filter(Boolean);
export const benchTitle = (doc) => ({ title: doc.variants.map((v) => v.name).join(", "), kind: "tare bench" });
