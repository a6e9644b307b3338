// tare/stat/1: what a command did, each number with its quality and its spread.
import { charts } from "./chart.js";
import { h, section } from "./dom.js";
import { explain } from "./explain.js";
import { full, known, percent, plain, quality, qualityRank, short, spread, toNumber } from "./format.js";
import { bin, histogram } from "./histogram.js";
import { strip } from "./strip.js";
import { table } from "./table.js";

const key = (e) => ["socket", "die", "core", "cpu", "node"].filter((k) => known(e[k])).map((k) => `${k} ${e[k]}`)
  .concat(e.comm ? [`${e.comm}${known(e.thread) ? `-${e.thread}` : ` #${e.process_number ?? e.thread_number}`}`] : [], e.cgroup ? [e.cgroup] : []).join(", ");

function spreadText(e) {
  if (e.n < 2) return "";
  const s = spread(e.min, e.median, e.max);
  return s === 0 ? `all ${e.n} equal` : Number.isFinite(s) ? `± ${percent(s, s < 0.0005 ? 4 : 1)}` : "";
}

function events(doc) {
  const rows = doc.events.filter((e) => known(e.value)), several = rows.some((e) => e.n > 1), keyed = rows.some(key), shared = rows.some((e) => e.share < 1);
  return rows.length ? section("Events", several ? `medians of ${doc.runs} runs` : null, table([
    { title: "Event", value: (e) => e.event, show: (e) => h("b", {}, e.event) },
    keyed && { title: "Of", value: key },
    { title: "Value", number: true, value: (e) => toNumber(e.value), show: (e) => h("span", { title: full(e.value, e.unit) }, plain(e.value, e.unit)) },
    { title: "Quality", value: (e) => qualityRank(e.quality), text: (e) => e.quality, show: (e) => [quality(e.quality), e.with_engine_work && h("span", { class: "soft", title: "holds the exact engine's own work, too" }, " +engine")] },
    shared && { title: "Counted", about: "share of the time for which it had a counter", number: true, value: (e) => e.share, show: (e) => percent(e.share) },
    several && { title: "Spread", about: "half the range of the runs, of the median", number: true, value: (e) => spread(e.min, e.median, e.max), show: spreadText },
    several && { title: "Runs", value: () => "", show: (e) => strip(e.runs, e.outliers, e.median, e.unit) },
    several && { title: "Smallest", number: true, value: (e) => toNumber(e.min), show: (e) => plain(e.min, e.unit) },
    several && { title: "Largest", number: true, value: (e) => toNumber(e.max), show: (e) => plain(e.max, e.unit) },
  ].filter(Boolean), rows, { caption: "Events", search: "Filter events" })) : null;
}

function missing(doc) {
  const rows = doc.events.filter((e) => !known(e.value));
  return rows.length ? section("Not counted", "nothing is shown as 0 because it could not be counted", table([
    { title: "Event", value: (e) => e.event, show: (e) => h("b", {}, e.event) },
    { title: "Why", wide: true, value: (e) => e.reason },
    { title: "What helps", wide: true, value: (e) => e.remedy },
  ], rows, { caption: "Events that could not be counted" })) : null;
}

function metrics(doc) {
  const rows = doc.metrics.filter((m) => known(m.value));
  return rows.length ? section("Metrics", "with the limits that follow from the spread of their parts", table([
    { title: "Metric", value: (m) => m.metric, show: (m) => h("b", {}, m.metric) },
    { title: "Value", number: true, value: (m) => m.value, show: (m) => short(m.value, m.unit) },
    { title: "From", number: true, value: (m) => m.low, show: (m) => short(m.low, m.unit) },
    { title: "To", number: true, value: (m) => m.high, show: (m) => short(m.high, m.unit) },
    { title: "Quality", value: (m) => qualityRank(m.quality), text: (m) => m.quality, show: (m) => quality(m.quality) },
    { title: "Beside", value: (m) => [m.event, key(m)].filter(Boolean).join(" ") },
  ], rows, { caption: "Metrics", search: "Filter metrics" })) : null;
}

/** Every run of an event that varied: in order, and how they are distributed. */
function runs(doc) {
  const varied = doc.events.filter((e) => e.n > 2 && toNumber(e.min) !== toNumber(e.max));
  if (doc.runs < 3 || !varied.length) return null;
  const room = h("div");
  const show = (e) => room.replaceChildren(
    charts({ name: "run", unit: "", values: e.runs.map((_, i) => i + 1) }, [{ name: e.event, unit: e.unit, values: e.runs.map(toNumber) }], { points: true, whole: true }),
    e.n >= 20 ? histogram(bin(e.runs.map(toNumber)), (v) => short(v, e.unit), `how often each value of ${e.event} occurred`) : "");
  show(varied[0]);
  return section("Runs", "one after the other: a trend here is not noise",
    h("div", { class: "tools" }, h("label", {}, "Event: ", h("select", { onchange: (e) => show(varied[e.target.selectedIndex]) },
      varied.map((e) => h("option", {}, [e.event, key(e)].filter(Boolean).join(" ")))))), room);
}

function profile(doc) {
  const rows = doc.profile;
  if (!rows?.length) return null;
  const sum = toNumber(doc.profile_about?.instructions ?? 0) || rows.reduce((s, r) => s + toNumber(r.instructions), 0);
  const lines = rows.some((r) => r.line);
  return section("Profile", "instructions that each executed: exact, every one in one row", table([
    { title: "Function", wide: true, value: (r) => r.function ?? "[unknown]", show: (r) => h("b", { title: r.reason }, r.function ?? "[unknown]") },
    lines && { title: "Line", value: (r) => (r.file ? `${r.file}:${r.line}` : "") },
    { title: "Instructions", number: true, sort: "down", value: (r) => toNumber(r.instructions), show: (r) => full(r.instructions) },
    { title: "Share", number: true, value: (r) => toNumber(r.instructions) / sum, show: (r) => percent(toNumber(r.instructions) / sum, 2), bar: (r) => toNumber(r.instructions) / sum },
    { title: "Module", value: (r) => r.module, show: (r) => h("span", { title: r.module }, r.module?.replace(/.*\//, "")) },
  ].filter(Boolean), rows, { caption: "Profile", search: "Filter functions" })) ;
}

function facts(doc) {
  const t = doc.times_ns, c = doc.conditions;
  const time = (name, v) => v && [name, short(v.value, "ns"), v.min !== v.max && `${short(v.min, "ns")} to ${short(v.max, "ns")}`];
  const status = doc.exit_status === null ? null : ["Exit status", String(doc.exit_status)];
  return h("dl", { class: "facts" }, [time("Wall", t.wall), time("User", t.user), time("System", t.system), ["Runs", String(doc.runs), c.launch === "fixed" ? "memory laid out alike" : c.aslr && "addresses randomised"],
    ["Engine", c.engine, c.engine === "exact" && "translated and counted"], status,
  ].filter(Boolean).map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more))));
}

export function stat(doc) {
  const never = doc.each_run.filter((r) => r.never_began).length;
  const cut = doc.each_run.filter((r) => r.ended_by !== "itself").length;
  return [h("section", { class: "lead" }, facts(doc),
    never > 0 && h("p", { class: "remark" }, `${never} of ${doc.runs} runs ended by a signal before their first instruction.`),
    cut > 0 && h("p", { class: "remark" }, `${cut} of ${doc.runs} runs did not end by themselves (${[...new Set(doc.each_run.map((r) => r.ended_by))].join(", ")}).`),
    doc.times_ns.with_engine_work && h("p", { class: "remark" }, "Times and +engine numbers hold the exact engine's own work; tare stat --clean-times takes it from further runs.")),
  events(doc), explain(doc), metrics(doc), runs(doc), missing(doc), profile(doc)];
}

export const statTitle = (doc) => ({ title: doc.command.length ? doc.command.join(" ") : doc.target ?? "", kind: "tare stat" });

/** tare/stat-interval/1, all of them together: each event over time. */
export function intervals(docs) {
  const x = { name: "time", unit: "ns", values: docs.map((d) => d.time_ns) }, names = new Map();
  docs.forEach((d, i) => d.events.forEach((e) => {
    const name = [e.event, key(e)].filter(Boolean).join(" ");
    if (!names.has(name)) names.set(name, { name, unit: e.unit, values: Array(docs.length).fill(null) });
    names.get(name).values[i] = known(e.value) ? toNumber(e.value) : null;
  }));
  const series = [...names.values()].filter((s) => s.values.some(known));
  return series.length ? section("Over time", "what each interval counted", charts(x, series)) : null;
}
