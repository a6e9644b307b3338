// tare/report/1: where the samples of a recording fell.
import { h, section } from "./dom.js";
import { brokeOff, clip, doubt, fixed, full, known, partial, percent, plain, toNumber } from "./format.js";
import { table } from "./table.js";

const remarks = (q) => [
  Math.max(q.lost_samples, q.lost_records) > 0 && [Math.max(q.lost_samples, q.lost_records), "records were lost because a buffer was full"],
  q.throttled > 0 && [q.throttled, "times an event was throttled because it came too often"],
  q.cut_stacks > 0 && [q.cut_stacks, "stacks end before their outermost caller"],
  q.stacks_cut_by_size > 0 && [q.stacks_cut_by_size, "of them need a larger copy of the stack (--call-graph dwarf,BYTES)"],
  q.broken_chains > 0 && [q.broken_chains, "stacks end where no code was mapped: without frame pointers callers are missing (--call-graph dwarf)"],
  q.shortened_stacks > 0 && [q.shortened_stacks, "stacks were shortened: there were too many different ones"],
  q.deferred_stacks > 0 && [q.deferred_stacks, "user stacks were deferred and are not in the recording"],
  q.undecodable > 0 && [q.undecodable, "records could not be decoded"],
  q.unattributed > 0 && [q.unattributed, "samples belong to no event that the recording names"],
].filter(Boolean).map(([n, what]) => `${full(n)} ${what}.`).concat(q.leaf_callers_may_be_missing ? ["Callers come from frame pointers: the direct caller of a function without a frame (a leaf) may be missing; record --call-graph dwarf finds it."] : [], q.broke_off ? [brokeOff] : [], (q.uncounted_processes ?? []).map(partial), q.damage ? [`The recording is damaged: ${q.damage}`] : [], q.not_unwound ? [`Stacks were not unwound: ${q.not_unwound}`] : [],
  q.with_periods ? [] : ["The recording has no periods: every sample counts as one."],
  q.clock_too_fast ? ["Samples of a clock were requested less than 10 µs apart, which the kernel does not support: each represents more time than is shown here."] : [],
  q.all_builds_verified === false ? (q.by_name ?? []).map((f) => `${f.module} ${f.module === "[kernel.kallsyms]"
    ? "has the names of the kernel that ran where this page was made: release, machine and address were those of the recording, which has no build id of it."
    : "was taken by its name alone: of it no build id could be read from the recording."}${doubt(f.other_file, f.newer, "names")}`) : []);

const MIXED = "Ratios are mixed if functions are short: counters of a group are read at samples, and their counts since the previous sample are attributed to the place of the sample. A ratio is correct if a visit to the function is longer than that.";

/** That amounts are exact, and of which code; or null. */
function exactness(doc) {
  const exact = doc.events.some((e) => e.exact), some = exact && (doc.rows ?? []).some((r) => r.events.some((e, i) => doc.events[i].exact && !e.exact && toNumber(e.self) > 0));
  return exact ? `Amounts are exact: the engine counted every instruction${some ? " of code in files; amounts of other code are from samples" : ""}${doc.quality.with_stacks ? "; with callees they are from samples" : ""}.` : null;
}

/** Why amounts are not exact, or mixed. */
const doubts = (doc) => [
  doc.by_samples_as && `Amounts are from samples, although the recording has exact amounts: ${doc.by_samples_as}.`,
  (doc.ratio_mixed || doc.events.some((e) => e.mixed)) && MIXED,
].filter(Boolean);

function facts(doc) {
  const q = doc.quality, r = doc.recorded;
  const rows = [["Samples", full(q.samples), toNumber(q.used) !== toNumber(q.samples) && `${full(q.used)} used`], ...doc.events.map((e) => [e.event, plain(e.amount, e.unit), `${e.exact ? "exact; " : ""}${full(e.samples)} samples${e.skids ? ", skids" : ""}${e.skid ? `; ${percent(e.skid.exact, 1)} at the cause${toNumber(e.skid.p99) > 0 ? `, 99 % within ${e.skid.p99} after it` : ""} (${e.skid.measured_event}, level ${e.skid.level})` : ""}`]),
    r.host && ["Host", r.host, r.arch], r.cpu && ["CPU", r.cpu]].filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    r.command && h("p", { class: "about recorded" }, h("code", {}, r.command.join(" "))),
    exactness(doc) && h("p", { class: "about" }, exactness(doc)), [...doubts(doc), ...remarks(q)].map((text) => h("p", { class: "remark" }, text)));
}

const name = (r) => clip(r.function ?? "[unknown]");

function rows(doc) {
  const keys = new Set(doc.keys), single = doc.events.length === 1;
  const text = (title, value, show) => ({ title, value, show: show && ((r) => show(value(r), r)), wide: title === "Function" });
  const numbers = doc.events.flatMap((e, i) => {
    const of = (r) => r.events[i], suffix = single ? "" : ` ${e.event}`;
    return [
      { title: `Share${suffix}`, about: "of all, with its 95 % margin of sampling error", number: true, sort: i === 0 && "down", value: (r) => of(r).share, bar: (r) => of(r).share,
        show: (r) => [percent(of(r).share, 2), of(r).margin > 0 && h("span", { class: "margin" }, ` ± ${fixed(100 * of(r).margin, 2)}`)] },
      { title: `Self${suffix}`, number: true, value: (r) => toNumber(of(r).self), show: (r) => h("span", { title: `${full(of(r).samples)} samples` }, plain(of(r).self, e.unit)) },
      doc.quality.with_stacks && { title: `Total${suffix}`, about: "here and in its callees", number: true, value: (r) => toNumber(of(r).total), show: (r) => plain(of(r).total, e.unit) },
    ].filter(Boolean);
  });
  return section("Samples", null, table([
    keys.has("function") && text("Function", name, (v, r) => [h("b", {}, v), r.kernel && h("span", { class: "soft" }, " kernel"), r.inlined && h("span", { class: "soft" }, " inlined")]),
    ...numbers,
    known(doc.ratio) && { title: doc.ratio, number: true, value: (r) => r.ratio, show: (r) => (known(r.ratio) ? full(Number(r.ratio.toPrecision(4))) : "–") },
    keys.has("line") && text("Line", (r) => (r.file ? `${r.file}:${r.line}` : "")),
    keys.has("address") && text("Address", (r) => r.address),
    ...(doc.fields ?? []).map((f) => text(f, (r) => r.fields?.[f], (v) => (v === null || v === undefined ? "–" : typeof v === "object" ? h("span", { class: "soft" }, v.missing) : String(v)))),
    keys.has("comm") && text("Command", (r) => r.comm),
    keys.has("pid") && { title: "Process", number: true, value: (r) => r.pid },
    keys.has("tid") && { title: "Thread", number: true, value: (r) => r.tid },
    keys.has("module") && text("Module", (r) => r.module, (v) => h("span", { title: v }, v?.replace(/.*\//, ""))),
  ].filter(Boolean), doc.rows, { caption: "Samples", search: "Filter rows" }));
}

function relatives(doc) {
  const f = doc.function, unit = doc.events.find((e) => e.event === doc.sorted_by)?.unit ?? "";
  const one = (title, list) => section(title, null, table([
    { title: "Function", wide: true, value: name, show: (r) => h("b", {}, clip(r.function ?? "(none: the chain ends here)")) },
    { title: "Amount", number: true, sort: "down", value: (r) => toNumber(r.amount), show: (r) => plain(r.amount, unit) },
    { title: "Of it", number: true, value: (r) => toNumber(r.amount) / toNumber(f.total), show: (r) => percent(toNumber(r.amount) / toNumber(f.total), 2), bar: (r) => toNumber(r.amount) / toNumber(f.total) },
    { title: "Module", value: (r) => r.module },
  ], list, { caption: title, search: "Filter functions" }));
  return [one(`Callers of ${f.name}`, f.callers), one(`Callees of ${f.name}`, f.callees)];
}

function unnamed(doc) {
  const list = doc.quality.unnamed ?? [];
  return list.length ? section("Without names", "code with unknown functions, and remedies", table([
    { title: "Module", value: (u) => u.module, show: (u) => h("b", {}, u.module) },
    { title: "Samples", number: true, sort: "down", value: (u) => toNumber(u.samples), show: (u) => full(u.samples) },
    { title: "Why", wide: true, value: (u) => u.reason ?? u.why },
    { title: "Remedy", wide: true, value: (u) => u.remedy },
  ], list, { caption: "Modules without names" })) : null;
}

export const report = (doc) => [facts(doc), ...(doc.function ? relatives(doc) : [rows(doc)]), unnamed(doc)];
export const reportTitle = (doc) => ({ title: doc.file, kind: "tare report" });
