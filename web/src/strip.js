// The runs of one number as dots on a line from the smallest to the largest; the median is a stroke.
import { svg } from "./dom.js";
import { full, toNumber } from "./format.js";

export function strip(runs, outliers, median, unit) {
  const values = runs.map(toNumber).filter((v) => v !== null && v !== undefined);
  if (values.length < 2) return null;
  const lo = Math.min(...values), hi = Math.max(...values), x = (v) => (hi > lo ? 6 + 108 * (v - lo) / (hi - lo) : 60);
  return svg("svg", { class: "strip", viewBox: "0 0 120 16", role: "img", "aria-label": `${values.length} runs, ${full(lo, unit)} to ${full(hi, unit)}` },
    svg("title", {}, runs.map((v, i) => `run ${i + 1}: ${full(v, unit) || "unavailable"}`).join("\n")),
    svg("line", { x1: x(lo), x2: x(hi), y1: 8, y2: 8, class: "range" }),
    runs.map((v, i) => v !== null && svg("circle", { cx: x(toNumber(v)), cy: 8, r: 3, class: outliers.includes(i) ? "outlier" : null })),
    svg("line", { x1: x(toNumber(median)), x2: x(toNumber(median)), y1: 1, y2: 15, class: "median" }));
}
