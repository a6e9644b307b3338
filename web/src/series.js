// tare/series/1: values along one axis (windows of a run, intervals of time), one plot for each of them.
import { charts } from "./chart.js";
import { h, section } from "./dom.js";
import { full, quality, short, toNumber } from "./format.js";
import { bin, histogram } from "./histogram.js";

/** x: { name, unit, values } or, with equal steps, { name, unit, start, step, n }. */
function axis(x) {
  if (x.values) return { ...x, values: x.values.map(toNumber) };
  const values = new Float64Array(x.n);
  for (let i = 0; i < x.n; i++) values[i] = x.start + i * x.step;
  return { ...x, values };
}

export function series(doc) {
  const x = axis(doc.x), list = doc.series.map((s) => ({ ...s, values: s.values.some((v) => typeof v === "string") ? s.values.map(toNumber) : s.values }));
  const spread = h("div"), show = (s) => {
    const known = s.values.filter((v) => v !== null);
    spread.replaceChildren(known.length > 1 ? histogram(bin(known), (v) => short(v, s.unit), `how often each value of ${s.name} occurred`) : "");
  };
  const holes = list.map((s) => [s, s.values.reduce((n, v) => n + (v === null), 0)]).filter(([, n]) => n);
  if (list.length) show(list[0]);
  return [section(doc.title ?? "Over time", doc.about ?? null,
    charts(x, list),
    h("p", { class: "about" }, list.filter((s) => s.quality).map((s) => [s.name, " ", quality(s.quality), " "])),
    holes.map(([s, n]) => h("p", { class: "remark" }, `${full(n)} values of ${s.name} could not be counted: the line has gaps there.`)),
    h("div", { class: "tools" }, h("label", {}, "Distribution: ", h("select", { onchange: (e) => show(list[e.target.selectedIndex]) }, list.map((s) => h("option", {}, s.name))))), spread)];
}
