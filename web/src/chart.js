// Series over time (or over instructions, or runs), one plot below the other, with one zoom for all of them.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour, h, onTheme, shown } from "./dom.js";
import { full, short } from "./format.js";
import { lowerBound, reduce } from "./reduce.js";

const HEIGHT = 170;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5, 1e6];

/** The range of indices of the values from..to in a sorted array: [first, end]. */
const between = (sorted, from, to) => [lowerBound(sorted, from), lowerBound(sorted, to, true)];

/** A unit that makes a number shorter is next to it; any other is in the heading, because an axis has no room for it. */
const onAxis = (unit) => (unit === "ns" || unit === "%" ? unit : "");

/**
 * x: { values, name, unit }; series: [{ name, unit, values, quality }]. Values that are null leave a gap.
 * Zoom: drag, or the buttons, or + - and the arrows while a plot has the focus; Escape or a double click shows all.
 *
 * `fit`: the value axis begins near the smallest value, not at 0. For charts over indices: labels(x) is the text of the axis,
 * said(x) of the readout; `marks` are drawn, ▲ where up(x), otherwise ▼; pick(x) is called for a point that is clicked.
 * `phases`: [{ at, name }], sorted: from x `at` to the next one, in the colour of its `name`, a number from 1 on.
 * series.lines: [{ at, values, points }] instead of one line; `at` has the x of each value. Without `heads`, names are not shown.
 * The element has pick(x, look), which marks a point, and with `look` moves the zoom there.
 */
export function charts(x, series, options = {}) {
  const { fit = false, heads = true, labels } = options;
  const sync = uPlot.sync(`sync-${Math.random()}`);
  const ends = [x.values[0], x.values[x.values.length - 1]], margin = fit ? Math.max(0.5, (ends[1] - ends[0]) / 100) : 0;
  const range = { full: [ends[0] - margin, ends[1] + margin] };
  range.now = range.full;
  const plots = [];
  const said = h("span", { class: "count", role: "status", "aria-live": "polite" });

  function zoom(from, to) {
    const [lo, hi] = range.full, span = Math.max(to - from, (hi - lo) / 1e6);
    if (!(hi > lo)) return;
    from = Math.max(lo, Math.min(from, hi - span));
    range.now = [from, Math.min(hi, from + span)];
    for (const p of plots) p.show(range.now);
    const place = (v) => (labels ? labels(Math.max(ends[0], Math.min(ends[1], Math.round(v)))) : short(v, x.unit));
    said.textContent = range.now[0] === lo && range.now[1] === hi ? "" : `${place(range.now[0])} to ${place(range.now[1])}`;
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
    if (heads) element.append(h("h3", {}, s.name, s.unit && !onAxis(s.unit) && h("span", { class: "unit" }, `, ${s.unit}`)));
    element.append(box);
    plots.push(plot(box, x, s, i, { sync, range, zoom, ...options }));
  });
  element.pick = (at, look) => {
    const [a, b] = range.now;
    if (look && (at < a || at > b)) zoom(at - (b - a) / 2, at + (b - a) / 2);
    for (const p of plots) p.pick(at);
  };
  return element;
}

/** Enough digits to distinguish the values of an axis. */
const digitsFor = (values, step) => Math.max(4, Math.ceil(Math.log10(Math.max(...values.map(Math.abs), step) / step) - 1e-9) + 1);
const aroundValues = (lo, hi) => { const pad = hi > lo ? (hi - lo) * 0.15 : Math.abs(lo) * 0.01 || 1; return [lo >= 0 ? Math.max(0, lo - pad) : lo - pad, hi + pad]; };
const fromZero = (lo, hi) => [Math.min(0, lo), hi > 0 ? hi * 1.05 : 1];

function plot(box, x, s, index, { sync, range, zoom, points = false, whole = false, fit = false, labels, marks, phases, up, said, pick }) {
  const grid = { stroke: () => colour("--grid"), width: 1 }, lines = s.lines ?? [{ values: s.values }];
  let u, picked = null;

  function data([from, to]) {
    const reduced = lines.map((l) => reduce(l.at ?? x.values, l.values, from, to, Math.max(200, box.clientWidth || 800)));
    return reduced.length > 1 ? uPlot.join(reduced) : reduced[0];
  }
  const line = (l, i) => {
    const stroke = () => (l.points ? colour("--soft") : colour(`--c${(index + i) % 6}`));
    return { stroke, width: l.points ? 0 : 1.25, points: { show: l.points || points || s.values.length < 80 || (fit ? undefined : false), size: 5, fill: stroke }, spanGaps: lines.length > 1 };
  };
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
        y: { range: (_, lo, hi) => (lo === null ? [0, 1] : (fit ? aroundValues : fromZero)(lo, hi)) } },
      axes: [
        { stroke: () => colour("--soft"), grid, ticks: grid, incrs: whole ? WHOLE : undefined, space: labels ? 90 : 50, values: (_, v) => v.map((n) => (labels ? labels(n) : short(n, x.unit))) },
        { stroke: () => colour("--soft"), grid, ticks: grid, size: (_, v) => Math.max(74, ...(v ?? []).map((t) => 18 + 7 * t.length)), values: (_, v, __, ___, step) => v.map((n) => short(n, onAxis(s.unit), fit ? digitsFor(v, step) : 4)) },
      ],
      series: [{}, ...lines.map(line)],
      hooks: {
        setSelect: [(self) => {
          if (self.select.width < 3) return;
          const from = self.posToVal(self.select.left, "x"), to = self.posToVal(self.select.left + self.select.width, "x");
          self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          zoom(from, to);
        }],
        drawClear: [(self) => { if (phases) drawPhases(self); }],
        draw: [(self) => { if (marks) drawMarks(self); if (picked !== null) ring(self, picked); }],
        setCursor: [(self) => { readout.textContent = self.cursor.idx === null || self.cursor.left < 0 ? "" : shown(read(self)); }],
      },
    }, data(range.now), box);
    u.over.addEventListener("dblclick", () => zoom(...range.full));
    if (pick) {
      let down = 0;
      u.over.addEventListener("mousedown", (e) => { down = e.clientX; });
      u.over.addEventListener("click", (e) => { if (Math.abs(e.clientX - down) < 4 && u.cursor.idx !== null) pick(nearest(u)); });
    }
    u.root.append(readout);
  }
  /** The point nearest to the cursor; of two at the same distance, a mark. */
  function nearest(self) {
    const from = self.posToVal(self.cursor.left - 6, "x"), to = self.posToVal(self.cursor.left + 6, "x"), at = self.posToVal(self.cursor.left, "x");
    const near = (marks ?? []).slice(...between(marks ?? [], from, to)).sort((a, b) => Math.abs(a - at) - Math.abs(b - at))[0];
    return near ?? self.data[0][self.cursor.idx];
  }
  /** A triangle at each mark in view, at most one for each pixel. */
  function drawMarks(self) {
    const { ctx } = self, size = 5 * devicePixelRatio, { left, top, width, height } = self.bbox, [first, end] = between(marks, ...range.now);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    for (let k = first, before = -1; k < end; k++) {
      const px = Math.round(self.valToPos(marks[k], "x", true)), y = self.valToPos(s.values[marks[k]], "y", true), rise = up(marks[k]) ? size : -size;
      if (px === before) continue;
      before = px;
      ctx.fillStyle = colour(rise > 0 ? "--unavailable" : "--exact");
      ctx.beginPath();
      ctx.moveTo(px, y - 2.2 * rise);
      ctx.lineTo(px - size, y - 0.6 * rise);
      ctx.lineTo(px + size, y - 0.6 * rise);
      ctx.fill();
    }
    ctx.restore();
  }
  function drawPhases(self) {
    const { ctx } = self, { left, top, width, height } = self.bbox, right = left + width, pixel = devicePixelRatio;
    const place = (k) => (k < phases.length ? Math.max(left, Math.min(right, self.valToPos(phases[k].at, "x", true))) : right);
    ctx.save();
    ctx.font = `${11 * pixel}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    for (let k = 0; k < phases.length; k++) {
      const from = place(k), to = place(k + 1);
      if (to <= from) continue;
      ctx.globalAlpha = 0.13;
      ctx.fillStyle = colour(`--c${(Number(phases[k].name) - 1) % 6}`);
      ctx.fillRect(from, top, to - from, height);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour("--soft");
      if (to - from > 14 * pixel) ctx.fillText(phases[k].name, from + 4 * pixel, top + 3 * pixel);
    }
    ctx.restore();
  }
  function ring(self, at) {
    const { ctx } = self, px = self.valToPos(at, "x", true), y = self.valToPos(s.values[at], "y", true);
    if (px < self.bbox.left || px > self.bbox.left + self.bbox.width) return;
    ctx.save();
    ctx.strokeStyle = colour("--ink");
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.beginPath();
    ctx.arc(px, y, 6 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.restore();
  }
  /** The value under the cursor, or all of them where several share a pixel. */
  function read(self) {
    const [xs] = self.data, near = (px) => self.posToVal(self.cursor.left + px, "x"), from = near(-1), to = near(1);
    let first = self.cursor.idx, last = first;
    while (first > 0 && xs[first - 1] >= from) first--;
    while (last + 1 < xs.length && xs[last + 1] <= to) last++;
    if (said && first === last) return said(xs[first]);
    const known = self.data.slice(1).flatMap((ys) => ys.slice(first, last + 1)).filter((v) => v !== null && v !== undefined);
    const place = first === last ? full(xs[first], x.unit) : `${full(xs[first])} to ${full(xs[last], x.unit)}`;
    if (!known.length) return `${x.name} ${place}: not counted`;
    const low = Math.min(...known), high = Math.max(...known);
    if (said) return `several values, ${full(low)} to ${full(high, s.unit)}: zoom in`;
    return `${x.name} ${place}: ${s.name} ${low === high ? full(high, s.unit) : `${full(low)} to ${full(high, s.unit)}`}`;
  }
  const readout = h("div", { class: "readout" });
  new ResizeObserver(() => {
    if (!u) make();
    else if (box.clientWidth && box.clientWidth !== u.width) { u.setSize({ width: box.clientWidth, height: HEIGHT }); show(range.now); }
  }).observe(box);
  onTheme(() => u?.redraw());
  return { show, pick: (at) => { picked = at; u?.redraw(false); } };
}
