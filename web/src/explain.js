// The noise budget, "explain" of tare/stat/1 and tare/aggregate/1: the causes of each event's spread, in the same words as text.
import { h, section } from "./dom.js";
import { percent } from "./format.js";
import { table } from "./table.js";

const whole = (x) => percent(x, 0);

function parts(e) {
  return [...e.parts.map((p) => ({ ...p, named: true })), e.unexplained];
}

function budget(e) {
  const rows = e.state === "split" && !e.undecided ? parts(e) : [];
  return [h("h3", {}, e.event), h("p", {}, e.words), e.undecided && h("p", {}, e.undecided), rows.length > 0 && table([
    { title: "Share", about: "of the variance", number: true, value: (p) => p.share, show: (p) => whole(p.share), bar: (p) => p.share },
    { title: "95 % interval", number: true, value: (p) => p.low, show: (p) => `${whole(p.low)} to ${whole(p.high)}` },
    { title: "Cause", wide: true, value: (p) => p.words, show: (p) => h(p.named ? "b" : "i", {}, p.words) },
    { title: "How", about: "switched: the cause was switched off, and then varied alone; regression: by the differences from run to run", value: (p) => p.how ?? "" },
  ], rows, { caption: `Where the spread of ${e.event} comes from` }),
  e.one_run && h("p", { class: "remark" }, e.one_run.words)];
}

export function explain(doc) {
  const x = doc.explain;
  return x ? section("Where the spread comes from", "shares of the variance, with their 95 % intervals", x.events.map(budget),
    x.notes.map((n) => h("p", { class: "soft" }, n))) : null;
}
