// tare/spans/1: each region from its begin to its end, a lane for each thread, nested regions below the ones that contain them.
import { colour, h, newId, onTheme, section, shown } from "./dom.js";
import { full, plain, short, toNumber } from "./format.js";
import { unpack } from "./packed.js";

const ROW = 15, ROWS = 12, LANES = 16, FONT = "11px system-ui, sans-serif";

/** The spans by thread, in the order of their begins: [{ name, n, depth, at: [begin], length, label, depths }]. */
export function lanesOf(doc) {
  const begin = unpack(doc.begin), length = unpack(doc.length), thread = unpack(doc.thread), label = unpack(doc.label), depth = unpack(doc.depth);
  const lanes = doc.threads.map((t) => ({ name: `${t.name} ${t.tid}`, spans: [], depth: 0 }));
  for (let i = 0; i < begin.length; i++) {
    const lane = lanes[thread[i]];
    lane.spans.push(i);
    lane.depth = Math.max(lane.depth, depth[i] + 1);
  }
  for (const lane of lanes) lane.spans.sort((a, b) => begin[a] - begin[b] || depth[a] - depth[b]);
  let end = 1;
  for (let i = 0; i < begin.length; i++) end = Math.max(end, begin[i] + length[i]);
  return { begin, length, label, depth, end, lanes: lanes.filter((l) => l.spans.length).sort((a, b) => b.spans.length - a.spans.length) };
}

/** What is drawn from `from` to `to` in `width` pixels: [span, row, x, width]; of spans in one pixel of a row, the first. */
export function visible(s, lane, from, to, width) {
  const out = [], scale = width / (to - from), last = new Float64Array(ROWS).fill(-1);
  for (const i of lane.spans) {
    if (s.begin[i] >= to) break;
    if (s.begin[i] + s.length[i] < from || s.depth[i] >= ROWS) continue;
    const x = Math.max(0, (s.begin[i] - from) * scale), right = Math.min(width, (s.begin[i] + s.length[i] - from) * scale), wide = Math.max(1, right - x);
    if (Math.floor(x + wide) <= last[s.depth[i]]) continue;
    last[s.depth[i]] = Math.floor(x + wide);
    out.push([i, s.depth[i], x, wide]);
  }
  return out;
}

function hue(name) {
  let x = 0;
  for (let k = 0; k < name.length; k++) x = (x * 31 + name.charCodeAt(k)) >>> 0;
  return `hsl(${x % 360} ${40 + (x >>> 9) % 25}% ${colour("--flame-l")})`;
}

export function spans(doc) {
  const s = lanesOf(doc), { unit, name } = doc.axis, tick = toNumber(doc.axis.tick), lanes = s.lanes.slice(0, LANES), left = s.lanes.length - lanes.length;
  if (!lanes.length) return [];
  const range = { from: 0, to: s.end }, state = { words: "" }, said = h("p", { class: "selected", role: "status", "aria-live": "polite" }), tip = h("div", { class: "tip", hidden: true });
  const amount = (v) => short(v * tick, unit), fills = new Map();
  const matches = (label) => !state.words || doc.labels[label].toLowerCase().includes(state.words);
  let drag = null;

  function draw() {
    const ink = colour("--flame-ink");
    fills.clear();
    for (const lane of lanes) {
      const width = lane.canvas.parentElement?.clientWidth ?? 0, ratio = devicePixelRatio || 1, rows = Math.min(lane.depth, ROWS);
      if (!width) continue;
      lane.canvas.width = width * ratio;
      lane.canvas.height = rows * ROW * ratio;
      const c = lane.canvas.getContext("2d");
      c.scale(ratio, ratio);
      c.font = FONT;
      c.textBaseline = "middle";
      lane.drawn = visible(s, lane, range.from, range.to, width);
      for (const [i, row, x, wide] of lane.drawn) {
        const label = s.label[i];
        if (!fills.has(label)) fills.set(label, matches(label) ? hue(doc.labels[label]) : colour("--dim"));
        c.fillStyle = fills.get(label);
        c.fillRect(x, row * ROW, wide > 3 ? wide - 0.5 : wide, ROW - 1);
        if (wide > 40) {
          const text = shown(doc.labels[label]), most = Math.floor((wide - 6) / 6);
          c.fillStyle = ink;
          c.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x + 3, row * ROW + ROW / 2);
        }
      }
      if (drag?.lane === lane) {
        c.fillStyle = colour("--focus");
        c.globalAlpha = 0.25;
        c.fillRect(Math.min(drag.a, drag.b) * width, 0, Math.abs(drag.b - drag.a) * width, rows * ROW);
        c.globalAlpha = 1;
      }
    }
    whole.disabled = range.from === 0 && range.to === s.end;
    said.textContent = shown(`${full(s.begin.length)} regions; shown: ${plain(range.from * tick, unit)} to ${plain(range.to * tick, unit)} of ${name}, ${amount(range.to - range.from)}`);
  }
  function zoom(from, to) {
    const span = Math.min(s.end, Math.max(to - from, 1));
    range.from = Math.max(0, Math.min(from, s.end - span));
    range.to = range.from + span;
    draw();
  }
  const by = (factor) => { const mid = (range.from + range.to) / 2, half = ((range.to - range.from) / 2) * factor; zoom(mid - half, mid + half); };
  const move = (part) => { const d = (range.to - range.from) * part; zoom(range.from + d, range.to + d); };
  const keys = { "+": () => by(0.5), "=": () => by(0.5), "-": () => by(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), Escape: () => zoom(0, s.end) };
  const describe = (i) => `${plain(s.length[i] * tick, unit)}, from ${plain(s.begin[i] * tick, unit)}`;

  for (const lane of lanes) {
    lane.canvas = h("canvas", { class: "lane", tabindex: 0, role: "img", "aria-label": `${full(lane.spans.length)} regions of ${lane.name}; plus, minus and arrow keys zoom` });
    lane.canvas.style.height = `${Math.min(lane.depth, ROWS) * ROW}px`;
    const at = (e) => { const box = lane.canvas.getBoundingClientRect(); return Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)); };
    const hit = (e) => { const box = lane.canvas.getBoundingClientRect(), x = e.clientX - box.left, row = Math.floor((e.clientY - box.top) / ROW); return lane.drawn?.find((d) => d[1] === row && d[2] <= x && x < d[2] + d[3])?.[0]; };
    lane.canvas.addEventListener("pointerdown", (e) => { drag = { lane, a: at(e), b: at(e) }; lane.canvas.setPointerCapture(e.pointerId); });
    lane.canvas.addEventListener("pointermove", (e) => {
      if (drag) { drag.b = at(e); draw(); return; }
      const i = hit(e);
      tip.hidden = i === undefined;
      if (tip.hidden) return;
      tip.replaceChildren(h("b", {}, doc.labels[s.label[i]]), h("div", {}, describe(i)));
      const box = room.getBoundingClientRect();
      tip.style.left = `${Math.max(0, Math.min(e.clientX - box.left + 12, box.width - tip.offsetWidth))}px`;
      tip.style.top = `${e.clientY - box.top + 18}px`;
    });
    lane.canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    lane.canvas.addEventListener("pointerup", (e) => {
      const { a, b } = drag ?? { a: 0, b: 0 }, wide = range.to - range.from;
      drag = null;
      if (Math.abs(b - a) > 0.01) return zoom(range.from + Math.min(a, b) * wide, range.from + Math.max(a, b) * wide);
      const i = hit(e);
      if (i !== undefined) { zoom(s.begin[i], s.begin[i] + s.length[i]); said.prepend(h("b", {}, doc.labels[s.label[i]]), ` ${describe(i)}. `); } else draw();
    });
  }
  const id = newId("f"), whole = h("button", { type: "button", onclick: () => zoom(0, s.end) }, "whole recording");
  const room = h("div", { class: "flame", onkeydown: (e) => {
    if (!keys[e.key] || e.target.tagName !== "CANVAS" || e.ctrlKey || e.metaKey || e.altKey) return;
    keys[e.key]();
    e.preventDefault();
  } }, lanes.map((lane) => h("div", { class: "lane-row" }, h("span", { class: "lane-name", title: lane.name }, lane.name), h("div", {}, lane.canvas))), tip);
  new ResizeObserver(draw).observe(room);
  onTheme(draw);
  addEventListener("beforeprint", draw);
  return [section("Timeline", "Each region, by thread; nested regions are below the one that contains them. Drag, or click a region, to zoom; plus, minus and the arrow keys zoom and move.",
    h("div", { class: "tools" }, h("button", { type: "button", "aria-label": "zoom in", onclick: () => by(0.5) }, "+"), h("button", { type: "button", "aria-label": "zoom out", onclick: () => by(2) }, "−"), whole,
      h("label", { for: id }, "Find"), h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", oninput: (e) => { state.words = e.target.value.toLowerCase(); draw(); } })),
    room, left > 0 && h("p", { class: "about" }, `${full(left)} more threads with fewer regions are not drawn.`), said)];
}
