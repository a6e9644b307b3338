// A histogram as bars: bins are [from, to, how many]; `show` writes an edge. Tall bars would hide small ones, so the
// height is logarithmic if the largest bin is a thousand times the smallest that is not empty.
import { h, svg } from "./dom.js";

/** Adds the empty bins between others, if each is twice as wide as the one before: 0, 1, 2 to 3, 4 to 7. */
export function doubling(bins) {
  const all = [];
  for (const b of bins) {
    for (let from = all.length ? all.at(-1)[1] + 1 : b[0]; from < b[0]; from = all.at(-1)[1] + 1) all.push([from, 2 * from - 1, 0]);
    all.push(b);
  }
  return all;
}

/** The value in the middle of the axis. If there are gaps between the bins, their limits are whole numbers: then the bin there. */
function middle(bins, show) {
  const [from, to] = bins[Math.floor(bins.length / 2)], apart = bins.length > 1 && bins[0][1] !== bins[1][0];
  return bins.length % 2 === 0 ? show(from) : apart && from !== to ? `${show(from)} to ${show(to)}` : show((from + to) / 2);
}

export function histogram(bins, show, title) {
  const most = Math.max(...bins.map((b) => b[2]), 1), least = Math.min(...bins.filter((b) => b[2]).map((b) => b[2]), most);
  const log = most / least >= 1000, sum = bins.reduce((s, b) => s + b[2], 0);
  const height = (n) => (n === 0 ? 0 : log ? (1 + Math.log10(n)) / (1 + Math.log10(most)) : n / most);
  const label = (b) => `${show(b[0])}${b[1] !== b[0] ? ` to ${show(b[1])}` : ""}: ${b[2].toLocaleString("en-US")} (${(100 * b[2] / sum).toFixed(2)} %)`;
  const bars = bins.map((b, i) => svg("rect", { x: i + 0.06, width: 0.88, y: 1 - height(b[2]), height: height(b[2]), class: b[2] ? null : "none" },
    svg("title", {}, label(b))));
  return h("figure", { class: "histogram" },
    svg("svg", { viewBox: `0 0 ${bins.length} 1`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}. ${bins.filter((b) => b[2]).map(label).join("; ")}` }, bars),
    h("div", { class: "edges", "aria-hidden": "true" }, h("span", {}, show(bins[0][0])), h("span", {}, middle(bins, show)), h("span", {}, show(bins[bins.length - 1][1]))),
    h("figcaption", {}, title, log ? "; heights by their logarithm" : ""));
}

/** Bins of equal width over the values; no more than are useful. */
export function bin(values, most = 40) {
  let lo = Infinity, hi = -Infinity, whole = true, known = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (!Number.isFinite(v)) continue;
    known++;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
    whole = whole && Number.isInteger(v);
  }
  if (!(lo < hi)) return [[lo, hi, known]];
  let n = Math.min(most, Math.max(5, Math.ceil(2 * Math.cbrt(known))));
  if (whole && hi - lo < n) n = hi - lo + 1;
  const width = (hi - lo) / n, count = new Uint32Array(n);
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) count[Math.min(n - 1, Math.floor((values[i] - lo) / width))]++;
  return Array.from(count, (c, i) => [lo + i * width, lo + (i + 1) * width, c]);
}
