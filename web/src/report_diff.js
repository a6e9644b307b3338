// tare/report-diff/1: two recordings of samples, before and after a change.
import { h, section } from "./dom.js";
import { exactPercent, fixed, full, partial, percent, plain, toNumber } from "./format.js";
import { table } from "./table.js";

const verdict = (c) => (!c.beyond ? "" : toNumber(c.before) === 0 ? "new" : toNumber(c.after) === 0 ? "gone" : c.change > 0 ? "more" : "less");

function facts(doc) {
  const side = (name, s) => [name, plain(s.amount, doc.unit), `${s.file}: ${full(s.samples)} samples of ${s.event}`];
  const { before: a, after: b } = doc.in_all ?? { before: toNumber(doc.before.amount), after: toNumber(doc.after.amount) };
  const rows = [side("Before", doc.before), side("After", doc.after), a > 0 && ["In total", `${b < a ? "−" : "+"}${exactPercent(100 * Math.abs(b - a) / a)}`, doc.shares ? "shares are compared" : doc.in_all?.counted ? `counted exactly: ${full(a)} before, ${full(b)} after` : doc.in_all && !doc.in_all.beyond && "within the noise of sampling"]].filter(Boolean);
  const remarks = [["before", doc.before], ["after", doc.after]].flatMap(([name, s]) => [toNumber(s.lost_samples) > 0 && `${full(s.lost_samples)} samples (${percent(s.lost_share, 1)}) were lost ${name}: the kernel had no room for them. Any place may have lost them all, or none: the intervals are as much wider.`,
    s.broke_off && `The recording of ${name} broke off: the last part may be missing, which may explain the difference.`,
    ...(s.uncounted_processes ?? []).map((p) => `The recording of ${name}: ${partial(p)}`), s.damage && `The recording of ${name} is damaged: ${s.damage}`, !s.with_periods && `The recording of ${name} has no periods: every sample counts as one.`]).filter(Boolean);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    [...remarks, ...doc.notes].map((text) => h("p", { class: "remark" }, text)));
}

function rows(doc) {
  const keys = new Set(doc.keys), whole = [toNumber(doc.before.amount), toNumber(doc.after.amount)], share = (v, side) => (whole[side] ? toNumber(v) / whole[side] : 0);
  const sides = (field, name) => [["before", 0], ["after", 1]].map(([side, k]) => ({ title: `${name} ${side}`, number: true, value: (r) => toNumber(r[field][side]), bar: (r) => share(r[field][side], k),
    show: (r) => h("span", { title: `${plain(r[field][side], doc.unit)}, ${percent(share(r[field][side], k), 3)}` }, doc.shares ? percent(share(r[field][side], k), 2) : plain(r[field][side], doc.unit)) }));
  const amount = (x) => (doc.shares ? fixed(100 * x, 2) : plain(Math.round(x), doc.unit));
  const changed = (field, name) => ({ title: `${name} changed${doc.shares ? ", points" : ""}`, about: "with its 95 % confidence interval, including lost samples; exact if there is none", number: true, value: (r) => r[field].change,
    show: (r) => [h(r[field].beyond ? "b" : "span", {}, `${r[field].change > 0 ? "+" : r[field].change < 0 ? "−" : ""}${amount(Math.abs(r[field].change))}`), r[field].half_95 !== 0 && h("span", { class: "margin" }, ` ± ${r[field].half_95 === null ? "?" : amount(r[field].half_95)}`)] });
  const judged = (field, name) => ({ title: name, about: doc.sampling_noise ? "beyond the sampling noise; at most 5 % of these are expected to be by chance" : "any difference: there is no sampling noise", value: (r) => verdict(r[field]) });
  return section("What changed", doc.sampling_noise ? "Changes beyond the noise come first." : "Rows that changed come first.", table([
    keys.has("function") && { title: "Function", wide: true, value: (r) => r.function ?? "[unknown]", show: (r) => [h("b", {}, r.function ?? "[unknown]"), r.kernel && h("span", { class: "soft" }, " kernel"), r.inlined && h("span", { class: "soft" }, " inlined")] },
    judged("self", "Self"), changed("self", "Self"), ...sides("self", "Self"),
    ...(doc.with_stacks ? [judged("total", "Total"), changed("total", "Total"), ...sides("total", "Total")] : []),
    keys.has("line") && { title: "Line", value: (r) => (r.file ? `${r.file}:${r.line}` : "") },
    keys.has("comm") && { title: "Command", value: (r) => r.comm },
    keys.has("module") && { title: "Module", value: (r) => r.module },
  ].filter(Boolean), doc.rows, { caption: "What changed", search: "Filter rows" }));
}

export const reportDiff = (doc) => [facts(doc), rows(doc)];
export const reportDiffTitle = (doc) => ({ title: `${doc.after.file}, before: ${doc.before.file}`, kind: "tare report --diff" });
