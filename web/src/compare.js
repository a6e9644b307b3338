// tare/compare/1: the verdict of a comparison, its events, and the functions that changed.
import { h, section } from "./dom.js";
import { full, plain, toNumber } from "./format.js";
import { table } from "./table.js";

const signed = (x, show) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${show(Math.abs(x))}`;
const verdicts = { more: "more", less: "less", same: "same", "cannot tell": "cannot tell" };
const percentOf = (e) => (e.percent === null ? "from 0" : `${signed(e.percent, (x) => x.toPrecision(3))}${e.half_percent > 0 ? ` ± ${e.half_percent.toPrecision(2)}` : ""} %`);
const sideOf = (s) => s.path ?? (s.revision ? `${s.revision} (${s.commit.slice(0, 12)})` : s.command.join(" "));

function facts(doc) {
  const rows = [["Verdict", doc.verdict], ["Before", sideOf(doc.before)], ["After", sideOf(doc.after)]];
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))),
    doc.notes.map((text) => h("p", { class: "remark" }, `${text}.`)));
}

function events(doc) {
  const shown = (e, side) => (e.compared !== "test" ? e[side].median : Math.round(e[side].mean));
  const mean = (side, title) => ({ title, number: true, value: (e) => toNumber(shown(e, side)), show: (e) => h("span", { title: [...e[side].runs, ...e[side].second_runs].map((v) => full(v, e.unit)).join(", ") }, plain(shown(e, side), e.unit)) });
  return section("Events", `Exact counts are compared by equality, others by a test at a level of ${doc.conditions.level_percent} %.`, table([
    { title: "Event", wide: true, value: (e) => e.event, show: (e) => h("b", {}, e.event) },
    mean("before", "Before"), mean("after", "After"),
    { title: "Change", about: "± half of its interval at the level", number: true, value: (e) => e.percent, show: percentOf },
    { title: "Verdict", value: (e) => verdicts[e.verdict], show: (e) => h(e.verdict === "more" && !e.below_threshold ? "b" : "span", {}, `${verdicts[e.verdict]}${e.below_threshold ? ", below the threshold" : ""}`) },
    { title: "Compared", value: (e) => (e.compared === "equality" ? "exact, by equality" : e.compared === "pairs" ? `${e.before.runs.length} pairs${e.before.second_runs.length ? `, then ${e.before.second_runs.length}` : ""}` : `${e.before.runs.length} + ${e.after.runs.length} runs${e.before.second_runs.length ? ", twice" : ""}`) },
  ], doc.events, { caption: "Events" }));
}

function functions(doc) {
  const c = doc.cause;
  if (!c) return null;
  const rows = [...c.functions, { function: "(other functions)", module: "", state: null, ...c.others }];
  const amount = (side, title) => ({ title, number: true, value: (r) => toNumber(r[side]), show: (r) => full(r[side]) });
  return section("Functions that changed", `The rows add up to the change of ${signed(toNumber(c.total.change), full)} instructions.`, table([
    { title: "Function", wide: true, value: (r) => r.function, text: (r) => `${r.function} ${r.module}`, show: (r) => [h("b", {}, r.function), r.inlined && h("span", { class: "soft" }, " inlined")] },
    { title: "Change", number: true, sort: "down", value: (r) => Math.abs(toNumber(r.change)), show: (r) => signed(toNumber(r.change), full) },
    amount("before", "Before"), amount("after", "After"),
    { title: "State", value: (r) => r.state ?? "" }, { title: "Module", value: (r) => r.module },
  ], rows, { caption: "Functions that changed", search: "Filter functions" }));
}

export const compare = (doc) => [facts(doc), events(doc), functions(doc)];
export const compareTitle = (doc) => ({ title: doc.headline, kind: "tare compare" });
