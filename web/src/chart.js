// Series over time (or over instructions, or runs), one plot below the other, with one zoom for all of them.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour, h, onTheme, shown } from "./dom.js";
import { full, short } from "./format.js";
import { reduce } from "./reduce.js";

const HEIGHT = 170;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5, 1e6];

/** A unit that makes a number shorter is next to it; any other is in the heading, because an axis has no room for it. */
const onAxis = (unit) => (unit === "ns" || unit === "%" ? unit : "");

/**
 * x: { values, name, unit }; series: [{ name, unit, values, quality }]. Values that are null leave a gap.
 * Zoom: drag, or the buttons, or + - and the arrows while a plot has the focus; Escape or a double click shows all.
 */
export function charts(x, series, { points = false, whole = false } = {}) {
  const sync = uPlot.sync(`sync-${Math.random()}`);
  const range = { full: [x.values[0], x.values[x.values.length - 1]] };
  range.now = range.full;
  const plots = [];
  const said = h("span", { class: "count", role: "status", "aria-live": "polite" });

  function zoom(from, to) {
    const [lo, hi] = range.full, span = Math.max(to - from, (hi - lo) / 1e6);
    if (!(hi > lo)) return;
    from = Math.max(lo, Math.min(from, hi - span));
    range.now = [from, Math.min(hi, from + span)];
    for (const p of plots) p.show(range.now);
    said.textContent = range.now[0] === lo && range.now[1] === hi ? "" : `${short(range.now[0], x.unit)} to ${short(range.now[1], x.unit)}`;
  }
  const by = (factor) => { const [a, b] = range.now, mid = (a + b) / 2, half = (b - a) / 2 * factor; zoom(mid - half, mid + half); };
  const move = (part) => { const [a, b] = range.now, d = (b - a) * part; zoom(a + d, b + d); };
  const all = () => zoom(...range.full);
  const keys = { "+": () => by(0.5), "=": () => by(0.5), "-": () => by(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), Escape: all, 0: all };

  const element = h("div", { class: "charts", onkeydown: (e) => {
    if (!keys[e.key] || e.target.tagName === "BUTTON" || e.ctrlKey || e.metaKey || e.altKey) return;
    keys[e.key]();
    e.preventDefault();
  } },
    h("div", { class: "tools" },
      h("button", { type: "button", onclick: () => by(0.5), "aria-label": "zoom in" }, "+"),
      h("button", { type: "button", onclick: () => by(2), "aria-label": "zoom out" }, "−"),
      h("button", { type: "button", onclick: all }, "show all"), said));

  series.forEach((s, i) => {
    const box = h("div", { class: "plot", tabindex: 0, role: "group", "aria-label": `${s.name} over ${x.name}; plus, minus and arrow keys zoom` });
    element.append(h("h3", {}, s.name, s.unit && !onAxis(s.unit) && h("span", { class: "unit" }, `, ${s.unit}`)), box);
    plots.push(plot(box, x, s, i, { sync, range, zoom, points, whole }));
  });
  return element;
}

function plot(box, x, s, index, { sync, range, zoom, points, whole }) {
  const line = () => colour(`--c${index % 6}`), grid = { stroke: () => colour("--grid"), width: 1 };
  let u;

  const data = ([from, to]) => reduce(x.values, s.values, from, to, Math.max(200, box.clientWidth || 800));
  function show(now) {
    if (!u) return;
    u.setData(data(now), false);
    u.setScale("x", { min: now[0], max: now[1] });
  }
  function make() {
    if (!box.clientWidth) return;
    u = new uPlot({
      width: box.clientWidth, height: HEIGHT, legend: { show: false },
      cursor: { sync: { key: sync.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, y: false, points: { size: 7 } },
      scales: { x: { time: false, range: () => (range.now[0] === range.now[1] ? [range.now[0] - 1, range.now[1] + 1] : range.now) },
        y: { range: (_, lo, hi) => (lo === null ? [0, 1] : [Math.min(0, lo), hi > 0 ? hi * 1.05 : 1]) } },
      axes: [
        { stroke: () => colour("--soft"), grid, ticks: grid, incrs: whole ? WHOLE : undefined, values: (_, v) => v.map((n) => short(n, x.unit)) },
        { stroke: () => colour("--soft"), grid, ticks: grid, size: 74, values: (_, v) => v.map((n) => short(n, onAxis(s.unit))) },
      ],
      series: [{}, { stroke: line, width: 1.25, points: { show: points || s.values.length < 80, size: 5, fill: line }, spanGaps: false }],
      hooks: {
        setSelect: [(self) => {
          if (self.select.width < 3) return;
          const from = self.posToVal(self.select.left, "x"), to = self.posToVal(self.select.left + self.select.width, "x");
          self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          zoom(from, to);
        }],
        setCursor: [(self) => { readout.textContent = self.cursor.idx === null || self.cursor.left < 0 ? "" : shown(read(self)); }],
      },
    }, data(range.now), box);
    u.over.addEventListener("dblclick", () => zoom(...range.full));
    u.root.append(readout);
  }
  /** The value under the cursor, or all of them where several share a pixel. */
  function read(self) {
    const [xs, ys] = self.data, near = (px) => self.posToVal(self.cursor.left + px, "x"), from = near(-1), to = near(1);
    let first = self.cursor.idx, last = first;
    while (first > 0 && xs[first - 1] >= from) first--;
    while (last + 1 < xs.length && xs[last + 1] <= to) last++;
    const known = ys.slice(first, last + 1).filter((v) => v !== null && v !== undefined);
    const place = first === last ? full(xs[first], x.unit) : `${full(xs[first])} to ${full(xs[last], x.unit)}`;
    if (!known.length) return `${x.name} ${place}: not counted`;
    const low = Math.min(...known), high = Math.max(...known);
    return `${x.name} ${place}: ${s.name} ${low === high ? full(high, s.unit) : `${full(low)} to ${full(high, s.unit)}`}`;
  }
  const readout = h("div", { class: "readout" });
  new ResizeObserver(() => {
    if (!u) make();
    else if (box.clientWidth && box.clientWidth !== u.width) { u.setSize({ width: box.clientWidth, height: HEIGHT }); show(range.now); }
  }).observe(box);
  onTheme(() => u?.redraw());
  return { show };
}
