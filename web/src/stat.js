// tare/stat/1: the counts of a command, each number with its quality and its spread.
import { charts } from "./chart.js";
import { h, section } from "./dom.js";
import { explain } from "./explain.js";
import { full, interval, known, percent, plain, quality, qualityRank, real, short, toNumber } from "./format.js";
import { bin, histogram } from "./histogram.js";
import { strip } from "./strip.js";
import { table } from "./table.js";

const key = (e) => ["socket", "die", "core", "cpu", "node"].filter((k) => known(e[k])).map((k) => `${k} ${e[k]}`)
  .concat(e.comm ? [`${e.comm}${known(e.thread) ? `-${e.thread}` : ` #${e.process_number ?? e.thread_number}`}`] : [], e.cgroup ? [e.cgroup] : []).join(", ");

// The unit and the digits as in text, the same for all runs of an event: scale_of().
const scaleOf = (e) => (e.unit === "ns" ? (toNumber(e.median) >= 1e10 ? [1e9, "s", 3] : toNumber(e.median) >= 1e5 ? [1e6, "ms", 2] : [1e3, "µs", 1]) : null);
function shown(e, v) {
  const [by, name, digits] = scaleOf(e) ?? [];
  return by ? `${real(toNumber(v) / by, digits)} ${name}` : [e.min, e.median, e.max].some((x) => typeof x === "number" && !Number.isInteger(x)) ? `${real(v, 2)} ${e.unit}` : plain(v, e.unit);
}

const equal = (e) => e.quality === "exact" && toNumber(e.low) === toNumber(e.high);
const spreadText = (e) => (e.n > 1 && equal(e) ? `all ${e.n} equal` : interval(e));
const spreadWords = "±: half of a 95 % confidence interval of the median (six runs or more); range: largest minus smallest; limits: with an assumption about the time in which the event was not counted. All in percent of the median";

// In text, JSON, CSV and here, rows that include engine overhead follow all others, and have this mark.
const mark = (e) => e.with_engine_work && h("span", { class: "soft", title: "includes engine overhead" }, " +engine");

function events(doc) {
  const rows = doc.events.filter((e) => known(e.value)), several = rows.some((e) => e.n > 1), keyed = rows.some(key), shared = rows.some((e) => e.share < 1);
  return rows.length ? section("Events", several ? `median of ${doc.runs_each} runs${doc.conditions.batches > 1 + !!doc.conditions.clean_times ? `, events split over ${doc.conditions.batches} rounds` : ""}` : null, table([
    { title: "Event", value: (e) => e.event, show: (e) => h("b", {}, e.event) },
    keyed && { title: "Of", value: key },
    { title: "Value", number: true, value: (e) => toNumber(e.value), show: (e) => h("span", { title: full(e.value, e.unit) }, shown(e, e.value)) },
    { title: "Quality", value: (e) => qualityRank(e.quality), text: (e) => e.quality, show: (e) => [quality(e.quality), mark(e)] },
    shared && { title: "Counted", about: "fraction of the time it was counted", number: true, value: (e) => e.share, show: (e) => percent(e.share) },
    rows.some((e) => e.interval) && { title: "Spread", about: spreadWords, number: true, value: (e) => e.interval_percent, show: (e) => (e.n > 1 && known(e.low) ? h("span", { title: `${shown(e, e.low)} to ${shown(e, e.high)}` }, spreadText(e)) : spreadText(e)) },
    several && { title: "Runs", value: () => "", show: (e) => strip(e.runs, e.outliers, e.median, e.unit) },
    several && { title: "Smallest", number: true, value: (e) => toNumber(e.min), show: (e) => shown(e, e.min) },
    several && { title: "Largest", number: true, value: (e) => toNumber(e.max), show: (e) => shown(e, e.max) },
  ].filter(Boolean), rows, { caption: "Events", search: "Filter events" })) : null;
}

function missing(doc) {
  const rows = doc.events.filter((e) => !known(e.value));
  return rows.length ? section("Unavailable", "an event that could not be counted is never shown as 0", table([
    { title: "Event", value: (e) => e.event, show: (e) => h("b", {}, e.event) },
    { title: "Why", wide: true, value: (e) => e.reason },
    { title: "Remedy", wide: true, value: (e) => e.remedy },
  ], rows, { caption: "Unavailable events" })) : null;
}

/** With the same digits and prefix as in text. */
const meant = (m, v) => (known(m.digits) ? `${real(v / ({ K: 1e3, M: 1e6, G: 1e9 }[m.prefix] ?? 1), m.digits)} ${m.prefix}${m.unit}` : short(v, m.unit));

function metrics(doc) {
  const rows = doc.metrics.filter((m) => known(m.value));
  return rows.length ? section("Metrics", "with the limits that follow from the spread of their parts", table([
    { title: "Metric", value: (m) => m.metric, show: (m) => h("b", {}, m.metric) },
    { title: "Value", number: true, value: (m) => m.value, show: (m) => meant(m, m.value) },
    { title: "From", number: true, value: (m) => m.low, show: (m) => meant(m, m.low) },
    { title: "To", number: true, value: (m) => m.high, show: (m) => meant(m, m.high) },
    { title: "Quality", value: (m) => qualityRank(m.quality), text: (m) => m.quality, show: (m) => quality(m.quality) },
    { title: "Event", value: (m) => [m.event, key(m)].filter(Boolean).join(" ") },
  ], rows, { caption: "Metrics", search: "Filter metrics" })) : null;
}

/** Every run of an event that varied: in order, and as a distribution. `overhead`: for events that include engine overhead. */
function runs(doc, overhead) {
  const varied = doc.events.filter((e) => e.n > 2 && toNumber(e.min) !== toNumber(e.max) && !e.with_engine_work === !overhead);
  if (doc.runs < 3 || !varied.length) return null;
  const room = h("div");
  const show = (e) => room.replaceChildren(
    charts({ name: "run", unit: "", values: e.runs.map((_, i) => i + 1) }, [{ name: e.event, unit: e.unit, values: e.runs.map(toNumber) }], { points: true, whole: true }),
    e.n >= 20 ? histogram(bin(e.runs.map(toNumber)), (v) => short(v, e.unit), `how often each value of ${e.event} occurred`) : "");
  show(varied[0]);
  return section(overhead ? "Runs +engine" : "Runs", "one after the other: a trend here is not noise",
    h("div", { class: "tools" }, h("label", {}, "Event: ", h("select", { onchange: (e) => show(varied[e.target.selectedIndex]) },
      varied.map((e) => h("option", {}, [e.event, key(e)].filter(Boolean).join(" ")))))), room);
}

function profile(doc) {
  const rows = doc.profile;
  if (!rows?.length) return null;
  const sum = toNumber(doc.profile_about?.instructions ?? 0) || rows.reduce((s, r) => s + toNumber(r.instructions), 0);
  const lines = rows.some((r) => r.line);
  return section("Profile", "executed instructions of each: exact, every one in one row", table([
    { title: "Function", wide: true, value: (r) => r.function ?? "[unknown]", show: (r) => h("b", { title: r.reason }, r.function ?? "[unknown]") },
    lines && { title: "Line", value: (r) => (r.file ? `${r.file}:${r.line}` : "") },
    { title: "Instructions", number: true, sort: "down", value: (r) => toNumber(r.instructions), show: (r) => full(r.instructions) },
    { title: "Share", number: true, value: (r) => toNumber(r.instructions) / sum, show: (r) => percent(toNumber(r.instructions) / sum, 2), bar: (r) => toNumber(r.instructions) / sum },
    { title: "Module", value: (r) => r.module, show: (r) => h("span", { title: r.module }, r.module?.replace(/.*\//, "")) },
  ].filter(Boolean), rows, { caption: "Profile", search: "Filter functions" })) ;
}

const list = (rows) => h("dl", { class: "facts" }, rows.filter(Boolean).map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more))));

function times(doc) {
  const t = doc.times_ns, spread = (v) => [interval(v), `${short(v.min, "ns")} to ${short(v.max, "ns")}`].filter(Boolean).join(", ");
  const time = (name, v) => v && [v.mean ? `${name} (mean)` : name, [short(v.value, "ns"), mark(t)], v.min !== v.max && spread(v)];
  return [time("Wall", t.wall), time("User", t.user), time("System", t.system)];
}

function facts(doc) {
  const c = doc.conditions, status = doc.exit_status === null ? null : ["Exit status", String(doc.exit_status)];
  return list([...(doc.times_ns.with_engine_work ? [] : times(doc)), ["Runs", String(doc.runs_each), c.launch === "fixed" ? "fixed memory layout" : c.aslr && "addresses randomised"],
    ["Engine", c.engine, c.engine === "exact" && "binary translation"], status]);
}

const OVERHEAD = "+engine: "; // its note is above the values that it is about

/** Values that include engine overhead, after those that do not. */
function overhead(doc) {
  if (!doc.times_ns.with_engine_work && !doc.events.some((e) => e.with_engine_work)) return [];
  return [section("Engine overhead", doc.notes.find((n) => n.startsWith(OVERHEAD)),
    doc.times_ns.with_engine_work && list(times(doc))), runs(doc, true)];
}

export function stat(doc) {
  return [h("section", { class: "lead" }, facts(doc), doc.notes.filter((n) => !n.startsWith(OVERHEAD)).map((n) => h("p", { class: "remark" }, n))),
  events(doc), explain(doc), metrics(doc), runs(doc, false), missing(doc), profile(doc), ...overhead(doc)];
}

export const statTitle = (doc) => ({ title: doc.command.length ? doc.command.join(" ") : doc.target ?? "", kind: "tare stat" });

/** tare/stat-interval/1, all of them together: each event over time. */
export function intervals(docs) {
  const x = { name: "time", unit: "ns", values: docs.map((d) => d.time_ns) }, names = new Map();
  docs.forEach((d, i) => d.events.forEach((e) => {
    const name = [e.event, key(e), e.with_engine_work && "+engine"].filter(Boolean).join(" ");
    if (!names.has(name)) names.set(name, { name, unit: e.unit, values: Array(docs.length).fill(null) });
    names.get(name).values[i] = known(e.value) ? toNumber(e.value) : null;
  }));
  const series = [...names.values()].filter((s) => s.values.some(known));
  return series.length ? section("Over time", "the counts of each interval", charts(x, series)) : null;
}
