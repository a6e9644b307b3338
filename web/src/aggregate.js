// tare/aggregate/1: several runs of the same work, compared, and the noise of every label and interval.
import { h, section } from "./dom.js";
import { explain } from "./explain.js";
import { full, interval, known, percent, plain, quality, real, short, toNumber } from "./format.js";
import { doubling, histogram } from "./histogram.js";
import { strip } from "./strip.js";
import { table } from "./table.js";

const name = (l) => (l ? [l.label, ...(l.arguments ?? [])].join(" ") : "no region");

function facts(doc) {
  const rows = [["Runs", full(doc.runs.length), doc.runs[0]?.format], ["Intervals", full(doc.intervals), `${full(doc.threads.length)} threads`],
    ["Differences", full(doc.differences), toNumber(doc.differences) === 0 ? "the runs did the same" : "the runs did not do the same"],
    ...doc.counters.map((c) => [`${c.counter} equal`, percent(toNumber(c.equal) / toNumber(c.intervals), 2), "of the intervals have the same value in all runs"])];
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    doc.runs.flatMap((r) => [r.damage, r.live].filter(Boolean).map((what) => h("p", { class: "remark" }, `${r.path}: ${what}`))));
}

/** Rounds both to the second digit of half, like put_within() for text. */
export function within(value, half) {
  const unit = half > 1e-6 * Math.abs(value) ? 10 ** (Math.floor(Math.log10(half)) - 1) : 0;
  const digits = unit === 0 ? (Math.abs(value - Math.round(value)) > 1e-6 * Math.abs(value) ? 2 : 0) : unit >= 1 ? 0 : Math.round(-Math.log10(unit));
  const nearest = (v) => Math.sign(v) * Math.round(Math.abs(v)); // round() of C
  return `${real(unit ? nearest(value / unit) * unit : value, digits)} ± ${real(unit ? Math.ceil(half / unit) * unit : 0, unit ? digits : 0)}`;
}

const point = (kind, l) => (kind === null ? "the thread ends" : l ? `${kind} of ${name(l)}` : kind);

/** The first places where the runs differ. */
function differences(doc) {
  const list = doc.first_differences;
  return list.length ? section("Where the runs differ", "the first places; the intervals on either side of them are compared", table([
    { title: "Thread", value: (d) => doc.threads[d.thread]?.name || String(doc.threads[d.thread]?.tid ?? d.thread) },
    { title: "In", wide: true, value: (d) => name(d.in) },
    { title: "After", wide: true, value: (d) => (d.after ? point(d.after_kind, d.after) : "the beginning") },
    ...doc.runs.map((_, i) => ({ title: `Run ${i + 1}`, about: "the next point, and the number of points that only this run has here", wide: true, value: (d) => (d.runs[i] ? `${point(d.runs[i].kind, d.runs[i].next)}${toNumber(d.runs[i].alone) ? `, ${full(d.runs[i].alone)} alone` : ""}` : "") })),
    list.some((d) => d.lost) && { title: "Lost", value: (d) => (d.lost ? "points are missing" : "") },
  ].filter(Boolean), list, { caption: "Differences" })) : null;
}

/** An extreme value, at one place or several. */
const extremes = (title, list, unit) => list.length > 0 && [h("h3", {}, title), table([
  { title: "Value", number: true, value: (e) => toNumber(e.value), show: (e) => plain(e.value, unit) },
  { title: "Intervals", number: true, value: (e) => toNumber(e.count), show: (e) => full(e.count) },
  { title: "Where", wide: true, value: (e) => (e.place ? `${e.place.from_kind} of ${name(e.place.from)} to ${e.place.to_kind} of ${name(e.place.to)}` : "") },
  { title: "In", value: (e) => (e.place ? name(e.place.in) : "") },
], list, { caption: title })];

function counter(doc, c) {
  const bins = c.histogram.map((b) => [toNumber(b.from), toNumber(b.to), toNumber(b.count)]);
  const rows = doc.labels.filter((l) => l.counters[c.counter]), of = (l) => l.counters[c.counter];
  const self = (l) => of(l).self?.median ?? null, noise = (l) => (of(l).self ? toNumber(of(l).self.max) - toNumber(of(l).self.min) : null); // null: not known in every run
  const counts = (list) => (new Set(list.map(String)).size === 1 ? full(list[0]) : list.filter(known).map((n) => full(n)).join(", "));
  return [section(`Noise of ${c.counter}`, ["Largest minus smallest of the runs, in each of ", full(c.intervals), " intervals. Each number is ", quality(c.quality), "."],
    bins.length > 1 && histogram(doubling(bins), (v) => short(v, c.unit), "intervals by their noise; the bins are each twice as wide as the one before"),
    toNumber(c.not_counted) > 0 && h("p", { class: "remark" }, `${full(c.not_counted)} intervals could not be counted in every run.`),
    toNumber(c.noise) !== 0 && c.causes.map((k) => h("p", { class: "remark" }, toNumber(k.intervals) === 0 ? `The noise does not correlate with ${k.counter}: it is the same in all runs wherever ${c.counter} differs.` : `${k.counter} differs in ${full(k.intervals)} of these intervals, with ${plain(k.noise, c.unit)} of the noise${k.half_95 === undefined ? "; too few to tell whether they correlate" : `${k.known ? "; there, one more of it corresponds to " : "; they do not correlate significantly: one more of it corresponds to "}${within(k.per_one, k.half_95)}${c.unit && ` ${c.unit}`} (95 %)`}.`)),
    extremes("Largest noise", c.largest_noise, c.unit), extremes("Longest intervals", c.longest, c.unit)),
  section(`Labels by ${c.counter}`, "each run is a dot, from the smallest to the largest", table([
    { title: "Label", wide: true, value: name, text: (l) => `${name(l)} ${l.kind}`, show: (l) => [h("b", {}, name(l)), " ", h("span", { class: "soft" }, l.kind)] },
    { title: "Self", about: "median of the runs", number: true, value: (l) => toNumber(self(l)), show: (l) => (of(l).self ? h("span", { title: full(self(l), c.unit) }, plain(self(l), c.unit)) : "unavailable") },
    { title: "Range", about: "largest minus smallest", number: true, sort: "down", value: noise, show: (l) => (of(l).self ? plain(noise(l), c.unit) : "") },
    { title: "Of median", about: "±: half of a 95 % confidence interval of the median of self (six runs or more); range: largest minus smallest", number: true, value: (l) => of(l).self?.interval_percent, show: (l) => interval(of(l).self) },
    { title: "Runs", value: () => "", show: (l) => (of(l).self ? strip(of(l).self.runs, [], self(l), c.unit) : "") },
    { title: "Total", about: "median of the runs", number: true, value: (l) => toNumber(of(l).total?.median ?? null), show: (l) => (of(l).total ? plain(of(l).total.median, c.unit) : "") },
    { title: "Count", number: true, value: (l) => toNumber(l.counts[0]), show: (l) => counts(l.counts) },
    rows.some((l) => l.detached) && { title: "Detached", about: "of the count: timings that are not nested in regions", number: true, value: (l) => toNumber(l.detached?.[0] ?? 0), show: (l) => (l.detached ? counts(l.detached) : "") },
  ].filter(Boolean), rows, { caption: `Labels by ${c.counter}`, search: "Filter labels" }))];
}

export const aggregate = (doc) => [facts(doc), explain(doc), differences(doc), ...doc.counters.flatMap((c) => counter(doc, c))];
export const aggregateTitle = (doc) => ({ title: doc.runs[0]?.command ?? doc.runs.map((r) => r.path).join(" "), kind: "tare aggregate" });
