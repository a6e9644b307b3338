// tare/windows/1: all counters in each window of a run, thread by thread.
import { charts } from "./chart.js";
import { h, section } from "./dom.js";
import { full, partial, plain, quality, short, toNumber } from "./format.js";
import { bin, histogram } from "./histogram.js";
import { size, unpack } from "./packed.js";
import { table } from "./table.js";

function every(doc) {
  const { event } = doc.events[0];
  if (doc.mode === "poll") return `every ${short(doc.every, "ns")}`;
  return /^(task|cpu)-clock/.test(event) ? `every ${short(doc.every, "ns")} of ${event}` : `every ${full(doc.every)} ${event}`;
}

const rest = (doc) => doc.events.map(({ event, unit }, i) => (unit === "ns" ? `${short(doc.rest[i], unit)} of ${event}` : `${full(doc.rest[i])} ${event}`)).join(", ");

function facts(doc) {
  const windows = doc.threads.reduce((n, t) => n + t.whole, 0);
  const rows = [["Windows", full(windows), every(doc)], ["Threads", full(doc.threads.length)],
    ["Wall", short(doc.wall_ns, "ns")], ["Engine", doc.engine, quality(doc.quality)]];
  const remarks = [toNumber(doc.lost) > 0 && `${full(doc.lost)} windows were lost because a buffer was full: the ones after them are longer.`, toNumber(doc.throttled) > 0 && `The kernel paused sampling ${full(doc.throttled)} times.`,
    doc.kernel_left_out && "The kernel is excluded: this user may not count it.", doc.children_left_out && "Only the first thread is here: this kernel cannot read groups in children.",
    ...(doc.uncounted_processes ?? []).map(partial),
    doc.uncounted && !doc.uncounted_processes && `Not all of the command was counted: ${doc.uncounted}.`,
    doc.never_began && "A signal ended the command before its first instruction.",
    doc.rest && `${rest(doc)} came after the last window of each thread${doc.threads_without_windows ? `, or of ${full(doc.threads_without_windows)} threads without a window` : ""}: no row has them.`,
    doc.rests_unknown && "The counts of some threads after their last window are not known."].filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    remarks.map((text) => h("p", { class: "remark" }, text)));
}

/** The rest after a thread's last complete window is not a window: it is left out, unless there is nothing else. */
const wholeOf = (t, values) => (t.whole ? values.slice(0, t.whole) : values);
const hasRest = (t) => t.whole > 0 && t.whole < size(t.columns.begin);

/** A thread's metrics first, then its events; last the one that defines the windows, which is nearly the same in each. */
function seriesOf(doc, t) {
  const scaled = (e, values) => (e.scale === 1 ? values : values.map((v) => v * e.scale)), column = (values) => wholeOf(t, unpack(values));
  return [...doc.metrics.map((m, i) => ({ name: m.metric, unit: m.unit, values: column(t.columns.metrics[i]) })),
    ...doc.events.map((e, i) => [e, i]).sort((a, b) => (a[1] === 0) - (b[1] === 0)).map(([e, i]) => ({ name: e.event, unit: e.unit, values: scaled(e, column(t.columns.events[i])) }))];
}

function thread(doc, t) {
  const first = doc.events[0], list = seriesOf(doc, t), room = h("div"), spread = h("div");
  const since = (at) => (typeof at[0] === "string" ? at.map((v) => Number(BigInt(v) - BigInt(at[0]))) : unpack(at).map((v, _, all) => v - all[0]));
  const axes = [[first.event, () => ({ name: first.event, unit: first.unit, values: wholeOf(t, unpack(t.columns.begin)) })], ["time", () => ({ name: "time", unit: "ns", values: wholeOf(t, since(t.columns.time_ns)) })]];
  const distribution = (s) => spread.replaceChildren(histogram(bin(s.values), (v) => short(v, s.unit), `how often each value of ${s.name} occurred`));
  const show = ([name, make]) => {
    const x = make(), phases = t.phases.length > 1 ? t.phases.map((p) => ({ at: x.values[p.first_window - 1], name: String(p.phase) })) : undefined;
    room.replaceChildren(charts(x, list, { phases }), phases ? h("p", { class: "about" }, `The background shows the phases along ${name}, with their numbers: parts with the same number are alike.`) : "");
  };
  show(axes[0]);
  if (list.length) distribution(list[0]);
  const pick = (label, options, f) => h("label", {}, label, " ", h("select", { onchange: (e) => f(options[e.target.selectedIndex][1]) }, options.map(([n]) => h("option", {}, n))));
  return h("div", {}, h("div", { class: "tools" }, pick("Along:", axes.map((a) => [a[0], a]), show)), room,
    h("div", { class: "tools" }, pick("Distribution:", list.map((s) => [s.name, s]), distribution)), spread,
    hasRest(t) && h("p", { class: "remark" }, "The rest after the thread's last complete window is not included."),
    t.phases.length > 1 && [h("h3", {}, "Phases"), table([
      { title: "Phase", number: true, value: (p) => p.phase, show: (p) => String(p.phase) },
      { title: "From window", number: true, value: (p) => p.first_window, show: (p) => full(p.first_window) },
      { title: "Windows", number: true, value: (p) => p.windows, show: (p) => full(p.windows) },
      ...list.slice(0, 6).map((s) => ({ title: s.name, about: "mean over the phase", number: true, value: (p) => mean(s.values, p), show: (p) => plain(Number(mean(s.values, p)?.toPrecision(6) ?? NaN), s.unit) })),
    ], t.phases, { caption: "Phases", search: "Filter phases" })]);
}

function mean(values, phase) {
  const part = values.slice(phase.first_window - 1, phase.first_window - 1 + phase.windows).filter((v) => v !== null && !Number.isNaN(v));
  return part.length ? part.reduce((a, b) => a + b, 0) / part.length : null;
}

/** One thread at a time: the one with the most windows first. */
export function windows(doc) {
  const threads = doc.threads.filter((t) => size(t.columns.begin)).sort((a, b) => size(b.columns.begin) - size(a.columns.begin)), room = h("div");
  if (!threads.length) return [facts(doc)];
  const show = (t) => room.replaceChildren(thread(doc, t));
  show(threads[0]);
  return [facts(doc), section("Windows", null, threads.length > 1 && h("div", { class: "tools" }, h("label", {}, "Thread: ", h("select", { onchange: (e) => show(threads[e.target.selectedIndex]) },
    threads.map((t) => h("option", {}, `${t.comm} ${t.tid}, ${full(t.whole)} windows`))))), room)];
}
export const windowsTitle = (doc) => ({ title: doc.command?.join(" ") ?? "", kind: "tare windows" });
