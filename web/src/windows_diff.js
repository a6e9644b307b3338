// tare/windows-diff/1: two runs, aligned by the count that defines their windows; where they diverge.
import { h, section, svg } from "./dom.js";
import { full, plain, quality, short, toNumber } from "./format.js";
import { table } from "./table.js";

const changed = (a, b) => (a === b ? 0 : a ? 100 * (b - a) / a : null);
const percentage = (p) => (p === null ? "new" : p === 0 ? "0 %" : `${p > 0 ? "+" : "−"}${short(Math.abs(p), "%", 3)}`);

function facts(doc) {
  const first = doc.events[0], side = (name, s) => [name, full(s.length), `${first} of ${s.comm || "thread"} ${s.thread} in ${full(s.windows)} windows: ${s.file}`];
  const p = doc.parted, any = toNumber(doc.windows_of_both) > 0 || doc.rest_of_both, rows = [side("A", doc.a), side("B", doc.b), ["Windows of both", `${full(doc.windows_of_both)}${doc.rest_of_both ? " and the rest" : ""}`, doc.places < toNumber(doc.windows_of_both) ? h("span", {}, quality(doc.quality), ` compared at ${full(doc.places)} places where windows of both end`) : quality(doc.quality)],
    p ? ["They diverge", `window ${full(p.window)}`, `${p.until === undefined ? "at" : `between ${full(p.at)} and`} ${full(p.until ?? p.at)} ${first}: ${p.event} ${full(p.a)} in A, ${p.b_is && p.b_is !== "equal" ? `${p.b_is} ` : ""}${full(p.b)} in B`] : ["They diverge", any ? "nowhere" : "unknown", !any ? "no window of A ends where one of B does: use windows of equal length" : doc.quality === "exact" ? "every window is equal" : "as far as the noise shows"]];
  const a = toNumber(doc.a.length), b = toNumber(doc.b.length);
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    a !== b && h("p", { class: "remark" }, `${a > b ? "A" : "B"} is longer by ${full(Math.abs(a - b))} ${first}: that part has no counterpart.`));
}

/** A bar for each part along the run: up where B has more, down where it has less, as tall as the change in percent. */
function strip(doc, k) {
  const end = Math.max(1, ...doc.stretches.map((s) => toNumber(s.end))), of = doc.stretches.map((s) => changed(toNumber(s.a[k]), toNumber(s.b[k])));
  const most = Math.max(1e-9, ...of.map((p) => Math.abs(p ?? 100)));
  const bars = doc.stretches.map((s, i) => {
    const p = of[i] ?? 100, height = 50 * Math.abs(p) / most, x = 1000 * toNumber(s.begin) / end;
    return svg("rect", { x, width: Math.max(0.5, 1000 * toNumber(s.end) / end - x), y: p > 0 ? 50 - height : 50, height: Math.max(0.5, height), class: p > 0 ? "up" : "down" },
      svg("title", {}, `from ${full(s.begin)} to ${full(s.end)}: ${percentage(of[i])}`));
  });
  return h("figure", { class: "along" }, svg("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", class: "stretches", "aria-label": `change of ${doc.events[k]} along the run, in percent` }, bars), h("figcaption", {}, `${doc.events[k]}: up where B has more, down where it has less; the tallest ${percentage(of.reduce((m, p) => (Math.abs(p ?? 100) > Math.abs(m ?? 100) ? p : m), 0))}`));
}

export function windowsDiff(doc) {
  const others = doc.events.map((name, i) => [name, i]).slice(doc.events.length > 1 ? 1 : 0);
  const totals = section("In total", doc.rest_of_both ? "in the windows that both have, and in the rest after them" : "in the windows that both have", table([
    { title: "Event", value: (r) => r.name, show: (r) => h("b", {}, r.name) }, { title: "A", number: true, value: (r) => r.a, show: (r) => plain(r.a, r.unit) }, { title: "B", number: true, value: (r) => r.b, show: (r) => plain(r.b, r.unit) },
    { title: "Changed", number: true, value: (r) => r.b - r.a, show: (r) => percentage(changed(r.a, r.b)) },
  ], doc.events.map((name, i) => ({ name, unit: doc.units?.[i] ?? "", a: toNumber(doc.total_a[i]), b: toNumber(doc.total_b[i]) })), { caption: "In total" }));
  const stretches = doc.stretches.length > 0 && section("Where B differs from A", "Parts of the run in which the difference is roughly the same.", others.filter(([, i]) => doc.stretches.some((s) => toNumber(s.a[i]) !== toNumber(s.b[i]))).map(([, i]) => strip(doc, i)), table([
    { title: "From window", number: true, value: (s) => s.first_window, show: (s) => full(s.first_window) }, { title: "Windows", number: true, value: (s) => s.windows, show: (s) => full(s.windows) },
    ...others.flatMap(([name, i]) => [{ title: `${name} A`, number: true, value: (s) => toNumber(s.a[i]), show: (s) => plain(s.a[i], doc.units?.[i] ?? "") }, { title: `${name} B`, number: true, value: (s) => toNumber(s.b[i]), show: (s) => plain(s.b[i], doc.units?.[i] ?? "") },
      { title: "Changed", number: true, value: (s) => toNumber(s.b[i]) - toNumber(s.a[i]), show: (s) => percentage(changed(toNumber(s.a[i]), toNumber(s.b[i]))) }]),
  ], doc.stretches, { caption: "Parts", search: "Filter parts" }));
  return [facts(doc), totals, stretches];
}
export const windowsDiffTitle = (doc) => ({ title: [doc.a, doc.b].map((s) => (s.comm ? `${s.file} (${s.comm})` : s.file)).join(" and "), kind: "tare windows diff" });
